"""Intraclass correlations: ICC(1) over all pairs, and those of the two-way layout over a block without a gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.two_way_intervals import (
    FEW,
    LEAST_RATERS,
    Figure,
    interval,
    mean_over_pairs,
    mean_over_ratings,
    of_couples,
    squared_differences,
    variance_of_rounding,
)
from relstudy.common.results.estimates import Estimate

LEAST_PAIRS = 5
"""With fewer pairs in the block without a gap, a two-way correlation is an accident of these."""
WIDEST = 50.0
"""Beyond this many units of a logarithm an interval ends where a correlation does, in all digits."""


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations (Shrout and Fleiss 1979; McGraw and Wong 1996), with intervals for raters and pairs.

    Parameters
    ----------
    one : ICC(1), any raters, unequal numbers a pair allowed
    one_mean : ICC(1,k), of the mean of k such ratings, k the typical number a pair
    two : ICC(2,1), the same raters on every pair, raters random, absolute agreement, one rating
    two_mean : ICC(2,k), the same of the mean over the k raters
    consistency, consistency_mean : ICC(C,1) and ICC(C,k), where raters' levels don't count
    pairs, raters : size of the complete block that all but ICC(1,.) rest on
    typical : the k of ICC(1,k)
    """

    one: Estimate
    one_mean: Estimate
    two: Estimate
    two_mean: Estimate
    consistency: Estimate
    consistency_mean: Estimate
    pairs: int
    raters: int
    typical: float

    def by_name(self) -> dict[str, Estimate]:
        """The six by the names of the output."""
        return {
            "icc1": self.one,
            "icc1k": self.one_mean,
            "icc2": self.two,
            "icc2k": self.two_mean,
            "iccc1": self.consistency,
            "iccck": self.consistency_mean,
        }


def intraclass(panel: Panel) -> Icc:
    """ICC(1,.) over all pairs; ICC(2,.) and ICC(C,.) over the base block's raters and pairs without a gap.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("ab") * 5, "pair_id": list("ppqqssttuu"), "rating": range(10)})
    >>> icc = intraclass(Panel.from_frame(frame))
    >>> round(icc.one.value, 3), round(icc.two.value, 3), icc.pairs, icc.raters
    (0.951, 0.952, 5, 2)
    """
    decided = panel.decided()
    matrix = complete_block(decided)
    pairs, raters = matrix.shape
    one, one_mean, typical = _one_way(decided)
    if raters < 2 or pairs < 2:
        layout = [Estimate.missing("no two pairs were rated by the same two raters throughout")] * 4
    elif pairs < LEAST_PAIRS:
        layout = [Estimate.missing(f"only {pairs} pairs were rated by the same raters throughout")] * 4
    else:
        layout = _two_way(matrix)
    two, two_mean, consistency, consistency_mean = layout
    return Icc(one, one_mean, two, two_mean, consistency, consistency_mean, pairs, raters, typical)


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


def _one_way(panel: Panel) -> tuple[Estimate, Estimate, float]:
    several = panel.by_pair() > 1
    panel = panel.keep(several[panel.pair])
    n, groups = len(panel.rating), int(np.count_nonzero(several))
    if groups < 2:
        reason = "fewer than two pairs have two ratings"
        return Estimate.missing(reason), Estimate.missing(reason), np.nan
    size = panel.by_pair()
    mean = panel.pair_means(panel.rating)
    within = float(((panel.rating - mean[panel.pair]) ** 2).sum()) / (n - groups)
    between = float(((mean[panel.pair] - panel.rating.mean()) ** 2).sum()) / (groups - 1)
    typical = (n - float((size**2).sum()) / n) / (groups - 1)
    total = between + (typical - 1) * within
    if np.ptp(panel.rating) == 0 or total <= variance_of_rounding(panel.rating):
        return Estimate.missing("every rating is the same"), Estimate.missing("every rating is the same"), typical
    value = (between - within) / total
    # Influences are those of one less the variance within pairs over that of all ratings, which is the same but for
    # the number of pairs.
    inside = mean_over_pairs(panel, squared_differences(panel), np.maximum(size - 1, 0))
    figure = inside.over(mean_over_ratings(panel, (panel.rating - panel.rating.mean()) ** 2)).times(-1.0, 1.0)
    one = _on_scale_of_mean(Figure(value, figure.by_rating, figure.by_pair).estimate(panel), typical)
    return one, _of_mean(one, typical), typical


def _of_mean(single: Estimate, k: float) -> Estimate:
    """The correlation of a mean of k ratings from that of one (Spearman and Brown)."""

    def of(value: float | None) -> float | None:
        return None if value is None or 1 + (k - 1) * value <= 0 else k * value / (1 + (k - 1) * value)

    value = of(single.value)
    if value is None:
        return Estimate.missing(single.reason or "raters disagree more than by chance")
    low, high = of(single.low), of(single.high)
    return Estimate(value, low, high if low is not None else None, single.reason)


def _on_scale_of_mean(plain: Estimate, k: float) -> Estimate:
    """The interval, as wide at the value, on the scale on which a correlation of k ratings varies alike everywhere.

    That is the logarithm of one less the correlation of their mean, which is that of a ratio of mean squares (as in the
    intervals of McGraw and Wong 1996). Fisher's z, its case of two ratings, ends too low where many rate few pairs.
    """
    value, mean = plain.value, _of_mean(plain, k).value
    if value is None or mean is None or plain.low is None or plain.high is None or mean >= 1:
        return plain
    reach = (plain.high - plain.low) / 2 * k / ((1 + (k - 1) * value) * (1 - value))
    reach = min(reach, WIDEST)  # of pairs that agree in all but a digit it has no bound
    means = (1 - (1 - mean) * float(np.exp(sign * reach)) for sign in (1.0, -1.0))
    low, high = (each / (k - (k - 1) * each) for each in means)
    return Estimate(value, low, high)


def _two_way(matrix: np.ndarray) -> list[Estimate]:
    """ICC(2,1), ICC(2,k), ICC(C,1), ICC(C,k) of pairs by raters, with the influences of the mean squares."""
    n, k = matrix.shape
    grand = matrix.mean()
    rows, columns = matrix.mean(axis=1) - grand, matrix.mean(axis=0) - grand
    residual = matrix - grand - rows[:, None] - columns[None, :]
    freedom = (n - 1) * (k - 1)
    between, level, error = rows @ rows / (n - 1), columns @ columns / (k - 1), float((residual**2).sum()) / freedom
    # Each of the three with its influence by cell of the layout (the noise that raters and pairs both hold), by rater
    # and by pair.
    scale = n * k / freedom
    squares = residual**2 * scale - error
    parts = (
        (squares.mean(axis=1) / n, squares.mean(axis=0) / k, squares / (n * k)),
        (
            (rows**2 * n / (n - 1) - between) / n,
            2 * (rows @ residual) / (n - 1) / k,
            2 * rows[:, None] * residual / n / k,
        ),
        (
            2 * (residual @ columns) / (k - 1) / n,
            (columns**2 * k / (k - 1) - level) / k,
            2 * columns * residual / n / k,
        ),
    )
    pair_variance, rater_variance = float(between - error / k), float(level - error / n)
    estimates = []
    for with_level in (1.0, 0.0):
        # pair / (pair + with_level rater + error), by the three mean squares
        other = with_level * rater_variance + error
        total = pair_variance + other
        if total <= variance_of_rounding(matrix):
            estimates += [Estimate.missing("ratings of the base block do not vary between pairs")] * 2
            continue
        value = pair_variance / total
        slope_pair, slope_other = (1 - value) / total, -value / total
        slopes = (
            slope_pair * (-1 / k) + slope_other * (1 - with_level / n),
            slope_pair,
            slope_other * with_level,
        )
        by_pair, by_rater, cells = (
            np.asarray(sum(slope * part[i] for slope, part in zip(slopes, parts, strict=True))) for i in range(3)
        )
        single = Estimate(value, reason=FEW)
        if k >= LEAST_RATERS:
            sums = float(by_rater @ by_rater) * of_couples(k), float(by_pair @ by_pair) * of_couples(n)
            single = _on_scale_of_mean(interval(value, sums, float((cells**2).sum()), (k, n)), k)
        estimates += [single, _of_mean(single, k)]
    return estimates
