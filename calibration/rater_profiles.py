"""Rater profiles: each rater's moments, line, agreement with the others, and flags worth a look.

A flag is a reason to look, never a reason to drop: nobody's ratings are left out because of one. Who did not look at
the pairs is a question of its own (`chance_of_care`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import special

from relstudy.calibration.methods.itu import screened
from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import RaterNoise
from relstudy.common.tables.meaning.pair_assignment import LEAST_SECONDS

FLAGS = {
    "constant": "the same rating on every pair",
    "reversed": "ratings go down where the others' go up",
    "disagrees": "no sign of agreement with the others",
    "agrees less": "agreement with the others far below the other raters'",
    "BT.500": "far from the others on both sides more often than ITU-R BT.500's screening allows",
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
LEAST_FOR_CARE = 20
"""Common pairs from which on it can be told who looked; with fewer, honest raters of few good pairs would be named."""
LEAST_CARE = 0.5
"""A rater who is less likely than this to have looked is called careless."""
LITTLE = 0.5
"""A rater whose agreement is below this share of the panel's median agrees little."""
TURNS = 20
LEAST_RATERS = 8
FEWEST_TO_COMPARE = 4
FAR = 3.0
Z95 = 1.645


def agreement_with_others(panel: Panel, counted: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Correlation of each rater's ratings with the mean of the others' on the same pairs, and how many pairs.

    Parameters
    ----------
    panel : calibrated ratings, for a fair mean
    counted : the raters who are counted among the others, bool array (R); None: all

    Returns
    -------
    correlation (R), NaN where it can't be computed; number of pairs (R)
    """
    decided = panel.decided()
    counts = np.ones(len(decided.rating)) if counted is None else counted[decided.rater].astype(float)
    x = decided.rating / (np.ptp(decided.rating) or 1.0 if len(decided.rating) else 1.0)
    others = decided.by_pair(counts)[decided.pair] - counts
    shared = others > 0
    y = (decided.by_pair(counts * x)[decided.pair] - counts * x)[shared] / others[shared]
    part, x = decided.keep(shared), x[shared]
    n = part.by_rater()
    xx, yy, xy = _products(part, x, y)
    return _correlation((n >= 3) & (xx > 1e-9) & (yy > 1e-9), xx, yy, xy), n


def agrees_little(panel: Panel) -> np.ndarray:
    """Raters whose agreement is below half of the panel's median, over at least twenty common pairs; bool array (R).

    Whoever is found is left out of the others' mean and of the median, and all are compared again: several raters who
    say yes to everything would pass each other off as the panel.

    Parameters
    ----------
    panel : calibrated ratings

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(6, 40, 0, seed=2).panel
    >>> random = np.random.default_rng(0).integers(1, 6, len(panel.rating))
    >>> agrees_little(panel.with_rating(np.where(panel.rater == 4, random, panel.rating))).tolist()
    [False, False, False, False, True, False]
    """
    low = np.zeros(panel.n_raters, dtype=bool)
    for _ in range(TURNS):
        agreement, common = agreement_with_others(panel, ~low)
        known = np.isfinite(agreement) & (common >= LEAST_FOR_CARE)
        if np.count_nonzero(known & ~low) < FEWEST_TO_COMPARE:
            break
        least = LITTLE * float(np.median(agreement[known & ~low]))
        found = low | (known & (np.nan_to_num(agreement, nan=1.0) < least))
        if (found == low).all():
            break
        low = found
    return low


def _products(panel: Panel, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums of x x, y y and x y (N) over each rater, both from the rater's means; float arrays (R)."""
    x, y = (values - panel.rater_means(values)[panel.rater] for values in (x, y))
    return panel.by_rater(x * x), panel.by_rater(y * y), panel.by_rater(x * y)


def _correlation(usable: np.ndarray, xx: np.ndarray, yy: np.ndarray, xy: np.ndarray) -> np.ndarray:
    """Each rater's correlation from the sums of `_products`, NaN where they are not usable; float array (R)."""
    return np.where(usable, xy / np.sqrt(np.where(usable, xx * yy, 1.0)), np.nan)


def chance_of_care(panel: Panel, lines: Lines) -> np.ndarray:
    """The chance that each rater looked at the pairs, float array (R), 0 to 1; 1 where too little is known to tell.

    A mixture of two kinds of raters, fitted to how far each one's ratings go with what the others say of the same pairs
    (on Fisher's z scale, by expectation and maximisation). Who does not look agrees by chance alone; who looks, as
    careful raters do, whose agreement differs by a quarter to a third of its mean. The share of raters who do not look
    has a prior as of one among six more raters. Others count as far as they look themselves. A pair that few others
    rated says less: their mean is shrunk as that of n ratings is whose noise is as large as the differences between
    pairs. Nobody is careless of whom fewer than twenty such pairs are known, and who gave one rating to twenty or more
    that others told apart did not look.

    Examples
    --------
    >>> from relstudy.calibration.methods.by_name import fit_lines
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(6, 40, 0, seed=2).panel
    >>> random = np.random.default_rng(0).integers(1, 6, len(panel.rating))
    >>> mixed = panel.with_rating(np.where(panel.rater == 4, random, panel.rating))
    >>> chance_of_care(mixed, fit_lines(mixed, "none")).round(1).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.0, 1.0]
    """
    decided = panel.with_rating(lines.calibrated(panel)).decided()
    care = np.ones(panel.n_raters)
    for turn in range(TURNS):
        agreement, common, constant = _agreement_with_careful(decided, panel, np.maximum(care, 1e-3))
        finite = np.isfinite(agreement)
        if np.count_nonzero(finite) < 3:
            return np.where(constant, 0.0, 1.0)
        z = np.where(finite, np.arctanh(np.clip(np.nan_to_num(agreement), 0, 0.999)), 0.0)
        error = 1 / np.maximum(common - 3, 1)
        if turn == 0:
            care = np.where(finite & (z < np.quantile(z[finite], 0.75) / 2), 0.1, 1.0)
        mean, between = _of_careful(z, error, care * finite)
        judged = finite | constant
        share = ((1 - care)[judged].sum() + 1) / (np.count_nonzero(judged) + 6)
        careless = np.log(share) - 0.5 * np.log(error) - z**2 / (2 * error)
        careful = np.log1p(-share) - 0.5 * np.log(between + error) - (z - mean) ** 2 / (2 * (between + error))
        before, care = care, np.where(finite & (z < mean), special.expit(careful - careless), 1.0)
        care[constant] = 0.0
        if np.abs(care - before).max() < 0.01:
            break
    return care


def _agreement_with_careful(
    decided: Panel, given: Panel, care: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each rater's correlation with what the others, as far as they look, say of the same pairs (NaN where that is not
    known), how many pairs these are, and who gave one rating to all of them."""
    weight = care[decided.rater]
    mass = decided.by_pair(weight)[decided.pair] - weight
    rows = mass > 1e-9
    total = decided.by_pair(weight * decided.rating)[decided.pair] - weight * decided.rating
    shared, mass = decided.keep(rows), mass[rows]
    others = total[rows] / mass
    others = (others - others.mean()) * mass / (mass + 1) if len(others) else others
    n = shared.by_rater()
    xx, yy, xy = _products(shared, shared.rating, others)
    enough = (n >= LEAST_FOR_CARE) & (yy > 1e-9)
    constant = enough & _constant(given.decided().keep(rows))
    return _correlation(enough & ~constant & (xx > 1e-9), xx, yy, xy), n, constant


def _of_careful(z: np.ndarray, error: np.ndarray, care: np.ndarray) -> tuple[float, float]:
    """Mean and variance between careful raters of agreement on Fisher's z scale, with its errors taken out."""
    mean, between = 0.0, 0.0
    for _ in range(3):
        precision = care / (between + error)
        mean = float(precision @ z / precision.sum())
        found = float(care @ ((z - mean) ** 2 - error) / care.sum())
        between = float(np.clip(found, (mean / 4) ** 2, (mean / 3) ** 2))
    return mean, between


def rater_profiles(
    panel: Panel,
    lines: Lines,
    seconds: np.ndarray | None = None,
    noise: RaterNoise | None = None,
    care: np.ndarray | None = None,
    not_shown: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """One row per rater.

    Parameters
    ----------
    panel : all ratings, undecided ones as NaN
    lines : the raters' lines
    seconds : time each rating took, float array (N), or None
    noise : each rater's noise and weight, or None
    care : the chance that each rater looked, or None
    not_shown : how many results could not be shown to a rater, who is not asked for them

    Returns
    -------
    DataFrame: rater_id, n_base, mean, spread (over the base block; over all ratings if there is none), slope,
    offset, agreement (calibrated, with the others' mean; empty where it can't be computed), flags (joined by "; "),
    n_ratings, undecided, median_seconds where times are known; noise (standard deviation of a calibrated rating, empty
    where no pair has two) and weight (of a rating in its judgment) where given; care likewise

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
    if care is not None:
        frame["care"] = care
    lost = np.array([(not_shown or {}).get(str(rater), 0) for rater in panel.raters])
    flags = _constants(panel, frame, lost)
    flags |= _disagreement(agreement, common)
    flags["BT.500"] = screened(panel)
    if seconds is not None and np.isfinite(seconds).any():
        times = pd.Series(seconds).groupby(panel.rater).median().reindex(range(panel.n_raters)).to_numpy()
        frame["median_seconds"] = times
        with np.errstate(invalid="ignore"):
            flags["too fast"] = (times < FAST_SHARE * np.nanmedian(times)) & (np.nanmedian(times) >= LEAST_SECONDS)
    frame["flags"] = _joined(flags, panel.n_raters)
    first = ["rater_id", "n_base", "mean", "spread", "slope", "offset", "agreement", "flags"]
    return frame[[*first, *(name for name in frame if name not in first)]]


def _constants(panel: Panel, frame: pd.DataFrame, lost: np.ndarray) -> dict[str, np.ndarray]:
    decided = panel.decided()
    rows = decided.base[decided.pair]
    n, base = frame["n_ratings"].to_numpy(), frame["n_base"].to_numpy()
    flags = {
        "constant": _constant(decided) & (n >= 3),
        "often undecided": frame["undecided"].to_numpy() > n,
    }
    if rows.any():
        size = int(np.count_nonzero(panel.base)) - lost
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
