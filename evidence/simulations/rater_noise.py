"""Raters' noise: what weighing raters by it gains, and whether standard errors of judgments cover.

Raters differ in leniency (sd .45) and, in some worlds, in how noisy they are (sd of the log). Printed are the
correlation of unique pairs' judgments with the truth, with raters counted alike and weighed, both after `pooled`; and
how often judgment plus or minus 1.96 standard errors holds the truth, with the root mean squares of both. "Old"
standard errors take offsets for known and raters for equally noisy. Ratings are continuous in the second table.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from relstudy.calibration.averaging import make_judgments
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.rater_noise import rater_noise
from relstudy.calibration.simulation import SimulatedPanel, simulate_panel
from relstudy.common.runtime.console import print_table, progress

SEED = 30_000
SIZES = ((12, 10, 60, 3), (30, 20, 60, 3), (100, 20, 60, 2), (40, 20, 80, 6))
ERROR_SIZES = ((12, 20, 60, 1), (12, 5, 60, 1), (12, 20, 60, 3), (8, 10, 30, 2))


def gain(simulated: SimulatedPanel, method: str = "pooled") -> tuple[float, float]:
    """Correlation of unique pairs' judgments with the truth: raters alike, and weighed."""
    panel = simulated.panel
    lines = fit_lines(panel, method)
    calibrated = lines.calibrated(panel)
    noise = rater_noise(panel.with_rating(calibrated), lines)
    values = []
    for each in (None, noise):
        judgments = make_judgments(panel, calibrated, None, each).frame
        code = judgments["result_id"].str[1:].astype(int).to_numpy()
        unique = ~panel.base[code]
        values.append(float(np.corrcoef(judgments["judgment"][unique], simulated.quality[code[unique]])[0, 1]))
    return values[0], values[1]


def errors(simulated: SimulatedPanel, method: str, seed: int) -> np.ndarray:
    """Old and new: coverage, mean squared error and mean squared standard error of unique pairs; float array (2, 3)."""
    panel, quality = simulated.panel, simulated.quality
    own = simulated.noise[panel.rater] * np.random.default_rng(seed).normal(size=len(panel.rating))
    panel = panel.with_rating(simulated.leniency[panel.rater] + quality[panel.pair] + own)
    lines = fit_lines(panel, method)
    calibrated = lines.calibrated(panel)
    noise = rater_noise(panel.with_rating(calibrated), lines)
    rows = []
    for each in (None, noise):
        judgments = make_judgments(panel, calibrated, None, each).frame
        code = judgments["result_id"].str[1:].astype(int).to_numpy()
        error = judgments["judgment"].to_numpy() - quality[code]
        # The panel's own level stays in its judgments, and is not an error of theirs.
        error, claimed = error - error.mean(), judgments["standard_error"].to_numpy()
        unique = ~panel.base[code]
        error, claimed = error[unique], claimed[unique]
        rows.append([np.mean(np.abs(error) < 1.96 * claimed), np.mean(error**2), np.mean(claimed**2)])
    return np.array(rows)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py rater_noise", description=__doc__, formatter_class=raw)
    parser.add_argument("--panels", type=int, default=30)
    panels = parser.parse_args(argv).panels
    rows = []
    for spread in progress((0.0, 0.3, 0.6), "weights", 3):
        for size in SIZES:
            values = np.array([
                gain(simulate_panel(*size[:3], ratings_per_pair=size[3], noise_spread=spread, seed=SEED + number))
                for number in range(panels)
            ])  # fmt: skip
            difference = values[:, 1] - values[:, 0]
            spare = 2 * difference.std(ddof=1) / np.sqrt(panels)
            cells = [f"{spread:g}", *map(str, size), *(f"{value:.4f}" for value in values.mean(axis=0))]
            rows.append([*cells, f"{difference.mean():+.4f} ± {spare:.4f}"])
    header = ["noise differs by", "raters", "base", "unique per rater", "ratings per pair"]
    print(f"{panels} panels per row\n")
    print_table(rows, [*header, "alike", "weighed", "gain"])
    rows = []
    for method in progress(("none", "mean", "shrunk", "pooled", "crossed"), "standard errors", 5):
        for size in ERROR_SIZES:
            tables = [
                errors(
                    simulate_panel(*size[:3], ratings_per_pair=size[3], discrimination=0.0, seed=SEED + number),
                    method,
                    SEED + number,
                )
                for number in range(panels)
            ]
            old, new = np.mean(tables, axis=0)
            cells = [method, *map(str, size), f"{old[0]:.1%}", f"{old[1] ** 0.5:.3f}", f"{old[2] ** 0.5:.3f}"]
            rows.append([*cells, f"{new[0]:.1%}", f"{new[1] ** 0.5:.3f}", f"{new[2] ** 0.5:.3f}"])
    print()
    print_table(
        rows,
        ["method", *header[1:], "old: covers", "error", "claimed", "new: covers", "error", "claimed"],
    )
