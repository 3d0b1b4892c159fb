"""How far raters agree: Krippendorff's alpha, intraclass correlations, weighted kappa, Spearman.

Every figure is an `Estimate` without interval, or the reason why it can't be computed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from relstudy.calibration.panel import Panel
from relstudy.common.estimates import Estimate

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MOST_VALUES = 100
MOST_RATERS = 200
LEAST_COMMON = 5


def krippendorff_alpha(panel: Panel, level: Level) -> Estimate:
    """Krippendorff's alpha over all pairs, by the `krippendorff` package.

    Parameters
    ----------
    panel : ratings; undecided ones are missing data
    level : "nominal", "ordinal" or "interval"; with more than 100 distinct values only "interval", which is
        then computed from variances (the same number)

    References
    ----------
    Krippendorff 2011.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("abab"), "pair_id": list("ppqq"), "rating": [1, 1, 2, 3]})
    >>> round(krippendorff_alpha(Panel.from_frame(frame), "interval").value, 4)
    0.7273
    """
    import krippendorff

    decided = panel.decided()
    values, code = np.unique(decided.rating, return_inverse=True)
    if len(values) < 2:
        return Estimate.missing("every rating is the same")
    if not (decided.by_pair() > 1).any():
        return Estimate.missing("no pair has two ratings")
    if len(values) > MOST_VALUES:
        if level != "interval":
            return Estimate.missing(f"ratings take {len(values)} values; this is for categories")
        return Estimate(interval_alpha(decided))
    cells = np.bincount(decided.pair * len(values) + code, minlength=decided.n_pairs * len(values))
    counts = cells.reshape(decided.n_pairs, len(values))
    counts = counts[counts.sum(axis=1) > 1]
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return Estimate.missing("every rating is the same on the pairs with two ratings")
    return Estimate(float(krippendorff.alpha(value_counts=counts, value_domain=values, level_of_measurement=level)))


def interval_alpha(panel: Panel) -> float:
    """Interval alpha from variances: 1 - D_o / D_e, both as mean squared differences."""
    count = panel.by_pair()
    several = panel.keep(count[panel.pair] > 1)
    mean = several.by_pair(several.rating) / np.maximum(count, 1)
    within = (several.rating - mean[several.pair]) ** 2 * (count / np.maximum(count - 1, 1))[several.pair]
    return float(1 - within.mean() / several.rating.var(ddof=1))


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations (Shrout and Fleiss 1979).

    Parameters
    ----------
    one : ICC(1), any raters, unequal numbers a pair allowed
    two : ICC(2,1), the same raters on every pair, raters random, absolute agreement, one rating
    two_mean : ICC(2,k), the same of the mean over the k raters
    pairs, raters : size of the complete block that ICC(2,.) rests on
    """

    one: Estimate
    two: Estimate
    two_mean: Estimate
    pairs: int
    raters: int


def intraclass(panel: Panel) -> Icc:
    """ICC(1) over all pairs; ICC(2,1) and ICC(2,k) over the base block's raters and pairs without a gap.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("ababab"), "pair_id": list("ppqqss"), "rating": [1, 2, 3, 4, 5, 6]})
    >>> icc = intraclass(Panel.from_frame(frame))
    >>> round(icc.one.value, 3), round(icc.two.value, 3), icc.pairs, icc.raters
    (0.882, 0.889, 3, 2)
    """
    decided = panel.decided()
    matrix = complete_block(decided)
    two = two_mean = Estimate.missing("no two pairs were rated by the same two raters throughout")
    pairs, raters = matrix.shape
    if pairs > 1 and raters > 1:
        two, two_mean = _two_way(matrix)
    return Icc(_one_way(decided), two, two_mean, pairs, raters)


def complete_block(panel: Panel) -> np.ndarray:
    """Base pairs by raters without a gap: raters who rated the whole block, or else pairs that all its raters rated.

    Whichever leaves more ratings; float array (pairs, raters).
    """
    rows = panel.base[panel.pair]
    block = panel.keep(rows)
    pairs, raters = np.flatnonzero(block.by_pair()), np.flatnonzero(block.by_rater())
    if not len(pairs):
        return np.empty((0, 0))
    n = block.by_rater()[raters]
    whole = raters[n == len(pairs)]
    by_all = np.flatnonzero(block.by_pair() == len(raters))
    if len(whole) * len(pairs) >= len(by_all) * len(raters):
        raters = whole
    else:
        pairs = by_all
    row, column = np.full(panel.n_pairs, -1), np.full(panel.n_raters, -1)
    row[pairs], column[raters] = np.arange(len(pairs)), np.arange(len(raters))
    block = block.keep((row[block.pair] >= 0) & (column[block.rater] >= 0))
    matrix = np.empty((len(pairs), len(raters)))
    matrix[row[block.pair], column[block.rater]] = block.rating
    return matrix


def _one_way(panel: Panel) -> Estimate:
    count = panel.by_pair()
    rows = count[panel.pair] > 1
    panel, count = panel.keep(rows), count[count > 1]
    n, groups = len(panel.rating), len(count)
    if groups < 2:
        return Estimate.missing("fewer than two pairs have two ratings")
    size = panel.by_pair()
    mean = panel.by_pair(panel.rating) / np.maximum(size, 1)
    within = float(((panel.rating - mean[panel.pair]) ** 2).sum()) / (n - groups)
    between = float(((mean[panel.pair] - panel.rating.mean()) ** 2).sum()) / (groups - 1)
    typical = (n - float((count**2).sum()) / n) / (groups - 1)
    total = between + (typical - 1) * within
    return Estimate((between - within) / total) if total > 0 else Estimate.missing("every rating is the same")


def _two_way(matrix: np.ndarray) -> tuple[Estimate, Estimate]:
    n, k = matrix.shape
    grand, rows, columns = matrix.mean(), matrix.mean(axis=1), matrix.mean(axis=0)
    pairs = k * float(((rows - grand) ** 2).sum()) / (n - 1)
    raters = n * float(((columns - grand) ** 2).sum()) / (k - 1)
    residual = matrix - rows[:, None] - columns[None, :] + grand
    error = float((residual**2).sum()) / ((n - 1) * (k - 1))
    single = pairs + (k - 1) * error + k * (raters - error) / n
    average = pairs + (raters - error) / n
    if single <= 0 or average <= 0:
        reason = "ratings of the base block do not vary between pairs"
        return Estimate.missing(reason), Estimate.missing(reason)
    return Estimate((pairs - error) / single), Estimate((pairs - error) / average)


@dataclass(frozen=True)
class Pairwise:
    """Agreement of two raters, averaged over couples of raters.

    Parameters
    ----------
    kappa : quadratically weighted kappa (Cohen 1968)
    spearman : rank correlation
    couples : how many couples with at least five common pairs it rests on
    """

    kappa: Estimate
    spearman: Estimate
    couples: int


def pairwise(panel: Panel, seed: int = 0) -> Pairwise:
    """Weighted kappa and Spearman's correlation over all couples of raters on the pairs both rated.

    On the base block where there is one, else on all pairs; beyond 200 raters, on 200 drawn at random.

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> agreement = pairwise(simulate_panel(3, 40, 0, seed=1).panel)
    >>> agreement.couples, agreement.kappa.value > 0.4
    (3, True)
    """
    decided = panel.decided()
    base = decided.base[decided.pair]
    part = decided.keep(base) if base.any() else decided
    raters = np.flatnonzero(part.by_rater())
    if len(raters) > MOST_RATERS:
        raters = np.sort(np.random.default_rng(seed).choice(raters, MOST_RATERS, replace=False))
    column = np.full(panel.n_raters, -1)
    column[raters] = np.arange(len(raters))
    part = part.keep(column[part.rater] >= 0)
    common = part.by_pair() > 1
    part = part.keep(common[part.pair])
    row = np.cumsum(common) - 1
    matrix = np.full((int(common.sum()), len(raters)), np.nan)
    matrix[row[part.pair], column[part.rater]] = part.rating
    reason = f"no two raters have {LEAST_COMMON} pairs in common"
    kappas, correlations = _couples(matrix)
    if not len(kappas):
        return Pairwise(Estimate.missing(reason), Estimate.missing(reason), 0)
    varied = np.isfinite(correlations)
    kappa_known = np.isfinite(kappas)
    flat = "both raters of every couple are constant"
    return Pairwise(
        Estimate(float(kappas[kappa_known].mean())) if kappa_known.any() else Estimate.missing(flat),
        Estimate(float(correlations[varied].mean())) if varied.any() else Estimate.missing(flat),
        len(kappas),
    )


def _couples(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted kappa and Spearman of every couple of columns with enough common rows."""
    rated = ~np.isnan(matrix)
    upper = np.triu_indices(matrix.shape[1], 1)
    if not len(upper[0]):
        return np.empty(0), np.empty(0)
    here = rated.astype(float)
    n = (here.T @ here)[upper]
    enough = n >= LEAST_COMMON
    with np.errstate(invalid="ignore", divide="ignore"):
        filled = np.where(rated, matrix, 0.0)
        covariance, x, y, xx, yy = _common_moments(filled, here, upper, n)
        kappa = 2 * covariance / (xx + yy + (x - y) ** 2)
        if rated.all():
            ranks = rankdata(matrix, axis=0)
            covariance, _, _, xx, yy = _common_moments(ranks, here, upper, n)
            spearman = covariance / np.sqrt(xx * yy)
        else:
            spearman = _spearman_with_gaps(matrix)[upper]
    spearman = np.where(np.isfinite(spearman), spearman, np.nan)
    return kappa[enough], spearman[enough]


def _common_moments(
    filled: np.ndarray, here: np.ndarray, upper: tuple[np.ndarray, ...], n: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Covariance, means and variances of couples of columns on their common rows."""
    x, y = (filled.T @ here)[upper] / n, (here.T @ filled)[upper] / n
    xx, yy = ((filled**2).T @ here)[upper] / n - x * x, (here.T @ filled**2)[upper] / n - y * y
    xx, yy = np.where(xx > 1e-12, xx, 0.0), np.where(yy > 1e-12, yy, 0.0)
    return (filled.T @ filled)[upper] / n - x * y, x, y, xx, yy


def _spearman_with_gaps(matrix: np.ndarray) -> np.ndarray:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        frame = pd.DataFrame(matrix).corr(method="spearman", min_periods=LEAST_COMMON)
    return frame.to_numpy()
