"""Intervals that speak of these raters alone, or of any raters like them: coverage and width.

    python evidence/coverage.py raters [--studies 300]

The world of the table `relevance` (320 items, 100 queries drawn, 20 results each, ratings from 1 to 5 with noise of
standard deviation 0.5), except that raters' offsets are a sample too: the truth is what new raters without end would
say once their offsets are taken out, with relevance as the share of ratings above 3.5. Rows have so many raters,
ratings per pair, and standard deviation of raters' offsets; 60 base pairs, calibrated by the method `mean`. For
normalised rank, average precision and the collection's correlations: how many 95 % intervals hold the truth, and their
mean width.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from relevance import BASE, ITEMS, QUERIES, SEED, World, make_world, rated

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.calibration.averaging import make_judgments
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.panel import Panel
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import systematic_sample

INDICES = ("normalised_rank", "average_precision", "pearson", "spearman")
CASES = ((4, 1, 0.35), (12, 1, 0.35), (12, 3, 0.35), (30, 1, 0.35), (12, 1, 0.6))
REPLICATES, CUT = 200, 3.5


@dataclass(frozen=True)
class Panels:
    """Raters, ratings per pair, standard deviation of offsets, and the method that calibrates."""

    raters: int = 12
    ratings: int = 1
    spread: float = 0.35
    method: str = "mean"


def truth(world: World, panels: Panels, seed: int = SEED, rounds: int = 20) -> dict[str, float]:
    """The indices over the whole collection, every rating from a rater of its own whose offset is known."""
    random = np.random.default_rng([seed, 11])
    row, once = np.zeros(world.quality.size, dtype=np.int64), np.ones((1, 1))
    score, sums = world.score.ravel(), dict.fromkeys(INDICES, 0.0)
    for _ in range(rounds):
        quality = np.repeat(world.quality.ravel()[None], panels.ratings, axis=0)
        offset = panels.spread * random.normal(size=quality.shape)
        calibrated = rated(quality, offset, random) - offset
        relevant = (calibrated > CUT).mean(axis=0)
        figures = Retrieval(row, relevant, once).indices(score, np.ones(score.size))
        figures |= CorrelationBootstrap(row, calibrated.mean(axis=0), once).correlate(score, ("pearson", "spearman"))
        for index in INDICES:
            sums[index] += figures[index].value / rounds
    return sums


def study(world: World, panels: Panels, random: np.random.Generator) -> tuple[JudgedPairs, Candidate]:
    """One study with raters of its own: the judged pairs, and the first system."""
    offsets = panels.spread * random.normal(size=panels.raters)
    chosen = random.choice(ITEMS, QUERIES, replace=False)
    drawn = [systematic_sample(world.probability[query], random) for query in chosen]
    query = np.repeat(chosen, [len(each) for each in drawn])
    result = np.concatenate(drawn)
    number = len(query)
    who = random.integers(0, panels.raters, (panels.ratings, number))
    base = np.repeat(np.linspace(1, 5, BASE)[None], panels.raters, axis=0)
    values = rated(np.repeat(world.quality[query, result][None], panels.ratings, axis=0), offsets[who], random)
    of_base = rated(base, offsets[:, None], random)
    rater = np.r_[who.ravel(), np.repeat(np.arange(panels.raters), BASE)]
    pair = np.r_[np.tile(np.arange(number), panels.ratings), np.tile(number + np.arange(BASE), panels.raters)]
    pairs = pd.DataFrame(
        {"query_id": [*map(str, query), *["base"] * BASE], "result_id": map(str, [*result, *range(BASE)])}
    )
    pairs["inclusion_probability"] = np.r_[world.probability[query, result] * QUERIES / ITEMS, np.ones(BASE)]
    pairs["query_probability"] = np.r_[np.full(number, QUERIES / ITEMS), np.ones(BASE)]
    in_base = np.arange(number + BASE) >= number
    everything = np.r_[values.ravel(), of_base.ravel()]
    panel = Panel(rater, pair, everything, in_base, pd.Index(range(panels.raters)), pairs, 1.0, 5.0)
    judgments = make_judgments(panel, fit_lines(panel, panels.method).calibrated(panel))
    judged = JudgedPairs.of(judgments).part((judgments.frame["query_id"] != "base").to_numpy())
    ids = {"query_id": judged.query_id, "result_id": judged.result_id}
    score = world.score[judged.query_id.astype(int), judged.result_id.astype(int)]
    options = ScoringOptions(directions={"*": "higher"}, measures=())
    return judged, candidate_of(judged, "first", pd.DataFrame({**ids, "score": score}), options)


def figures(pairs: JudgedPairs, candidate: Candidate, seed: int, raters: str) -> dict[str, tuple[float, float, float]]:
    """Value and interval of each index."""
    options = ScoringOptions(replicates=REPLICATES, seed=seed, raters=raters)
    context = ScoringContext(pairs, options)
    found = context.retrieval(candidate.ranking, candidate.used)
    asked = ("pearson", "spearman")
    found |= context.correlate_all([candidate.ranking], candidate.used, asked, collection=True)[0]
    values = {}
    for index in INDICES:
        estimate = context.estimate(found[index])
        values[index] = (estimate.value, estimate.low, estimate.high)
    return values


def table(panels: Panels, studies: int) -> list[list[str]]:
    """Two rows: these raters, any raters."""
    world = make_world()
    true = truth(world, panels)
    held, width = defaultdict(list), defaultdict(list)
    for number in progress(range(studies), "studies", studies):
        pairs, candidate = study(world, panels, np.random.default_rng([SEED, 7, number]))
        for which in ("these", "any"):
            for index, (_, low, high) in figures(pairs, candidate, number, which).items():
                held[which, index].append(low <= true[index] <= high)
                width[which, index].append(high - low)
    rows = []
    for which in ("these", "any"):
        cells = [str(panels.raters), str(panels.ratings), f"{panels.spread:g}", which]
        for index in INDICES:
            cells += [f"{np.mean(held[which, index]):.2f}", f"{np.mean(width[which, index]):.3f}"]
        rows.append(cells)
    return rows


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py raters", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=300)
    given = parser.parse_args(argv)
    rows = [row for case in CASES for row in table(Panels(*case), given.studies)]
    print(
        f"{given.studies} studies per row, seed {SEED}, reach {make_world().reach:.0f}: share of 95 % intervals that "
        "hold the truth, and mean width.\n"
    )
    header = ["raters", "ratings", "offsets", "intervals of"]
    print_table(rows, [*header, *(text for index in INDICES for text in (index.replace("_", " "), "width"))])
