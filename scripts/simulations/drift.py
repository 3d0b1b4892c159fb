"""How often the 95 % interval of drift over the session holds the truth, and how often drift is said to be there.

    python scripts/coverage.py drift [--studies 250]

Raters rate 60 pairs each, of as many as three raters a pair need, in whole points without end: the pair's worth
(sd 1), the rater's offset (sd .5), the rater's slope times the place in the order less a half, and noise (sd .7). With
a base block, all begin with the same 15 pairs in one order. The truth is the raters' mean slope. The error of a share
of 250 is 1.4 points at 95 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from relstudy.calibration.drift import session_drift
from relstudy.calibration.panel import Panel
from relstudy.calibration.session import session_order

RATINGS, BASE, EACH = 60, 15, 3


def ratings(random: np.random.Generator, raters: int, mean: float, sd: float, base: bool) -> pd.DataFrame:
    """A table of ratings in which raters' slopes have this mean and standard deviation."""
    first = BASE if base else 0
    pairs = raters * RATINGS // EACH
    worth, offset = random.normal(size=pairs), 0.5 * random.normal(size=raters)
    slope = mean + sd * random.normal(size=raters)
    place = np.linspace(-0.5, 0.5, RATINGS)
    parts = []
    for rater in range(raters):
        others = random.choice(np.arange(first, pairs), RATINGS - first, replace=False)
        pair = np.concatenate([np.arange(first), others])
        value = 3 + worth[pair] + offset[rater] + slope[rater] * place + 0.7 * random.normal(size=RATINGS)
        columns = {"rater_id": rater, "pair_id": pair, "position": np.arange(RATINGS), "rating": np.round(value)}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="drift")
    parser.add_argument("--studies", type=int, default=250)
    given = parser.parse_args(argv)
    head = ("raters", "base block", "mean slope", "sd of slopes", "mean estimate", "covered", "said", "taken out")
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for raters in (6, 12, 30):
        for base, mean, sd in ((True, 0, 0), (False, 0, 0), (True, 0, 0.5), (False, 0, 0.5), (False, -0.5, 0.5)):
            random = np.random.default_rng([7, raters, base, int(10 * sd), int(-10 * mean)])
            found, covered, said, out = [], 0, 0, 0
            for _ in range(given.studies):
                frame = ratings(random, raters, mean, sd, base)
                drift = session_drift(Panel.from_frame(frame), session_order(frame))
                if drift is None or drift.common.low is None or drift.common.high is None:
                    continue
                found.append(drift.common.value or 0.0)
                covered += drift.common.low <= mean <= drift.common.high
                said += drift.is_found
                out += drift.helps
            shares = " | ".join(f"{100 * each / max(len(found), 1):.1f} %" for each in (covered, said, out))
            print(f"| {raters} | {'yes' if base else 'no'} | {mean:g} | {sd:g} | {np.mean(found):.2f} | {shares} |")


if __name__ == "__main__":
    main(())
