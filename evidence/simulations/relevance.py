"""Relevant by a mean judgment above a cut, or by the share of ratings above it: bias and coverage.

    python evidence/coverage.py relevance [--studies 300] [--ratings 1 3] [--offsets 0 0.35]

A collection of 320 items, each a query for all others; true quality is a skewed curve of a normal variable that differs
by query, and raters round it, with noise of standard deviation 0.5 and an offset of their own, to whole ratings from 1
to 5. Two systems of equal skill propose pairs (exponent 1, floor 0.05). A study draws 100 queries and 20 results each;
12 raters rate 60 base pairs, and every pair is rated by so many of them at random; base means give each rater's offset
(method mean). Rules are held against their own truth on the whole collection: the true mean rating above the cut, or
the true chance of a rating above it. Intervals are those of `relstudy score` for queries of a finite collection, and
these raters or any like them (its default); offsets and their mean are drawn again in every
study, so the truth is that of any.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special, stats

from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.calibration.averaging import make_judgments
from relstudy.calibration.methods.linear import mean
from relstudy.calibration.panel import Panel
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.design_reach import reach_of
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample

ITEMS, QUERIES, RESULTS, RATERS, BASE, NOISE = 320, 100, 20, 12, 60, 0.5
REPLICATES = 200
SEED = 505
RULES = {"mean > 3": ("mean", 3.0), "mean > 3.5": ("mean", 3.5), "share > 3.5": ("auto", None)}
INDICES = ("normalised_rank", "average_precision")
POPULATIONS = ("these", "any")


@dataclass(frozen=True)
class World:
    """True quality, scores and inclusion probabilities given the query, each float [queries, results]."""

    quality: np.ndarray
    score: np.ndarray
    probability: np.ndarray

    @property
    def truth(self) -> dict[str, dict[str, float]]:
        """Each rule's indices over the whole collection."""
        cuts = np.arange(1, 5) + 0.5
        expected = 1 + stats.norm.sf((cuts - self.quality[..., None]) / NOISE).sum(axis=-1)
        relevant = {"mean > 3": expected > 3, "mean > 3.5": expected > 3.5}
        relevant["share > 3.5"] = stats.norm.sf((3.5 - self.quality) / NOISE)
        row, times = np.zeros(self.quality.size, dtype=np.int64), np.ones((1, 1))
        figures = {}
        for rule, values in relevant.items():
            found = Retrieval(row, values.ravel(), times).indices(self.score.ravel(), np.ones(self.quality.size))
            figures[rule] = {index: found[index].value for index in INDICES}
        return figures

    @property
    def reach(self) -> float:
        """Of the design: how many relevant pairs a study would hold if all were as rare as the rarest."""
        relevant = float(stats.norm.sf((3.5 - self.quality) / NOISE).sum(axis=1).mean())
        return reach_of(QUERIES, relevant, float(self.probability.min(axis=1).mean()))


def make_world(seed: int = SEED) -> World:
    """The collection, the first of its two systems, and the design."""
    random = np.random.default_rng(seed)
    latent = random.normal(size=(ITEMS, ITEMS)) + 0.3 * random.normal(size=(ITEMS, 1))
    quality = 1 + 4 * special.expit(1.3 * latent - 2.4)
    scores = [0.7 * latent + 0.7 * random.normal(size=latent.shape) for _ in range(2)]
    rows = []
    for query in range(ITEMS):
        share = np.mean([rank_share(score[query], 1.0)[0] for score in scores], axis=0)
        rows.append(inclusion_probabilities(0.95 * share + 0.05 / ITEMS, RESULTS))
    return World(quality, scores[0], np.array(rows))


def rated(quality: np.ndarray, offset: np.ndarray | float, random: np.random.Generator) -> np.ndarray:
    """Whole ratings from 1 to 5."""
    felt = quality + offset + NOISE * random.normal(size=np.shape(quality))
    return np.asarray(np.clip(np.round(felt), 1, 5))


def study(world: World, ratings: int, spread: float, random: np.random.Generator) -> tuple[JudgedPairs, np.ndarray]:
    """One study: the judged pairs, and the first system's scores of them."""
    offsets = spread * random.normal(size=RATERS)
    chosen = random.choice(ITEMS, QUERIES, replace=False)
    drawn = [systematic_sample(world.probability[query], random) for query in chosen]
    query = np.repeat(chosen, [len(each) for each in drawn])
    result = np.concatenate(drawn)
    number = len(query)
    quality = world.quality[query, result]
    who = [random.integers(0, RATERS, number) for _ in range(ratings)]
    base = np.repeat(np.linspace(1, 5, BASE)[None], RATERS, axis=0)
    rater = np.r_[np.concatenate(who), np.repeat(np.arange(RATERS), BASE)]
    pair = np.r_[np.tile(np.arange(number), ratings), np.tile(number + np.arange(BASE), RATERS)]
    values = [rated(quality, offsets[each], random) for each in who]
    values.append(rated(base, offsets[:, None], random).ravel())
    pairs = pd.DataFrame(
        {"query_id": [*map(str, query), *["base"] * BASE], "result_id": map(str, [*result, *range(BASE)])}
    )
    pairs["inclusion_probability"] = np.r_[world.probability[query, result] * QUERIES / ITEMS, np.ones(BASE)]
    pairs["query_probability"] = np.r_[np.full(number, QUERIES / ITEMS), np.ones(BASE)]
    in_base = np.arange(number + BASE) >= number
    panel = Panel(rater, pair, np.concatenate(values), in_base, pd.Index(range(RATERS)), pairs, 1.0, 5.0)
    judgments = make_judgments(panel, mean(panel).calibrated(panel))
    judged = JudgedPairs.of(judgments).part((judgments.frame["query_id"] != "base").to_numpy())
    return judged, world.score[judged.query_id.astype(int), judged.result_id.astype(int)]


def table(studies: int, ratings: int, spread: float) -> list[list[str]]:
    """Rows of rule, truth, coverage and bias."""
    world = make_world()
    truth = world.truth
    held: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    error: dict[tuple[str, str], list[float]] = defaultdict(list)
    for number in progress(range(studies), "studies", studies):
        pairs, score = study(world, ratings, spread, np.random.default_rng([SEED, number]))
        draws, everything = pairs.draws(REPLICATES, number), np.ones(len(pairs), dtype=bool)
        for rule, (asked, cut) in RULES.items():
            for raters in POPULATIONS:
                options = ScoringOptions(
                    relevance=asked, threshold=cut, replicates=REPLICATES, seed=number, raters=raters
                )
                context = ScoringContext(pairs, options, draws)
                for index, figure in context.retrieval(score, everything).items():
                    estimate = context.estimate(figure)
                    low, high, true = estimate.low, estimate.high, truth[rule][index]
                    held[rule, index, raters].append(low is not None and high is not None and low <= true <= high)
                    if raters == "any":
                        error[rule, index].append(figure.value - true)
    rows = []
    for rule in RULES:
        cells = [str(ratings), f"{spread:g}", rule]
        for index in INDICES:
            key = (rule, index)
            shares = (f"{np.mean(held[*key, raters]):.2f}" for raters in POPULATIONS)
            cells += [f"{truth[rule][index]:.3f}", *shares, f"{np.mean(error[key]):+.3f}"]
        rows.append(cells)
    return rows


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py relevance", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--ratings", type=int, nargs="+", default=[1, 3], help="ratings per pair")
    parser.add_argument("--offsets", type=float, nargs="+", default=[0.0, 0.35], help="raters' standard deviations")
    given = parser.parse_args(argv)
    rows = [row for each in given.ratings for spread in given.offsets for row in table(given.studies, each, spread)]
    print(
        f"{given.studies} studies per row, seed {SEED}, reach {make_world().reach:.0f}. Truth of each rule, share of "
        "95 % intervals that hold it (of these raters\nalone, and of any like them, which is what score gives), bias.\n"
    )
    print_table(
        rows,
        [
            "ratings",
            "offsets",
            "relevant",
            *(text for name in ("norm. rank", "AP") for text in (name, *POPULATIONS, "bias")),
        ],
    )
