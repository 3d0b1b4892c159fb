"""Agreement of raters: do 95 % intervals hold the value that raters and pairs like these would have?

Panels of few raters are drawn from a population of raters (leniency .45, stretch .25, noise .6, its log .3) and of
pairs. The truth is the mean over ten panels in which 150 raters rate the same 600 pairs; that of the leave-one-out
figures, which depend on how many raters a pair has, the mean over the panels themselves. Printed is how often the
interval holds it. "Pairs alone" is the interval of a bootstrap over pairs for the same figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.agreement import gwet, krippendorff_alpha
from relstudy.calibration.reliability.agreement_by_rater_pair import pairwise
from relstudy.calibration.reliability.intraclass import intraclass
from relstudy.calibration.reliability.within_pair_variance import (
    bootstrap_interval,
    leave_one_out_correlation,
    leave_one_out_figure,
    pair_variances,
    scored_rows,
    variance_figure,
    within_item_variance,
)
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.console import print_table, progress

SEED = 41_000
WORLDS = ((4, 40, 40, 3), (8, 40, 40, 3), (12, 20, 40, 3), (30, 20, 40, 3), (12, 40, 0, 3))


def figures(panel: Panel) -> dict[str, Estimate]:
    """Every figure of a panel that has an interval for raters and pairs."""
    scored = scored_rows(panel)
    part = panel.keep(scored.rows)
    icc, couples = intraclass(panel), pairwise(panel)
    pooled = leave_one_out_figure(panel, "shrunk", scored)
    plain = leave_one_out_figure(panel, "none", scored)
    assert not isinstance(pooled, Estimate)
    assert not isinstance(plain, Estimate)
    variances = pair_variances(part)
    variances = variances[np.isfinite(variances)]
    sums = np.stack([variances, np.ones_like(variances)], axis=1)
    low, high = bootstrap_interval(sums, lambda each: each[:, 0] / each[:, 1], 0, 400)
    figure = variance_figure(part)
    assert figure is not None
    return {
        "variance, pairs alone": Estimate(figure.value, low, high),
        "variance within a pair": within_item_variance(panel, scored.rows),
        "leave-one-out, none": leave_one_out_correlation(panel, "none", scored),
        "leave-one-out, shrunk less none": pooled.plus(plain, -1.0).estimate(part),
        **{f"alpha, {level}": krippendorff_alpha(panel, level) for level in ("nominal", "ordinal", "interval")},
        "AC1": gwet(panel, quadratic=False),
        "AC2": gwet(panel, quadratic=True),
        "ICC(1)": icc.one,
        "ICC(2,1)": icc.two,
        "ICC(C,1)": icc.consistency,
        "kappa": couples.kappa,
        "Spearman": couples.spearman,
    }


def panel_of(world: tuple[int, int, int, int], seed: int) -> Panel:
    """A panel of the world."""
    raters, base, unique, each = world
    return simulate_panel(raters, base, unique, ratings_per_pair=each, noise_spread=0.3, seed=seed).panel


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py agreement", description=__doc__, formatter_class=raw)
    parser.add_argument("--panels", type=int, default=200)
    panels = parser.parse_args(argv).panels
    cells: dict[str, list[str]] = {}
    large = [figures(panel_of((150, 600, 0, 3), SEED + number)) for number in range(10)]
    for world in progress(WORLDS, "worlds", len(WORLDS)):
        drawn = [figures(panel_of(world, SEED + 100 + number)) for number in range(panels)]
        truth = {
            name: np.mean([each[name].value for each in (drawn if name.startswith("leave") else large)])
            for name in drawn[0]
        }
        for name, value in truth.items():
            ends = [(each[name].low, each[name].high) for each in drawn]
            held = [low <= value <= high for low, high in ends if low is not None and high is not None]
            share = f"{np.mean(held):.0%}" if held else "–"
            cells.setdefault(name, [name]).append(share if len(held) == panels else f"{share} of {len(held)}")
    print(f"{panels} panels per column; standard error of 95 %: {np.sqrt(0.95 * 0.05 / panels):.1%}\n")
    header = [f"{raters} raters, {base} + {unique} x {each}" for raters, base, unique, each in WORLDS]
    print_table(list(cells.values()), ["", *header])
