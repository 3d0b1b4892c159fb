"""Ratings until two systems are told apart: where further pairs are asked for while a study runs, and what it saves.

    python evidence/coverage.py loop [--studies 200] [--queries 100] [--looks 5] [--effect 0.3] [--seed 70000]

A study draws a fifth of a collection's queries, of 40 candidates each, and asks for 8 ratings a query, one a pair, in
--looks equal steps, with a look after each. Two systems are equal in the collection, or the worse has more noise, so
that the finished design sees their difference at --effect standard deviations of a query. Pairs are drawn with known
probability, likelier where the systems rank them high. Ways:

    fixed design            one test at the end
    looks                   O'Brien-Fleming bounds at each step
    rounds by mappings      from 40 % on, steps are rounds of `sample --from-mappings`
    judge                   looks, with the help of an automatic judge that graded every candidate of every query
    rounds by judge         the same, and from 40 % on steps are rounds of `sample --next --judge`
    same, people alone      the same rounds without the judge's help
    active sampling         steps drawn by the prior of average precision, systems weighted by their estimates so far
                            (Li and Kanoulas 2017), with people's judgments alone and the same bounds
    minimal test collection the pair that moves the difference most is asked for next, until the better system of these
                            queries is known with 95 % confidence (Carterette, Allan and Sitaraman 2006)

By way: the share of studies of two equal systems that told them apart, and of unequal ones that found the better and
the worse as the better; and the share of the fixed design's ratings that had been asked for by then, in each.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context

import numpy as np
import pandas as pd
from scipy.special import ndtri

from relstudy.analysis.indices.precision_recall import average_precision
from relstudy.analysis.judges.allocation import expected_square, sizes
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import assist_scores
from relstudy.analysis.judges.table import JudgeTable, read_judge
from relstudy.analysis.resampling.group_sequential import spending_bounds
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.verdict.standings import standings
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import systematic_sample
from relstudy.mapping.scored_pairs import ScoredPairs, fit_mapping
from relstudy.studyapp.sampling.response_model import Judged, plan_round

CANDIDATES, RESULTS, REPLICATES, SEED = 40, 8, 100, 70_000
EVERY = 5
"""Queries of the collection for each that is drawn."""
FIRST = 0.4
"""Share of the ratings after which further rounds begin."""
FLOOR = 0.2
JUDGE = 0.8
"""Noise of the judge; a person's is .4."""
INDEX = "average_precision"
CUT = 3.5
NAMES = ("a", "b")
WAYS = (
    *("fixed design", "looks", "rounds by mappings", "judge", "rounds by judge", "same, people alone"),
    *("active sampling", "minimal test collection"),
)
OPTIONS = ScoringOptions(
    primary=INDEX, measures=(), replicates=REPLICATES, directions={"*": "higher"}, threshold=CUT, method="none"
)


@dataclass(frozen=True, eq=False)
class World:
    """Every pair of a collection: ratings of people, an automatic judge's grades, and the systems' scores, float
    [queries, candidates] each, the last with the systems first."""

    rating: np.ndarray
    grade: np.ndarray
    score: np.ndarray

    @classmethod
    def of(cls, queries: int, noise: Sequence[float], random: np.random.Generator, judge: float = JUDGE) -> World:
        """A world in which one result in six is good on average, more for some queries than for others.

        Where the systems' noise is the same, half of the queries are the other half with the systems' scores swapped,
        so that the systems are equal in the collection, and not only in many like it.
        """
        shape = (queries, CANDIDATES)
        latent = random.normal(size=shape) + 0.5 * random.normal(size=(queries, 1))
        rating, grade = (
            np.clip(np.round(2.2 + 1.2 * (latent + spread * random.normal(size=shape))), 1, 5)
            for spread in (0.4, judge)
        )
        score = latent + np.array(noise)[:, None, None] * random.normal(size=(len(noise), *shape))
        if noise[0] == noise[1]:
            half = queries // 2
            for each in (rating, grade):
                each[half:] = each[:half]
            score[:, half:] = score[::-1, :half]
        return cls(rating, grade, score)

    @property
    def good(self) -> np.ndarray:
        """Which results people call good, bool [queries, candidates]."""
        return self.rating > CUT

    @cached_property
    def ids(self) -> pd.DataFrame:
        """query_id and result_id of every pair, query by query."""
        query, result = np.divmod(np.arange(self.rating.size), CANDIDATES)
        names = {"query_id": [f"q{q:04}" for q in query]}
        return pd.DataFrame(names | {"result_id": [f"q{q:04}r{r}" for q, r in zip(query, result, strict=True)]})

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Each system's scores of every pair."""
        return {name: self.ids.assign(score=each.ravel()) for name, each in zip(NAMES, self.score, strict=True)}

    @cached_property
    def judge(self) -> JudgeTable:
        """The automatic judge's grades of every pair."""
        return read_judge(self.ids.assign(rating=self.grade.ravel()), "judge")


class Study:
    """The drawn queries, int64 [drawn]; pairs of them drawn so far, bool [drawn, candidates], and the probability with
    which each was left out."""

    def __init__(self, world: World, random: np.random.Generator) -> None:
        self.world, self.random = world, random
        number = len(world.rating)
        self.queries = np.sort(random.choice(number, number // EVERY, replace=False))
        self.rank = 1 + np.argsort(np.argsort(-world.score[:, self.queries], axis=2), axis=2)
        self.shape = (1 / (self.rank + 9.0)).mean(axis=0)
        self.missed = np.ones(self.shape.shape)
        self.taken = np.zeros(self.shape.shape, dtype=bool)

    @property
    def rows(self) -> np.ndarray:
        """The pairs drawn, as numbers among the collection's."""
        query, result = np.nonzero(self.taken)
        return self.queries[query] * CANDIDATES + result

    @property
    def judgments(self) -> pd.DataFrame:
        """Of the pairs drawn."""
        columns = {"relevance_cut": CUT, "scale_low": 1.0, "scale_high": 5.0}
        given = (1 - self.missed[self.taken]) / EVERY
        columns |= {"query_probability": 1 / EVERY}
        judged = self.world.ids.iloc[self.rows].assign(judgment=self.world.rating.ravel()[self.rows])
        return judged.assign(relevant_share=(judged["judgment"] > CUT) * 1.0, inclusion_probability=given, **columns)

    def draw(self, size: np.ndarray, wanted: float) -> None:
        """Draw so many new pairs on average, in proportion to a size."""
        low, high = 0.0, wanted / size.min()
        for _ in range(50):
            middle = (low + high) / 2
            new = np.minimum(1, middle * size)[~self.taken].sum()
            low, high = (middle, high) if new < wanted else (low, middle)
        chance = np.minimum(1, high * size)
        for query, each in enumerate(chance):
            self.taken[query, systematic_sample(each, self.random)] = True
        self.missed *= 1 - chance

    def by_mappings(self) -> np.ndarray:
        """Sizes of a round of `sample --from-mappings`."""
        rows, judged = self.rows, self.judgments
        scores = {name: each.ravel()[rows] for name, each in zip(NAMES, self.world.score, strict=True)}
        rating = judged["judgment"].to_numpy()
        weight = 1 / judged["inclusion_probability"].to_numpy()
        queries = judged["query_id"].to_numpy()
        fitted = {
            name: fit_mapping(ScoredPairs(each, rating, queries, weight, name), "isotonic")
            for name, each in scores.items()
        }
        candidates = [dict(zip(NAMES, each, strict=True)) for each in self.world.score[:, self.queries].swapaxes(0, 1)]
        plan = plan_round(fitted, Judged(scores, rating, weight), candidates, range(1, 6), RESULTS, FLOOR)
        size = np.zeros(self.shape.shape)
        for shape in plan.shapes.values():
            for query, each in enumerate(candidates):
                predicted = shape.predicted(each)
                assert predicted is not None
                size[query] += shape.density(predicted)
        return mixed(size)

    def universe(self) -> Universe:
        """The judge beside the pairs drawn."""
        return Universe.of(JudgedPairs.of(self.judgments), self.world.judge, OPTIONS)

    def by_judge(self) -> np.ndarray:
        """Sizes of a round of `sample --next --judge` aimed at the index."""
        universe = self.universe()
        at = universe.judge.rows_of(*self.world.ids.to_numpy().T)
        squares = []
        for score in self.world.score:
            ranking = np.empty(score.size)
            ranking[at] = score.ravel()
            squares.append(expected_square(universe, INDEX, ranking))
        of_row = np.zeros(self.world.rating.size)
        of_row[universe.sampled] = sizes(np.stack(squares))
        return mixed(of_row[at].reshape(self.world.rating.shape)[self.queries])

    def by_performance(self) -> np.ndarray:
        """Sizes of active sampling: the prior of average precision, weighted by each system's estimate so far."""
        prior = np.log(CANDIDATES / self.rank) + 1
        if not self.taken.any():
            return prior.mean(axis=0)
        weight = 1 / (1 - self.missed[self.taken])
        good = self.world.good.ravel()[self.rows].astype(float)
        found = np.array([average_precision(good, each.ravel()[self.rows], weight) for each in self.world.score])
        return np.einsum("s,sqc->qc", found / found.sum(), prior)

    def statistic(self, by_judge: bool) -> float:
        """The lead of the first system in standard errors, as its p-value has it, or 0."""
        tables = self.world.tables
        if by_judge:
            universe = self.universe()
            pairs = universe.context.pairs
            candidates = [candidate_of(pairs, name, each, OPTIONS) for name, each in tables.items()]
            difference = assist_scores(universe, candidates, tables, (INDEX,)).differences[(*NAMES, INDEX)]
            lead, p = difference.estimate.value, difference.p_value
        else:
            judged = pd.concat(each.iloc[self.rows].assign(system=name) for name, each in tables.items())
            compared = standings(score_systems(self.judgments, judged, options=OPTIONS)).comparison(INDEX, *NAMES)
            assert compared is not None
            lead, p = compared.difference.value, compared.p_value
            lead = -lead if lead is not None and compared.first != NAMES[0] else lead
        if lead is None or p is None:
            return 0.0
        return float(np.sign(lead) * -ndtri(max(p, 1e-300) / 2))


def mixed(size: np.ndarray) -> np.ndarray:
    """Sizes with FLOOR of a round drawn uniformly from all candidates."""
    return (1 - FLOOR) * size / size.mean() + FLOOR


def minimal_test_collection(rank: np.ndarray, good: np.ndarray, most: int) -> tuple[int, int]:
    """The sign of the difference that is known with 95 % confidence, 0 where none is, and the ratings asked for.

    Parameters
    ----------
    rank : of each result, from 1, int [2 systems, queries, candidates]
    good : which results people call good, bool [queries, candidates]
    most : ratings

    The difference of average precision, times the number of relevant results, is sum c_ij x_i x_j over i <= j, with
    c_ij the difference of 1 / max(rank_i, rank_j). What nobody judged is relevant with probability 1/2.
    """
    first, second = (1 / np.maximum(each[:, :, None], each[:, None, :]) for each in rank)
    pairs = first - second
    own = np.einsum("qii->qi", pairs).copy()
    np.einsum("qii->qi", pairs)[:] = 0.0
    chance = np.full(good.shape, 0.5)
    for asked in range(most + 1):
        left, relevant = chance * (1 - chance), np.maximum(chance.sum(axis=1), 1.0)
        moved = own + np.einsum("qij,qj->qi", pairs, chance)
        mean = (own * chance).sum(axis=1) + np.einsum("qij,qi,qj->q", pairs, chance, chance) / 2
        within = (moved**2 * left).sum(axis=1) + np.einsum("qij,qi,qj->q", pairs**2, left, left) / 2
        lead, error = (mean / relevant).sum(), np.sqrt((within / relevant**2).sum())
        sign = int(np.sign(lead)) if abs(lead) > ndtri(0.95) * error else 0
        if sign or asked == most:
            return sign, asked
        next_one = np.argmax(np.abs(moved) * (left > 0) / relevant[:, None])
        chance.ravel()[next_one] = good.ravel()[next_one]
    raise ValueError("there is nothing to ask for")


def looked_at(way: str, world: World, looks: int, seed: Sequence[int]) -> tuple[int, float]:
    """The sign of the difference that a study found, 0 where it found none, and the share of the ratings."""
    study = Study(world, np.random.default_rng(seed))
    most = RESULTS * len(study.queries)
    if way == "minimal test collection":
        sign, asked = minimal_test_collection(study.rank, world.good[study.queries], most)
        return sign, asked / most
    fractions = np.linspace(1 / looks, 1, looks)
    bounds = spending_bounds(fractions.tolist())
    by_judge = way in ("judge", "rounds by judge")
    for fraction, bound in zip(fractions, bounds, strict=True):
        later = fraction > FIRST + 1e-9
        size = study.shape
        if way == "active sampling":
            size = study.by_performance()
        elif later and way == "rounds by mappings":
            size = study.by_mappings()
        elif later and way in ("rounds by judge", "same, people alone"):
            size = study.by_judge()
        study.draw(size, most / looks)
        if way == "fixed design" and fraction < 1:
            continue
        bound = float(ndtri(0.975)) if way == "fixed design" else bound
        statistic = study.statistic(by_judge)
        if abs(statistic) > bound:
            return int(np.sign(statistic)), float(fraction)
    return 0, 1.0


def worse_noise(effect: float, queries: int) -> float:
    """The noise of the worse system at which the finished design sees the difference at `effect` standard deviations of
    a query, on average over some studies."""
    low, high = 1.0, 2.0
    for _ in range(6):
        middle = (low + high) / 2
        seen = []
        for number in range(24):
            random = np.random.default_rng((SEED, 99, number))
            study = Study(World.of(EVERY * queries, (1.0, middle), random), random)
            study.draw(study.shape, RESULTS * queries)
            seen.append(study.statistic(False) / np.sqrt(queries))
        low, high = (middle, high) if np.mean(seen) < effect else (low, middle)
    return (low + high) / 2


def one_study(
    ways: Sequence[str], queries: int, looks: int, noise: Sequence[float], judge: float, first: int, number: int
) -> np.ndarray:
    """Sign and share of ratings by way, float [ways, 2]; every way meets the same world."""
    seed = (first, round(1000 * noise[1]), number)
    world = World.of(EVERY * queries, noise, np.random.default_rng(seed), judge)
    return np.array([looked_at(way, world, looks, (*seed, 1)) for way in ways], dtype=float)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py loop", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--looks", type=int, default=5)
    parser.add_argument("--effect", type=float, default=0.3, help="in standard deviations of a query")
    parser.add_argument("--noise", type=float, help="of the worse system, in place of --effect")
    parser.add_argument("--judge", type=float, default=JUDGE, help="noise of the judge; a person's is .4")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    given = parser.parse_args(argv)
    worse = given.noise or worse_noise(given.effect, given.queries)
    like = World.of(EVERY * given.queries, (1.0, worse), np.random.default_rng(given.seed), given.judge)
    alike = np.corrcoef(like.grade.ravel(), like.rating.ravel())[0, 1]
    print(
        f"{given.studies} studies of {given.queries} queries, {given.looks} looks, seed {given.seed}. Noise of the "
        f"worse system {worse:.2f};\ncorrelation of the judge's grades with people's ratings {alike:.2f}. Standard "
        f"error of a share: at most {np.sqrt(0.25 / given.studies):.3f}, near .05 "
        f"{np.sqrt(0.0475 / given.studies):.3f}.\n"
    )
    found: dict[bool, np.ndarray] = {}
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        for equal in (True, False):
            noise = (1.0, 1.0 if equal else worse)
            run = partial(one_study, given.ways, given.queries, given.looks, noise, given.judge, given.seed)
            of_studies: Iterator[np.ndarray] = pool.map(run, range(given.studies))
            found[equal] = np.stack(list(progress(of_studies, "equal" if equal else "unequal", given.studies)))
    rows = []
    for at, way in enumerate(given.ways):
        alike, unlike = (found[equal][:, at] for equal in (True, False))
        shares = (alike[:, 0] != 0, unlike[:, 0] > 0, unlike[:, 0] < 0)
        rows.append(
            [
                way,
                *(f"{np.mean(each):.3f}" for each in shares),
                *(f"{each[:, 1].mean():.2f}" for each in (alike, unlike)),
            ]
        )
    print_table(rows, ["way", "equal: error", "unequal: found", "wrongly", "equal: ratings", "unequal: ratings"])
