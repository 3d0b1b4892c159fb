"""An index from pairs that people judged, assisted by a judge's value for many more pairs.

    theta = H(s; y) + l2 [H(U_s; m) - H(s; m)] + l1 [H(U; m) - H(U_s; m)]

H is an index of a system's scores; s the judged pairs, y their relevance; U_s all pairs of the judged queries that the
judge was given, U all that it was given; m what a judge's grade is worth (`relstudy.analysis.judges.grades`). Both
brackets have mean zero whatever m is, so a bad judge makes theta no worse than people alone; a good one has the errors
of H(s; y), and they are taken off. Their weights, from 0 to 1, come from a regression over the bootstrap replicates.

A difference estimator (Cassel, Särndal and Wretman 1976), with its weights tuned as in prediction-powered inference
(Angelopoulos, Duchi and Zrnic 2023); two brackets, since queries are sampled and then their pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from relstudy.analysis.resampling.bootstrap import (
    LEVEL,
    BootstrapStatistic,
    percentile_interval,
    proportion_interval,
)
from relstudy.analysis.resampling.freedom import degrees_of_freedom
from relstudy.common.estimates import Estimate

NEAREST = 1e-4
"""Shares nearer to 0 or 1 than this are taken for as near, so that they have a logit."""

ROUNDING = 1e-12
"""A bracket that varies by less is zero: it costs no degree of freedom. Indices are at most 1, doubles hold 1e-16."""


def _logit(values: np.ndarray) -> np.ndarray:
    clipped: np.ndarray = special.logit(np.clip(values, NEAREST, 1 - NEAREST))
    return clipped


def _fisher(values: np.ndarray) -> np.ndarray:
    clipped: np.ndarray = np.arctanh(np.clip(values, -1 + NEAREST, 1 - NEAREST))
    return clipped


@dataclass(frozen=True)
class Transform:
    """The scale on which an index has a symmetric interval, and the way back; `lowest` and `highest` bound it."""

    forward: Callable[[np.ndarray], np.ndarray]
    back: Callable[[np.ndarray], np.ndarray]
    lowest: float = -np.inf
    highest: float = np.inf


SHARE = Transform(_logit, special.expit, 0.0, 1.0)
CORRELATION = Transform(_fisher, np.tanh, -1.0, 1.0)
DIFFERENCE = Transform(np.asarray, np.asarray)


@dataclass(frozen=True, eq=False)
class Terms:
    """The four figures that an assisted index is made of; replicates of all rest on the same draws.

    Parameters
    ----------
    people : H(s; y)
    judged : H(s; m)
    sampled : H(U_s; m); None where the judge was given nothing that the judged pairs are a sample of
    collection : H(U; m), whose replicates are all its value where U is the whole collection; None where U is U_s
    left_out : the same figures with a replicate per query, without it; None where intervals rest on the bootstrap alone
    least : the least standard error with the judge's help (`relstudy.analysis.judges.allocation.least_errors`)
    """

    people: BootstrapStatistic
    judged: BootstrapStatistic
    sampled: BootstrapStatistic | None = None
    collection: BootstrapStatistic | None = None
    left_out: Terms | None = field(default=None, kw_only=True)
    least: float = field(default=0.0, kw_only=True)

    def __sub__(self, other: Terms) -> Terms:
        """Those of the difference of two systems, with the bootstrap alone, as for people's differences."""
        return Terms(
            self.people - other.people,
            self.judged - other.judged,
            *(
                None if left is None or right is None else left - right
                for left, right in ((self.sampled, other.sampled), (self.collection, other.collection))
            ),
        )

    def brackets(self) -> list[BootstrapStatistic]:
        """What may be added to people's figure: that of the pairs within queries, and that between queries."""
        if self.sampled is None:
            return []
        within = [self.sampled - self.judged]
        return within if self.collection is None else [*within, self.collection - self.sampled]


@dataclass(frozen=True)
class Assisted:
    """An index with a judge's help.

    Parameters
    ----------
    estimate : with its interval
    people : people alone, with an interval of the same kind
    weights : of the bracket within queries (lambda_sampled) and of that between (lambda_collection), 0 to 1
    standard_error : on the index' own scale, corrected for clusters and tuned weights; NaN where there is none
    degrees : degrees of freedom of Student's t, which need not be whole
    """

    estimate: Estimate
    people: Estimate
    weights: tuple[float, float] = (0.0, 0.0)
    standard_error: float = float("nan")
    degrees: float = 0.0

    @property
    def width_ratio(self) -> float | None:
        """The interval's width against that of people alone; None where either is missing."""
        widths = [None if each.low is None or each.high is None else each.high - each.low for each in self._both]
        return None if widths[0] is None or not widths[1] else widths[0] / widths[1]

    @property
    def _both(self) -> tuple[Estimate, Estimate]:
        return self.estimate, self.people

    @property
    def p_value(self) -> float | None:
        """Two-sided, of a difference that is zero; None where there is no standard error."""
        if self.estimate.value is None or not self.standard_error > 0:
            return None
        return float(2 * special.stdtr(self.degrees, -abs(self.estimate.value) / self.standard_error))

    def as_json(self) -> dict[str, Any]:
        """The contract of `relstudy score --judge --json`."""
        return {
            **self.estimate.as_json(),
            "lambda_sampled": self.weights[0],
            "lambda_collection": self.weights[1],
            "width_ratio": self.width_ratio,
            "people": self.people.as_json(),
        }


def assist(terms: Terms, clusters: int, transform: Transform = SHARE, level: float = LEVEL) -> Assisted:
    """An index with a judge's help.

    The variance of the replicates is multiplied by n / (n - 1 - p) for n clusters and p tuned weights, and Student's t
    has n - 1 - p degrees of freedom: a judge that knows nothing gains nothing. Where the delete-one jackknife's
    variance (Efron and Stein 1981: on average no less than the true one) is the larger, it stands in: with a dozen
    queries the bootstrap's is a little too small. Where the judge does not shorten the interval, people alone stand.

    Parameters
    ----------
    terms : of one index
    clusters : number of queries
    transform : the scale on which the interval is symmetric

    Examples
    --------
    >>> noise, error = np.random.default_rng(0).normal(size=(2, 1000)) / [[100], [20]]
    >>> people = BootstrapStatistic(0.5, 0.5 + error + noise)
    >>> judged, whole = BootstrapStatistic(0.42, 0.4 + error), BootstrapStatistic(0.4, np.full(1000, 0.4))
    >>> helped = assist(Terms(people, judged, whole), clusters=20)
    >>> round(helped.estimate.value, 2), round(helped.width_ratio, 1), round(helped.weights[0], 1)
    (0.48, 0.2, 1.0)
    """
    people = terms.people
    if people.withheld is not None or not np.isfinite(people.value):
        figure = people.estimate(level)
        return Assisted(figure, figure)
    left_out = None if terms.left_out is None else terms.left_out.people.replicates
    spread = _Spread(people.value, people.replicates, left_out, people.counts, clusters, 0, transform, 0.0)
    alone = _interval(spread, people.effective, level)
    best = alone
    varying = {k: each for k, each in enumerate(terms.brackets()) if _varies(each)}
    if varying and clusters - 1 - len(varying) >= 1 and alone.standard_error > 0:
        helped = _tuned(terms, varying, clusters, transform, alone, level)
        if _width(helped.estimate) < _width(alone.estimate):
            best = helped
    return Assisted(best.estimate, alone.estimate, best.weights, best.standard_error, best.degrees)


def _varies(bracket: BootstrapStatistic) -> bool:
    """Whether a bracket is there in nearly all replicates, and differs between them by more than rounding."""
    low, high = percentile_interval(bracket.replicates)
    return bool(np.isfinite(bracket.value) and np.isfinite(low) and high - low > ROUNDING)


def _tuned(
    terms: Terms,
    brackets: Mapping[int, BootstrapStatistic],
    clusters: int,
    transform: Transform,
    alone: Assisted,
    level: float,
) -> Assisted:
    """With the weights that the replicates tell; `brackets` by their number, 0 within queries and 1 between."""
    people = terms.people
    columns = np.stack([each.replicates for each in brackets.values()], axis=1)
    defined = np.isfinite(people.replicates) & np.isfinite(columns).all(axis=1)
    centred = columns[defined] - columns[defined].mean(axis=0)
    target = people.replicates[defined] - people.replicates[defined].mean()
    tuned = np.clip(-np.linalg.lstsq(centred, target, rcond=None)[0], 0.0, 1.0)
    value = people.value + float(tuned @ np.array([each.value for each in brackets.values()]))
    left_out = None
    if terms.left_out is not None:
        without = terms.left_out.brackets()
        left_out = terms.left_out.people.replicates + sum(
            weight * without[number].replicates for number, weight in zip(brackets, tuned, strict=True)
        )
    replicates, many = people.replicates + columns @ tuned, len(brackets)
    spread = _Spread(value, replicates, left_out, people.counts, clusters, many, transform, terms.least)
    effective = people.effective
    if effective is not None and spread.standard_error > 0:
        effective = effective * (alone.standard_error / spread.standard_error) ** 2
    helped = _interval(spread, effective, level)
    by_number = dict(zip(brackets, tuned.tolist(), strict=True))
    return replace(helped, weights=(by_number.get(0, 0.0), by_number.get(1, 0.0)))


def _interval(spread: _Spread, effective: float | None, level: float) -> Assisted:
    """Student's t interval on the index' own scale.

    Parameters
    ----------
    effective : as `BootstrapStatistic` has it: where hits or misses are few, the interval is at least that of a
        proportion of so many pairs
    """
    value, error = spread.value, spread.standard_error
    if np.isnan(error):
        estimate = Estimate.of(value, reason="no interval: too few queries, or too many replicates without a value")
        return Assisted(estimate, estimate)
    if not error > ROUNDING and effective is None:
        estimate = Estimate.of(value, reason="no interval: it is the same whichever queries are drawn")
        return Assisted(estimate, estimate)
    transform = spread.transform
    centre = transform.forward(np.array(value))
    reach = spread.reach(level)
    low, high = (float(transform.back(centre + sign * reach)) for sign in (-1, 1))
    if effective is not None:
        size = effective if not error > ROUNDING else min(effective, value * (1 - value) / error**2)
        guard = proportion_interval(value, size, level)
        low, high = min(low, guard[0]), max(high, guard[1])
    estimate = Estimate.of(value, low, high)
    return Assisted(estimate, estimate, (0.0, 0.0), error, spread.degrees)


@dataclass(frozen=True, eq=False)
class _Spread:
    """How a figure varies between replicates: of the bootstrap, and with each query left out (None: not known).

    Parameters
    ----------
    counts : how often each query is drawn in the bootstrap's replicates; None: not known
    least : the least standard error that it may have, unless it varies in no replicate
    """

    given: float
    replicates: np.ndarray
    left_out: np.ndarray | None
    counts: np.ndarray | None
    clusters: int
    tuned: int
    transform: Transform
    least: float

    @property
    def value(self) -> float:
        """Within the bounds of the index."""
        return float(np.clip(self.given, self.transform.lowest, self.transform.highest))

    @property
    def most_degrees(self) -> int:
        return self.clusters - 1 - self.tuned

    @property
    def degrees(self) -> float:
        """Degrees of freedom: n - 1 - p, or as many as a variance of such contributions by query has (Satterthwaite).

        The variance of a sample variance is (kurtosis - 3) / n + 2 / (n - 1) times its square (Cramér 1946, 27.4).
        """
        contributions = self._contributions(self.transform.forward)
        if contributions is None and self.counts is not None:
            return max(degrees_of_freedom(self.replicates, self.counts, self.clusters) - self.tuned, 1.0)
        if contributions is None or not (square := np.mean(contributions**2)) > 0:
            return self.most_degrees
        n, kurtosis = self.clusters, np.mean(contributions**4) / square**2
        relative = (kurtosis - 3) / n + 2 / (n - 1)
        return float(min(self.most_degrees, 2 / relative)) if relative > 0 else self.most_degrees

    @property
    def standard_error(self) -> float:
        """On the figure's own scale; NaN where there is none."""
        if self.most_degrees < 1 or not np.isfinite(percentile_interval(self.replicates)[0]):
            return float("nan")
        error = self._resampled(np.asarray)
        return max(error, self.least) if error > ROUNDING else error

    def reach(self, level: float) -> float:
        """Half of the interval on the scale of the transform.

        What replicates show goes by Student's t, `least` by the normal distribution: it comes of all pairs, and not of
        how a few queries differ.
        """
        tail = (1 + level) / 2
        error, plain = self._resampled(self.transform.forward), self._resampled(np.asarray)
        shown = float(special.stdtrit(self.degrees, tail)) * error
        return max(shown, float(special.ndtri(tail)) * error * self.least / plain) if plain > ROUNDING else shown

    def _resampled(self, forward: Callable[[np.ndarray], np.ndarray]) -> float:
        """The standard error on another scale: the larger of the bootstrap's and the jackknife's."""
        squares = self.clusters * float(np.var(forward(self.replicates[np.isfinite(self.replicates)]), ddof=1))
        contributions = self._contributions(forward)
        if contributions is not None:
            squares = max(squares, float(np.mean(contributions**2)))
        return float(np.sqrt(squares / self.most_degrees))

    def _contributions(self, forward: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        """What each query adds to the figure by the jackknife, about their mean, float [clusters]."""
        if self.left_out is None or not np.isfinite(self.left_out).all():
            return None
        moved = forward(self.left_out)
        added: np.ndarray = (self.clusters - 1) * (moved.mean() - moved)
        return added


def _width(estimate: Estimate) -> float:
    return np.inf if estimate.low is None or estimate.high is None else estimate.high - estimate.low


def as_json(figures: Mapping[str, Assisted]) -> dict[str, Any]:
    """Indices by name as plain JSON."""
    return {name: figure.as_json() for name, figure in figures.items()}
