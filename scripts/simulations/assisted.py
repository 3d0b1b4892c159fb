"""The systems' own scores as a free judge: coverage, error and width against people alone, by index.

    python scripts/coverage.py assisted [--studies 200] [--queries 12 25 60 150 400] [--systems 2 6 20 50]
    python scripts/coverage.py assisted --world independent|garbage|judge

A collection of 600 queries of 60 to 400 results. How good a result is has a skewed part of its own and one of its
query (exponential, so that a few queries hold much of what is relevant); one rating from 1 to 5 says it with noise,
and 8 % of ratings are above the cut. Systems see it with errors that have a common part and heavy tails, one of them
in steps of a half. The first two propose: a study draws queries and 16 results each by the code of `relstudy sample`
(exponent 0.5, floor 0.2). Then come newcomers of every skill; from six systems on the last two are useless (chance
alone) and upside down. Their scores of all candidates help as `--assist systems` has it, with 200 replicates.

Worlds: `plain`; `independent`, where errors have no common part, so that systems together know far more than each;
`garbage`, where every system's scores are chance, and nothing may get wider; `judge`, where a judge of four grades
helps alone and with the systems' scores beside it.

True is the value in the whole collection for endless ratings, with judgments of one rating. Error is the ratio of root
mean square errors, with help over people alone; width that of mean widths. Coverage of 95 % intervals: of n studies its
standard error is .22 / sqrt(n).
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special, stats

from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.judges.estimator import Assisted
from relstudy.analysis.judges.run import AssistedScores, assist_by_systems, assist_scores, assisted_in, context_for
from relstudy.analysis.judges.systems import SystemsJudge, systems_judge, universe_of
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.console import print_table, progress
from relstudy.common.drawing import inclusion_probabilities, rank_share, systematic_sample

SEED, QUERIES, RESULTS, REPLICATES, RELEVANT, NOISE = 3107, 600, 16, 200, 0.08, 0.5
SIZES, EDGES = (60, 400), np.array([1.5, 2.5, 3.5, 4.5])
SHARES = (0.02, 0.1)
AT = tuple(f"{what}_at_{share:g}" for share in SHARES for what in ("precision", "recall"))
INDICES = ("relevant_share", "pearson", "average_precision", "normalised_rank", *AT)
WORLDS = ("plain", "independent", "garbage", "judge")
SHOWN = ("share", "r", "AP", "norm. rank", "P 2 %", "R 2 %", "P 10 %", "R 10 %")


@dataclass(frozen=True, eq=False)
class World:
    """The collection: a row a pair.

    Parameters
    ----------
    query : int [pairs], ascending
    middle : float [pairs], the mean of ratings before they are rounded
    score : each system's scores, float [pairs]
    given : float [pairs], the probability of a pair that its query is drawn
    grade : float [pairs], a judge's
    """

    query: np.ndarray
    middle: np.ndarray
    score: dict[str, np.ndarray]
    given: np.ndarray
    grade: np.ndarray

    @cached_property
    def start(self) -> np.ndarray:
        return np.searchsorted(self.query, np.arange(QUERIES + 1))

    @cached_property
    def ids(self) -> tuple[np.ndarray, np.ndarray]:
        query = np.array([f"q{each}" for each in range(QUERIES)], dtype=object)[self.query]
        return query, np.array([f"r{each}" for each in range(len(query))], dtype=object)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        query, result = self.ids
        ids = pd.DataFrame({"query_id": query, "result_id": result})
        return {name: ids.assign(score=score) for name, score in self.score.items()}

    @property
    def focal(self) -> tuple[str, ...]:
        """A proposer, a newcomer, and the useless and the upside-down one where they are there."""
        return tuple(name for name in ("one", "new 1", "useless", "upside down") if name in self.score)

    @cached_property
    def truth(self) -> dict[tuple[str, str], float]:
        """Every figure of the focal systems, by name and index."""
        chance = np.diff(stats.norm.cdf((np.r_[-np.inf, EDGES, np.inf] - self.middle[:, None]) / NOISE), axis=1)
        rated = np.arange(1.0, 6.0)
        share, mean, square = chance[:, 3:].sum(axis=1), chance @ rated, chance @ rated**2
        ones, nobody = np.ones(len(share)), np.zeros(len(share), dtype=np.int64)
        pairs = Retrieval(nobody, share, np.ones((1, 1)), guard=False)
        found = {}
        for name in self.focal:
            score = self.score[name]
            indices = pairs.indices(score, ones)
            found |= {(name, each): indices[each].value for each in ("average_precision", "normalised_rank")}
            noise = np.mean(square - mean**2)
            x, y = score - score.mean(), mean - mean.mean()
            found[name, "pearson"] = float(np.mean(x * y) / np.sqrt(np.mean(x * x) * (np.mean(y * y) + noise)))
            found[name, "relevant_share"] = float(share.mean())
            points = pairs.operating_points(score, ones, SHARES)
            for each, precision, recall in zip(SHARES, points.precision, points.recall, strict=True):
                found[name, f"precision_at_{each:g}"], found[name, f"recall_at_{each:g}"] = (
                    precision.value,
                    recall.value,
                )
        return found


def make_world(systems: int, kind: str = "plain", seed: int = SEED) -> World:
    """A collection with so many systems, of one of WORLDS."""
    shared = 0.0 if kind == "independent" else 0.6
    random = np.random.default_rng([seed, systems])
    number = np.exp(random.uniform(*np.log(SIZES), QUERIES)).astype(int)
    query = np.repeat(np.arange(QUERIES), number)
    value = random.gamma(2.0, size=len(query)) / 1.4 - 1.4 + (0.8 * random.standard_exponential(QUERIES) - 0.8)[query]
    cut = np.quantile(value, 1 - RELEVANT)
    middle = 1 + 4 * special.expit(1.3 * (value - cut) + special.logit(2.5 / 4))
    common = random.standard_t(4, len(query)) / np.sqrt(2)
    names = ["one", "two", *(f"new {k + 1}" for k in range(systems - 2))]
    if systems == 2:
        names[1] = "new 1"
    if systems >= 6:
        names[-2:] = ["useless", "upside down"]
    skill = np.r_[0.65, 0.6, 0.6, random.uniform(0.2, 0.7, max(systems - 3, 0))][:systems]
    seen = (value - value.mean()) / value.std()
    score = {}
    for name, known in zip(names, skill, strict=True):
        own = random.standard_t(4, len(query)) / np.sqrt(2)
        error = shared * common + np.sqrt(1 - shared**2) * own
        score[name] = own if kind == "garbage" or name == "useless" else known * seen + np.sqrt(1 - known**2) * error
    score[names[1]] = np.round(2 * score[names[1]]) / 2
    if "upside down" in score:
        score["upside down"] = -score["upside down"]
    given = np.empty(len(query))
    for start, stop in zip(np.searchsorted(query, np.arange(QUERIES)), np.cumsum(number), strict=True):
        lists = [score[name][start:stop] for name in names[: 1 if systems == 2 else 2]]
        size = np.mean([rank_share(each, 0.5)[0] for each in lists], axis=0)
        given[start:stop] = inclusion_probabilities(0.8 * size + 0.2 / (stop - start), RESULTS)
    grade = np.digitize(seen + 0.7 * random.normal(size=len(query)), [0.0, 0.8, 1.8]).astype(float)
    return World(query, middle, score, given, grade)


@dataclass(frozen=True, eq=False)
class Study:
    """What a study of a world drew and asked."""

    pairs: JudgedPairs
    candidates: list[Candidate]
    options: ScoringOptions

    @classmethod
    def drawn(cls, world: World, queries: int, seed: int) -> Study:
        random = np.random.default_rng([SEED, queries, seed, len(world.score)])
        chosen = np.sort(random.choice(QUERIES, queries, replace=False))
        parts = [slice(world.start[each], world.start[each + 1]) for each in chosen]
        row = np.concatenate([part.start + systematic_sample(world.given[part], random) for part in parts])
        rating = np.clip(np.round(world.middle[row] + NOISE * random.normal(size=len(row))), 1, 5)
        query, result = world.ids
        frame = pd.DataFrame(
            {
                "query_id": query[row],
                "result_id": result[row],
                "judgment": rating,
                "relevant_share": (rating > 3.5) * 1.0,
                "relevance_cut": 3.5,
                "scale_low": 1.0,
                "scale_high": 5.0,
                "query_probability": queries / QUERIES,
                "inclusion_probability": world.given[row] * queries / QUERIES,
            }
        )
        options = ScoringOptions(
            replicates=REPLICATES, seed=seed, method="none", measures=(), directions={"*": "higher"}
        )
        pairs = JudgedPairs.of(frame)
        candidates = [
            candidate_of(pairs, name, frame[["query_id", "result_id"]].assign(score=score[row]), options)
            for name, score in world.score.items()
        ]
        return cls(pairs, candidates, options)


@dataclass
class Tally:
    """Value and ends of a figure with help and of people alone, and the truth, over studies."""

    rows: list[tuple[float, ...]] = field(default_factory=list)

    def add(self, figure: Assisted, truth: float) -> None:
        both = [[getattr(each, end) for end in ("value", "low", "high")] for each in (figure.estimate, figure.people)]
        if all(end is not None for each in both for end in each):
            self.rows.append((*both[0], *both[1], truth))

    @cached_property
    def table(self) -> np.ndarray:
        return np.array(self.rows, dtype=float).T

    @property
    def coverage(self) -> tuple[float, float]:
        _, low, high, _, alone_low, alone_high, truth = self.table
        ends = ((low, high), (alone_low, alone_high))
        helped, alone = (float(np.mean((left <= truth) & (truth <= right))) for left, right in ends)
        return helped, alone

    @property
    def width(self) -> float:
        _, low, high, _, alone_low, alone_high, _ = self.table
        return float(np.mean(high - low) / np.mean(alone_high - alone_low))

    @property
    def error(self) -> float:
        value, _, _, alone, *_, truth = self.table
        return float(np.sqrt(np.mean((value - truth) ** 2) / np.mean((alone - truth) ** 2)))

    def cell(self) -> str:
        if not self.rows:
            return "–"
        coverage, alone = self.coverage
        return f"{100 * coverage:.0f} ({100 * alone:.0f}) {self.error:.2f} {self.width:.2f}"


def prepared(world: World) -> SystemsJudge:
    """What the systems say, the same for every study of a world."""
    frame = next(iter(world.tables.values())).iloc[:3].assign(judgment=[1.0, 2.0, 3.0], inclusion_probability=0.5)
    pairs = JudgedPairs.of(frame[["query_id", "result_id", "judgment", "inclusion_probability"]])
    options = ScoringOptions(directions={"*": "higher"}, measures=())
    candidates = [candidate_of(pairs, name, rows, options) for name, rows in world.tables.items()]
    return systems_judge(candidates, world.tables)


def ways_of(world: World, study: Study, judge: SystemsJudge, world_name: str) -> Iterator[tuple[str, AssistedScores]]:
    """Each way of helping, with what came of it."""
    focal = [each for each in study.candidates if each.name in world.focal]
    if world_name == "judge":
        query, result = world.ids
        graded = read_judge(pd.DataFrame({"query_id": query, "result_id": result, "rating": world.grade}), "judge")
        tables = {name: world.tables[name] for name in world.focal}
        yield "judge alone", assist_scores(study.pairs, focal, tables, graded, study.options, INDICES)
        both = assist_by_systems(study.pairs, focal, tables, study.options, judge=graded, indices=INDICES)
        yield "judge and systems", both
        return
    context = context_for(study.pairs, judge.table, study.options, study.options.raters)
    universe = universe_of(judge, context)
    yield "systems", assisted_in(universe, focal, {name: judge.scores[name] for name in world.focal}, (), INDICES)


def run_cell(world: World, queries: int, studies: int, world_name: str) -> dict[str, dict[tuple[str, str], Tally]]:
    """By way of helping, system or difference, and index."""
    judge, truth = prepared(world), world.truth
    tallies: dict[str, dict[tuple[str, str], Tally]] = defaultdict(lambda: defaultdict(Tally))
    for seed in progress(range(studies), f"{len(world.score)} systems, {queries} queries", studies):
        study = Study.drawn(world, queries, seed)
        for way, found in ways_of(world, study, judge, world_name):
            for name, figures in found.systems.items():
                for index in INDICES:
                    tallies[way][name, index].add(figures[index], truth[name, index])
            for (first, second, index), figure in found.differences.items():
                tallies[way][f"{first} - {second}", index].add(figure, truth[first, index] - truth[second, index])
    return tallies


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py assisted", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--queries", type=int, nargs="+", default=[12, 25, 60, 150, 400])
    parser.add_argument("--systems", type=int, nargs="+", default=[2, 6, 20, 50])
    parser.add_argument("--world", choices=WORLDS, default="plain")
    given = parser.parse_args(argv)
    print(
        f"{given.studies} studies a row, seed {SEED}, world {given.world}: coverage in % with help (of people alone), "
        "ratio of errors, ratio of widths."
    )
    all_cells: dict[str, list[tuple[str, Tally]]] = defaultdict(list)
    for systems in given.systems:
        world = make_world(systems, given.world)
        for queries in given.queries:
            rows = []
            for way, tallies in run_cell(world, queries, given.studies, given.world).items():
                for name in dict.fromkeys(name for name, _ in tallies):
                    cells = [tallies[name, index].cell() if (name, index) in tallies else "" for index in INDICES]
                    rows.append([str(systems), str(queries), way, name, *cells])
                all_cells[way] += [(index, each) for (_, index), each in tallies.items() if each.rows]
            print()
            print_table(rows, ["systems", "queries", "help", "of", *SHOWN])
            sys.stdout.flush()
    for way, cells_of_way in all_cells.items():
        print(f"\nWith help of {way}, by index:")
        print_summary(cells_of_way, given.studies)


def print_summary(cells: Sequence[tuple[str, Tally]], studies: int) -> None:
    """By index: mean, least and largest coverage, how many cells lie outside of 92 to 98 %, errors and widths."""
    rows = []
    for index, title in zip(INDICES, SHOWN, strict=True):
        of_index = [each for name, each in cells if name == index]
        if not of_index:
            continue
        helped, alone = np.array([each.coverage for each in of_index]).T
        widths, errors = np.array([each.width for each in of_index]), np.array([each.error for each in of_index])
        outside = [f"{np.mean((each < 0.92) | (each > 0.98)):.0%}" for each in (helped, alone)]
        rows.append(
            [
                title, str(len(of_index)), f"{helped.mean():.1%}", f"{alone.mean():.1%}", f"{helped.min():.1%}",
                f"{alone.min():.1%}", *outside, f"{errors.mean():.2f}", f"{errors.max():.2f}", f"{widths.mean():.2f}",
                f"{widths.max():.2f}",
            ]
        )  # fmt: skip
    header = ["index", "cells", "coverage", "alone", "least", "alone", "outside", "alone", "error", "worst"]
    print()
    print_table(rows, [*header, "width", "widest"])
    print(f"\nA coverage of 95 % has a standard error of {0.218 / np.sqrt(studies):.1%} in a cell.")
