"""Coverage of the preference model's 95 % intervals on simulated truth, where raters lean to a side and differ in ties.

    python evidence/coverage.py preference [--studies 20]

Prints, for each setting, the shares of qualities and of differences within queries that their intervals hold, with the
standard error of the first over studies, and the estimated spread of qualities beside the true one.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from relstudy.calibration.methods.bradley_terry import fit_preferences
from tests.calibration.methods.test_bradley_terry import coverage, simulated

SETTINGS = {
    "12 raters, 3 couples a result": {},
    "nobody leans, nobody differs": {"lean": (0.0, 0.0), "tie": (-0.3, 0.0)},
    "strong leans": {"lean": (0.5, 1.0)},
    "few ties": {"tie": (-2.0, 0.5)},
    "6 raters, 3 couples a result": {"raters": 6, "answers": 100, "queries": 25},
    "one query of 20, 2 couples a result": {"queries": 10, "results": 20, "answers": 34},
    "results much alike": {"quality": 0.5},
}


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py preference", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=20)
    studies = parser.parse_args(argv).studies
    print(f"{'':38} quality  (se)  difference  spread  truth")
    for name, setting in SETTINGS.items():
        rng, rows = np.random.default_rng(1), []
        for _ in range(studies):
            couples, truth = simulated(rng, **setting)
            found = fit_preferences(couples)
            rows.append([*coverage(found, couples, truth), found.spreads[0]])
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(studies)
        print(
            f"{name:38} {mean[0]:7.3f} {error[0]:6.3f} {mean[1]:10.3f} {mean[2]:8.2f} {setting.get('quality', 1.2):6}"
        )
