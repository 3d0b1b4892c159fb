"""Rater profiles: each rater's moments, line, agreement with the others, and flags worth a look.

A flag is a reason to look, never a reason to drop: nobody's ratings are left out because of one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.noise import RaterNoise
from relstudy.calibration.panel import Panel
from relstudy.common.times import LEAST_SECONDS

FLAGS = {
    "constant": "the same rating on every pair",
    "reversed": "ratings go down where the others' go up",
    "disagrees": "no sign of agreement with the others",
    "agrees less": "agreement with the others far below the other raters'",
    "too fast": "median time below 40 % of the panel's",
    "base block incomplete": "base pairs are missing, or more than a fifth of them undecided",
    "too few base ratings": "fewer than two base ratings: only the offset is corrected",
    "no base ratings": "no base rating",
    "constant on base": "the same rating on every base pair: only the offset is corrected",
    "often undecided": "undecided on more than half of the pairs",
}
FAST_SHARE = 0.4
ENOUGH_DECIDED = 0.8
LEAST_FOR_AGREEMENT = 10
LEAST_RATERS = 8
FAR = 3.0
Z95 = 1.645


def agreement_with_others(panel: Panel) -> tuple[np.ndarray, np.ndarray]:
    """Correlation of each rater's ratings with the mean of the others' on the same pairs, and how many pairs.

    Returns
    -------
    correlation (R), NaN where it can't be computed; number of pairs (R). Pass calibrated ratings for a fair mean.
    """
    decided = panel.decided()
    count = decided.by_pair()
    part = decided.keep(count[decided.pair] > 1)
    n = part.by_rater()
    x = part.rating / (np.ptp(decided.rating) or 1.0 if len(decided.rating) else 1.0)
    y = (part.by_pair(x)[part.pair] - x) / (count[part.pair] - 1)
    rated = np.maximum(n, 1)
    x = x - (part.by_rater(x) / rated)[part.rater]
    y = y - (part.by_rater(y) / rated)[part.rater]
    xx, yy = part.by_rater(x * x), part.by_rater(y * y)
    usable = (n >= 3) & (xx > 1e-9) & (yy > 1e-9)
    scale = np.sqrt(np.where(usable, xx * yy, 1.0))
    return np.where(usable, part.by_rater(x * y) / scale, np.nan), n


def careless(panel: Panel, lines: Lines) -> np.ndarray:
    """Raters who look careless, bool array (R): their ratings say nothing of what the others' do, and enough of them
    are known to tell.

    Careless is who gave the same rating on ten pairs or more, although what others gave to them differs, and who has no
    agreement above zero with the others while theirs is below the panel's median, both at the 95 % level on Fisher's z
    scale. A careful rater of few pairs, whose agreement cannot be seen yet, is therefore none of them.

    Examples
    --------
    >>> from relstudy.calibration.methods.by_name import fit_lines
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(6, 40, 0, seed=2).panel
    >>> random = np.random.default_rng(0).integers(1, 6, len(panel.rating))
    >>> mixed = panel.with_rating(np.where(panel.rater == 4, random, panel.rating))
    >>> careless(mixed, fit_lines(mixed, "none")).tolist()
    [False, False, False, False, True, False]
    """
    agreement, common = agreement_with_others(panel.with_rating(lines.calibrated(panel)))
    decided = panel.decided()
    count = decided.by_pair()
    shared = decided.keep(count[decided.pair] > 1)
    several = count[shared.pair] - 1
    others = shared.with_rating((shared.by_pair(shared.rating)[shared.pair] - shared.rating) / several)
    constant = _constant(shared) & ~_constant(others) & (shared.by_rater() >= LEAST_FOR_AGREEMENT)
    known = np.isfinite(agreement) & (common >= LEAST_FOR_AGREEMENT)
    if not known.any():
        return constant
    scale = np.arctanh(np.where(known, np.clip(agreement, -0.999999, 0.999999), 0.0))
    error = 1 / np.sqrt(np.maximum(common - 3, 1))
    unlike = known & (scale < Z95 * error) & (scale < np.median(scale[known]) - Z95 * error)
    return constant | unlike


def rater_profiles(
    panel: Panel, lines: Lines, seconds: np.ndarray | None = None, noise: RaterNoise | None = None
) -> pd.DataFrame:
    """One row per rater.

    Parameters
    ----------
    panel : all ratings, undecided ones as NaN
    lines : the raters' lines
    seconds : time each rating took, float array (N), or None
    noise : each rater's noise and weight, or None

    Returns
    -------
    DataFrame: rater_id, n_base, mean, spread (over the base block; over all ratings where there is none), slope,
    offset, agreement (calibrated, with the others' mean; empty where it can't be computed), flags (joined by "; "),
    n_ratings, undecided, median_seconds where times are known; noise (standard deviation of a calibrated rating, empty
    where no pair has two) and weight (of a rating in its judgment, geometric mean 1) where given

    Examples
    --------
    >>> from relstudy.calibration.methods.by_name import fit_lines
    >>> frame = pd.DataFrame({"rater_id": list("aaabbb"), "pair_id": list("pqspqs"), "rating": [1, 3, 5, 3, 3, 3]})
    >>> panel = Panel.from_frame(frame)
    >>> rater_profiles(panel, fit_lines(panel, "mean"))["flags"].tolist()
    ['', 'constant; constant on base']
    """
    decided = panel.decided()
    base = decided.base[decided.pair]
    block = decided.keep(base) if base.any() else decided
    n, n_base = block.by_rater(), decided.by_rater(base)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = block.by_rater(block.rating) / n
        spread = np.sqrt(block.by_rater((block.rating - mean[block.rater]) ** 2) / (n - 1))
    agreement, common = agreement_with_others(panel.with_rating(lines.calibrated(panel)))
    frame = pd.DataFrame(
        {
            "rater_id": panel.raters,
            "n_base": n_base.astype(int),
            "mean": mean,
            "spread": np.where(n > 1, spread, np.nan),
            "slope": lines.slope,
            "offset": lines.offset,
            "agreement": agreement,
            "n_ratings": decided.by_rater().astype(int),
            "undecided": (panel.by_rater() - decided.by_rater()).astype(int),
        }
    )
    if noise is not None:
        frame["noise"], frame["weight"] = np.sqrt(noise.variance), noise.weight
    flags = _constants(panel, frame)
    flags |= _disagreement(agreement, common)
    if seconds is not None and np.isfinite(seconds).any():
        times = pd.Series(seconds).groupby(panel.rater).median().reindex(range(panel.n_raters)).to_numpy()
        frame["median_seconds"] = times
        with np.errstate(invalid="ignore"):
            flags["too fast"] = (times < FAST_SHARE * np.nanmedian(times)) & (np.nanmedian(times) >= LEAST_SECONDS)
    frame["flags"] = _joined(flags, panel.n_raters)
    first = ["rater_id", "n_base", "mean", "spread", "slope", "offset", "agreement", "flags"]
    return frame[[*first, *(name for name in frame if name not in first)]]


def _constants(panel: Panel, frame: pd.DataFrame) -> dict[str, np.ndarray]:
    decided = panel.decided()
    rows = decided.base[decided.pair]
    n, base = frame["n_ratings"].to_numpy(), frame["n_base"].to_numpy()
    flags = {
        "constant": _constant(decided) & (n >= 3),
        "often undecided": frame["undecided"].to_numpy() > n,
    }
    if rows.any():
        size = int(np.count_nonzero(panel.base))
        flags["constant on base"] = _constant(decided.keep(rows)) & (base >= 2)
        flags["no base ratings"] = base == 0
        flags["too few base ratings"] = base == 1
        shown = panel.by_rater(panel.base[panel.pair].astype(float))
        flags["base block incomplete"] = ((shown < size) | (base < ENOUGH_DECIDED * size)) & (base > 1)
    return flags


def _constant(panel: Panel) -> np.ndarray:
    low, high = np.full(panel.n_raters, np.inf), np.full(panel.n_raters, -np.inf)
    np.minimum.at(low, panel.rater, panel.rating)
    np.maximum.at(high, panel.rater, panel.rating)
    return np.asarray(low == high)


def _disagreement(agreement: np.ndarray, common: np.ndarray) -> dict[str, np.ndarray]:
    """Flags by each rater's correlation with the others (`agreement`, over `common` pairs), on Fisher's z scale.

    reversed: below zero at the 95 % level. disagrees: not above zero at that level. agrees less: more than three
    robust standard deviations (1.4826 times the median absolute deviation) below the raters' median.
    """
    enough = np.isfinite(agreement) & (common >= LEAST_FOR_AGREEMENT)
    safe = np.where(enough, np.clip(agreement, -0.999999, 0.999999), 0.0)
    z = np.arctanh(safe) * np.sqrt(np.maximum(common - 3, 1))
    backwards = enough & (z < -Z95)
    alone = enough & (z < Z95) & ~backwards
    flags = {"reversed": backwards, "disagrees": alone}
    if np.count_nonzero(enough) >= LEAST_RATERS:
        scale = np.arctanh(safe)
        centre = np.median(scale[enough])
        width = 1.4826 * np.median(np.abs(scale[enough] - centre))
        flags["agrees less"] = enough & (scale < centre - FAR * width) & ~backwards & ~alone
    return flags


def _joined(flags: dict[str, np.ndarray], raters: int) -> np.ndarray:
    text = np.full(raters, "", dtype=object)
    for name in FLAGS:
        if name in flags:
            raised = flags[name]
            text[raised] = [f"{before}; {name}" if before else name for before in text[raised]]
    return text
