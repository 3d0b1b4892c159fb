"""Bootstrap with queries as clusters: draws are counts per query, so that data are reweighted and never re-sorted."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from relstudy.analysis.resampling.freedom import degrees_of_freedom
from relstudy.common.estimates import Estimate

LEVEL = 0.95
REPLICATES = 1000
MOST_UNDEFINED = 0.05
"""An interval is given only where at most this share of the replicates has no value."""


def query_counts(queries: int, replicates: int = REPLICATES, seed: int | np.random.Generator = 0) -> np.ndarray:
    """How often each query is drawn in each replicate.

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
    return np.ascontiguousarray(random.multinomial(queries, share, size=replicates).T, dtype=np.float64)


def chunks(replicates: int, width: int) -> list[slice]:
    """Slices of at most `width` that cover so many replicates."""
    return [slice(start, min(start + width, replicates)) for start in range(0, replicates, width)]


def in_threads(work: Callable[[slice], np.ndarray], parts: list[slice]) -> np.ndarray:
    """Run `work` on every slice of replicates and join the results along the last axis.

    The compiled loops release the interpreter's lock, so threads use all cores.
    """
    if len(parts) == 1:
        return work(parts[0])
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
        return np.concatenate(list(pool.map(work, parts)), axis=-1)


def percentile_interval(replicates: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """The central `level` share of the defined replicates; (NaN, NaN) where too many are undefined.

    Examples
    --------
    >>> low, high = percentile_interval(np.arange(1001.0))
    >>> round(low, 9), round(high, 9)
    (25.0, 975.0)
    """
    defined = replicates[np.isfinite(replicates)]
    if len(defined) < 2 or len(defined) < (1 - MOST_UNDEFINED) * len(replicates):
        return float("nan"), float("nan")
    tail = 50 * (1 - level)
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def logit_interval(
    value: float, replicates: np.ndarray, clusters: int, level: float = LEVEL, freedom: float | None = None
) -> tuple[float, float]:
    """Student's t interval on the logit scale, for an index between 0 and 1.

    The standard error is that of the replicates' logits, made larger by sqrt(n / (n - 1)) as a bootstrap of n clusters
    is too narrow by that. Near 0 and 1, where the index is skewed, it covers the truth
    more often than percentiles do (docs/scoring.md). Where a replicate reaches 0 or 1, the delta method stands in.

    Parameters
    ----------
    value : the index, strictly between 0 and 1
    replicates : float [replicates], NaN where undefined
    clusters : number of queries, at least 2
    freedom : degrees of freedom; None: clusters - 1

    Examples
    --------
    >>> spread = 0.9 + 0.02 * np.random.default_rng(0).normal(size=1000)
    >>> [round(end, 3) for end in logit_interval(0.9, spread, 50)]
    [0.851, 0.934]
    """
    defined = replicates[np.isfinite(replicates)]
    if ((defined > 0) & (defined < 1)).all():
        error = float(np.std(special.logit(defined), ddof=1))
    else:
        error = float(np.std(defined, ddof=1)) / (value * (1 - value))
    degrees = clusters - 1 if freedom is None else freedom
    reach = float(special.stdtrit(degrees, (1 + level) / 2)) * error * np.sqrt(clusters / (clusters - 1))
    centre = special.logit(value)
    return float(special.expit(centre - reach)), float(special.expit(centre + reach))


def fisher_interval(
    value: float, replicates: np.ndarray, clusters: int, level: float = LEVEL, freedom: float | None = None
) -> tuple[float, float]:
    """Student's t interval of a correlation on Fisher's scale.

    Parameters
    ----------
    value : the correlation, between -1 and 1
    replicates : float [replicates], NaN where undefined; their variance is made larger by n / (n - 1) for n clusters
    clusters : at least 2
    freedom : degrees of freedom; None: clusters - 1

    Examples
    --------
    >>> spread = 0.9 + 0.02 * np.random.default_rng(0).normal(size=1000)
    >>> [round(end, 3) for end in fisher_interval(0.9, spread, 50)]
    [0.852, 0.933]
    """
    if abs(value) >= 1:
        return value, value
    error = float(np.nanstd(replicates, ddof=1)) * np.sqrt(clusters / (clusters - 1)) / (1 - value**2)
    reach = float(special.stdtrit(clusters - 1 if freedom is None else freedom, (1 + level) / 2)) * error
    return float(np.tanh(np.arctanh(value) - reach)), float(np.tanh(np.arctanh(value) + reach))


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
    low = float(special.betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = float(special.betaincinv(hits + 1, misses, 1 - tail)) if misses > 0 else 1.0
    return low, high


@dataclass(frozen=True, eq=False)
class RaterReplicates:
    """What an index varies by when raters, instead of queries, are drawn anew.

    Parameters
    ----------
    drawn : float [replicates], the index with weights 1 / raters each replaced by standard exponential shares
    both : float [replicates], the index with the ratings of each rater and query weighted anew, exponential with mean
        1; queries and raters both vary by these, so they are counted twice otherwise
    queries, raters : how many of either there are
    """

    drawn: np.ndarray
    both: np.ndarray
    queries: int
    raters: int

    @property
    def by_rater(self) -> float:
        """The variance by raters.

        Exponential shares of n raters vary a mean by (n - 1) / (n + 1) of what its unbiased variance is.
        """
        return float(np.nanvar(self.drawn, ddof=1)) * (self.raters + 1) / (self.raters - 1)

    @property
    def beyond(self) -> float:
        """The variance by raters beyond that which queries vary by too; 0 where raters show none."""
        return max(self.by_rater - float(np.nanvar(self.both, ddof=1)), 0.0)

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
    clusters : the number of queries, for Student's t: on the logit scale for an index between 0 and 1
        (`logit_interval`), on Fisher's for a correlation (`fisher_interval`); None takes percentiles
    correlation : whether it is a correlation, from -1 to 1
    withheld : why the index has neither interval nor test though both could be computed; None where it has them
    raters : what raters add to what queries vary by; None where the index speaks of these raters alone
    counts : how often each query is drawn in each replicate, float [queries, replicates], for Student's t; None where
        that is not known
    freedom : degrees of freedom of Student's t; None: as `degrees` finds them
    """

    value: float
    replicates: np.ndarray
    reason: str | None = None
    effective: float | None = None
    clusters: int | None = None
    withheld: str | None = None
    raters: RaterReplicates | None = None
    correlation: bool = False
    counts: np.ndarray | None = None
    freedom: float | None = None

    def degrees(self, clusters: int) -> float:
        """Degrees of freedom of the variance by queries, or of all that varies where that is known."""
        if self.freedom is not None:
            return self.freedom
        return clusters - 1 if self.counts is None else degrees_of_freedom(self.replicates, self.counts, clusters)

    def over_raters(self) -> BootstrapStatistic:
        """The index with replicates over queries and raters, each variance counted once; itself without raters.

        The variance is that by queries plus that by raters less that of what both hold (Cameron, Gelbach and Miller
        2011); its degrees of freedom are those of queries and raters by their parts in it (Satterthwaite 1946), and
        those of queries alone where raters show nothing of their own.
        """
        if self.raters is None or not np.isfinite(self.replicates).any():
            return replace(self, raters=None)
        parts, by_query = self.raters, self.replicates - np.nanmean(self.replicates)
        by_rater = np.resize(parts.drawn - np.nanmean(parts.drawn), len(by_query))
        small = max(parts.queries - 1, 1) / parts.queries  # replicates are of so many queries as any others
        spread, beyond = float(np.nanstd(parts.drawn, ddof=1)), parts.beyond
        moved = by_query
        if spread > 0 and beyond > 0:
            moved = moved + np.sqrt(beyond * small) / spread * by_rater
        freedom = self.degrees(parts.queries)
        if beyond > 0 and freedom > 0:
            of_queries = float(np.nanvar(by_query, ddof=1)) / small
            uncertain = of_queries**2 / freedom + parts.by_rater**2 / (parts.raters - 1)
            freedom = max((of_queries + beyond) ** 2 / uncertain, 1.0)
        return replace(self, replicates=np.nanmean(self.replicates) + moved, raters=None, freedom=freedom)

    def estimate(self, level: float = LEVEL) -> Estimate:
        """The value with its interval; the reason where either is missing."""
        if not np.isfinite(self.value):
            return Estimate.missing(self.reason or "it cannot be computed from these pairs")
        if self.withheld is not None:
            return Estimate.of(self.value, reason=f"no interval: {self.withheld}")
        return self.over_raters()._estimate(level)

    def _estimate(self, level: float) -> Estimate:
        low, high = percentile_interval(self.replicates, level)
        if self.clusters is not None and self.clusters > 1 and np.isfinite(low):
            freedom = self.degrees(self.clusters)
            if self.correlation:
                low, high = fisher_interval(self.value, self.replicates, self.clusters, level, freedom)
            elif 0 < self.value < 1:
                low, high = logit_interval(self.value, self.replicates, self.clusters, level, freedom)
            else:
                low, high = max(low, 0.0), min(high, 1.0)
        if self.effective is not None and np.isfinite(low):
            error = float(np.nanstd(self.replicates, ddof=1))
            size = min(self.effective, self.value * (1 - self.value) / error**2 if error > 0 else np.inf)
            guard = proportion_interval(self.value, size, level)
            low, high = min(low, guard[0]), max(high, guard[1])
        reason = self.reason
        if not np.isfinite(low) and reason is None:
            reason = "no interval: too many bootstrap replicates have no value"
        return Estimate.of(self.value, low, high, reason if not np.isfinite(low) else None)

    def __neg__(self) -> BootstrapStatistic:
        """The figure with its sign turned."""
        raters = None if self.raters is None else self.raters.times(-1.0)
        return replace(self, value=-self.value, replicates=-self.replicates, raters=raters)

    def widened(self, variance: float) -> BootstrapStatistic:
        """Replicates moved from their mean so that their variance is this many times what it was."""
        if not np.isfinite(self.replicates).any():
            return self
        centre = np.nanmean(self.replicates)
        return replace(self, replicates=centre + np.sqrt(variance) * (self.replicates - centre))

    def __sub__(self, other: BootstrapStatistic) -> BootstrapStatistic:
        """The difference of two figures whose replicates rest on the same draws."""
        raters = None if self.raters is None or other.raters is None else self.raters.minus(other.raters)
        return BootstrapStatistic(
            self.value - other.value,
            self.replicates - other.replicates,
            self.reason or other.reason,
            withheld=self.withheld or other.withheld,
            raters=raters,
            counts=self.counts,
        )
