"""Standard error of a figure, its degrees of freedom and its interval, for scores and judges.

The standard error is the larger of the bootstrap's and the delete-one jackknife's over queries (Efron and Stein 1981:
on average the jackknife's variance is no less than the true one). Where a few queries hold most of what decides an
index, the bootstrap's is too small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
import scipy

LEVEL = 0.95
MOST_UNDEFINED = 0.05
"""An interval is given only where at most this share of the replicates has no value."""
NEAREST = 1e-4
"""Shares nearer to 0 or 1 than this are taken for as near, so that they have a logit."""
ROUNDING = 1e-12
"""Figures that vary by less do not vary. Indices are at most 1, doubles hold 1e-16."""
LEAST_CHANCE = 1e-12
"""That random signs are all alike in so many queries that it is less than this tells no more."""
LEAST_FREEDOM = 4.0
"""Few queries do not show fewer: the fourth powers they rest on are those of one query."""


def variance_of(values: np.ndarray) -> float:
    """The unbiased variance, to the last digit that of `np.var`, which takes as long again to look at its arguments.

    Examples
    --------
    >>> variance_of(np.array([1.0, 2.0, 4.0])), float(np.var([1.0, 2.0, 4.0], ddof=1))
    (2.333333333333333, 2.333333333333333)
    """
    number = len(values)
    if number < 2:
        return float("nan")
    away = values - values.sum() / number
    return float((away * away).sum() / (number - 1))


def degrees_of_freedom(contributions: np.ndarray, share: float = 1.0) -> float:
    """Degrees of freedom of a variance over queries, at most n - 1 for n queries.

    A variance that a few queries decide is itself uncertain, whatever the number of queries. Its degrees of freedom
    are those of the multiple of chi squared that has the variance's own mean and variance (Satterthwaite 1946).

    Parameters
    ----------
    contributions : what each query adds to the figure, mean 0, float [queries]
    share : of the figure's variance, that which comes of how queries differ, 0 to 1. The rest, of which pairs were
        drawn within queries, is known far better

    Returns
    -------
    2 / ((kurtosis - 3) / n + 2 / (n - 1)), since the variance of a sample variance is that multiple of its square
    (Cramér 1946, 27.4), over the square of `share`

    Examples
    --------
    >>> alike, one_large = np.resize([-1.0, 1.0], 50), np.r_[8.0, np.resize([-1.0, 1.0], 49)]
    >>> degrees_of_freedom(alike), round(degrees_of_freedom(one_large - one_large.mean()))
    (49, 7)
    """
    n = len(contributions)
    squares = contributions * contributions
    most, square = n - 1, float(squares.sum() / n)
    if not square > 0:
        return most
    # a power of four by itself takes ten times as long as all else here
    relative = (float((squares * squares).sum() / n) / square**2 - 3.0) / n + 2.0 / most
    relative *= share**2
    return most if relative <= 2.0 / most else max(2.0 / relative, LEAST_FREEDOM)


def effective_number(weight: np.ndarray) -> float:
    """The number of queries of equal weight that those of some weights are worth (Kish 1965).

    Examples
    --------
    >>> effective_number(np.ones(5)), effective_number(np.array([8.0, 1.0, 1.0])) < 2
    (5.0, True)
    """
    return float(weight.sum() ** 2 / (weight**2).sum())


def means_without_each(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted mean of the values without each of them, float [values].

    Examples
    --------
    >>> means_without_each(np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.0, 2.0])).round(3).tolist()
    [0.833, 0.667, 0.25]
    """
    counted = values * weight
    means: np.ndarray = (counted.sum() - counted) / (weight.sum() - weight)
    return means


def degrees_of(worth: float) -> float:
    """Degrees of freedom of a mean over queries that are worth so many of equal weight; at least one."""
    return max(worth - 1.0, 1.0)


def percentile_interval(replicates: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """The central `level` share of the defined replicates; (NaN, NaN) where too many are undefined.

    Examples
    --------
    >>> low, high = percentile_interval(np.arange(1001.0))
    >>> round(low, 9), round(high, 9)
    (25.0, 975.0)
    """
    defined = replicates[np.isfinite(replicates)]
    if not _enough(len(defined), len(replicates)):
        return float("nan"), float("nan")
    tail = 50 * (1 - level)
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def _enough(defined: int, replicates: int) -> bool:
    """True where so many replicates with a value are enough for an interval."""
    return defined >= 2 and defined >= (1 - MOST_UNDEFINED) * replicates


def proportion_interval(share: float, size: float, level: float = LEVEL) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share of an effective number of observations, which need not be whole.

    Korn and Graubard 1998.

    Parameters
    ----------
    share : estimated proportion, 0 to 1
    size : effective number of observations, above 0

    Examples
    --------
    >>> low, high = proportion_interval(1.0, 20)
    >>> round(low, 4), high
    (0.8316, 1.0)
    """
    tail = (1 - level) / 2
    hits, misses = share * size, (1 - share) * size
    low = float(scipy.special.betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = float(scipy.special.betaincinv(hits + 1, misses, 1 - tail)) if misses > 0 else 1.0
    return low, high


def _on_logits(value: float, replicates: np.ndarray) -> float:
    """That of the replicates' logits, which follow an index' skewness; by the delta method where one is 0 or 1."""
    deviation = float(np.std(replicates, ddof=1))
    if ((replicates > 0) & (replicates < 1)).all() and deviation > ROUNDING:
        return float(np.std(scipy.special.logit(replicates), ddof=1)) / deviation
    inside = float(np.clip(value, NEAREST, 1 - NEAREST))
    return 1.0 / (inside * (1 - inside))


def _on_fishers(value: float, replicates: np.ndarray) -> float:
    inside = float(np.clip(value, -1 + NEAREST, 1 - NEAREST))
    return 1.0 / (1 - inside**2)


def _logit(value: float) -> float:
    return float(scipy.special.logit(np.clip(value, NEAREST, 1 - NEAREST)))


def _fisher(value: float) -> float:
    return float(np.arctanh(np.clip(value, -1 + NEAREST, 1 - NEAREST)))


def error_where_alike(difference: float, queries: int, degrees: float) -> float:
    """Standard error of a difference that is the same in every query, by which Student's t has the p of random signs.

    Such differences have no spread to divide by. That all signs are alike is what they show, which chance does in
    2 ** (1 - queries) of cases (Fisher 1935); so six queries tell two systems apart at .05, and five do not.

    Parameters
    ----------
    queries : at least 2
    degrees : of Student's t, at least 1

    Examples
    --------
    >>> error = error_where_alike(0.5, 6, 5.0)
    >>> round(float(2 * scipy.special.stdtr(5.0, -0.5 / error)), 5) == 2 / 2**6
    True
    """
    chance = max(0.5**queries, LEAST_CHANCE)
    return abs(difference) / -float(scipy.special.stdtrit(degrees, chance))


class Transform(StrEnum):
    """The scale on which an index has a symmetric interval: the logit of a share, Fisher's of a correlation, its own of
    any other number, and of the difference of two systems over the same queries."""

    SHARE = "share"
    CORRELATION = "correlation"
    NUMBER = "number"
    PAIRED = "paired"

    @property
    def lowest(self) -> float:
        """The lower bound of the index."""
        return {Transform.SHARE: 0.0, Transform.CORRELATION: -1.0}.get(self, -np.inf)

    @property
    def highest(self) -> float:
        """The upper bound of the index."""
        return np.inf if self.as_it_is else 1.0

    @property
    def as_it_is(self) -> bool:
        """True where the scale is the figure's own."""
        return self in (Transform.NUMBER, Transform.PAIRED)

    def forward(self, value: float) -> float:
        """A value of the index on the scale."""
        if self.as_it_is:
            return value
        return (_logit if self is Transform.SHARE else _fisher)(value)

    def back(self, value: float) -> float:
        """A value on the scale as one of the index."""
        if self.as_it_is:
            return value
        return float(scipy.special.expit(value) if self is Transform.SHARE else np.tanh(value))

    def stretch(self, value: float, replicates: np.ndarray) -> float:
        """The standard error on the scale over that on the index' own, of a value and its defined replicates."""
        if self.as_it_is:
            return 1.0
        return (_on_logits if self is Transform.SHARE else _on_fishers)(value, replicates)


SHARE, CORRELATION, DIFFERENCE = Transform.SHARE, Transform.CORRELATION, Transform.NUMBER
PAIRED = Transform.PAIRED


@dataclass(frozen=True, eq=False)
class Spread:
    """Variation of a figure between replicates of the bootstrap, and with each query left out.

    Parameters
    ----------
    given : the figure; outside the bounds of the transform it is taken to be at them
    replicates : float [replicates], NaN where undefined
    left_out : float [queries], the figure without each query; None where that is not known
    clusters : number of queries, n
    transform : the scale on which the interval is symmetric
    tuned : number of weights p that were tuned to the data; each costs a degree of freedom
    least : the least standard error that it may have, unless it varies in no replicate
    freedom : degrees of freedom where they are known from elsewhere; None: those of the queries
    blur : relative standard error of the variance that the number of replicates leaves, where it is known from
        elsewhere; None: that of these replicates
    exact : whether the figure is a mean over queries, so that the jackknife's standard error is that of the paired t,
        with n - 1 degrees of freedom

    Examples
    --------
    >>> replicates = 0.9 + 0.02 * np.random.default_rng(0).normal(size=1000)
    >>> [round(end, 3) for end in Spread(0.9, replicates, None, 50, SHARE).interval()]
    [0.851, 0.934]
    >>> [round(end, 3) for end in Spread(0.9, replicates, None, 50, CORRELATION).interval()]
    [0.852, 0.933]
    """

    given: float
    replicates: np.ndarray
    left_out: np.ndarray | None
    clusters: int
    transform: Transform
    tuned: int = field(default=0, kw_only=True)
    least: float = field(default=0.0, kw_only=True)
    freedom: float | None = field(default=None, kw_only=True)
    blur: float | None = field(default=None, kw_only=True)
    exact: bool = field(default=False, kw_only=True)

    @property
    def value(self) -> float:
        """Within the bounds of the index."""
        # given first, so that NaN stays what it is
        return float(min(max(self.given, self.transform.lowest), self.transform.highest))

    @property
    def most_degrees(self) -> int:
        return self.clusters - 1 - self.tuned

    @cached_property
    def contributions(self) -> np.ndarray | None:
        """Each query's contribution to the figure by the jackknife, mean 0, float [queries]; None: not known."""
        if self.left_out is None or len(self.left_out) < 2 or not np.isfinite(self.left_out).all():
            return None
        added: np.ndarray = (len(self.left_out) - 1) * (self.left_out.mean() - self.left_out)
        return added

    @cached_property
    def bootstrap(self) -> float:
        """Variance times n: that of the replicates, which of a mean over queries repeat the jackknife's."""
        if self.exact and self.contributions is not None:
            return self.jackknife
        return self.clusters * variance_of(self._known)

    @cached_property
    def _known(self) -> np.ndarray:
        """The replicates with a value."""
        known = np.isfinite(self.replicates)
        return self.replicates if known.all() else self.replicates[known]

    @cached_property
    def jackknife(self) -> float:
        """Variance times n: that of the contributions; 0 where they are not known."""
        added = self.contributions
        return 0.0 if added is None else float(np.mean(added**2))

    @cached_property
    def defined(self) -> bool:
        """True if there is a standard error: enough queries, and replicates with a value."""
        return self.most_degrees >= 1 and _enough(len(self._known), len(self.replicates))

    @cached_property
    def degrees(self) -> float:
        """Degrees of freedom: n - 1 - p, or as many as a variance of such contributions by query has."""
        if self.freedom is not None:
            return self.freedom
        added = self.contributions
        if self.alike or self.exact or added is None or not len(self._known):
            return self.most_degrees
        whole = max(self.bootstrap, self.jackknife)
        share = self.jackknife / whole if whole > 0 else 0.0
        return max(degrees_of_freedom(added, share) - self.tuned, min(1.0, self.most_degrees))

    @property
    def blurred(self) -> float:
        """Relative standard error of the variance that the number of replicates leaves: sqrt(2 / B), as if they were
        normal; 0 where the jackknife's variance counts.

        Examples
        --------
        >>> Spread(0.0, np.tile([-1.0, 1.0], 100), None, 50, DIFFERENCE).blurred
        0.1
        """
        if self.blur is not None or self.alike:
            return self.blur or 0.0
        return float(np.sqrt(2 / len(self.replicates))) if self.bootstrap > self.jackknife else 0.0

    @cached_property
    def standard_error(self) -> float:
        """On the figure's own scale, or NaN."""
        if not self.defined:
            return float("nan")
        error = self._shown
        return max(error, self.least) if error > ROUNDING else error

    @cached_property
    def alike(self) -> bool:
        """True where it is a difference that is the same in every query."""
        return self.transform is PAIRED and self.defined and self._varies <= ROUNDING * max(1.0, abs(self.value))

    @cached_property
    def _shown(self) -> float:
        """The standard error that replicates show; of a difference that is the same in every query that by which
        Student's t has the p of random signs, and 0 if there is no difference."""
        if self.alike:
            nothing = abs(self.value) <= ROUNDING
            return 0.0 if nothing else error_where_alike(self.value, self.clusters, self.degrees)
        return self._varies

    @cached_property
    def _varies(self) -> float:
        return float(np.sqrt(max(self.bootstrap, self.jackknife) / self.most_degrees))

    def reach(self, level: float = LEVEL) -> float:
        """Half of the interval on the scale of the transform.

        What replicates show goes by Student's t, `least` by the normal distribution: it comes of all pairs, and not of
        how a few queries differ.
        """
        tail = (1 + level) / 2
        shown = float(scipy.special.stdtrit(self.degrees, tail)) * self._shown
        if self._shown > ROUNDING:
            shown = max(shown, float(scipy.special.ndtri(tail)) * self.least)
        return shown * self.transform.stretch(self.value, self._known)

    def interval(self, level: float = LEVEL, effective: float | None = None) -> tuple[float, float]:
        """Student's t interval; (NaN, NaN) if there is no standard error.

        Parameters
        ----------
        effective : for a proportion that rests on few hits or few misses, Kish's effective number of pairs behind it:
            the interval is at least that of a proportion of so many pairs, or of as many as give its standard error
        """
        if not self.defined:
            return float("nan"), float("nan")
        value, error = self.value, self.standard_error
        if error > ROUNDING:
            centre, reach = self.transform.forward(value), self.reach(level)
            low, high = (float(self.transform.back(centre + sign * reach)) for sign in (-1, 1))
        else:
            low = high = value
        if effective is not None:
            size = min(effective, value * (1 - value) / error**2) if error > ROUNDING else effective
            guard = proportion_interval(value, size, level)
            low, high = min(low, guard[0]), max(high, guard[1])
        return low, high

    def p_value(self) -> float:
        """Two-sided, of a difference that is zero; NaN if there is no standard error."""
        error = self.standard_error
        if not error > ROUNDING:
            return 1.0 if error <= ROUNDING and abs(self.value) <= ROUNDING else float("nan")
        return float(2 * scipy.special.stdtr(self.degrees, -abs(self.value) / error))
