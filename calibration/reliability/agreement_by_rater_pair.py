"""Agreement couple by couple of raters: weighted kappa and Spearman's correlation on the pairs that both rated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.two_way_intervals import FEW, LEAST_RATERS, interval, of_couples
from relstudy.common.results.estimates import Estimate

Influence = Callable[[tuple[int, np.ndarray], np.ndarray, np.ndarray], np.ndarray]
"""Influence of pairs on a figure of a rater and others, from the deviations of both from their means."""

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
    part = part.keep(part.by_pair()[part.pair] > 1)
    common = CommonRatings(column[part.rater], np.unique(part.pair, return_inverse=True)[1], part.rating, len(raters))
    couples = int(np.count_nonzero(common.moments.enough)) // 2
    if not couples:
        reason = f"no two raters have {LEAST_COMMON} pairs in common"
        return Pairwise(Estimate.missing(reason), Estimate.missing(reason), 0)
    return Pairwise(_mean_kappa(common), _mean_spearman(common), couples)


@dataclass(frozen=True)
class Moments:
    """Moments of each couple of raters on the pairs that both rated; arrays (R, R), row and column a rater.

    Parameters
    ----------
    n : how many pairs
    x, y : mean rating of the row's rater and of the column's
    xx, yy : their variances, 0 where they do not vary
    covariance : of both
    """

    n: np.ndarray
    x: np.ndarray
    y: np.ndarray
    xx: np.ndarray
    yy: np.ndarray
    covariance: np.ndarray

    @property
    def enough(self) -> np.ndarray:
        """Couples with enough pairs in common, bool array (R, R)."""
        return (self.n >= LEAST_COMMON) & ~np.eye(len(self.n), dtype=bool)


@dataclass(frozen=True)
class CommonRatings:
    """Ratings of pairs that several raters rated, N rows.

    Time and memory grow with the couples of ratings of one pair: nothing has a cell for each rater and pair, since in a
    large study most raters rate few of the pairs.

    Parameters
    ----------
    rater, pair : int arrays (N), codes in 0..R-1 and 0..P-1
    rating : float array (N)
    raters : R
    """

    rater: np.ndarray
    pair: np.ndarray
    rating: np.ndarray
    raters: int

    def couples(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For each rater, the rows of theirs and of a later rater that are of one pair, two int arrays."""
        order = np.lexsort((self.rater, self.pair))
        ends = np.cumsum(np.bincount(self.pair))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        later = ends[self.pair] - place - 1
        by_rater = np.split(np.argsort(self.rater, kind="stable"), np.cumsum(np.bincount(self.rater))[:-1])
        for rater, rows in enumerate(by_rater):
            number = later[rows]
            first = np.repeat(rows, number)
            step = np.arange(len(first)) - np.repeat(np.cumsum(number) - number, number)
            yield rater, first, order[place[first] + 1 + step]

    @cached_property
    def moments(self) -> Moments:
        """Moments of every couple of raters."""
        sums = np.zeros((6, self.raters, self.raters))
        for rater, one, other in self.couples():
            a, b, who = self.rating[one], self.rating[other], self.rater[other]
            for matrix, values in zip(sums, (None, a, b, a * a, b * b, a * b), strict=True):
                matrix[rater] = np.bincount(who, values, self.raters)
        n, x, y, xx, yy, xy = sums
        n, xy = n + n.T, xy + xy.T
        with np.errstate(invalid="ignore", divide="ignore"):
            x, xx = (x + y.T) / n, (xx + yy.T) / n
        xx -= x * x
        xx = np.where(xx > 1e-12 * (1 + x * x), xx, 0.0)  # the rest is rounding
        with np.errstate(invalid="ignore", divide="ignore"):
            return Moments(n, x, x.T, xx, xx.T, xy / n - x * x.T)

    def spearman(self) -> np.ndarray:
        """Spearman's correlation of every couple on what both rated, array (R, R), NaN where one does not vary."""
        found = np.full((self.raters, self.raters), np.nan)
        for rater, one, other in self.couples():
            both = pd.DataFrame({"who": self.rater[other], "one": self.rating[one], "other": self.rating[other]})
            rank = both.groupby("who").rank()
            who, a, b = both["who"].to_numpy(), rank["one"].to_numpy(), rank["other"].to_numpy()
            n = np.bincount(who, minlength=self.raters)
            middle = ((n + 1) / 2)[who]
            a, b = a - middle, b - middle
            ab, aa, bb = (np.bincount(who, values, self.raters) for values in (a * b, a * a, b * b))
            with np.errstate(invalid="ignore", divide="ignore"):
                found[rater] = np.where(n >= LEAST_COMMON, ab / np.sqrt(aa * bb), np.nan)
        return np.fmax(found, found.T)

    def ranked(self) -> CommonRatings:
        """With the rank of each rating among its rater's."""
        rank = pd.Series(self.rating).groupby(self.rater).rank().to_numpy()
        return CommonRatings(self.rater, self.pair, rank, self.raters)


def _mean_kappa(common: CommonRatings) -> Estimate:
    """Mean over couples of the weighted kappa: twice the covariance over the mean squared difference by chance.

    Its influence is that of 2 a b less kappa times a^2 + b^2 + 2 (x - y) (a - b) + (x - y)^2, over its denominator,
    with a and b a pair's deviations from the couple's means x and y.
    """
    m = common.moments
    chance = m.xx + m.yy + (m.x - m.y) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = 2 * m.covariance / chance

    def influence(couple: tuple[int, np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gap = (m.x - m.y)[couple]
        part = a * a + b * b + 2 * gap * (a - b) + gap * gap
        return np.asarray((2 * a * b - kappa[couple] * part) / (chance * m.n)[couple])

    return _mean_of_couples(kappa, common, m, influence)


def _mean_spearman(common: CommonRatings) -> Estimate:
    """Mean over couples of Spearman's correlation; its influence is that of a correlation of ranks."""
    ranked = common.ranked()
    m = ranked.moments
    if len(common.rating) == len(m.n) * (1 + common.pair.max()):  # all rated all, so a rank is one for every couple
        with np.errstate(invalid="ignore", divide="ignore"):
            spearman = m.covariance / np.sqrt(m.xx * m.yy)
    else:
        spearman = common.spearman()

    def influence(couple: tuple[int, np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = a / np.sqrt(m.xx[couple]), b / np.sqrt(m.yy[couple])
        return np.asarray((a * b - spearman[couple] * (a * a + b * b) / 2) / m.n[couple])

    return _mean_of_couples(spearman, ranked, m, influence)


def _mean_of_couples(values: np.ndarray, common: CommonRatings, moments: Moments, influence: Influence) -> Estimate:
    """The mean over couples, with its interval.

    A rater's influence is how far their couples lie from the mean; a pair's, that of its products on each couple's
    moments, and a single rating's likewise.
    """
    used = moments.enough & np.isfinite(values)
    couples = np.count_nonzero(used) / 2
    if not couples:
        return Estimate.missing("both raters of every couple are constant")
    value = float(values[used].mean())
    raters = int(np.count_nonzero(used.any(axis=0)))
    if raters < LEAST_RATERS:
        return Estimate(value, reason=FEW)
    by_rater = np.where(used, values - value, 0.0).sum(axis=1) / couples
    by_rating = np.zeros(len(common.rating))
    for rater, one, other in common.couples():
        kept = used[rater, common.rater[other]]
        one, other = one[kept], other[kept]
        couple = rater, common.rater[other]
        part = influence(couple, common.rating[one] - moments.x[couple], common.rating[other] - moments.y[couple])
        by_rating += np.bincount(one, part, len(by_rating)) + np.bincount(other, part, len(by_rating))
    by_rating /= couples
    by_pair = np.bincount(common.pair, by_rating) / 2
    sums = float(by_rater @ by_rater) * of_couples(raters), float(by_pair @ by_pair)
    return interval(value, sums, float(by_rating @ by_rating), (raters, len(by_pair)), "fisher")
