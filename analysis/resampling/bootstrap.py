"""Bootstrap with queries as clusters: draws are counts per query, so that data are reweighted and never re-sorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from relstudy.analysis.resampling.spread import (
    DIFFERENCE,
    LEVEL,
    SHARE,
    Spread,
    Transform,
    percentile_interval,
    proportion_interval,
    variance_of,
)
from relstudy.common.cluster import cores
from relstudy.common.results.estimates import Estimate

T = TypeVar("T")
R = TypeVar("R")
REPLICATES = 1000
AT_ONCE = 64


def query_counts(queries: int, replicates: int = REPLICATES, seed: int | np.random.Generator = 0) -> np.ndarray:
    """Number of times that each query is drawn in each replicate.

    Parameters
    ----------
    queries : number of clusters, at least 1
    replicates : number of draws with replacement of `queries` clusters
    seed : the same seed and number of queries give the same draws, so two systems can be compared pair by pair

    Returns
    -------
    float64 array [queries, replicates]; every column sums to `queries`

    Examples
    --------
    >>> query_counts(3, 4, seed=1).sum(axis=0)
    array([3., 3., 3., 3.])
    """
    random = np.random.default_rng(seed)
    share = np.full(queries, 1.0 / queries)
    counts = np.empty((queries, replicates))
    for part in chunks(replicates, AT_ONCE):  # whole numbers of all replicates would be as large again
        counts[:, part] = random.multinomial(queries, share, size=part.stop - part.start).T
    return counts


def chunks(replicates: int, width: int) -> list[slice]:
    """Slices of at most `width` that cover so many replicates."""
    return [slice(start, min(start + width, replicates)) for start in range(0, replicates, width)]


def in_threads(work: Callable[[slice], np.ndarray], parts: list[slice]) -> np.ndarray:
    """Run `work` on every slice of replicates and join the results along the last axis."""
    found = each_in_a_thread(work, parts)
    return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)


def each_in_a_thread(work: Callable[[T], R], parts: Sequence[T]) -> list[R]:
    """What `work` makes of each part.

    The compiled loops release the interpreter's lock, so threads use all cores.
    """
    if len(parts) == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(min(len(parts), cores())) as pool:
        return list(pool.map(work, parts))


@dataclass(frozen=True, eq=False)
class RaterReplicates:
    """Replicates of judgments in which raters, instead of queries, are drawn again.

    Parameters
    ----------
    drawn : float [replicates], the index with weights 1 / raters each replaced by standard exponential shares
    both : float [replicates], the index with the ratings of each rater and query weighted again, exponential with mean
        1; queries and raters both vary by these, so they are counted twice otherwise
    queries, raters : how many of either there are
    """

    drawn: np.ndarray
    both: np.ndarray
    queries: int
    raters: int

    @cached_property
    def by_rater(self) -> float:
        """The variance by raters.

        Exponential shares of n raters vary a mean by (n - 1) / (n + 1) of what its unbiased variance is.
        """
        return _variance(self.drawn) * (self.raters + 1) / (self.raters - 1)

    @cached_property
    def beyond(self) -> float:
        """The variance by raters beyond that which queries vary by too; 0 where raters show none."""
        return max(self.by_rater - _variance(self.both), 0.0)

    @property
    def blurred(self) -> float:
        """Standard error of `beyond` that the number of replicates leaves, as if these were normal."""
        of_both = _variance(self.both) * np.sqrt(2 / len(self.both))
        return float(np.hypot(self.by_rater * np.sqrt(2 / len(self.drawn)), of_both))

    def times(self, factor: float) -> RaterReplicates:
        """Of the index times a factor."""
        return replace(self, drawn=factor * self.drawn, both=factor * self.both)

    def minus(self, other: RaterReplicates) -> RaterReplicates:
        """Of the difference of two indices whose replicates rest on the same draws."""
        return replace(self, drawn=self.drawn - other.drawn, both=self.both - other.both)


@dataclass(frozen=True, eq=False)
class BootstrapStatistic:
    """An index as computed: its value on the data and its value in every replicate.

    Parameters
    ----------
    value : float, NaN where it cannot be computed
    replicates : float64 [replicates], NaN where undefined; empty when none were drawn
    reason : why there is no value, or no interval; None when nothing is missing
    effective : for a proportion that rests on few hits or few misses, Kish's effective number of pairs behind it, else
        None; its interval is then widened by `proportion_interval`, since no resampling shows what the sample lacks
    clusters : the number of queries, for Student's t on `scale`; None takes percentiles
    scale : the scale on which its interval is symmetric: of an index between 0 and 1, of a correlation, or any number
    withheld : why the index has neither interval nor test though both could be computed; None where it has them
    raters : what raters add to what queries vary by; None where the index speaks of these raters alone
    left_out : the figure without each of its queries, float [queries], for the jackknife; None where that is not known
    freedom : degrees of freedom of Student's t; None: as `spread` finds them
    blur : relative standard error of the variance that the number of replicates leaves; None: as `spread` finds it
    averaged : whether it is a mean or a sum over queries, each by itself, a difference of which is tested by the
        paired t
    """

    value: float
    replicates: np.ndarray
    reason: str | None = None
    effective: float | None = None
    clusters: int | None = None
    withheld: str | None = None
    raters: RaterReplicates | None = None
    scale: Transform = SHARE
    left_out: np.ndarray | None = None
    freedom: float | None = None
    blur: float | None = None
    averaged: bool = False

    def spread(self, transform: Transform, clusters: int | None = None) -> Spread:
        """Its spread on a scale; `clusters` where the figure itself does not know its queries."""
        number = self.clusters if clusters is None else clusters
        if number is None:
            raise ValueError("the number of queries is needed")
        return Spread(
            self.value, self.replicates, self.left_out, number, transform, freedom=self.freedom, blur=self.blur,
            exact=self.averaged,
        )  # fmt: skip

    def over_raters(self) -> BootstrapStatistic:
        """The index with replicates over queries and raters, each variance counted once; itself without raters.

        The variance is that by queries plus that by raters less that of what both hold (Cameron, Gelbach and Miller
        2011); its degrees of freedom are those of queries and raters by their parts in it (Satterthwaite 1946), and
        those of queries alone where raters show nothing of their own.
        """
        if self.raters is None or not np.isfinite(self.replicates).any():
            return replace(self, raters=None)
        parts, mean = self.raters, _mean(self.replicates)
        by_query = self.replicates - mean
        spread, beyond = float(np.sqrt(_variance(parts.drawn))), parts.beyond
        queries = self.spread(DIFFERENCE, parts.queries)
        if not (spread > 0 and beyond > 0):
            return replace(self, raters=None, freedom=queries.degrees)
        small = max(parts.queries - 1, 1) / parts.queries  # replicates are of so many queries as any others
        if queries.jackknife > queries.bootstrap > 0:
            by_query = by_query * np.sqrt(queries.jackknife / queries.bootstrap)
        by_rater = np.resize(parts.drawn - _mean(parts.drawn), len(by_query))
        moved = by_query + np.sqrt(beyond * small) / spread * by_rater
        freedom, blur = queries.degrees, None
        if freedom > 0:
            of_queries = _variance(by_query) / small
            uncertain = of_queries**2 / freedom + parts.by_rater**2 / (parts.raters - 1)
            freedom = max((of_queries + beyond) ** 2 / uncertain, 1.0)
            # the two parts are drawn apart, so what they seem to have in common is of the number of replicates too
            in_common = 2 * np.sqrt(of_queries * beyond / len(by_query))
            unknown = np.linalg.norm([of_queries * queries.blurred, parts.blurred, in_common])
            blur = float(unknown) / (of_queries + beyond)
        replicates = mean + moved
        return replace(self, replicates=replicates, raters=None, left_out=None, freedom=freedom, blur=blur)

    def estimate(self, level: float = LEVEL) -> Estimate:
        """The value with its interval; the reason where either is missing."""
        if not np.isfinite(self.value):
            return Estimate.missing(self.reason or "it cannot be computed from these pairs")
        if self.withheld is not None:
            return Estimate.of(self.value, reason=f"no interval: {self.withheld}")
        return self.over_raters()._estimate(level)

    def _estimate(self, level: float) -> Estimate:
        by_queries = self.clusters is not None and self.clusters > 1 and (self.scale is not SHARE or 0 < self.value < 1)
        if by_queries:
            low, high = self.spread(self.scale).interval(level, self.effective)
        else:
            low, high = percentile_interval(self.replicates, level)
        if np.isfinite(low) and not by_queries:
            if self.clusters is not None and self.scale is SHARE:
                low, high = max(low, 0.0), min(high, 1.0)
            if self.effective is not None:
                guard = proportion_interval(self.value, self.effective, level)
                low, high = min(low, guard[0]), max(high, guard[1])
        reason = self.reason
        if not np.isfinite(low) and reason is None:
            reason = "no interval: too many bootstrap replicates have no value"
        return Estimate.of(self.value, low, high, reason if not np.isfinite(low) else None)

    def __neg__(self) -> BootstrapStatistic:
        """The figure with its sign turned."""
        raters = None if self.raters is None else self.raters.times(-1.0)
        left_out = None if self.left_out is None else -self.left_out
        return replace(self, value=-self.value, replicates=-self.replicates, raters=raters, left_out=left_out)

    def widened(self, variance: float) -> BootstrapStatistic:
        """Replicates moved from their mean so that their variance is this many times what it was."""
        if not np.isfinite(self.replicates).any():
            return self
        factor = float(np.sqrt(variance))
        left_out = None if self.left_out is None else _moved(self.left_out, factor)
        return replace(self, replicates=_moved(self.replicates, factor), left_out=left_out)

    def __sub__(self, other: BootstrapStatistic) -> BootstrapStatistic:
        """The difference of two figures whose replicates rest on the same draws."""
        raters = None if self.raters is None or other.raters is None else self.raters.minus(other.raters)
        return BootstrapStatistic(
            self.value - other.value,
            self.replicates - other.replicates,
            self.reason or other.reason,
            withheld=self.withheld or other.withheld,
            raters=raters,
            left_out=_difference(self.left_out, other.left_out),
            freedom=self.freedom if self.averaged and other.averaged else None,
            averaged=self.averaged and other.averaged,
        )


def _mean(values: np.ndarray) -> float:
    """Of what is defined; the same to the last digit as `np.nanmean`, which copies and counts where nothing is NaN."""
    return float(np.nanmean(values)) if np.isnan(values).any() else float(values.sum() / len(values))


def _variance(values: np.ndarray) -> float:
    """The unbiased variance of what is defined, as `_mean` has the mean."""
    return float(np.nanvar(values, ddof=1)) if np.isnan(values).any() else variance_of(values)


def _moved(values: np.ndarray, factor: float) -> np.ndarray:
    """Values whose distances from their mean are this many times what they were."""
    if not np.isfinite(values).any():
        return values
    centre = _mean(values)
    moved: np.ndarray = centre + factor * (values - centre)
    return moved


def _difference(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    return None if left is None or right is None else left - right
