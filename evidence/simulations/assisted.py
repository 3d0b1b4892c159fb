"""The systems' own scores as a free judge: coverage, error and width against people alone, by index.

    python evidence/coverage.py assisted [--studies 200] [--queries 12 25 60 150 400] [--systems 2 6 20 50]
    python evidence/coverage.py assisted --world independent|garbage|judge
    python evidence/coverage.py assisted --rounds       half of the results in a first round, half in a second one
    python evidence/coverage.py assisted --data tifa160|diras|viescore [--folder ../shared/data]

A collection of 600 queries of 60 to 400 results. How good a result is has a skewed part of its own and one of its
query (exponential, so that a few queries hold much of what is relevant); one rating from 1 to 5 says it with noise,
and 8 % of ratings are above the cut. Systems see it with errors that have a common part and heavy tails, one of them
in steps of a half. The first two propose: a study draws queries and 16 results each by the code of `relstudy sample`
(exponent 0.5, floor 0.2). Then come newcomers of every skill; from six systems on the last two are useless (chance
alone) and upside down. Their scores of all candidates help as `--assist systems` has it, with 200 replicates.

Worlds: `plain`; `independent`, where errors have no common part, so that systems together know far more than each;
`garbage`, where every system's scores are chance, and nothing may get wider; `judge`, where a judge of four grades
helps alone and with the systems' scores beside it. With `--rounds` 8 results are drawn by the two that propose, and
later 8 by all others; a pair's probability is that of either round.

Data: `tifa160`, 160 prompts x 5 pictures on a scale from 1 to 5 and 19 published metrics, 40 x 3 drawn; `diras`, 11
questions x 60 paragraphs in twenty copies, an embedding and two readings of GPT-4 as systems, 12 x 12 drawn;
`viescore`, 376 prompts and 17 models, 40 x 3 drawn. People judged every pair, and their judgments are the truth.

True is the value in the whole collection for endless ratings, with judgments of one rating. Error is the ratio of root
mean square errors, with help over people alone; width that of mean widths. Coverage of 95 % intervals: of n studies its
standard error is .22 / sqrt(n).
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special, stats

from relstudy.analysis.indices.precision_recall import Retrieval, thresholds_at
from relstudy.analysis.judges.estimator import Assisted
from relstudy.analysis.judges.judged_by_both import Universe, context_for
from relstudy.analysis.judges.run import AssistedScores, assist_by_systems, assist_scores, assisted_in
from relstudy.analysis.judges.systems import SystemsJudge, systems_judge, universe_of
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample

SEED, QUERIES, RESULTS, REPLICATES, RELEVANT, NOISE = 3107, 600, 16, 200, 0.08, 0.5
SIZES, EDGES = (60, 400), np.array([1.5, 2.5, 3.5, 4.5])
SHARES = (0.02, 0.1)
AT = tuple(f"{what}_at_{share:g}" for share in SHARES for what in ("precision", "recall"))
INDICES = ("relevant_share", "pearson", "average_precision", "normalised_rank", *AT)
PAIR, DATA = ["query_id", "result_id"], ("tifa160", "diras", "viescore")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
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
    rounds : of each round, float [pairs], the probability of a pair given that its query is drawn
    grade : float [pairs], a judge's
    """

    query: np.ndarray
    middle: np.ndarray
    score: dict[str, np.ndarray]
    rounds: tuple[np.ndarray, ...]
    grade: np.ndarray

    @cached_property
    def given(self) -> np.ndarray:
        """The probability of a pair to be drawn in any round, given that its query is."""
        return np.asarray(1 - np.prod([1 - each for each in self.rounds], axis=0))

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

    def draw(self, queries: int, random: np.random.Generator) -> pd.DataFrame:
        """A study's judgments, with the rows of its pairs as index."""
        chosen = np.sort(random.choice(QUERIES, queries, replace=False))
        parts = [slice(self.start[each], self.start[each + 1]) for each in chosen]
        drawn = [part.start + systematic_sample(each[part], random) for part in parts for each in self.rounds]
        row = np.unique(np.concatenate(drawn))
        rating = np.clip(np.round(self.middle[row] + NOISE * random.normal(size=len(row))), 1, 5)
        query, result = self.ids
        return pd.DataFrame(
            {
                "query_id": query[row],
                "result_id": result[row],
                "judgment": rating,
                "relevant_share": (rating > 3.5) * 1.0,
                "relevance_cut": 3.5,
                "scale_low": 1.0,
                "scale_high": 5.0,
                "query_probability": queries / QUERIES,
                "inclusion_probability": self.given[row] * queries / QUERIES,
            },
            index=row,
        )

    @cached_property
    def truth(self) -> dict[tuple[str, str], float]:
        """Every figure of the focal systems, by name and index."""
        chance = np.diff(stats.norm.cdf((np.r_[-np.inf, EDGES, np.inf] - self.middle[:, None]) / NOISE), axis=1)
        rated = np.arange(1.0, 6.0)
        share, mean, square = chance[:, 3:].sum(axis=1), chance @ rated, chance @ rated**2
        found, noise = figures_of(self.score, self.focal, share), np.mean(square - mean**2)
        for name in self.focal:
            x, y = self.score[name] - self.score[name].mean(), mean - mean.mean()
            found[name, "pearson"] = float(np.mean(x * y) / np.sqrt(np.mean(x * x) * (np.mean(y * y) + noise)))
        return found


def make_world(systems: int, kind: str = "plain", seed: int = SEED, rounds: int = 1) -> World:
    """A collection with so many systems, of one of WORLDS, whose pairs are drawn in one round or in two."""
    shared = 0.0 if kind == "independent" else 0.6
    random = np.random.default_rng([seed, systems])
    number = np.exp(random.uniform(np.log(SIZES[0]), np.log(SIZES[1]), QUERIES)).astype(int)
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
    proposing = 1 if systems == 2 else 2
    of_rounds = [names[:proposing], names[proposing:]][:rounds]
    given = np.empty((rounds, len(query)))
    for start, stop in zip(np.searchsorted(query, np.arange(QUERIES)), np.cumsum(number), strict=True):
        for each, named in zip(given, of_rounds, strict=True):
            size = np.mean([rank_share(score[name][start:stop], 0.5)[0] for name in named], axis=0)
            each[start:stop] = inclusion_probabilities(0.8 * size + 0.2 / (stop - start), RESULTS // rounds)
    grade = np.digitize(seen + 0.7 * random.normal(size=len(query)), [0.0, 0.8, 1.8]).astype(float)
    return World(query, middle, score, tuple(given), grade)


@dataclass(frozen=True, eq=False)
class Judged:
    """A collection of which people judged every pair, and the systems that score all of it.

    Parameters
    ----------
    pairs : query_id, result_id, judgment, relevant_share
    score : each system's scores, float [pairs]; the first proposes
    results : how many a study draws of each query
    """

    pairs: pd.DataFrame
    score: dict[str, np.ndarray]
    results: int

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        return {name: self.pairs[PAIR].assign(score=score) for name, score in self.score.items()}

    @property
    def focal(self) -> tuple[str, ...]:
        """The first, the last and two between."""
        names = list(self.score)
        return tuple(dict.fromkeys(names[k] for k in (0, len(names) // 3, 2 * len(names) // 3, len(names) - 1)))

    @cached_property
    def ids(self) -> tuple[np.ndarray, np.ndarray]:
        query, result = (self.pairs[name].to_numpy(dtype=object) for name in PAIR)
        return query, result

    @cached_property
    def truth(self) -> dict[tuple[str, str], float]:
        share, judgment = (self.pairs[name].to_numpy(dtype=float) for name in ("relevant_share", "judgment"))
        found = figures_of(self.score, self.focal, share)
        return found | {(name, "pearson"): float(np.corrcoef(self.score[name], judgment)[0, 1]) for name in self.focal}

    def draw(self, queries: int, random: np.random.Generator) -> pd.DataFrame:
        """A study's judgments, with the rows of its pairs as index."""
        codes, names = pd.factorize(self.pairs["query_id"])
        score = next(iter(self.score.values()))
        parts = []
        for each in random.choice(len(names), queries, replace=False):
            rows = np.flatnonzero(codes == each)
            rank = np.argsort(np.argsort(-score[rows])) + 1
            given = inclusion_probabilities(1 / (rank + 9.0), min(self.results, len(rows) - 1))
            drawn = systematic_sample(given, random)
            known = given[drawn] * queries / len(names)
            parts.append(self.pairs.iloc[rows[drawn]].assign(inclusion_probability=known))
        low, high = self.pairs["judgment"].min(), self.pairs["judgment"].max()
        scale = {"relevance_cut": (low + high) / 2, "scale_low": low, "scale_high": high}
        return pd.concat(parts).assign(query_probability=queries / len(names), **scale)


def figures_of(score: dict[str, np.ndarray], names: Sequence[str], share: np.ndarray) -> dict[tuple[str, str], float]:
    """The figures of relevance over a whole collection, by name and index."""
    ones, nobody = np.ones(len(share)), np.zeros(len(share), dtype=np.int64)
    pairs = Retrieval(nobody, share, np.ones((1, 1)), guard=False)
    found: dict[tuple[str, str], float] = {}
    for name in names:
        indices = pairs.indices(score[name], ones)
        found |= {(name, each): indices[each].value for each in ("average_precision", "normalised_rank")}
        found[name, "relevant_share"] = float(share.mean())
        points = pairs.at_thresholds(score[name], ones, np.array(SHARES), thresholds_at(score[name], ones, SHARES))
        for number, each in enumerate(SHARES):
            found[name, f"precision_at_{each:g}"] = points.precision[number].value
            found[name, f"recall_at_{each:g}"] = points.recall[number].value
    return found


def real_data(name: str, folder: Path) -> tuple[Judged, int]:
    """One of DATA, and how many queries a study draws."""
    if name == "tifa160":
        place = folder / "tifa160_likert"
        ratings = pd.read_csv(place / "ratings.csv")
        said = ratings.assign(relevant_share=(ratings["rating"] > 3.5) * 1.0).groupby(PAIR)
        pairs = said.agg(judgment=("rating", "mean"), relevant_share=("relevant_share", "mean")).reset_index()
        metrics = [pd.read_csv(place / f"system_scores_{each}_release.csv") for each in ("tifa", "dsg")]
        for table in metrics:
            own = table.select_dtypes("number").drop(columns="tifa_human_avg", errors="ignore")
            pairs = pairs.merge(pd.concat([table[PAIR], own], axis=1), on=PAIR)
        columns = [each for each in pairs if each not in (*PAIR, "judgment", "relevant_share")]
        return Judged(pairs[[*PAIR, "judgment", "relevant_share"]], _filled(pairs[columns]), 3), 40
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    worlds = importlib.import_module("judge_worlds")
    world = worlds.WORLDS[name](folder)
    wanted = world.several or ("gpt-4", "gpt-4 score")
    systems = pd.DataFrame({"system": world.pairs["score"], **{each: world.judges[each] for each in wanted}})
    pairs = world.pairs[[*PAIR, "judgment", "relevant_share"]].reset_index(drop=True)
    return Judged(pairs, _filled(systems), world.results), world.queries


def _filled(scores: pd.DataFrame) -> dict[str, np.ndarray]:
    """Each column, with less than its least if there is no score."""
    return {str(name): scores[name].fillna(scores[name].min() - 1).to_numpy(dtype=float) for name in scores}


@dataclass(frozen=True, eq=False)
class Study:
    """What a study of a world drew and asked."""

    pairs: JudgedPairs
    candidates: list[Candidate]
    options: ScoringOptions

    @classmethod
    def drawn(cls, world: World | Judged, queries: int, seed: int) -> Study:
        random = np.random.default_rng([SEED, queries, seed, len(world.score)])
        frame = world.draw(queries, random)
        row = frame.index.to_numpy()
        frame = frame.reset_index(drop=True)
        options = ScoringOptions(
            replicates=REPLICATES, seed=seed, method="none", measures=(), directions={"*": "higher"}
        )
        pairs = JudgedPairs.of(frame)
        candidates = [
            candidate_of(pairs, name, frame[PAIR].assign(score=score[row]), options)
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

    @property
    def bias(self) -> tuple[float, float]:
        """Mean error in standard deviations of the errors, with help and of people alone."""
        value, _, _, alone, *_, truth = self.table
        errors = (value - truth, alone - truth)
        helped, of_people = (float(each.mean() / each.std()) if each.std() > 0 else 0.0 for each in errors)
        return helped, of_people

    def cell(self) -> str:
        if not self.rows:
            return "–"
        coverage, alone = self.coverage
        return f"{100 * coverage:.0f} ({100 * alone:.0f}) {self.error:.2f} {self.width:.2f}"


def prepared(world: World | Judged) -> SystemsJudge:
    """What the systems say, the same for every study of a world."""
    frame = next(iter(world.tables.values())).iloc[:3].assign(judgment=[1.0, 2.0, 3.0], inclusion_probability=0.5)
    pairs = JudgedPairs.of(frame[["query_id", "result_id", "judgment", "inclusion_probability"]])
    options = ScoringOptions(directions={"*": "higher"}, measures=())
    candidates = [candidate_of(pairs, name, rows, options) for name, rows in world.tables.items()]
    return systems_judge(candidates, world.tables)


def ways_of(
    world: World | Judged, study: Study, judge: SystemsJudge, world_name: str
) -> Iterator[tuple[str, AssistedScores]]:
    """Each way of helping, with what came of it."""
    focal = [each for each in study.candidates if each.name in world.focal]
    if isinstance(world, World) and world_name == "judge":
        query, result = world.ids
        graded = read_judge(pd.DataFrame({"query_id": query, "result_id": result, "rating": world.grade}), "judge")
        tables = {name: world.tables[name] for name in world.focal}
        yield "judge alone", assist_scores(Universe.of(study.pairs, graded, study.options), focal, tables, INDICES)
        beside = systems_judge(focal, tables, judge=graded)
        both = assist_by_systems(beside, study.pairs, focal, study.options, indices=INDICES)
        yield "judge and systems", both
        yield (
            "systems alone",
            assist_by_systems(systems_judge(focal, tables), study.pairs, focal, study.options, indices=INDICES),
        )
        return
    context = context_for(study.pairs, judge.table, study.options, study.options.raters)
    universe = universe_of(judge, context)
    scores = {name: judge.scores[name] for name in world.focal}
    yield "systems", assisted_in(universe, focal, scores, (), INDICES, "systems' scores")


def run_cell(
    world: World | Judged, queries: int, studies: int, world_name: str
) -> dict[str, dict[tuple[str, str], Tally]]:
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
                if index not in INDICES:
                    continue
                tallies[way][f"{first} - {second}", index].add(figure, truth[first, index] - truth[second, index])
    return tallies


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py assisted", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--queries", type=int, nargs="+", default=[12, 25, 60, 150, 400])
    parser.add_argument("--systems", type=int, nargs="+", default=[2, 6, 20, 50])
    parser.add_argument("--world", choices=WORLDS, default="plain")
    parser.add_argument("--rounds", action="store_true", help="two rounds of half as many results each")
    parser.add_argument("--data", choices=DATA, help="real data in place of a world")
    parser.add_argument("--folder", type=Path, default=SHARED)
    given = parser.parse_args(argv)
    rounds = " in two rounds" if given.rounds else ""
    print(
        f"{given.studies} studies a row, seed {SEED}, {given.data or 'world ' + given.world}{rounds}: coverage in % "
        "with help (of people alone), ratio of errors, ratio of widths."
    )
    all_cells: dict[str, list[tuple[str, Tally]]] = defaultdict(list)
    worlds: list[tuple[World | Judged, Sequence[int]]]
    if given.data is None:
        number = 2 if given.rounds else 1
        worlds = [(make_world(systems, given.world, rounds=number), given.queries) for systems in given.systems]
    else:
        real, number = real_data(given.data, given.folder)
        worlds = [(real, [number])]
    for world, numbers in worlds:
        for queries in numbers:
            rows = []
            for way, tallies in run_cell(world, queries, given.studies, given.world).items():
                for name in dict.fromkeys(name for name, _ in tallies):
                    cells = [tallies[name, index].cell() if (name, index) in tallies else "" for index in INDICES]
                    rows.append([str(len(world.score)), str(queries), way, name, *cells])
                all_cells[way] += [(index, each) for (_, index), each in tallies.items() if each.rows]
            print()
            print_table(rows, ["systems", "queries", "help", "of", *SHOWN])
            sys.stdout.flush()
    for way, cells_of_way in all_cells.items():
        print(f"\nWith help of {way}, by index:")
        print_summary(cells_of_way, given.studies)


def print_summary(cells: Sequence[tuple[str, Tally]], studies: int) -> None:
    """By index: mean, least and largest coverage, how many cells lie outside of 92 to 98 %, errors, widths, and the
    mean size of the bias in standard deviations."""
    rows = []
    for index, title in zip(INDICES, SHOWN, strict=True):
        of_index = [each for name, each in cells if name == index]
        if not of_index:
            continue
        helped, alone = np.array([each.coverage for each in of_index]).T
        widths, errors = np.array([each.width for each in of_index]), np.array([each.error for each in of_index])
        biases = [each.bias for each in of_index]
        outside = [f"{np.mean((each < 0.92) | (each > 0.98)):.0%}" for each in (helped, alone)]
        rows.append(
            [
                title, str(len(of_index)), f"{helped.mean():.1%}", f"{alone.mean():.1%}", f"{helped.min():.1%}",
                f"{alone.min():.1%}", *outside, f"{errors.mean():.2f}", f"{errors.max():.2f}", f"{widths.mean():.2f}",
                f"{widths.max():.2f}", *(f"{np.mean(np.abs(each)):.2f}" for each in zip(*biases, strict=True)),
            ]
        )  # fmt: skip
    header = ["index", "cells", "coverage", "alone", "least", "alone", "outside", "alone", "error", "worst"]
    print()
    print_table(rows, [*header, "width", "widest", "bias", "alone"])
    print(f"\nA coverage of 95 % has a standard error of {0.218 / np.sqrt(studies):.1%} in a cell.")
