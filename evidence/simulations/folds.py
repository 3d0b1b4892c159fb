"""Correlation out of fold of systems that know nothing, and of one that knows much, by every mapping method.

    python evidence/coverage.py folds [--studies 200] [--pairs 300 1000] [--methods isotonic correlation]

Each study has queries of 20 results, judged 1 to 5 with one decimal; a query lifts all its judgments (sd .5). A null
system's scores are noise, or noise that lies close together within a query; a strong one's correlate. The table has the
mean correlation out of fold, pooled as the folds predict and around the folds' training means, and in how many studies
the 95 % interval excludes 0 (below and above); for the strong system, in how many it covers the correlation that its
true mapping has; for null systems, in how many the test of relstudy score tells two of them apart at .05.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, query_counts
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.analysis.resampling.spread import PAIRED
from relstudy.analysis.scoring.comparison import p_value
from relstudy.common.runtime.console import print_table
from relstudy.mapping.cross_fitting import around_training_means, correlation, cross_fit
from relstudy.mapping.methods import EVERY_METHOD, METHODS
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs
from relstudy.mapping.selection import correlation_over_queries

RESULTS = 20
SYSTEMS = ("null", "null, clustered", "strong")


def study(pairs: int, system: str, random: np.random.Generator) -> ScoredPairs:
    """One system's scores of `pairs` judged pairs, 20 a query."""
    query = np.arange(pairs) // RESULTS
    lift = random.normal(0, 0.5, query[-1] + 1)[query]
    latent = random.normal(size=pairs)
    judgments = np.clip(np.round(2.4 + lift + 1.1 * latent, 1), 1, 5)
    if system == "strong":
        scores = np.exp(0.5 * latent + random.normal(size=pairs))  # skewed: the true mapping bends
    elif system == "null":
        scores = random.exponential(size=pairs)
    else:
        scores = random.normal(size=query[-1] + 1)[query] + random.normal(0, 0.5, pairs)
    return ScoredPairs(scores, judgments, query, system=system)


def truth(system: str) -> float:
    """The correlation that the true mapping, the mean judgment at each score, has over all studies of this kind."""
    if system != "strong":
        return 0.0
    many = study(2_000_000, system, np.random.default_rng(10**6))
    order = np.argsort(many.scores)
    means = many.judgments[order].reshape(-1, 500).mean(axis=1)
    return float(np.corrcoef(np.repeat(means, 500), many.judgments[order])[0, 1])


def figure_of(pairs: ScoredPairs, values: np.ndarray, noise: float, seed: int) -> BootstrapStatistic:
    """The correlation that systems are compared by, with its replicates."""
    number = int(pairs.queries.max()) + 1
    counts, left_out = query_counts(number, 1000, seed), LeftOut.of(pairs.queries)
    judged = CorrelationBootstrap(pairs.queries, pairs.judgments, counts, queries=number, left_out=left_out)
    return judged.correlate(values, ("pearson",))["pearson"].widened(1 + noise)


def differ(one: ScoredPairs, method: str, settings: FitSettings, random: np.random.Generator) -> bool:
    """Whether two null systems are told apart, the second a random order of the first's queries."""
    order = random.permutation(one.queries.max() + 1)
    moved = replace(one, scores=one.scores.reshape(len(order), RESULTS)[order].ravel(), system="other null")
    figures = []
    for pairs in (one, moved):
        fit = cross_fit(pairs, method, settings)
        figures.append(
            figure_of(pairs, around_training_means(fit.predictions, pairs, settings), fit.noise, settings.seed)
        )
    difference = figures[0] - figures[1]
    return p_value(difference, difference.spread(PAIRED, len(order))) < 0.05


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="coverage.py folds", description=__doc__.split("\n")[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--pairs", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--methods", nargs="+", choices=[*EVERY_METHOD, "best"], default=list(METHODS))
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rows = []
    for system, method, pairs in itertools.product(options.systems, options.methods, options.pairs):
        rows.append([system, method, f"{pairs:,}", *summary(options, system, method, pairs)])
    print(f"{options.studies} studies per row, 10 folds by query, seed {options.seed}; percentages are of studies.\n")
    print_table(rows, ["", "method", "pairs", "pooled", "around means", "below 0", "above 0", "covers", "two differ"])


def summary(options: Any, system: str, method: str, pairs: int) -> list[str]:
    true = truth(system)
    pooled, around, below, above, covers, apart = [], [], 0, 0, 0, 0
    for number in range(options.studies):
        random = np.random.default_rng([options.seed, number, pairs])
        one = study(pairs, system, random)
        settings = FitSettings(seed=number)
        fit = cross_fit(one, method, settings)
        values = around_training_means(fit.predictions, one, settings)
        pooled.append(correlation(fit.predictions, one.judgments) or 0.0)
        around.append(correlation(values, one.judgments) or 0.0)
        apart += system != "strong" and differ(one, method, settings, random)
        interval = correlation_over_queries(one, values, fit.noise, 1000, number)
        if interval.low is None or interval.high is None:
            covers += true == 0
            continue
        below, above = below + (interval.high < 0), above + (interval.low > 0)
        covers += interval.low <= true <= interval.high
    shares = [f"{100 * count / options.studies:.1f} %" for count in (below, above, covers)]
    shares.append("" if system == "strong" else f"{100 * apart / options.studies:.1f} %")
    return [f"{np.mean(pooled):+.3f}", f"{np.mean(around):+.3f}", *shares]
