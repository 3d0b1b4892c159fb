"""Agreement couple by couple of raters: weighted kappa and Spearman's correlation on the pairs that both rated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from relstudy.calibration.panel import Panel
from relstudy.calibration.two_way import FEW, LEAST_RATERS, interval, of_couples
from relstudy.common.estimates import Estimate
from relstudy.common.ranks import ranks

MOST_RATERS = 200
LEAST_COMMON = 5


@dataclass(frozen=True)
class Pairwise:
    """Agreement of two raters, averaged over rater pairs.

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
    """Weighted kappa and Spearman's correlation over all rater pairs on all pairs that both rated.

    Beyond 200 raters, on 200 drawn at random. Intervals are for raters and pairs like these.

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> agreement = pairwise(simulate_panel(3, 40, 0, seed=1).panel)
    >>> agreement.couples, agreement.kappa.value > 0.4
    (3, True)
    """
    part = panel.decided()
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
    kappa, spearman, enough = _couples(matrix)
    couples = int(np.count_nonzero(np.triu(enough, 1)))
    if not couples:
        reason = f"no two raters have {LEAST_COMMON} pairs in common"
        return Pairwise(Estimate.missing(reason), Estimate.missing(reason), 0)
    return Pairwise(
        _mean_of_couples(kappa, enough, matrix, kappa=True),
        _mean_of_couples(spearman, enough, ranks(matrix), kappa=False),
        couples,
    )


def _couples(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted kappa and Spearman of every couple of columns, and whether they have enough rows in common."""
    rated = ~np.isnan(matrix)
    present = rated.astype(float)
    enough = present.T @ present >= LEAST_COMMON
    np.fill_diagonal(enough, False)
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance, x, y, xx, yy = _common_moments(np.where(rated, matrix, 0.0), present)
        kappa = 2 * covariance / (xx + yy + (x - y) ** 2)
        if rated.all():
            covariance, _, _, xx, yy = _common_moments(ranks(matrix), present)
            spearman = covariance / np.sqrt(xx * yy)
        else:
            spearman = _spearman_with_gaps(matrix)
    return kappa, np.where(np.isfinite(spearman), spearman, np.nan), enough


def _mean_of_couples(values: np.ndarray, enough: np.ndarray, matrix: np.ndarray, *, kappa: bool) -> Estimate:
    """The mean over couples, with its interval.

    A rater's influence is how far their couples lie from the mean; a pair's, that of its products on each couple's
    moments, and a single rating's likewise.
    """
    used = enough & np.isfinite(values)
    couples = np.count_nonzero(used) / 2
    if not couples:
        return Estimate.missing("both raters of every couple are constant")
    value = float(values[used].mean())
    raters = int(np.count_nonzero(used.any(axis=0)))
    if raters < LEAST_RATERS:
        return Estimate(value, reason=FEW)
    by_rater = np.where(used, values - value, 0.0).sum(axis=1) / couples
    rated = ~np.isnan(matrix)
    cells = _cell_influences(values, used, rated, np.where(rated, matrix, 0.0), kappa=kappa) / couples
    by_pair = cells.sum(axis=1) / 2
    sizes = (raters, int(np.count_nonzero(rated.sum(axis=1) > 1)))
    sums = float(by_rater @ by_rater) * of_couples(raters), float(by_pair @ by_pair)
    return interval(value, sums, float((cells**2).sum()), sizes, "fisher")


def _cell_influences(
    values: np.ndarray, used: np.ndarray, rated: np.ndarray, filled: np.ndarray, *, kappa: bool
) -> np.ndarray:
    """Influence of each rating's weight on the sum over couples; float array of the matrix's shape.

    With a and b a row's deviations from the couple's means x and y, kappa's influence is that of 2 a b less kappa times
    a^2 + b^2 + 2 (x - y) (a - b) + (x - y)^2, over its denominator; Spearman's that of a correlation of ranks. The sums
    over the couples of each rater are products of matrices.
    """
    present = rated.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        n = present.T @ present
        _, x, y, xx, yy = _common_moments(filled, present)
        base = (xx + yy + (x - y) ** 2) / 2 if kappa else np.sqrt(xx * yy)
        ratio = np.ones_like(base) if kappa else np.sqrt(yy / xx)
        gain = 1 / (base * n)
    gain, ratio, x, y, values = (np.where(used, part, 0.0) for part in (gain, ratio, x, y, values))
    safe = np.where(ratio > 0, ratio, 1.0)
    first_part, second_part = gain * values / 2 * safe, gain * values / 2 / safe
    square = filled**2
    product = filled * (filled @ gain.T - present @ (gain * y).T) - filled @ (gain * x).T + present @ (gain * x * y).T
    spread = (
        square * (present @ first_part.T)
        - 2 * filled * (present @ (first_part * x).T)
        + present @ (first_part * x * x).T
    )
    spread += square @ second_part.T - 2 * filled @ (second_part * y).T + present @ (second_part * y * y).T
    if kappa:
        gap = gain * values * (x - y)
        spread += filled * (present @ gap.T) - filled @ gap.T - present @ (gap * (x - y) / 2).T
    return np.asarray((product - spread) * present)


def _common_moments(filled: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, ...]:
    """Covariance, means and variances of couples of columns on their common rows, arrays (R, R)."""
    n = present.T @ present
    x = (filled.T @ present) / n
    y = x.T
    xx, yy = ((filled**2).T @ present) / n - x * x, (present.T @ filled**2) / n - y * y
    xx, yy = np.where(xx > 1e-12, xx, 0.0), np.where(yy > 1e-12, yy, 0.0)
    return (filled.T @ filled) / n - x * y, x, y, xx, yy


def _spearman_with_gaps(matrix: np.ndarray) -> np.ndarray:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        frame = pd.DataFrame(matrix).corr(method="spearman", min_periods=LEAST_COMMON)
    return frame.to_numpy(copy=True)
