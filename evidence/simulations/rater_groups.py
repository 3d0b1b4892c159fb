"""Two groups of people that do not differ: how often `calibrate --compare group=a` says that they do.

    python evidence/coverage.py rater_groups [--studies 500] [--raters 6 12 30]

Sliders from 0 to 100. Raters' levels have Student's t with 4 degrees of freedom (half of the spread between pairs); all
rate 12 base pairs and 10 of the others, by chance. The columns: share of studies whose 95 % interval of the difference
as rated excludes 0, and its mean width.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.rater_comparison import compare_rater
from relstudy.calibration.tables.ratings import check_ratings
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.tables.checked_table import Checked

SEED, BASE, OTHERS = 1947, 12, 10


def ratings(raters: int, seed: int) -> pd.DataFrame:
    """A study with so many raters in each of two groups."""
    random = np.random.default_rng([SEED, raters, seed])
    people = 2 * raters
    pairs = BASE + people * OTHERS // 2
    quality, level = random.normal(size=pairs), 0.5 * random.standard_t(4, size=people)
    pair = np.concatenate(
        [np.r_[np.arange(BASE), BASE + random.choice(pairs - BASE, OTHERS, replace=False)] for _ in range(people)]
    )
    rater = np.repeat(np.arange(people), BASE + OTHERS)
    felt = quality[pair] + level[rater] + 0.7 * random.normal(size=len(pair))
    return pd.DataFrame(
        {
            "rater_id": [f"rater {each}" for each in rater],
            "query_id": "q",
            "result_id": [f"r{each}" for each in pair],
            "rating": np.clip(np.round(50 + 15 * felt), 0, 100).astype(str),
            "group": np.where(rater < raters, "a", "b"),
            "scale": "0-100",
        }
    )


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py rater_groups", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--raters", type=int, nargs="+", default=[6, 12, 30], help="in each group")
    given = parser.parse_args(argv)
    rows = []
    for raters in given.raters:
        found = []
        for seed in progress(range(given.studies), "studies", given.studies):
            study = check_ratings(Checked(ratings(raters, seed), "ratings.csv"))
            found.append(compare_rater(calibrate(study), "group=a").bias_before)
        wrong = np.mean([each.excludes_zero for each in found])
        width = np.mean([each.high - each.low for each in found if each.low is not None and each.high is not None])
        rows.append([str(raters), f"{100 * wrong:.1f}", f"{width:.1f}"])
    print_table(rows, ["raters a group", "differ %", "width"])
