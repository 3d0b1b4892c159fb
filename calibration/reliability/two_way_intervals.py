"""Intervals that speak of other raters and other pairs: figures with their influence by rating and by pair.

Ratings of one rater are alike, and so are ratings of one pair; a bootstrap over pairs alone takes the raters for all
there are. Here each figure comes with what it would change by if a rating's rater, or a pair, counted a little more;
its variance is the sum over raters of their squared influence, plus that over pairs, less that over single ratings,
which both hold (Cameron, Gelbach and Miller 2011). The pigeonhole bootstrap (Owen 2007) estimates the first two and
counts single ratings more than once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from relstudy.calibration.panel import Panel
from relstudy.common.results.estimates import Estimate

LEAST_RATERS = 3
FEW = "two raters do not show how others would differ"
ROUNDING = 1e-12
"""Most that sums of a few thousand floats may differ from a perfect 1, and means of equal values from each other."""

Scale = Literal["plain", "log", "fisher"]


@dataclass(frozen=True)
class Figure:
    """A figure of a panel with its influences.

    Parameters
    ----------
    value : the figure
    by_rating : derivative by the weight of a rating as its rater's, float array (N) in the order of the panel's rows
    by_pair : derivative by the weight of a pair, float array (P)
    """

    value: float
    by_rating: np.ndarray
    by_pair: np.ndarray

    def plus(self, other: Figure, times: float = 1.0) -> Figure:
        """This figure plus so many times another."""
        return Figure(
            self.value + times * other.value,
            self.by_rating + times * other.by_rating,
            self.by_pair + times * other.by_pair,
        )

    def over(self, other: Figure) -> Figure:
        """The ratio of this figure to another."""
        value = self.value / other.value
        return Figure(
            value,
            (self.by_rating - value * other.by_rating) / other.value,
            (self.by_pair - value * other.by_pair) / other.value,
        )

    def times(self, factor: float, shift: float = 0.0) -> Figure:
        """shift + factor * figure."""
        return Figure(shift + factor * self.value, factor * self.by_rating, factor * self.by_pair)

    def estimate(self, panel: Panel, scale: Scale = "plain") -> Estimate:
        """The figure with its 95 % interval for raters and pairs like these.

        Parameters
        ----------
        panel : the panel whose rows `by_rating` follows
        scale : on which the interval is symmetric: log for variances, Fisher's z for correlations
        """
        raters, pairs = sizes = _sizes(panel)
        if raters < LEAST_RATERS:
            return Estimate(self.value, reason=FEW)
        return interval(self.value, *self._variances(panel, raters, pairs), sizes, scale)

    def standard_error(self, panel: Panel) -> float:
        """For raters and pairs like these, as `estimate`; for pairs alone if there are but two raters."""
        raters, pairs = _sizes(panel)
        if raters < LEAST_RATERS:
            return float(np.sqrt(self.by_pair @ self.by_pair * of_couples(pairs)))
        parts, both = self._variances(panel, raters, pairs)
        return float(np.sqrt(variance_of(parts, both)))

    def _variances(self, panel: Panel, raters: int, pairs: int) -> tuple[tuple[float, float], float]:
        """By rater and by pair, and of what both hold."""
        rater = panel.by_rater(self.by_rating)
        parts = float(rater @ rater) * of_couples(raters), float(self.by_pair @ self.by_pair) * of_couples(pairs)
        return parts, float(self.by_rating @ self.by_rating)


def _sizes(panel: Panel) -> tuple[int, int]:
    """Numbers of raters and of pairs with a row."""
    return int(np.count_nonzero(panel.by_rater())), int(np.count_nonzero(panel.by_pair()))


def variance_of_rounding(values: np.ndarray) -> float:
    """What the variance of means of equal values of this size may seem to be."""
    return float((ROUNDING * np.abs(values).max(initial=0.0)) ** 2)


def variance_of(parts: tuple[float, float], both: float) -> float:
    """The variance by raters and pairs together, from those by either and what both hold; not below either."""
    return max(sum(parts) - both, *parts)


def of_couples(number: int) -> float:
    """By what a sum of squared influences is too small for a mean over couples of so many raters, or pairs.

    A variance is a mean over couples. The squared influences of n normal values on theirs add up to 1 - 3 / n + 2 / n^2
    of its sampling variance; the jackknife's factor makes up for that.
    """
    return number * (number - 1) / max(number - 2, 1) ** 2


def interval(
    value: float,
    parts: tuple[float, float],
    both: float,
    sizes: tuple[int, int],
    scale: Scale = "plain",
    level: float = 0.95,
) -> Estimate:
    """An interval, of 95 % unless `level` says another, from the variances by rater and by pair, less what both hold.

    Student's t with Satterthwaite's degrees of freedom, from those of raters and of pairs.
    """
    by_rater, by_pair = parts
    variance = variance_of(parts, both)
    if not np.isfinite(variance) or variance <= 0:
        return Estimate(value)
    freedom = variance**2 / (by_rater**2 / (sizes[0] - 1) + by_pair**2 / max(sizes[1] - 1, 1))
    reach = float(stdtrit(max(freedom, 1.0), (1 + level) / 2)) * np.sqrt(variance)
    if scale == "log" and value > 0:
        return Estimate(value, value * float(np.exp(-reach / value)), value * float(np.exp(reach / value)))
    if scale == "fisher" and abs(value) > 1 - ROUNDING:
        return Estimate(value)  # nothing lies beyond a perfect correlation, and its error is not known
    if scale == "fisher":
        half, centre = reach / (1 - value**2), np.arctanh(value)
        return Estimate(value, float(np.tanh(centre - half)), float(np.tanh(centre + half)))
    return Estimate(value, value - reach, value + reach)


def mean_over_pairs(panel: Panel, apart: np.ndarray, weight: np.ndarray | None = None) -> Figure:
    """The mean over pairs of a mean over pairs of ratings, such as of their squared difference.

    A couple weighs the product of its raters' weights, so that a rater who is drawn again brings their couples along.

    Parameters
    ----------
    panel : decided ratings
    apart : each rating's mean over the pair's other ratings, float array (N); rows of single ratings are not used
    weight : of each pair, by its number of ratings n: None for alike, else an array (P) that grows with n
    """
    count = panel.by_pair()
    several = count > 1
    safe = np.maximum(count, 1)
    apart = np.where(several[panel.pair], apart, 0.0)
    pair_mean = panel.by_pair(apart) / safe
    mass = several.astype(float) if weight is None else np.where(several, weight, 0.0)
    total = float(mass.sum())
    value = float(mass @ pair_mean) / total
    rows = several[panel.pair]
    share = (mass / safe)[panel.pair]
    by_rating = 2 * share * (apart - value) / total
    return Figure(value, np.where(rows, by_rating, 0.0), mass * (pair_mean - value) / total)


def squared_differences(panel: Panel) -> np.ndarray:
    """Half the mean squared difference of each rating from the others of its pair, float array (N); 0 where alone."""
    count = panel.by_pair()
    deviation = panel.rating - panel.pair_means(panel.rating)[panel.pair]
    squares = panel.by_pair(deviation**2)
    n = count[panel.pair]
    return np.asarray((n * deviation**2 + squares[panel.pair]) / (2 * np.maximum(n - 1, 1)))


def mean_over_ratings(panel: Panel, values: np.ndarray) -> Figure:
    """The mean of a value a rating, over all ratings."""
    value = float(values.mean())
    influence = (values - value) / len(values)
    return Figure(value, influence, panel.by_pair(influence))
