"""Which systems a study calls the best: how often the true best is lost, and how many are left beside it.

    python evidence/coverage.py verdict [--studies 100]

Every study draws queries from an endless collection: 16 judged pairs each, whose quality is normal with a level of the
query's own. Systems follow quality with an error of their own and a part in common; the best has a correlation of 0.60
with quality within a query, and the others are `equal` to it, stand together below it (`one better`), or each below the
next (`ladder`). People's verdict on a pair is quality plus noise above the upper fifth. What is compared is pairwise
accuracy within queries, by the project's own index, standard errors and rules; the standard error of each difference is
the larger of bootstrap and jackknife, as in `relstudy score`.

Worlds: `plain`; `ties` (scores in three steps); `noise` (people's noise as large as quality's spread); `uneven` (4 to
60 pairs a query, and some queries count five times as much); `newcomers` (half of the systems score a tenth of the
pairs at random); `heavy` (errors of Student's t with 3 degrees of freedom, queries of which some are far harder);
`raters` (12 raters of a study, two a pair, each with a taste for some systems' errors, so that other raters would put
the systems in another order; true is what all raters would say; ratings from 1 to 5).

Columns: how often the true best is not in the best set (of equal ones the first, which is the hardest case of a best
system), its size, how often it is exactly the best, and how often any of several equal best systems is left out. Beside
it two rules whose set are the systems that no other is ahead of: Holm's correction over all pairs of systems by the
same measure; and the vote of before, in which a system is ahead where it is clearly better by two of correlation,
pooled AP and pairwise accuracy of all queries, each after Holm's correction, and clearly worse by none, also along a
chain of others.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.pairwise_accuracy import SameQuery
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.best_set import PairedStatistics, ranks_of
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import Draws, LeftOut, whole_queries
from relstudy.analysis.resampling.multiplicity import holm
from relstudy.analysis.resampling.spread import LEAST_FREEDOM
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.comparison import compare
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.scored_pairs import ScoredPairs
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.console import print_table, progress

SEED, REPLICATES, PAIRS, LEVEL, BEST = 4210, 300, 16, 0.95, 0.60
SIZES, QUERIES = (2, 6, 20), (30, 100, 400)
WORLDS = ("plain", "ties", "noise", "uneven", "newcomers", "heavy", "raters")
SHAPES = ("equal", "one better", "ladder")
RATERS, RATINGS, TASTE = 12, 2, 0.2
DECIDES, POOLED = "same_query", ("pearson", "average_precision", "normalised_rank")
RULES = ("best set", "Holm", "vote")
Differences = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""By index, of every two systems: the difference, above zero where the first is better, and p after correction."""


def skills(shape: str, systems: int) -> np.ndarray:
    """Each system's correlation with quality within a query, the best first."""
    if shape == "equal":
        return np.full(systems, BEST)
    if shape == "one better":
        return np.r_[BEST, np.full(systems - 1, 0.50)]
    return BEST - 0.40 * np.arange(systems) / max(systems - 1, 4)


@dataclass
class Tally:
    """Counts over studies of what one rule says."""

    lost: int = 0
    size: int = 0
    exact: int = 0
    wrong: int = 0

    def add(self, best: set[int], truth: set[int]) -> None:
        self.lost += 0 not in best
        self.size += len(best)
        self.exact += best == truth
        self.wrong += bool(truth - best)

    def cells(self, studies: int) -> list[str]:
        return [
            f"{self.lost / studies:.1%}",
            f"{self.size / studies:.1f}",
            f"{self.exact / studies:.0%}",
            f"{self.wrong / studies:.1%}",
        ]


@dataclass(frozen=True, eq=False)
class Drawn:
    """The pairs of a study: query, quality as people see it with the query's level, and the systems' scores with their
    own errors (both float [systems, pairs])."""

    query: np.ndarray
    seen: np.ndarray
    score: np.ndarray
    error: np.ndarray


def draw(skill: np.ndarray, queries: int, world: str, random: np.random.Generator) -> Drawn:
    """The pairs of one study."""
    systems = len(skill)
    counts = random.integers(4, 61, queries) if world == "uneven" else np.full(queries, PAIRS)
    query = np.repeat(np.arange(queries), counts)
    quality = random.normal(size=len(query))
    heavy = world == "heavy"
    hard = random.choice([0.3, 1.0, 3.0], queries)[query] if heavy else 1.0
    shared, own = (
        (random.standard_t(3, (n, len(query))) / np.sqrt(3) if heavy else random.normal(size=(n, len(query))))
        for n in (1, systems)
    )
    error = hard * (np.sqrt(0.3) * shared + np.sqrt(0.7) * own)
    score = skill[:, None] * quality + np.sqrt(1 - skill[:, None] ** 2) * error
    if world == "ties":
        score = np.digitize(score, [-0.5, 0.8]).astype(float)
    if world == "newcomers":
        newcomers = score[1::2]
        newcomers[random.random(newcomers.shape) < 0.1] = -9.0
    return Drawn(query, quality + 0.4 * random.normal(size=queries)[query], score, own)


def study(skill: np.ndarray, queries: int, world: str, random: np.random.Generator) -> tuple[set[int], ...]:
    """The sets of one study by each of `RULES`."""
    drawn = draw(skill, queries, world, random)
    if world == "raters":
        return rated_study(drawn, random)
    noise = 1.0 if world == "noise" else 1 / 3
    judgment = drawn.seen + noise * random.normal(size=len(drawn.query))
    relevant = (judgment > 0.84 * np.sqrt(1.16 + noise**2)).astype(float)
    weight = random.choice([1.0, 5.0], queries) if world == "uneven" else np.ones(queries)
    draws = whole_queries(drawn.query, queries, REPLICATES, int(random.integers(2**31)))
    figures = [
        SameQuery(drawn.query, queries, each, relevant, weight[drawn.query]).statistic(draws.times, draws.row)
        for each in drawn.score
    ]
    pooled = of_all_queries(drawn.score, judgment, relevant, weight[drawn.query], draws)
    return by_rules(figures, pooled, queries)


def of_all_queries(
    score: np.ndarray, judgment: np.ndarray, relevant: np.ndarray, weight: np.ndarray, draws: Draws
) -> dict[str, list[BootstrapStatistic]]:
    """The pooled indices of each system, higher is better."""
    left_out = LeftOut.of(draws.row)
    correlation = CorrelationBootstrap(draws.row, judgment, draws.times, weight, left_out=left_out)
    retrieval = Retrieval(draws.row, relevant, draws.times, left_out=left_out)
    walked = [retrieval.indices(each, weight) for each in score]
    return {
        "pearson": [correlation.correlate(each, ("pearson",))["pearson"] for each in score],
        "average_precision": [each["average_precision"] for each in walked],
        "normalised_rank": [-each["normalised_rank"] for each in walked],
    }


@dataclass(frozen=True, eq=False)
class Apart:
    """The differences of every two systems in one index, as `BootstrapStatistic.spread` has them one by one: float
    [couples], and their replicates [couples, replicates]."""

    difference: np.ndarray
    error: np.ndarray
    freedom: np.ndarray
    replicates: np.ndarray

    @classmethod
    def of(cls, systems: Sequence[BootstrapStatistic], queries: int) -> Apart:
        """Of the systems' figures, all of which vary and have a value in every replicate and without each query."""
        first, second = np.triu_indices(len(systems), 1)
        value = np.array([each.value for each in systems])
        replicates = np.stack([each.replicates for each in systems])
        left_out = np.stack([each.left_out for each in systems if each.left_out is not None])
        drawn, without = replicates[first] - replicates[second], left_out[first] - left_out[second]
        added = (queries - 1) * (without.mean(axis=1, keepdims=True) - without)
        jackknife, whole = (added**2).mean(axis=1), queries * drawn.var(axis=1, ddof=1)
        whole = np.maximum(whole, jackknife)
        relative = ((added**4).mean(axis=1) / jackknife**2 - 3) / queries + 2 / (queries - 1)
        relative = np.maximum(relative * (jackknife / whole) ** 2, 2 / (queries - 1))
        freedom = np.maximum(2 / relative, LEAST_FREEDOM)
        return cls(value[first] - value[second], np.sqrt(whole / (queries - 1)), freedom, drawn)

    def p_values(self) -> np.ndarray:
        """Two-sided, of each difference that is zero."""
        p: np.ndarray = 2 * special.stdtr(self.freedom, -np.abs(self.difference) / self.error)
        return p


def by_rules(
    figures: Sequence[BootstrapStatistic], pooled: Mapping[str, Sequence[BootstrapStatistic]], queries: int
) -> tuple[set[int], ...]:
    """The sets by the project's rule, by Holm's correction over all pairs of systems, and by the vote."""
    decides = Apart.of(figures, figures[0].clusters or queries)
    paired = PairedStatistics.of(decides.difference, decides.error, decides.freedom, decides.replicates, queries)
    of_index = {DECIDES: decides} | {index: Apart.of(systems, queries) for index, systems in pooled.items()}
    tested = {index: (each.difference, holm(each.p_values())) for index, each in of_index.items()}
    best = set(np.flatnonzero(ranks_of(paired, LEVEL).best).tolist())
    return best, undefeated(ahead(tested, (DECIDES,))), undefeated(ahead(tested, POOLED))


def ahead(tested: Differences, indices: Sequence[str]) -> np.ndarray:
    """Whether the row is clearly better than the column by more than half of some indices, and clearly worse by none,
    directly or along a chain and not in a circle; bool [systems, systems]."""
    couples = len(tested[indices[0]][0])
    systems = round((1 + np.sqrt(1 + 8 * couples)) / 2)
    first, second = np.triu_indices(systems, 1)
    clear = np.array([np.where(p < 1 - LEVEL, np.sign(d), 0.0) for d, p in (tested[index] for index in indices)])
    votes = clear.sum(axis=0)
    agreed = (clear * votes >= 0).all(axis=0) & (2 * np.abs(votes) > len(indices))
    step = np.zeros((systems, systems), dtype=bool)
    step[first, second], step[second, first] = agreed & (votes > 0), agreed & (votes < 0)
    for through in range(systems):
        step |= step[:, [through]] & step[[through], :]
    return step & ~step.T


def undefeated(before: np.ndarray) -> set[int]:
    """The systems that none is ahead of."""
    return set(np.flatnonzero(~before.any(axis=0)).tolist())


def rated_study(drawn: Drawn, random: np.random.Generator) -> tuple[set[int], ...]:
    """The sets of a study whose raters are a sample, by the indices and comparisons of `score_systems`, which would
    take twice as long with its curves and its figures of each system."""
    pairs, systems = len(drawn.query), len(drawn.score)
    taste = TASTE * random.normal(size=(RATERS, systems))
    rater = np.argsort(random.random((pairs, RATERS)), axis=1)[:, :RATINGS]
    liked = np.einsum("prs,sp->pr", taste[rater], drawn.error)
    value = drawn.seen[:, None] + liked + random.normal(size=rater.shape) / 3
    rating = np.clip(np.round(2.6 + 1.1 * value), 1, 5)
    ids = pd.DataFrame({"query_id": drawn.query.astype(str), "result_id": np.arange(pairs).astype(str)})
    row = np.repeat(np.arange(pairs), RATINGS)
    given = ids.iloc[row].assign(rater_id=rater.ravel().astype(str), rating=rating.ravel(), calibrated=rating.ravel())
    scale = {"scale_low": 1.0, "scale_high": 5.0, "scale_step": 1.0}
    judgments = Judgments.of(ids.assign(judgment=rating.mean(axis=1), n_ratings=RATINGS, **scale))
    judgments = replace(judgments, ratings=given.reset_index(drop=True))
    scores = pd.concat([ids.assign(system=f"{k:02d}", score=each) for k, each in enumerate(drawn.score)])
    options = ScoringOptions(
        primary=DECIDES, method="none", measures=(), directions={"*": "higher"}, raters="any", relevance="share",
        replicates=REPLICATES, seed=int(random.integers(2**31)),
    )  # fmt: skip
    pairs = JudgedPairs.of(judgments)
    context = ScoringContext(pairs, options)
    candidates = [candidate_of(pairs, str(name), rows, options) for name, rows in scores.groupby("system")]
    figures = [ScoredPairs.of(context, each).figures({}) for each in candidates]
    systems = [
        SimpleNamespace(name=each.name, figures=own, estimate=lambda index, own=own: own[index.name])
        for each, own in zip(candidates, figures, strict=True)
    ]
    comparisons, ranks, _ = compare(context, candidates, systems)
    tested = {}
    for index in context.indices:
        of_index = [each for each in comparisons if each.index == index.name]
        values = [np.nan if each.difference.value is None else each.difference.value for each in of_index]
        p = holm([np.nan if each.p_value is None else each.p_value for each in of_index])
        tested[index.name] = (index.sign * np.array(values), p)
    best = set(np.flatnonzero(ranks.best).tolist())
    return best, undefeated(ahead(tested, (DECIDES,))), undefeated(ahead(tested, POOLED))


def row(shape: str, systems: int, queries: int, world: str, studies: int) -> tuple[list[str], list[float]]:
    """One cell of the table, and how often the true best was lost by each rule."""
    skill = skills(shape, systems)
    truth = {k for k in range(systems) if skill[k] == skill.max() and not (world == "newcomers" and k % 2)}
    tallies = [Tally() for _ in RULES]
    label = f"{systems} systems, {queries} queries, {shape}, {world}"
    number = [WORLDS.index(world), systems, queries, len(shape)]
    for one in progress(range(studies), label, studies):
        sets = study(skill, queries, world, np.random.default_rng([SEED, *number, one]))
        for tally, best in zip(tallies, sets, strict=True):
            tally.add(best, truth)
    cells = [str(systems), str(queries), shape, world, *(cell for each in tallies for cell in each.cells(studies))]
    return cells, [each.lost / studies for each in tallies]


def _row(cell: tuple[str, int, int, str, int]) -> tuple[list[str], list[float]]:
    return row(*cell)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py verdict", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--systems", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--queries", type=int, nargs="+", default=list(QUERIES))
    parser.add_argument("--truth", nargs="+", choices=SHAPES, default=list(SHAPES), dest="shapes")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(argv)
    print(f"{given.studies} studies a cell, seed {SEED}; level {LEVEL:g}.\n")
    cells = [
        (shape, systems, queries, world, given.studies)
        for world in given.worlds
        for systems in given.systems
        for queries in given.queries
        for shape in given.shapes
    ]
    with ProcessPoolExecutor(given.processes) as pool:
        rows, lost = zip(*pool.map(_row, cells), strict=True)
    header = ["lost", "size", "exact", "one left out"]
    names = [*header, *(f"{rule}: {name}" for rule in RULES[1:] for name in header)]
    print_table(list(rows), ["systems", "queries", "truth", "world", *names])
    print()
    for rule, of_rule in zip(RULES, np.transpose(lost), strict=True):
        worst, mean = f"{of_rule.max():.1%} of the worst cell", f"{of_rule.mean():.1%} on average"
        print(f"By {rule} the true best is lost in {worst}, {mean}.")
