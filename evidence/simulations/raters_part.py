"""The raters' part of a difference's variance: as it is, and pooled over the differences of a study.

    python evidence/coverage.py raters_part [--studies 50] [--queries 64] [--raters 7] [--worlds equal differ better]

Two systems on 64 queries of 20 judged pairs, one rating each by one of so many raters; 100 pairs are rated by all.
Worlds: `equal`, two equal systems; `differ`, the same where raters really differ in which of the two they like (sd .35
of a rating's spread); `better`, where one is better. Ratings are taken as calibrated.

Rules for the variance of a difference: `as it is` (Cameron, Gelbach and Miller 2011: the variance by queries, plus that
by raters less what both hold, not below 0, with Satterthwaite's degrees of freedom); `queries` alone; `pooled`, where
the ratio of the raters' variance to what both hold is the mean over the study's differences by all indices; `shrunk`,
each difference's own ratio drawn to that mean (posterior mean under an exponential prior with it). Each is the share of
studies that reject equality at 5 %: size in the first two worlds, power in the third; in brackets half of the interval.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import special, stats

from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.scored_pairs import ScoredPairs
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.study_tables import judgments_with_ratings
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample

SEED, ITEMS, RESULTS, COLLECTION, BASE, REPLICATES, LIKING = 7801, 320, 20, 320, 100, 200, 0.35
INDICES = ("pearson", "average_precision", "normalised_rank", "same_query")
WORLDS = ("equal", "differ", "better")
RULES = ("as it is", "queries", "pooled", "shrunk")


def study(world: str, queries: int, raters: int, random: np.random.Generator) -> np.ndarray:
    """By index: the difference, its variance by queries and the degrees of freedom of that, the variance by raters,
    what both hold, and variance and degrees of freedom as they are; float [indices, 7]."""
    skills = (0.5, 0.4) if world == "better" else (0.45, 0.45)
    parts = []
    for query in range(queries):
        worth = 0.4 * random.normal() + random.normal(size=ITEMS)
        shared = np.sqrt(0.3) * random.normal(size=ITEMS)
        scores = [
            c * worth / np.hypot(0.4, 1) + np.sqrt(1 - c * c) * (shared + np.sqrt(0.7) * random.normal(size=ITEMS))
            for c in skills
        ]
        size = np.mean([rank_share(each, 1.0)[0] for each in scores], axis=0)
        given = inclusion_probabilities(0.95 * size + 0.05 / ITEMS, RESULTS)
        drawn = systematic_sample(given, random)
        parts.append(
            np.stack([np.full(len(drawn), query), drawn, worth[drawn], given[drawn], *(s[drawn] for s in scores)])
        )
    query, result, worth, given, one, two = np.concatenate(parts, axis=1)
    number = len(query)
    base = random.permutation(number)[:BASE]
    others = np.setdiff1d(np.arange(number), base)
    pair = np.r_[np.repeat(base, raters), others]
    rater = np.r_[np.tile(np.arange(raters), BASE), random.integers(0, raters, len(others))]
    likes = (LIKING if world == "differ" else 0.0) * random.normal(size=raters)
    felt = worth[pair] + likes[rater] * ((one - two) / np.std(one - two))[pair] + 0.8 * random.normal(size=len(pair))
    rating = np.clip(np.round(50 + 12 * (felt + 0.4 * random.normal(size=raters)[rater])), 0, 100)
    ids = pd.DataFrame({"query_id": [f"q{q:.0f}" for q in query], "result_id": [f"r{r:.0f}" for r in result]})
    mean = np.bincount(pair, rating, number) / np.bincount(pair, minlength=number)
    share = np.bincount(pair, rating > 65, number) / np.bincount(pair, minlength=number)
    known = {"relevant_share": share, "relevance_cut": 65.0, "scale_low": 0.0, "scale_high": 100.0}
    design = {"inclusion_probability": given * queries / COLLECTION, "query_probability": queries / COLLECTION}
    ratings = ids.iloc[pair].assign(rater_id=[f"rater {k}" for k in rater], calibrated=rating)
    judged = judgments_with_ratings(Judgments.of(ids.assign(judgment=mean, **known, **design)), ratings)
    pairs = JudgedPairs.of(judged)
    options = ScoringOptions(
        replicates=REPLICATES, method="none", measures=(), directions={"*": "higher"}, raters="any", threshold=65.0
    )
    context = ScoringContext(pairs, options)
    left, right = (
        ScoredPairs.of(context, candidate_of(pairs, name, ids.assign(score=score), options)).figures({})
        for name, score in (("one", one), ("two", two))
    )
    rows = []
    for index in INDICES:
        difference = left[index] - right[index]
        spread, part = difference.spread(DIFFERENCE, queries), difference.raters
        assert part is not None
        whole = difference.over_raters().spread(DIFFERENCE, queries)
        by_query = max(spread.bootstrap, spread.jackknife) / (queries - 1)
        both = float(np.nanvar(part.both, ddof=1))
        row = [difference.value, by_query, spread.degrees, part.by_rater, both, whole.standard_error**2, whole.degrees]
        rows.append(row)
    return np.array(rows)


def rejected(found: np.ndarray, raters: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By rule, the share of studies that reject by index, and mean half widths, float [indices] each.

    Parameters
    ----------
    found : float [studies, indices, 7], as `study` gives them
    """
    value, by_query, freedom, by_rater, both, whole, whole_freedom = np.moveaxis(found, 2, 0)
    ratio = by_rater / both
    pooled = np.maximum(ratio.mean(axis=1, keepdims=True) - 1, 0.0)
    beyond = pooled * both
    uncertain = by_query**2 / freedom + np.where(pooled > 0, (1 + pooled) * both, 0.0) ** 2 / (raters - 1)
    rules = {
        "as it is": (whole, whole_freedom),
        "queries": (by_query, freedom),
        "pooled": (by_query + beyond, (by_query + beyond) ** 2 / uncertain),
    }
    mean, variance = _posterior(ratio, np.maximum(pooled, 0.1), raters)
    shrunk = by_query + mean * both
    rules["shrunk"] = (shrunk, shrunk**2 / (by_query**2 / freedom + both**2 * variance / 2))
    shares = {}
    for rule, (of_rule, degrees) in rules.items():
        half = special.stdtrit(np.maximum(degrees, 1.0), 0.975) * np.sqrt(of_rule)
        shares[rule] = np.mean(np.abs(value) > half, axis=0), half.mean(axis=0)
    return shares


def _posterior(ratio: np.ndarray, prior: np.ndarray, raters: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of how much raters add over what both hold, given the ratio of variances by so many raters."""
    grid = np.linspace(0.0, 20.0, 401)
    likelihood = stats.chi2.logpdf((raters - 1) * ratio[..., None] / (1 + grid), raters - 1) - np.log1p(grid)
    logarithm = likelihood - grid / prior[..., None]
    weight = np.exp(logarithm - logarithm.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    mean = weight @ grid
    return mean, (weight * (grid - mean[..., None]) ** 2).sum(axis=-1)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py raters_part", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--queries", type=int, default=64)
    parser.add_argument("--raters", type=int, nargs="+", default=[7])
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    given = parser.parse_args(argv)
    print(
        f"{given.studies} studies of {given.queries} queries a row, seed {SEED}: equality rejected at 5 % (half of the "
        f"interval). 5 % has a standard error of {np.sqrt(0.05 * 0.95 / given.studies):.1%}, 40 % one of "
        f"{np.sqrt(0.24 / given.studies):.1%}."
    )
    rows = []
    for world in given.worlds:
        for raters in given.raters:
            numbers = [SEED, WORLDS.index(world), given.queries, raters]
            found = np.stack(
                [
                    study(world, given.queries, raters, np.random.default_rng([*numbers, one]))
                    for one in progress(range(given.studies), f"{world}, {raters} raters", given.studies)
                ]
            )
            shares = rejected(found, raters)
            for number, index in enumerate(INDICES):
                cells = [f"{shares[rule][0][number]:.0%} ({shares[rule][1][number]:.3f})" for rule in RULES]
                spread = f"{1.96 * found[:, number, 0].std(ddof=1):.3f}"
                rows.append([world, str(raters), index.replace("_", " "), *cells, spread])
    print_table(rows, ["world", "raters", "index", *RULES, "1.96 sd of estimates"])
