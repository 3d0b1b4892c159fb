"""Looks at a running study: how often equal systems are told apart, and what bounds at each look cost and save.

    python evidence/coverage.py looks [--studies 200] [--queries 60] [--cells designs effects strangers]

Every study has --queries queries of eight results. Ratings come in at random, one a result. The answer is looked at at
five even steps, or as the row says: at ten; at odd times (15, 20, 25, 70 and 100 %); twelve times where five were
planned, the last with a fifth more ratings than were wanted. A system's score is a good result's lead over poor ones
plus noise; the worse of two has more noise, so that the finished study sees their difference at --effect standard
deviations of a query, or at that of the row. Worlds of the designs: normal noise; few queries decide (in three of four
all systems score alike); heavy tails (Student's t with three degrees of freedom); few good results (one in ten, else
four in ten); rare (one in fifty). Those of strangers are `STRANGERS`, none of which bounds or indices were tuned to.

Error: the share of studies in which one of two equal systems was ever put out of the best set, with every look tested
at 95 %, at the last look alone, and with bounds. Found: the same of a worse system, at the last look alone and with
bounds. Ratings: the share that was in when bounds told the two apart, or the study ended. Held: the share of studies in
which the difference's intervals held the truth at every look. Lead: at an early stop the difference less the true one,
as it is and corrected, the median in 100.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context

import numpy as np
import pandas as pd
from scipy.special import ndtri

from relstudy.analysis.resampling.group_sequential import median_unbiased, next_bound
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.verdict.facts import Look
from relstudy.analysis.verdict.standings import standings
from relstudy.common.runtime.console import print_table, progress

RESULTS, REPLICATES, SEED = 8, 200, 50_000
LEAD = 1.4
OPTIONS = ScoringOptions(
    primary="same_query", measures=(), replicates=REPLICATES, directions={"*": "higher"}, threshold=3.0
)
EVEN = (0.2, 0.4, 0.6, 0.8, 1.0)
STEPS = {
    "even": EVEN,
    "ten": tuple(np.linspace(0.1, 1, 10).tolist()),
    "uneven": (0.15, 0.2, 0.25, 0.7, 1.0),
    "twelve of 5": (*np.linspace(0.1, 1, 11).tolist(), 1.2),
}
"""When the answer is looked at, as shares of the ratings wanted."""


@dataclass(frozen=True, eq=False)
class World:
    """A study whose ratings are all in.

    Parameters
    ----------
    good : what people say of each result, bool [queries, results]
    score : of the systems, float [systems, queries, results]
    there : which results there are, bool [queries, results]; None: all
    in_order : whether ratings come in query by query, else at random
    """

    good: np.ndarray
    score: np.ndarray
    there: np.ndarray | None = None
    in_order: bool = False

    @property
    def results(self) -> np.ndarray:
        """Which results there are, bool [queries, results]."""
        return np.ones(self.good.shape, dtype=bool) if self.there is None else self.there


Noise = Sequence[float]
"""Of each system."""


def plain(noise: Noise, queries: int, random: np.random.Generator, share: float = 0.4) -> World:
    """Normal noise, and so many results good."""
    good = random.random((queries, RESULTS)) < share
    return World(good, _scored(good, noise, random.normal(size=(len(noise), queries, RESULTS))))


def _scored(good: np.ndarray, noise: Noise, drawn: np.ndarray) -> np.ndarray:
    return LEAD * good + np.array(noise)[:, None, None] * drawn


def heavy_tails(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Student's t with three degrees of freedom."""
    good = random.random((queries, RESULTS)) < 0.4
    return World(good, _scored(good, noise, random.standard_t(3, (len(noise), *good.shape)) / np.sqrt(3)))


def few_decide(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """In three of four queries all systems score alike."""
    world = plain(noise, queries, random)
    alike = np.arange(queries) % 4 > 0
    world.score[:, alike] = LEAD * world.good[alike] + random.normal(size=(queries, RESULTS))[alike]
    return world


def lognormal(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Scores are products of many small factors."""
    world = plain(noise, queries, random)
    return replace(world, score=np.exp(world.score))


def rounded(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Scores are whole numbers, so that many tie."""
    world = plain(noise, queries, random)
    return replace(world, score=np.round(world.score))


def shared_luck(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Most of the noise is the same for all systems."""
    good = random.random((queries, RESULTS)) < 0.4
    drawn = np.sqrt(0.7) * random.normal(size=good.shape) + np.sqrt(0.3) * random.normal(size=(len(noise), *good.shape))
    return World(good, _scored(good, noise, drawn))


def topics(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Queries come in topics of five, and each system is at home in half of them."""
    world = plain(noise, queries, random)
    at_home = np.repeat(random.random((len(noise), -(-queries // 5))) < 0.5, 5, axis=1)[:, :queries]
    return replace(world, score=world.score + 0.8 * at_home[:, :, None] * world.good)


def unlike_lists(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Between two and eight results a query."""
    world = plain(noise, queries, random)
    return replace(world, there=np.arange(RESULTS) < random.integers(2, RESULTS + 1, (queries, 1)))


def outages(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """In one query of ten a system returns its results in no order, each system in others."""
    world = plain(noise, queries, random)
    down = random.random((len(noise), queries, 1)) < 0.1
    return replace(world, score=np.where(down, 3 * random.normal(size=world.score.shape), world.score))


def noisy_raters(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """One judgment of seven is the reverse of what is right."""
    world = plain(noise, queries, random)
    return replace(world, good=world.good ^ (random.random(world.good.shape) < 1 / 7))


def easy_and_hard(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Most queries have hardly any good results, or hardly any other."""
    good = random.random((queries, RESULTS)) < random.beta(0.5, 0.5, (queries, 1))
    return World(good, _scored(good, noise, random.normal(size=(len(noise), *good.shape))))


def by_query(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """Ratings come in query by query."""
    return replace(plain(noise, queries, random), in_order=True)


def bursts(noise: Noise, queries: int, random: np.random.Generator) -> World:
    """A tenth of the queries has five times the noise."""
    good = random.random((queries, RESULTS)) < 0.4
    wide = np.where(random.random((queries, 1)) < 0.1, 5.0, 1.0)
    return World(good, _scored(good, noise, wide * random.normal(size=(len(noise), *good.shape))))


Made = Callable[[Noise, int, np.random.Generator], World]
WORLDS: Mapping[str, Made] = {
    "normal": plain, "few decide": few_decide, "heavy tails": heavy_tails,
    "few good": partial(plain, share=0.1), "rare": partial(plain, share=0.02),
}  # fmt: skip
STRANGERS: Mapping[str, Made] = {
    "lognormal": lognormal, "rounded": rounded, "shared luck": shared_luck, "topics": topics,
    "unlike lists": unlike_lists, "outages": outages, "noisy raters": noisy_raters, "easy and hard": easy_and_hard,
    "by query": by_query, "bursts": bursts,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A row of the table: a world, how many systems, when it is looked at, and how much worse the others are."""

    world: str
    systems: int = 2
    steps: str = "even"
    effect: float | None = None

    @property
    def made(self) -> Made:
        """The world's maker."""
        return {**WORLDS, **STRANGERS}[self.world]


CELLS = {
    "designs": (
        *map(Cell, WORLDS), Cell("normal", 3), Cell("normal", 6), Cell("normal", steps="ten"),
        Cell("normal", steps="uneven"), Cell("normal", steps="twelve of 5"),
    ),
    "effects": tuple(Cell("normal", effect=each) for each in (0.1, 0.2, 0.3, 0.5)),
    "strangers": tuple(map(Cell, STRANGERS)),
}  # fmt: skip


def scored(world: World, seen: np.ndarray, options: ScoringOptions) -> ScoreResult:
    """The systems held against what was rated so far."""
    query, result = np.nonzero(seen)
    pairs = {
        "query_id": [f"q{q:04}" for q in query],
        "result_id": [f"q{q:04}r{r}" for q, r in zip(query, result, strict=True)],
    }
    judgments = pd.DataFrame(pairs | {"judgment": np.where(world.good[seen], 5.0, 1.0)})
    tables = [pd.DataFrame(pairs | {"system": f"s{k}", "score": each[seen]}) for k, each in enumerate(world.score)]
    return score_systems(judgments, pd.concat(tables), options=options)


def study(cell: Cell, noise: Noise, queries: int, truth: float, seed: Sequence[int]) -> dict[str, float]:
    """What came of one study; the first two systems are the equal ones, or the better and the worse."""
    random = np.random.default_rng(seed)
    fractions = STEPS[cell.steps]
    extra = max(fractions[-1], 1.0)
    world = cell.made(noise, round(queries * extra), random)
    there = np.flatnonzero(world.results)
    order = there if world.in_order else random.permutation(there)
    bounds: list[float] = []
    told = dict.fromkeys(("each", "last", "bounds"), 0.0)
    at, held, lead, corrected = 1.0, True, np.nan, np.nan
    for number, fraction in enumerate(fractions, start=1):
        seen = np.zeros(world.good.shape, dtype=bool)
        seen.ravel()[order[: round(fraction / extra * len(order))]] = True
        bounds.append(next_bound(fractions[:number], bounds))
        look = Look(len(EVEN), 0, 1, 0.05, "obrien-fleming", tuple(fractions[:number]), tuple(bounds))
        bounded = scored(world, seen, replace(OPTIONS, level=look.level))
        compared = standings(bounded).comparison("same_query", "s0", "s1")
        if len(noise) == 2:
            p = 1.0 if compared is None or compared.p_value is None else compared.p_value
            out, out_by_bounds = p < 0.05, p < 1 - look.level
        else:
            single = scored(world, seen, OPTIONS)
            out, out_by_bounds = (len({"s0", "s1"} & {*standings(each).others}) > 0 for each in (single, bounded))
        told["each"] = max(told["each"], out)
        told["last"] = float(out)
        ends = None if compared is None else compared.difference.ends
        held &= ends is None or ends[0] <= truth <= ends[1]
        if out_by_bounds and not told["bounds"]:
            told["bounds"], at = 1.0, fraction
            if compared is not None and compared.p_value is not None and compared.difference.value is not None:
                statistic = float(np.sign(compared.difference.value) * -ndtri(max(compared.p_value, 1e-300) / 2))
                if fraction < 1 and statistic != 0:
                    lead = compared.difference.value - truth
                    share = median_unbiased(fractions[:number], bounds[:-1], statistic) / statistic
                    corrected = share * compared.difference.value - truth
    return told | {"at": at, "held": float(held), "lead": lead, "corrected": corrected}


def true_difference(made: Made, noise: Noise, queries: int = 20_000) -> tuple[float, float]:
    """The first two systems' difference over very many queries, and the same in standard deviations of a query."""
    world = made(noise[:2], queries, np.random.default_rng(SEED))
    good, poor = world.good & world.results, ~world.good & world.results
    couples = good[:, :, None] & poor[:, None, :]
    weight = 1 / world.results.sum(axis=1)
    of_query = weight * couples.sum((1, 2))
    above = []
    for each in world.score:
        order = (each[:, :, None] > each[:, None, :]) + 0.5 * (each[:, :, None] == each[:, None, :])
        above.append(weight * (couples * order).sum((1, 2)))
    difference = float((above[0] - above[1]).sum() / of_query.sum())
    part = above[0] - above[1] - difference * of_query
    return difference, float(difference * of_query.mean() / part.std())


def worse_noise(made: Made, effect: float) -> float:
    """The noise of a worse system that lies so many standard deviations of a query below one with a noise of 1."""
    low, high = 1.0, 8.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if true_difference(made, (1.0, middle), 5000)[1] < effect else (low, middle)
    return (low + high) / 2


def shown(lead: float) -> str:
    """A lead in 100; a dash where no study stopped early."""
    return "-" if np.isnan(lead) else f"{lead:+.1f}"


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py looks", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--effect", type=float, default=0.4, help="in standard deviations of a query")
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=[*CELLS])
    given = parser.parse_args(argv)
    print(
        f"{given.studies} studies of {given.queries} queries, seed {SEED}. Standard error of a share: at most "
        f"{np.sqrt(0.25 / given.studies):.3f}, near .05 {np.sqrt(0.0475 / given.studies):.3f}.\n"
    )
    rows, errors = [], []
    cells = [cell for name in given.cells for cell in CELLS[name]]
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        for number, cell in enumerate(cells):
            effect = cell.effect or given.effect
            worse = worse_noise(cell.made, effect)
            row = [cell.world, str(cell.systems), cell.steps, f"{true_difference(cell.made, (1.0, worse))[1]:.2f}"]
            for noise in ((1.0,) * cell.systems, (1.0, *(worse,) * (cell.systems - 1))):
                if noise[1] == 1.0 and cell.effect is not None:
                    row += ["-"] * 4  # as in the first row
                    continue
                truth = 0.0 if noise[1] == 1.0 else true_difference(cell.made, noise)[0]
                run = partial(study, cell, noise, given.queries, truth)
                of_studies: Iterator[dict[str, float]] = pool.map(
                    run, [(SEED, number, k) for k in range(given.studies)]
                )
                found = pd.DataFrame(progress(of_studies, cell.world, given.studies))
                mean = found.mean()
                if noise[1] == 1.0:
                    row += [f"{mean[each]:.3f}" for each in ("each", "last", "bounds", "held")]
                    errors.append(mean[["each", "last", "bounds"]])
                else:
                    row += [f"{mean[each]:.2f}" for each in ("last", "bounds", "at")] + [f"{mean['held']:.3f}"]
                    row += [shown(100 * found[each].median()) for each in ("lead", "corrected")]
            rows.append(row)
    header = ["world", "systems", "looks", "effect", "error, each", "last", "bounds", "held", "found, last", "bounds"]
    print_table(rows, [*header, "ratings", "held", "lead", "corrected"])
    if errors:
        each, last, bounds = np.mean(errors, axis=0)
        shares = f"{each:.3f} by tests at each look, {last:.3f} at the last, {bounds:.3f} with bounds"
        print(f"\nMean error over {len(errors)} rows: {shares}.")
