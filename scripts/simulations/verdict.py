"""Which systems a study calls the best: how often the true best is lost, and how many are left beside it.

    python scripts/coverage.py verdict [--studies 200]

Every study draws queries from an endless collection: 16 judged pairs each, whose quality is normal with a level of the
query's own. Systems follow quality with an error of their own and a part in common; the best has a correlation of 0.60
with quality within a query, and the others are `equal` to it, stand together below it (`one better`), or each below the
next (`ladder`). People's verdict on a pair is quality plus noise above the upper fifth. What is compared is good above
poor in the same query, by the project's own index, standard errors and rules; the standard error of each difference is
the larger of bootstrap and jackknife, as in `relstudy score`.

Worlds: `plain`; `ties` (scores in three steps); `noise` (people's noise as large as quality's spread); `uneven` (4 to
60 pairs a query, and some queries count five times as much); `newcomers` (half of the systems score a tenth of the
pairs at random); `heavy` (errors of Student's t with 3 degrees of freedom, queries of which some are far harder).

Columns: how often the true best is not in the best set (of equal ones the first, which is the hardest case of a best
system), its size, how often it is exactly the best, and how often any of several equal best systems is left out. Beside
it Holm's correction over all pairs of systems by the same measure, whose set are the systems that no other is ahead of.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from relstudy.analysis.indices.same_query import SameQuery
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import whole_queries
from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.analysis.scoring.best_set import PairedStatistics, ranks_of
from relstudy.analysis.scoring.families import holm
from relstudy.common.console import print_table, progress

SEED, REPLICATES, PAIRS, LEVEL, BEST = 4210, 300, 16, 0.95, 0.60
SIZES, QUERIES = (2, 6, 20), (30, 100, 400)
WORLDS = ("plain", "ties", "noise", "uneven", "newcomers", "heavy")


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


def study(skill: np.ndarray, queries: int, world: str, random: np.random.Generator) -> tuple[set[int], set[int]]:
    """The best set, and the systems that none is ahead of by Holm's correction over all pairs, of one study."""
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
    noise = 1.0 if world == "noise" else 1 / 3
    seen = quality + 0.4 * random.normal(size=queries)[query] + noise * random.normal(size=len(query))
    relevant = (seen > 0.84 * np.sqrt(1.16 + noise**2)).astype(float)
    weight = random.choice([1.0, 5.0], queries) if world == "uneven" else np.ones(queries)
    draws = whole_queries(query, queries, REPLICATES, int(random.integers(2**31)))
    figures = [
        SameQuery(query, queries, each, relevant, np.ones(len(query)), weight).statistic(draws.times, draws.row)
        for each in score
    ]
    return best_sets(figures, queries)


def best_sets(figures: Sequence[BootstrapStatistic], queries: int) -> tuple[set[int], set[int]]:
    """By the project's rule, and by Holm's correction over all pairs of systems."""
    couples = list(combinations(range(len(figures)), 2))
    differences = [figures[a] - figures[b] for a, b in couples]
    spreads = [each.spread(DIFFERENCE, figures[0].clusters or queries) for each in differences]
    paired = PairedStatistics.of(
        np.array([each.value for each in differences]),
        np.array([each.standard_error for each in spreads]),
        np.array([each.degrees for each in spreads]),
        np.stack([each.replicates for each in differences]),
        queries,
    )
    ranks = ranks_of(paired, LEVEL)
    corrected = holm([each.p_value() for each in spreads])
    beaten = {
        (b if difference.value > 0 else a)
        for (a, b), difference, p in zip(couples, differences, corrected, strict=True)
        if p < 1 - LEVEL
    }
    return set(np.flatnonzero(ranks.best).tolist()), set(range(len(figures))) - beaten


def row(shape: str, systems: int, queries: int, world: str, studies: int) -> tuple[list[str], float]:
    """One cell of the table, and how often the true best was lost."""
    skill = skills(shape, systems)
    truth = {k for k in range(systems) if skill[k] == skill.max() and not (world == "newcomers" and k % 2)}
    rule, beside = Tally(), Tally()
    label = f"{systems} systems, {queries} queries, {shape}, {world}"
    number = [WORLDS.index(world), systems, queries, len(shape)]
    for one in progress(range(studies), label, studies):
        best, undefeated = study(skill, queries, world, np.random.default_rng([SEED, *number, one]))
        rule.add(best, truth)
        beside.add(undefeated, truth)
    cells = [str(systems), str(queries), shape, world, *rule.cells(studies), *beside.cells(studies)]
    return cells, rule.lost / studies


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py verdict", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--systems", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--queries", type=int, nargs="+", default=list(QUERIES))
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    given = parser.parse_args(argv)
    print(f"{given.studies} studies a cell, seed {SEED}; level {LEVEL:g}.\n")
    cells = [
        (shape, systems, queries, world)
        for world in given.worlds
        for systems in given.systems
        for queries in given.queries
        for shape in ("equal", "one better", "ladder")
        if world == "plain" or (systems == 6 and queries == 100)
    ]
    rows, lost = zip(*(row(*cell, given.studies) for cell in cells), strict=True)
    header = ["lost", "size", "exact", "one left out"]
    print_table(list(rows), ["systems", "queries", "truth", "world", *header, *(f"Holm: {name}" for name in header)])
    print(f"\nThe true best is lost in {max(lost):.1%} of the worst cell and in {np.mean(lost):.1%} on average.")
