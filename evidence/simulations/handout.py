"""Hand-out: how often panels whose pages were handed out at random are called not random, and sorted ones found out.

Raters are dealt single pairs or pages of one query, at random or by quality, with one rating per pair or three, and
with few or many base pairs. Printed are the shares of panels with p below .01 and below .0001, the limits without and
with a record of random hand-out. Random hand-out should reach them in 1 % and .01 %, sorted hand-out always.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from relstudy.calibration.choice import DOUBT, STRONG_DOUBT
from relstudy.calibration.randomisation_test import balance
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.tables.meaning.pair_assignment import HandOut

WORLDS = [(raters, base, each, page, share) for raters, base in ((12, 20), (60, 20), (30, 6))
          for each in (1, 3) for page, share in ((1, 0.0), (5, 0.2), (5, 0.6))]  # fmt: skip
SEED = 20_000


def p_values(world: tuple[int, int, int, int, float], handed_out: HandOut, panels: int) -> np.ndarray:
    """p of the test on so many panels of one world; NaN where it cannot be made."""
    raters, base, each, page, share = world
    values = []
    for number in range(panels):
        panel = simulate_panel(
            raters, base, 60, ratings_per_pair=each, handed_out=handed_out, page=page, query_share=share,
            seed=np.random.default_rng([SEED, number, *(round(10 * part) for part in world)]),
        ).panel  # fmt: skip
        p = balance(panel).p
        values.append(np.nan if p is None else p)
    return np.array(values)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py handout", description=__doc__, formatter_class=raw)
    parser.add_argument("--panels", type=int, default=100)
    panels = parser.parse_args(argv).panels
    rows = []
    for world in progress(WORLDS, "worlds", len(WORLDS)):
        raters, base, each, page, share = world
        cells = [str(raters), str(base), str(each), str(page), f"{share:.0%}"]
        for kind in HandOut:
            p = p_values(world, kind, panels)
            cells += [f"{np.mean(p < limit):.0%}" for limit in (DOUBT, STRONG_DOUBT)]
        rows.append(cells)
    error = np.sqrt(0.01 * 0.99 / panels)
    print(
        f"{panels} panels per row and kind, 60 unique pairs per rater; standard error of a share of 1 %: {error:.1%}\n"
    )
    header = ["raters", "base", "ratings per pair", "page", "between queries"]
    print_table(rows, [*header, "random: p < .01", "p < .0001", "sorted: p < .01", "p < .0001"])
