"""Ties first: one row per distinct score, so that everything after costs by distinct scores and not by pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

ROUNDING = 1e-14
"""Relative difference of neighbouring scores up to which they are one."""


@dataclass(frozen=True)
class Pooled:
    """Pairs pooled by their score.

    Parameters
    ----------
    scores : distinct scores, ascending, shape (m,)
    weights : summed weight at each score, > 0, shape (m,)
    means : weighted mean judgment at each score, shape (m,)
    within : weighted sum of squared deviations from the mean at each score, shape (m,)
    """

    scores: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    within: np.ndarray

    @property
    def mean(self) -> float:
        """Weighted mean judgment over everything."""
        return float(self.weights @ self.means / self.weights.sum())

    @property
    def square(self) -> float:
        """Weighted sum of squared deviations of all judgments from their mean."""
        return float(self.within.sum() + self.weights @ (self.means - self.mean) ** 2)


def pool(scores: ArrayLike, judgments: ArrayLike, weights: ArrayLike | None = None) -> Pooled:
    """Pool pairs by score. O(n log n) for the sort, O(n) after.

    Parameters
    ----------
    scores, judgments : finite, shape (n,)
    weights : above 0, shape (n,); None means 1 each

    Examples
    --------
    >>> pooled = pool([2.0, 1.0, 2.0], [5.0, 1.0, 4.0])
    >>> pooled.scores.tolist(), pooled.weights.tolist(), pooled.means.tolist(), pooled.within.tolist()
    ([1.0, 2.0], [1.0, 2.0], [1.0, 4.5], [0.0, 0.5])
    """
    x, y, w, starts, _ = sort_pairs(scores, judgments, weights)
    if len(starts) == len(x):
        return Pooled(x, w, y, np.zeros(len(x)))
    total = np.add.reduceat(w, starts)
    # deviations from one value of the group, not sums of squares: no cancellation, and equal judgments stay exact
    origin = y[starts]
    counts = np.diff(np.append(starts, len(x)))
    deviation = y - np.repeat(origin, counts)
    first = np.add.reduceat(w * deviation, starts) / total
    second = np.add.reduceat(w * deviation * deviation, starts)
    within = np.maximum(second - total * first * first, 0.0)
    return Pooled(x[starts], total, origin + first, within)


class SortedPairs(NamedTuple):
    """Pairs by ascending score, ties side by side.

    Parameters
    ----------
    scores, judgments, weights : shape (n,), weights above 0
    starts : first position of each distinct score, shape (m,)
    groups : number of each pair's group (query), 0 to groups - 1, shape (n,), or None where each pair is its own
    """

    scores: np.ndarray
    judgments: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    groups: np.ndarray | None = None

    @property
    def distinct(self) -> np.ndarray:
        """Distinct scores, ascending, shape (m,)."""
        return self.scores[self.starts]


def sort_pairs(
    scores: ArrayLike, judgments: ArrayLike, weights: ArrayLike | None = None, groups: np.ndarray | None = None
) -> SortedPairs:
    """Sort pairs by score, weights above 0. Groups that are all one are none.

    Scores that differ by rounding alone are one score: 0.4 and 0.1 + 0.3 come from the same thing computed twice.
    """
    x = np.asarray(scores, dtype=float)
    y = np.asarray(judgments, dtype=float)
    w = None if weights is None else np.asarray(weights, dtype=float)
    g = None if groups is None else np.unique(groups, return_inverse=True)[1]
    if g is not None and np.ptp(g) == 0:
        g = None
    order = np.argsort(x)
    x = x[order]
    new = np.empty(len(x), dtype=bool)
    new[:1] = True
    np.greater(np.diff(x), ROUNDING * np.abs(x[1:]), out=new[1:])
    weight = np.ones(len(x)) if w is None else w[order]
    return SortedPairs(x, y[order], weight, np.flatnonzero(new), None if g is None else g[order])


def resampled(pairs: SortedPairs, rng: np.random.Generator) -> tuple[Pooled, np.ndarray]:
    """A bootstrap sample of pairs, or of groups if there are any, pooled, and which scores it has, shape (m,).

    A sample is a count per pair: no pair is copied and nothing is sorted again.
    """
    x, y, w, starts, groups = pairs
    units = len(x) if groups is None else int(groups.max()) + 1
    times = np.bincount(rng.integers(0, units, units), minlength=units)
    counts = (times if groups is None else times[groups]) * w
    total = np.add.reduceat(counts, starts)
    drawn = total > 0
    weighted = counts * y
    means = np.add.reduceat(weighted, starts)[drawn] / total[drawn]
    within = np.add.reduceat(weighted * y, starts)[drawn] - total[drawn] * means**2
    return Pooled(x[starts][drawn], total[drawn], means, np.maximum(within, 0.0)), drawn


def into_bins(pooled: Pooled, bins: int) -> Pooled:
    """Merge neighbouring scores into at most `bins` bins of about equal weight; unchanged if there are fewer scores.

    A bin's score is the weighted mean of its scores. Ties never straddle a boundary.

    Examples
    --------
    >>> into_bins(pool([1, 2, 3, 4], [1, 1, 5, 5]), 2).scores.tolist()
    [1.5, 3.5]
    """
    if len(pooled.scores) <= bins:
        return pooled
    w = pooled.weights
    middle = np.cumsum(w) - w / 2
    bin_of = np.minimum((middle / w.sum() * bins).astype(int), bins - 1)
    starts = np.flatnonzero(np.r_[True, np.diff(bin_of) > 0])
    total = np.add.reduceat(w, starts)
    means = np.add.reduceat(w * pooled.means, starts) / total
    counts = np.diff(np.append(starts, len(w)))
    between = np.add.reduceat(w * (pooled.means - np.repeat(means, counts)) ** 2, starts)
    scores = np.add.reduceat(w * pooled.scores, starts) / total
    return Pooled(scores, total, means, np.add.reduceat(pooled.within, starts) + between)


def is_increasing(scores: ArrayLike, judgments: ArrayLike, weights: ArrayLike | None = None) -> bool:
    """True where judgments rise with scores: Spearman's rho, with mid-ranks by weight, is at least 0.

    Examples
    --------
    >>> is_increasing([1, 2, 3], [1, 3, 2]), is_increasing([1, 2, 3], [3, 1, 2]), is_increasing([1, 1], [1, 2])
    (True, False, True)
    """
    return levels_rise(levels_of(scores), levels_of(judgments), weights)


def levels_of(values: ArrayLike) -> np.ndarray:
    """The number of each value among the distinct ones, ascending from 0."""
    return np.unique(np.asarray(values, dtype=float), return_inverse=True)[1]


def levels_rise(first: np.ndarray, second: np.ndarray, weights: ArrayLike | None = None) -> bool:
    """`is_increasing` of numbers in order (`levels_of`), of which some need not occur: no subset is sorted again."""
    w = np.ones(len(first)) if weights is None else np.asarray(weights, dtype=float)
    a, b = _mid_ranks(first, w), _mid_ranks(second, w)
    middle = w.sum() / 2
    covariance = float(np.sum(w * (a - middle) * (b - middle)))
    # rounding of a covariance that is exactly zero must not decide the direction
    return bool(covariance >= -1e-12 * w.sum() ** 3)


def _mid_ranks(level: np.ndarray, w: np.ndarray) -> np.ndarray:
    total = np.bincount(level, w)
    return np.asarray((np.cumsum(total) - total / 2)[level])
