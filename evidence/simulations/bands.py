"""Bands of mappings where queries differ: how often a nominal 90 % band holds the true mapping.

    python evidence/coverage.py bands [--studies 100] [--pairs 300 1000]

Queries of 20 results lift all their judgments (sd as given); a system's scores lie close together within a query, so
that neighbouring scores are of the same queries. The band is asked at nine quantiles of the scores; without queries
(pairs alone) it is what a fit claims that takes all pairs for independent.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from relstudy.common.runtime.console import print_table
from relstudy.mapping.methods import make_mapping

RESULTS = 20
BANDED = ("bagged", "bayes", "bayes-conjugate", "bayes-sampler", "ogive")
TRUTHS = {
    "line": lambda x: 3 + 0.6 * x,
    "sigmoid": lambda x: 1.5 + 3 / (1 + np.exp(-2 * x)),
    "step": lambda x: np.where(x > 0.3, 4.0, 2.2),
}


def study(pairs: int, truth: str, lift: float, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Scores, judgments and queries; a judgment is the truth at its score, its query's lift and noise of sd 1."""
    query = np.arange(pairs) // RESULTS
    queries = int(query[-1]) + 1
    scores = random.normal(0, 0.8, queries)[query] + random.normal(0, 0.6, pairs)
    judgments = TRUTHS[truth](scores) + random.normal(0, lift, queries)[query] + random.normal(size=pairs)
    return scores, judgments, query


def covered(method: str, truth: str, one: tuple[np.ndarray, ...], queries: bool) -> tuple[float, float]:
    """Share of nine quantiles of the scores whose true value is in the band, and the band's mean width."""
    scores, judgments, query = one
    at = np.quantile(scores, np.linspace(0.1, 0.9, 9))
    fit = make_mapping(method, increasing=True).fit(scores, judgments, groups=query if queries else None)
    low, high = fit.mapping_.predict_band(at)
    true = TRUTHS[truth](at)
    return float(np.mean((low <= true) & (true <= high))), float(np.mean(high - low))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="coverage.py bands", description=__doc__.split("\n")[0])
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--pairs", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--lifts", type=float, nargs="+", default=[0.0, 0.5], help="standard deviations of queries")
    parser.add_argument("--methods", nargs="+", choices=BANDED, default=["bagged", "bayes"])
    parser.add_argument("--truths", nargs="+", choices=TRUTHS, default=["line", "sigmoid"])
    options = parser.parse_args(arguments)
    rows = []
    for method, truth, lift, pairs in itertools.product(options.methods, options.truths, options.lifts, options.pairs):
        studies = [study(pairs, truth, lift, np.random.default_rng([k, pairs])) for k in range(options.studies)]
        cells = [method, truth, f"{lift:g}", f"{pairs:,}"]
        for queries in (False, True):
            share, width = np.mean([covered(method, truth, one, queries) for one in studies], axis=0)
            cells += [f"{100 * share:.0f} %", f"{width:.2f}"]
        rows.append(cells)
    print(f"{options.studies} studies per row, seeds 0 to {options.studies - 1}; nominal 90 %.\n")
    print_table(rows, ["method", "truth", "lift", "pairs", "pairs alone", "width", "queries", "width"])
