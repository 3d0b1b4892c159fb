"""Drift over the session: how often it is said, and how near judgments and figures are with it and without.

    python evidence/coverage.py drift [--studies 250]
    python evidence/coverage.py drift --judgments 40     how near judgments come, by the shape of drift
    python evidence/coverage.py drift --figures 40       how near systems' figures come

Raters rate 60 pairs each, of as many as three raters a pair need, in whole points without end: the pair's worth
(sd 1), the rater's offset (sd .5), the rater's slope times the place in the order less a half, and noise (sd .7, or
.7 times a lognormal number of log sd .6 of each rater's own). With a base block, all begin with the same 15 pairs, in
one order or each in their own, as the app has it. The truth is the raters' mean slope. The error of a share of 250 is
1.4 points at 95 %.

With --judgments, 12 raters drift by .8 on average (sd .4) in some shape: a line, a parabola, a step after the first
tenth, a step after three fifths. Printed are how often `calibrate --drift remove` took anything out; the variance of
judgments about the pairs' worth, over that with `--drift keep`; in what share of studies it was larger; and by how much
pairs of the base block lie above others, beyond their worth, with both.

With --figures, the collection, design and people are those of `careless` (60 queries, 12 raters, two ratings a pair),
none careless, and raters' ratings rise from first to last by a normal number, in points of a scale from 1 to 5. True is
what raters without drift say. Bias is in the interval's own standard errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from evidence.simulations.careless import INDICES, QUERIES, figures_of, world_of
from relstudy.analysis.planning.route import ScoredStudy
from relstudy.calibration.drift import UNLIKELY, session_drift
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.tables.ratings import check_ratings
from relstudy.calibration.tables.session import session_order
from relstudy.common.runtime.console import progress
from relstudy.common.tables.checked_table import Checked

RATINGS, BASE, EACH, UNEVEN = 60, 15, 3, 0.6
BASES = ("no", "one order", "own order")
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda place: 0 * place,
    "line": lambda place: place - 0.5,
    "parabola": lambda place: 4 * (place - 0.5) ** 2,
    "early step": lambda place: (place > 0.1) * 1.0,
    "late step": lambda place: (place > 0.6) * 1.0,
}
SIZE, APART = 0.8, 0.5
"""Of drift with --judgments, and how far raters are apart in it, as a share of it."""
DRIFTS = (0.0, 0.5, 1.0)
HOW = ("keep", "remove")


def ratings(
    random: np.random.Generator, raters: int, drift: Callable[[np.ndarray, int], np.ndarray], base: str, uneven: bool
) -> pd.DataFrame:
    """A table of ratings, with the pairs' worth.

    Parameters
    ----------
    drift : what is added at places from 0 to 1 to the ratings of a rater
    base : one of BASES
    uneven : whether each rater has noise of their own
    """
    first = 0 if base == "no" else BASE
    pairs = raters * RATINGS // EACH
    worth, offset = random.normal(size=pairs), 0.5 * random.normal(size=raters)
    noise = 0.7 * np.exp(UNEVEN * uneven * random.normal(size=raters))
    parts = []
    for rater in range(raters):
        common = random.permutation(first) if base == "own order" else np.arange(first)
        others = random.choice(np.arange(first, pairs), RATINGS - first, replace=False)
        pair = np.concatenate([common, others])
        value = 3 + worth[pair] + offset[rater] + drift(np.linspace(0, 1, RATINGS), rater)
        rating = np.round(value + noise[rater] * random.normal(size=RATINGS))
        columns = {"rater_id": rater, "pair_id": pair, "position": np.arange(RATINGS), "rating": rating}
        parts.append(pd.DataFrame({**columns, "worth": worth[pair], "base": pair < first}))
    return pd.concat(parts, ignore_index=True)


def print_slopes(studies: int, panels: Sequence[int]) -> None:
    """A row a world: how often the interval of the mean slope holds the truth, and what is said and taken out."""
    head = ("raters", "base block", "mean slope", "sd of slopes", "noise", "mean estimate", "covered")
    head += ("differ", "said", "taken out")
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for raters in panels:
        for base, mean, sd, uneven in (
            ("one order", 0, 0, False), ("own order", 0, 0, False), ("no", 0, 0, False), ("no", 0, 0, True),
            ("own order", 0, 0.5, False), ("no", 0, 0.5, False), ("no", 0, 0.5, True), ("no", -0.5, 0.5, False),
        ):  # fmt: skip
            random = np.random.default_rng([7, raters, BASES.index(base), int(10 * sd), int(-10 * mean), int(uneven)])
            found, marks = [], []
            for _ in range(studies):
                slope = mean + sd * random.normal(size=raters)
                line = lambda place, rater, slope=slope: slope[rater] * (place - 0.5)  # noqa: E731
                frame = ratings(random, raters, line, base, uneven)
                drift = session_drift(Panel.from_frame(frame), session_order(frame))
                if drift is None or drift.common.low is None or drift.common.high is None:
                    continue
                found.append(drift.common.value or 0.0)
                covered = drift.common.low <= mean <= drift.common.high
                marks.append((covered, drift.p < UNLIKELY, drift.is_found, drift.helps))
            shares = " | ".join(f"{100 * each:.1f} %" for each in np.mean(marks, axis=0))
            noise = "uneven" if uneven else "equal"
            print(f"| {raters} | {base} | {mean:g} | {sd:g} | {noise} | {np.mean(found):.2f} | {shares} |", flush=True)


def nearness(random: np.random.Generator, shape: str, base: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """With drift kept and removed: the variance of judgments about worths, and how far the base block lies above the
    rest (NaN if there is none); and whether anything was taken out."""
    size = SIZE * (1 + APART * random.normal(size=12))
    frame = ratings(random, 12, lambda place, rater: size[rater] * SHAPES[shape](place), base, False)
    pair = frame["pair_id"].map("x{}".format)
    block = np.where(frame["base"], "base", "unique")
    table = frame.assign(query_id="q", result_id=pair, block=block, handed_out="random", rating=frame["rating"] + 5)
    of_pair = table.groupby("result_id")[["worth", "base"]].first()
    table = table[["rater_id", "query_id", "result_id", "block", "handed_out", "position", "rating"]]
    given = check_ratings(Checked(table.astype({"rater_id": str}), "ratings.csv"))
    variance, above, out = [], [], False
    for how in HOW:
        done = calibrate(given, CalibrationOptions("pooled", drift=how))
        judgment = done.judgments.frame.set_index("result_id")["judgment"].astype(float)
        apart = judgment - of_pair["worth"][judgment.index]
        of_base = of_pair["base"][judgment.index].astype(bool)
        variance.append(float(np.var(apart)))
        above.append(float(apart[of_base].mean() - apart[~of_base].mean()) if of_base.any() else np.nan)
        out = done.drift_is_out
    return np.array(variance), np.array(above), out


def print_judgments(studies: int, shapes: Sequence[str]) -> None:
    """A row a shape of drift and base block: how near judgments come, and where the base block ends up."""
    head = (
        "drift",
        "base block",
        "taken out",
        "variance",
        "error",
        "larger in",
        "base block too high: kept",
        "removed",
    )
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for shape in shapes:
        for base in BASES:
            random = np.random.default_rng([8, list(SHAPES).index(shape), BASES.index(base)])
            rows = [nearness(random, shape, base) for _ in progress(range(studies), f"{shape}, {base}", studies)]
            variance, out = np.array([each[0] for each in rows]), np.mean([each[2] for each in rows])
            ratio = variance[:, 1].mean() / variance[:, 0].mean()
            change = variance[:, 1] - ratio * variance[:, 0]
            error = change.std() / studies**0.5 / variance[:, 0].mean()
            larger = np.mean(variance[:, 1] > variance[:, 0] + 1e-12)
            above = [f"{each:+.2f}" if base != "no" else "" for each in np.mean([each[1] for each in rows], axis=0)]
            cells = [f"{100 * out:.0f} %", f"{ratio:.3f}", f"{error:.3f}", f"{100 * larger:.0f} %", *above]
            print(f"| {shape} | {base} | {' | '.join(cells)} |", flush=True)


def biases(studies: int, sd: float, seed: int = 9) -> dict[str, np.ndarray]:
    """With drift kept and removed: of each study, index and figure (good, weak, difference), its error, the same in
    standard errors, and whether its interval holds the truth; float [studies, indices, 3, 3]."""
    world = world_of(0.0, 2)
    true = world.truth()
    drifting = replace(world, people=replace(world.people, drift=sd))
    found: dict[str, list[list[list[tuple[float, ...]]]]] = {how: [] for how in HOW}
    for number in progress(range(studies), f"drift {sd:g}", studies):
        study = drifting.draw(QUERIES, np.random.default_rng([seed, number]))
        for how in HOW:
            figures = figures_of(ScoredStudy.of(study, number, CalibrationOptions(drift=how)), true)  # type: ignore[arg-type]
            rows = [[(each[0] * each[2] / 3.92, each[0], each[1]) for each in figures[name]] for name in INDICES]
            found[how].append(rows)
    return {how: np.array(each, dtype=float) for how, each in found.items()}


def print_figures(studies: int, spreads: Sequence[float]) -> None:
    """A row a spread of drift and what is made of it: the bias of each index of the good and the weak system."""
    names = [part for name in ("r", "AP", "rank") for part in (f"{name} good", "se", "weak", "se", "covered")]
    print("| sd of drift | drift | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 2) + "|", flush=True)
    for sd in spreads:
        for how, found in biases(studies, sd).items():
            cells = []
            for each in np.moveaxis(found, 1, 0):
                (good, weak, _), covered = each.mean(axis=0), each[:, :, 2].mean()
                cells += [f"{good[0]:+.3f}", f"{good[1]:+.2f}", f"{weak[0]:+.3f}", f"{weak[1]:+.2f}", f"{covered:.0%}"]
            print(f"| {sd:g} | {how} | {' | '.join(cells)} |", flush=True)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py drift", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=250)
    parser.add_argument("--raters", type=int, nargs="+", default=[6, 12, 30])
    parser.add_argument("--judgments", type=int, help="so many studies a row, of judgments instead")
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--figures", type=int, help="so many studies a row, of systems' figures instead")
    parser.add_argument("--spreads", type=float, nargs="+", default=list(DRIFTS))
    given = parser.parse_args(argv)
    if given.judgments:
        print_judgments(given.judgments, given.shapes)
    elif given.figures:
        print_figures(given.figures, given.spreads)
    else:
        print_slopes(given.studies, given.raters)


if __name__ == "__main__":
    main(())
