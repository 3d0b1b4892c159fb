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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.spread import LEVEL, ROUNDING, SHARE, Spread, Transform, percentile_interval
from relstudy.common.results.estimates import Estimate


@dataclass(frozen=True, eq=False)
class Terms:
    """The four figures that an assisted index is made of; replicates of all rest on the same draws.

    Where each has its figures with a query left out, intervals take the jackknife's variance if it is larger.

    Parameters
    ----------
    people : H(s; y)
    judged : H(s; m)
    sampled : H(U_s; m); None where the judge was given nothing that the judged pairs are a sample of
    collection : H(U; m), whose replicates are all its value where U is the whole collection; None where U is U_s
    least : the least standard error with the judge's help (`relstudy.analysis.judges.allocation.least_errors`)
    """

    people: BootstrapStatistic
    judged: BootstrapStatistic
    sampled: BootstrapStatistic | None = None
    collection: BootstrapStatistic | None = None
    least: float = field(default=0.0, kw_only=True)

    def __sub__(self, other: Terms) -> Terms:
        """Those of the difference of two systems."""
        return Terms(
            self.people - other.people,
            self.judged - other.judged,
            *(
                None if left is None or right is None else left - right
                for left, right in ((self.sampled, other.sampled), (self.collection, other.collection))
            ),
        )

    def by_people(self) -> Terms:
        """Those of people alone, who stand where a judge's corrections are not zero on average."""
        return Terms(self.people, self.judged)

    def of_judge(self) -> Terms:
        """Those of the judge alone: its figure of all pairs that it was given of the judged queries."""
        figure = self.judged if self.sampled is None else self.sampled
        if self.people.left_out is None or figure.left_out is None:
            figure = replace(figure, left_out=None)
        return Terms(figure, figure)

    def unless_rare(self) -> Terms:
        """Those of people alone where the figure rests on few hits or few misses: that so few pairs and a judge agree
        says little, and no resampling shows how little."""
        return self if self.people.effective is None else self.by_people()

    def brackets(self) -> list[BootstrapStatistic]:
        """The two corrections of people's figure: by pairs within queries, and between queries."""
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
    standard_error : on the index' own scale, corrected for clusters and tuned weights, or NaN
    degrees : degrees of freedom of Student's t, which need not be whole
    replicates : float [replicates], those that the interval rests on, or None
    """

    estimate: Estimate
    people: Estimate
    weights: tuple[float, float] = (0.0, 0.0)
    standard_error: float = float("nan")
    degrees: float = 0.0
    replicates: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def width(self) -> float:
        """Of the interval, or infinite."""
        return np.inf if self.estimate.width is None else self.estimate.width

    @property
    def width_ratio(self) -> float | None:
        """The interval's width against that of people alone; None where either is missing."""
        helped, alone = self.estimate.width, self.people.width
        return None if helped is None or not alone else helped / alone

    @property
    def p_value(self) -> float | None:
        """Two-sided, of a difference that is zero; None if there is no standard error."""
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
    has n - 1 - p degrees of freedom: a judge that knows nothing gains nothing. What raters add to people's figure
    (`BootstrapStatistic.raters`) they add to the helped one, too, since what a grade is worth is taken as known. The
    rest is as for people alone (`relstudy.analysis.resampling.spread`). Where the judge does not shorten the interval,
    people alone stand.

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
    spread = people.over_raters().spread(transform, people.clusters or clusters)
    alone = _interval(spread, people.effective, level)
    best = alone
    varying = {k: each for k, each in enumerate(terms.brackets()) if _varies(each)}
    if varying and clusters - 1 - len(varying) >= 1 and alone.standard_error > 0:
        helped = _tuned(terms, varying, clusters, transform, alone, level)
        if helped.width < alone.width:
            best = helped
    return replace(best, people=alone.estimate)


def _varies(bracket: BootstrapStatistic) -> bool:
    """True where a bracket is there in nearly all replicates, and differs between them by more than rounding."""
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
    left_out = people.left_out
    for weight, each in zip(tuned, brackets.values(), strict=True):
        # where people's figure has a value in some of the queries alone, the two are not of the same
        alike = left_out is not None and each.left_out is not None and len(left_out) == len(each.left_out)
        left_out = left_out + weight * each.left_out if alike else None
    many = len(brackets)
    figure = replace(people, value=value, replicates=people.replicates + columns @ tuned, left_out=left_out)
    figure = figure.over_raters()
    freedom = None if figure.freedom is None else max(figure.freedom - many, 1.0)
    spread = Spread(
        *(value, figure.replicates, figure.left_out, clusters, transform),
        tuned=many, least=terms.least, freedom=freedom,
    )  # fmt: skip
    effective = people.effective
    if effective is not None and spread.standard_error > 0:
        effective = effective * (alone.standard_error / spread.standard_error) ** 2
    helped = _interval(spread, effective, level)
    by_number = dict(zip(brackets, tuned.tolist(), strict=True))
    return replace(helped, weights=(by_number.get(0, 0.0), by_number.get(1, 0.0)))


def _interval(spread: Spread, effective: float | None, level: float) -> Assisted:
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
    estimate = Estimate.of(value, *spread.interval(level, effective))
    return Assisted(estimate, estimate, (0.0, 0.0), error, spread.degrees, spread.replicates)
