"""Looks at a running study: how often equal systems are told apart, and what bounds at each look cost and save.

    python scripts/coverage.py looks [--studies 200] [--queries 60] [--looks 5]

Every study has --queries queries of eight results. Ratings come in at random, one a result, and the answer is looked
at --looks times, at even steps or as the row says. A system's score is a good result's lead over poor ones plus noise;
the worse of two has more noise. Worlds: normal noise; few queries decide (in three of four all systems score alike);
heavy tails (Student's t with three degrees of freedom); few good results (one in ten, else four in ten).

Error: the share of studies in which one of two equal systems was ever put out of the best set, with every look tested
at 95 %, at the last look alone, and with bounds. Found: the same of a worse system, at the last look alone and with
bounds. Ratings: the share that was in when bounds told the two apart, or the study ended. Held: the share of studies in
which the difference's intervals held the truth at every look. Lead: at an early stop the difference less the true one,
as it is and corrected, the median in 100.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtri

from relstudy.analysis.resampling.sequential import median_unbiased, next_bound
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.verdict.facts import Look
from relstudy.analysis.verdict.standings import standings
from relstudy.common.runtime.console import print_table, progress

RESULTS, REPLICATES, SEED = 8, 200, 50_000
LEAD = 1.4
WORSE = 1.6
"""Noise of a worse system; that of the others is 1."""
WORLDS = ("normal", "few decide", "heavy tails", "few good")
OPTIONS = ScoringOptions(
    primary="same_query", measures=(), replicates=REPLICATES, directions={"*": "higher"}, threshold=3.0
)


def world(
    name: str, noise: Sequence[float], queries: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Which results are good, bool [queries, results], and the systems' scores [systems, queries, results]."""
    good = random.random((queries, RESULTS)) < (0.1 if name == "few good" else 0.4)
    shape = (len(noise), queries, RESULTS)
    drawn = random.standard_t(3, shape) / np.sqrt(3) if name == "heavy tails" else random.normal(size=shape)
    if name == "few decide":
        alike = np.arange(queries) % 4 > 0
        drawn[:, alike] = random.normal(size=(queries, RESULTS))[alike]
        spread = np.where(alike, 1.0, np.array(noise)[:, None])[:, :, None]
        return good, LEAD * good + spread * drawn
    return good, LEAD * good + np.array(noise)[:, None, None] * drawn


def scored(good: np.ndarray, score: np.ndarray, seen: np.ndarray, options: ScoringOptions) -> ScoreResult:
    """The systems held against what was rated so far."""
    query, result = np.nonzero(seen)
    pairs = {
        "query_id": [f"q{q:04}" for q in query],
        "result_id": [f"q{q:04}r{r}" for q, r in zip(query, result, strict=True)],
    }
    judgments = pd.DataFrame(pairs | {"judgment": np.where(good[seen], 5.0, 1.0)})
    tables = [pd.DataFrame(pairs | {"system": f"s{k}", "score": each[seen]}) for k, each in enumerate(score)]
    return score_systems(judgments, pd.concat(tables), options=options)


def study(
    name: str, noise: Sequence[float], fractions: Sequence[float], queries: int, seed: Sequence[int], truth: float
) -> dict[str, float]:
    """What came of one study; the first two systems are the equal ones, or the better and the worse."""
    random = np.random.default_rng(seed)
    good, score = world(name, noise, queries, random)
    order = random.permutation(good.size)
    bounds: list[float] = []
    told = dict.fromkeys(("each", "last", "bounds"), 0.0)
    at, held, lead, corrected = 1.0, True, np.nan, np.nan
    for number, fraction in enumerate(fractions, start=1):
        seen = np.zeros(good.size, dtype=bool)
        seen[order[: round(fraction * good.size)]] = True
        bounds.append(next_bound(fractions[:number], bounds))
        look = Look(len(fractions), 0, 1, 0.05, "obrien-fleming", tuple(fractions[:number]), tuple(bounds))
        part = seen.reshape(good.shape)
        bounded = scored(good, score, part, replace(OPTIONS, level=look.level))
        compared = standings(bounded).comparison("same_query", "s0", "s1")
        if len(noise) == 2:
            p = 1.0 if compared is None or compared.p_value is None else compared.p_value
            out, out_by_bounds = p < 0.05, p < 1 - look.level
        else:
            plain = scored(good, score, part, OPTIONS)
            out, out_by_bounds = (len({"s0", "s1"} & {*standings(each).others}) > 0 for each in (plain, bounded))
        told["each"] = max(told["each"], out)
        told["last"] = float(out)
        ends = None if compared is None else compared.difference.ends
        held &= ends is None or ends[0] <= truth <= ends[1]
        if out_by_bounds and not told["bounds"]:
            told["bounds"], at = 1.0, fraction
            if compared is not None and compared.p_value is not None and compared.difference.value is not None:
                statistic = float(np.sign(compared.difference.value) * -ndtri(max(compared.p_value, 1e-300) / 2))
                early = fraction < 1 and statistic != 0
                if early:
                    lead = compared.difference.value - truth
                    share = median_unbiased(fractions[:number], bounds[:-1], statistic) / statistic
                    corrected = share * compared.difference.value - truth
    return told | {"at": at, "held": float(held), "lead": lead, "corrected": corrected}


def true_difference(name: str, noise: Sequence[float]) -> float:
    """The first two systems' difference over very many queries."""
    if noise[0] == noise[1]:
        return 0.0
    good, score = world(name, noise[:2], 20_000, np.random.default_rng(SEED))
    couples = good[:, :, None] & ~good[:, None, :]
    weight = np.ones(good.shape[0]) / RESULTS
    shares = []
    for each in score:
        above = (each[:, :, None] > each[:, None, :]) + 0.5 * (each[:, :, None] == each[:, None, :])
        shares.append((weight * (couples * above).sum((1, 2))).sum() / (weight * couples.sum((1, 2))).sum())
    return float(shares[0] - shares[1])


def shown(lead: float) -> str:
    """A lead in 100; a dash where no study stopped early."""
    return "-" if np.isnan(lead) else f"{lead:+.1f}"


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py looks", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--looks", type=int, default=5)
    given = parser.parse_args(argv)
    even = tuple(np.linspace(1 / given.looks, 1, given.looks).tolist())
    uneven = (0.15, 0.2, 0.25, 0.7, 1.0)
    cells = [
        *((world, 2, "even", even) for world in WORLDS), ("normal", 2, "uneven", uneven), ("normal", 3, "even", even),
        ("normal", 6, "even", even),
    ]  # fmt: skip
    print(
        f"{given.studies} studies of {given.queries} queries, {given.looks} looks, seed {SEED}. Standard error of a "
        f"share: at most {np.sqrt(0.25 / given.studies):.3f}, near .05 {np.sqrt(0.0475 / given.studies):.3f}.\n"
    )
    rows = []
    for number, (name, systems, steps, fractions) in enumerate(cells):
        row = [name, str(systems), steps]
        for noise in ((1.0,) * systems, (1.0, WORSE, *(WORSE,) * (systems - 2))):
            truth = true_difference(name, noise)
            found = pd.DataFrame(
                study(name, noise, fractions, given.queries, (SEED, number, one), truth)
                for one in progress(range(given.studies), name, given.studies)
            )
            mean = found.mean()
            if noise[1] == 1.0:
                row += [f"{mean[each]:.3f}" for each in ("each", "last", "bounds")] + [f"{mean['held']:.3f}"]
            else:
                row += [f"{mean[each]:.2f}" for each in ("last", "bounds", "at")] + [f"{mean['held']:.3f}"]
                row += [shown(100 * found[each].median()) for each in ("lead", "corrected")]
        rows.append(row)
    header = ["world", "systems", "looks", "error, each", "last", "bounds", "held", "found, last", "bounds", "ratings"]
    print_table(rows, [*header, "held", "lead", "corrected"])
