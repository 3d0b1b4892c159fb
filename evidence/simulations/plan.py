"""Does `relstudy plan` promise what `calibrate` and `score` deliver? Power of both, for twelve settings.

    python evidence/coverage.py plan [--studies 24] [--settings 0 1 2 ...] [--seed 31]

Promised is the power that the plan's curve gives at a size, fitted to three sizes around it. Delivered is the share of
other studies of that size, with seeds that the plan has not seen, in which `relstudy calibrate` and `relstudy score`
find the first system better than the second at .05; and in which the verdict's best set holds the first and not the
second. Both are at their defaults but for 200 replicates and scores that are not mapped. No two settings share a draw,
so that their errors are their own. `differ` counts those of the delivered studies of which plan's way through
calibration, test and best set says anything else of the same tables: another p or another verdict. The world is the
plan's own:
30 queries, 10 of 80 results each (20 for nDCG, which score leaves empty with fewer; exponent 0.5, floor 0.4), 20 base
pairs, raters of leniency 0.4, stretch 0.2 and noise 0.8 points, 30 % of the judged pairs relevant; correlations differ
so much that power is neither 0 nor 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import relstudy as rs
from relstudy.analysis.planning.options import Assumptions, PlanOptions
from relstudy.analysis.planning.power import plan_study
from relstudy.analysis.planning.simulated_studies import Assumed
from relstudy.analysis.planning.sources import assumed_studies
from relstudy.common.runtime.console import print_table, progress

SEED, APART, REPLICATES = 31, 659_969, 200


@dataclass(frozen=True)
class Setting:
    """An index, raters and ratings a pair, systems, queries, the second system's correlation with relevance, and how
    many results of a query are judged."""

    index: str
    raters: int
    ratings: int
    systems: int
    queries: int
    second: float
    results: int = 10

    def source(self) -> Assumed:
        """Its studies."""
        others = (self.second,) * (self.systems - 1)
        assumed = Assumptions(
            correlations=(0.6, *others), ratings_each=self.ratings, base=20, results=self.results, candidates=80,
            exponent=0.5, floor=0.4, relevant_share=0.3,
        )  # fmt: skip
        return assumed_studies(assumed, raters=self.raters)[0]


SETTINGS = (
    Setting("pearson", 7, 1, 2, 30, 0.35),
    Setting("pearson", 15, 1, 2, 30, 0.35),
    Setting("pearson", 7, 3, 6, 30, 0.35),
    Setting("average_precision", 7, 1, 2, 30, 0.25),
    Setting("average_precision", 15, 1, 6, 30, 0.25),
    Setting("average_precision", 15, 3, 2, 30, 0.25),
    Setting("same_query", 7, 1, 6, 30, 0.25),
    Setting("same_query", 15, 1, 2, 30, 0.25),
    Setting("same_query", 7, 3, 2, 30, 0.25),
    Setting("nDCG@10", 7, 1, 2, 30, 0.15, 20),
    Setting("nDCG@10", 15, 1, 2, 30, 0.15, 20),
    Setting("nDCG@10", 7, 3, 6, 30, 0.15, 20),
)


def delivered(setting: Setting, studies: int, seed: int) -> tuple[float, float, int]:
    """How often score finds the first system better than the second, how often its verdict says so, and of how many
    studies plan's way says anything else."""
    source, found, named, differ = setting.source(), [], [], 0
    index = source.as_scored(setting.index)
    for number in progress(range(studies), "studies", studies):
        random = np.random.default_rng([seed + APART, SETTINGS.index(setting), number])
        study = source.world(setting.queries, random).draw(setting.queries, random)
        panel = rs.calibrate(study.ratings, pairs=study.pairs)
        measures = [setting.index] if "@" in setting.index else []
        options = {"method": "none", "measures": measures, "direction": "higher", "replicates": REPLICATES}
        scores = study.rankings if measures else study.scores
        result = rs.score(scores, panel, **options, seed=number).result
        couple = (*(system.name for system in result.systems[:2]), index.name)
        test = next(each for each in result.comparisons if (each.first, each.second, each.index) == couple)
        found.append(test.p_value is not None and test.p_value < 0.05 and (test.difference.value or 0.0) > 0)
        best = result.ranks.best
        named.append(bool(best[0] and not best[1]))
        short = source.answer(study, index, None, number)
        p = np.nan if test.p_value is None else test.p_value
        said = (result.primary.name, named[-1], bool(best[1] and not best[0]))
        alike = np.isclose(p, short.p_value, rtol=0.0, atol=1e-9, equal_nan=True)
        differ += not (alike and said == (short.primary, short.first, short.second))
    return float(np.mean(found)), float(np.mean(named)), differ


def promised(setting: Setting, studies: int, seed: int) -> tuple[float, float, float]:
    """The power of the curve at the size, its standard error, and the verdict's share there."""
    own = seed + SETTINGS.index(setting)  # studies of one size and seed are of the same queries, whatever the setting
    options = PlanOptions(index=setting.index, studies=studies, seed=own, base=20, raters=setting.raters)
    sizes = [round(setting.queries * factor) for factor in (0.6, 1.0, 1.5)]
    plan = plan_study(setting.source(), options, sizes)
    power = float(plan.power_at(setting.queries))
    ends = [plan.steepness.value + sign * np.sqrt(plan.steepness.simulated) for sign in (-1.0, 1.0)]
    low, high = (float(type(plan.steepness)(end, 0.0).power(setting.queries, 0.05)) for end in ends)
    return power, (high - low) / 2, plan.points[1].verdict or 0.0


def row(setting: Setting, studies: int, seed: int) -> dict[str, Any]:
    """A line of the table, and what is summed up over settings: by how much power and verdict are delivered more often
    than promised, the variances of both, and in how many studies the two ways differ."""
    power, error, verdict = promised(setting, studies, seed)
    found, named, differ = delivered(setting, studies, seed)
    both = float(np.hypot(error, np.sqrt(max(found * (1 - found), power * (1 - power)) / studies)))
    apart = float(np.sqrt((verdict * (1 - verdict) + named * (1 - named)) / studies))
    line = [setting.index, str(setting.systems), str(setting.raters), str(setting.ratings), str(setting.queries)]
    line += [f"{power:.2f}", f"{found:.2f}", f"{(found - power) / both:+.1f}"]
    line += [f"{verdict:.2f}", f"{named:.2f}", f"{(named - verdict) / max(apart, 1e-9):+.1f}", str(differ)]
    return {"line": line, "summed": [found - power, named - verdict, both**2, apart**2, differ]}


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py plan", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=24, help="of the plan at each of three sizes, and delivered")
    parser.add_argument("--settings", type=int, nargs="*", default=list(range(len(SETTINGS))))
    parser.add_argument("--seed", type=int, default=SEED, help="of the plan; that of what is delivered is another")
    parser.add_argument("--cells", type=Path, help="add each setting to this file, and print all that it holds")
    given = parser.parse_args(argv)
    rows = [row(SETTINGS[number], given.studies, given.seed) for number in given.settings]
    if given.cells is not None:
        with given.cells.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in rows)
        rows = [json.loads(line) for line in given.cells.read_text(encoding="utf-8").splitlines()]
    print(
        f"{given.studies} studies a size, seeds {given.seed} (plan) and {given.seed + APART} (delivered); apart: in "
        "standard errors of both.\n"
    )
    header = ["systems", "raters", "ratings", "queries", "promised", "delivered", "apart"]
    header += ["verdict promised", "delivered", "apart", "differ"]
    print_table([each["line"] for each in rows], ["index", *header])
    power, verdict, *variances, differ = np.array([each["summed"] for each in rows]).T
    errors = [float(np.sqrt(each.sum())) / len(rows) for each in variances]
    print(
        f"\nDelivered less promised, mean over {len(rows)} settings: power {power.mean():+.3f} (standard error "
        f"{errors[0]:.3f}), verdict {verdict.mean():+.3f} ({errors[1]:.3f}). The two ways differ in {differ.sum():.0f} "
        f"of {len(rows) * given.studies:,} studies."
    )
