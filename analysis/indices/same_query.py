"""Good above poor among the results of one query: what somebody who searches notices of a system.

Of a query, the chance that a good match is scored above a poor one, each drawn by its weight (ties count half): the
weighted area under the ROC curve of the query's pairs, as `relstudy.analysis.indices.precision_recall` has it for all
pairs together. The index is the mean over queries by their weights; 0.5 is what guessing gives. Queries in which every
pair is good, or none, say nothing and are left out.
"""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.correlation import group_ends
from relstudy.analysis.indices.reweighted import ReweightedPairs
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, chunks, in_threads
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.common.compiled import compiled

WIDTH = 64
"""Replicates at once, each with two numbers a pair in memory."""
NOTHING_TO_ORDER = "no query has both a good match and a poor one"


@compiled
def _areas(query: np.ndarray, group_end: np.ndarray, gain: np.ndarray, miss: np.ndarray, queries: int) -> np.ndarray:
    """Area under the ROC curve of each query, float64 [queries, replicates]; NaN where it has no good or no poor pair.

    Parameters
    ----------
    query : int64 [pairs], ascending; pairs of one query in order of descending score
    group_end : bool [pairs], True at the last pair of each group of equal scores of a query
    gain, miss : float64 [pairs, replicates], how much of each pair is good and how much is poor
    """
    pairs, width = gain.shape
    areas = np.zeros((queries, width))
    hits, misses, itself = np.zeros((queries, width)), np.zeros((queries, width)), np.zeros((queries, width))
    gained, missed = np.zeros(width), np.zeros(width)
    for i in range(pairs):
        area, above, below, alone = areas[query[i]], hits[query[i]], misses[query[i]], itself[query[i]]
        for b in range(width):
            gained[b] += gain[i, b]
            missed[b] += miss[i, b]
            alone[b] += gain[i, b] * miss[i, b]
        if group_end[i]:
            for b in range(width):
                area[b] += missed[b] * (above[b] + 0.5 * gained[b])
                above[b] += gained[b]
                below[b] += missed[b]
                gained[b] = 0.0
                missed[b] = 0.0
    for q in range(queries):
        for b in range(width):
            good, poor = hits[q, b], misses[q, b]
            couples = good * poor - itself[q, b]
            if couples > 1e-12 * (good + poor) ** 2:
                areas[q, b] = (areas[q, b] - 0.5 * itself[q, b]) / couples
            else:
                areas[q, b] = np.nan
    return areas


class SameQuery:
    """Pairs in the order of one system's scores within each query.

    Parameters
    ----------
    query : int [pairs], 0 to queries - 1
    queries : how many there are
    score : float [pairs], higher is better
    relevant : float [pairs], the share of people who call the pair good, 0 to 1
    weight : float [pairs], above 0; only how pairs of one query compare counts
    query_weight : float [queries], what a query counts; None: all alike

    Examples
    --------
    >>> query, good = np.array([0, 0, 0, 1, 1]), np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    >>> pairs = SameQuery(query, 2, np.array([0.8, 0.9, 0.1, 0.4, 0.3]), good, np.ones(5))
    >>> pairs.by_query().tolist(), float(pairs.mean(pairs.by_query()[:, None])[0])
    ([0.5, 1.0], 0.75)
    """

    def __init__(
        self,
        query: np.ndarray,
        queries: int,
        score: np.ndarray,
        relevant: np.ndarray,
        weight: np.ndarray,
        query_weight: np.ndarray | None = None,
    ) -> None:
        self.order = np.lexsort((-score, query))
        self.query, self.queries = query[self.order].astype(np.int64), queries
        self.end = group_ends(score[self.order]) | group_ends(self.query)
        self.relevant, self.weight = relevant[self.order].astype(np.float64), weight[self.order].astype(np.float64)
        self.query_weight = np.ones(queries) if query_weight is None else query_weight

    def by_query(self) -> np.ndarray:
        """The chance of each query, float [queries]; NaN where it has no good or no poor pair."""
        return self._areas(np.ones((len(self.query), 1)))[:, 0]

    def mean(self, areas: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        """The mean over queries, float [replicates]; NaN where none has a value.

        Parameters
        ----------
        areas : float [queries, replicates or 1]
        counts : float [queries, replicates], how often each query counts; None: once
        """
        defined = np.isfinite(areas)
        weight = self.query_weight[:, None] * (1.0 if counts is None else counts) * defined
        with np.errstate(invalid="ignore", divide="ignore"):
            total: np.ndarray = (weight * np.where(defined, areas, 0.0)).sum(axis=0) / weight.sum(axis=0)
        return total

    def statistic(
        self, times: np.ndarray, row: np.ndarray, between: np.ndarray | None = None, step: np.ndarray | None = None
    ) -> BootstrapStatistic:
        """The index with its replicates over queries, and over the pairs drawn of each where pairs have rows of theirs.

        Parameters
        ----------
        times, row : how much pairs count in each replicate, and each pair's row of that, as of
            `relstudy.analysis.resampling.draws.Draws`
        between : float [queries, replicates], what queries count apart from which of their pairs were drawn; None: as
            their pairs do on average
        step : float [queries], how far a query's counts go from 1, as of `Draws`; None: ones
        """
        once = self.by_query()
        defined = np.isfinite(once)
        if not defined.any():
            return BootstrapStatistic(np.nan, np.full(times.shape[1], np.nan), NOTHING_TO_ORDER)
        row = row[self.order]
        if times.shape[0] == self.queries and np.array_equal(row, self.query):
            replicates = self.mean(once[:, None], times if between is None else between)
        else:

            def part_of(part: slice) -> np.ndarray:
                drawn = times[:, part][row]
                counts = self._means(drawn) if between is None else between[:, part]
                return self.mean(self._areas(drawn), counts)

            replicates = in_threads(part_of, chunks(times.shape[1], WIDTH))
        return BootstrapStatistic(
            float(self.mean(once[:, None])[0]),
            replicates,
            clusters=int(defined.sum()),
            left_out=self._left_out(once, defined, step),
        )

    def under_raters(self, pairs: ReweightedPairs) -> np.ndarray:
        """The index in every replicate of raters, float [replicates]; `pairs` are in the order they were given in."""

        def part_of(part: slice) -> np.ndarray:
            mass, hits = (each[part][:, self.order].T for each in (pairs.mass, pairs.hits))
            return self.mean(self._of(self.weight[:, None] * hits, self.weight[:, None] * (mass - hits)))

        return in_threads(part_of, chunks(len(pairs.mass), WIDTH))

    def _means(self, drawn: np.ndarray) -> np.ndarray:
        """The mean of each query's pairs, float [queries, replicates]; 0 for a query without pairs."""
        pairs = np.bincount(self.query, minlength=self.queries)
        ends = np.cumsum(pairs)
        sums = np.concatenate([np.zeros((1, drawn.shape[1])), np.cumsum(drawn, axis=0)])
        means: np.ndarray = (sums[ends] - sums[ends - pairs]) / np.maximum(pairs, 1)[:, None]
        return means

    def _areas(self, times: np.ndarray) -> np.ndarray:
        mass = self.weight[:, None] * times
        return self._of(mass * self.relevant[:, None], mass * (1.0 - self.relevant[:, None]))

    def _of(self, gain: np.ndarray, miss: np.ndarray) -> np.ndarray:
        areas: np.ndarray = _areas(
            self.query, self.end, np.ascontiguousarray(gain), np.ascontiguousarray(miss), self.queries
        )
        return areas

    def _left_out(self, once: np.ndarray, defined: np.ndarray, step: np.ndarray | None) -> np.ndarray | None:
        """The index without each query that has a value, for the jackknife; None with fewer than two."""
        without = LeftOut.of(np.flatnonzero(defined), step)
        if without is None:
            return None
        weight = self.query_weight[defined]
        left: np.ndarray = without.sums(weight * once[defined])[0] / without.sums(weight)[0]
        return left
