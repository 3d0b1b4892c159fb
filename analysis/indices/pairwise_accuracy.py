"""Pairwise accuracy among the results of one query: what somebody who searches notices of a system.

The chance that a good match is scored above a poor one of the same query, each drawn by its weight (ties count half).
Of one query it is the weighted area under the ROC curve of its pairs, as
`relstudy.analysis.indices.precision_recall` has it for all pairs together; 0.5 is what guessing gives. Over queries it
is a ratio of sums: a query counts by its couples of a good and a poor pair, divided by its pairs, so that one with
hardly anything to order counts hardly. Queries in which every pair is good, or none, say nothing.

The mean of the queries' own ratios would not do where only some pairs of a query are drawn: each is a ratio of a few
pairs, whose bias does not shrink with the number of queries, and leans to systems that proposed the pairs
(docs/comparing.md). The ratio of sums has a bias of the order of one over the queries (Cochran 1977, chapter 6).
"""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.correlation import group_ends, parts_of
from relstudy.analysis.indices.reweighted import ReweightedPairs
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, in_threads
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.common.runtime.compiled import choose, compiled_for_many, lanes

WIDTH = 64
"""Replicates at once, each with two numbers a pair in memory."""
NOTHING_TO_ORDER = "no query has both a good match and a poor one"


@compiled_for_many
def _couples(
    query: np.ndarray, group_end: np.ndarray, gain: np.ndarray, miss: np.ndarray, queries: int
) -> tuple[np.ndarray, np.ndarray]:
    """Couples of a good and a poor pair of each query, over its pairs: those with the good one above, and all.

    Parameters
    ----------
    query : int64 [pairs], ascending; pairs of one query in order of descending score
    group_end : bool [pairs], True at the last pair of each group of equal scores of a query
    gain, miss : float64 [pairs, replicates], how much of each pair is good and how much is poor

    Returns
    -------
    Two of float64 [queries, replicates]; both 0 for a query that has no good or no poor pair.
    """
    pairs, width = gain.shape
    right, all_of = np.zeros((queries, width)), np.zeros((queries, width))
    hits, misses, itself = np.zeros((queries, width)), np.zeros((queries, width)), np.zeros((queries, width))
    gained, missed = np.zeros(width), np.zeros(width)
    for i in range(pairs):  # loops that write one array each, so that the compiler has the replicates side by side
        q = query[i]
        for b in lanes(width):
            gained[b] += gain[i, b]
        for b in lanes(width):
            missed[b] += miss[i, b]
        for b in lanes(width):
            itself[q, b] += gain[i, b] * miss[i, b]
        if group_end[i]:
            for b in lanes(width):
                right[q, b] += missed[b] * (hits[q, b] + 0.5 * gained[b])
            for b in lanes(width):
                hits[q, b] += gained[b]
            for b in lanes(width):
                misses[q, b] += missed[b]
            gained[:] = 0.0
            missed[:] = 0.0
    for q in range(queries):
        for b in lanes(width):
            good, poor = hits[q, b], misses[q, b]
            couples = good * poor - itself[q, b]
            enough = couples > 1e-12 * good * poor  # what rounding leaves of pairs that are only beside themselves
            right[q, b] = choose(enough, (right[q, b] - 0.5 * itself[q, b]) / (good + poor), 0.0)
            all_of[q, b] = choose(enough, couples / (good + poor), 0.0)
    return right, all_of


@compiled_for_many
def _couples_under_raters(
    order: np.ndarray,
    query: np.ndarray,
    group_end: np.ndarray,
    weight: np.ndarray,
    mass: np.ndarray,
    hits: np.ndarray,
) -> np.ndarray:
    """`_couples` of pairs whose weight and relevance differ by replicate, added up over queries: those with the good
    pair above, and all; float64 [2, replicates].

    All that is summed up for a query stands in one array, so that the compiler has the replicates side by side, and
    nothing is copied: pairs are met in the order of their queries, in which they mostly lie in memory.

    Parameters
    ----------
    order : int64 [pairs], where each of the pairs stands in `mass` and `hits`
    query, group_end, weight : as of `_couples`, weight float64 [pairs]
    mass, hits : float [pairs, replicates], how much each pair counts, and how much of that is good
    """
    width = mass.shape[1]
    good, poor, itself, right, gained, missed = 0, 1, 2, 3, 4, 5
    sums, whole = np.zeros((6, width)), np.zeros((2, width))
    alone = True
    for i in range(len(order)):
        w, of_row = weight[i], order[i]
        of_pair, of_good = mass[of_row], hits[of_row]
        if alone and group_end[i]:
            for b in lanes(width):
                gain, miss = w * of_good[b], w * (of_pair[b] - of_good[b])
                sums[itself, b] += gain * miss
                sums[right, b] += miss * (sums[good, b] + 0.5 * gain)
                sums[good, b] += gain
                sums[poor, b] += miss
        else:
            for b in lanes(width):
                gain, miss = w * of_good[b], w * (of_pair[b] - of_good[b])
                sums[itself, b] += gain * miss
                sums[gained, b] += gain
                sums[missed, b] += miss
            alone = group_end[i]
            if alone:
                for b in lanes(width):
                    sums[right, b] += sums[missed, b] * (sums[good, b] + 0.5 * sums[gained, b])
                    sums[good, b] += sums[gained, b]
                    sums[poor, b] += sums[missed, b]
                sums[gained:] = 0.0
        if i + 1 == len(order) or query[i + 1] != query[i]:
            for b in lanes(width):
                both = sums[good, b] + sums[poor, b]
                couples = sums[good, b] * sums[poor, b] - sums[itself, b]
                enough = couples > 1e-12 * sums[good, b] * sums[poor, b]
                whole[0, b] += choose(enough, (sums[right, b] - 0.5 * sums[itself, b]) / both, 0.0)
                whole[1, b] += choose(enough, couples / both, 0.0)
            sums[:] = 0.0
    return whole


class SameQuery:
    """Pairs in the order of one system's scores within each query.

    Parameters
    ----------
    query : int [pairs], 0 to queries - 1
    queries : how many there are
    score : float [pairs], higher is better
    relevant : float [pairs], the share of people who call the pair good, 0 to 1
    weight : float [pairs], above 0; within a query and between them

    Examples
    --------
    >>> query, good = np.array([0, 0, 0, 1, 1]), np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    >>> pairs = SameQuery(query, 2, np.array([0.8, 0.9, 0.1, 0.4, 0.3]), good, np.ones(5))
    >>> pairs.by_query().tolist(), round(pairs.value, 3)  # (1/3 + 1/2) / (2/3 + 1/2)
    ([0.5, 1.0], 0.714)
    """

    def __init__(
        self,
        query: np.ndarray,
        queries: int,
        score: np.ndarray,
        relevant: np.ndarray,
        weight: np.ndarray,
    ) -> None:
        self.order = np.lexsort((-score, query))
        self.query, self.queries = query[self.order].astype(np.int64), queries
        self.end = group_ends(score[self.order]) | group_ends(self.query)
        self.relevant, self.weight = relevant[self.order].astype(np.float64), weight[self.order].astype(np.float64)
        self.right, self.all_of = (each[:, 0] for each in self._couples(np.ones((len(self.query), 1))))

    @property
    def value(self) -> float:
        """The index; NaN where no query has both a good and a poor pair."""
        return float(_ratio(self.right.sum(), self.all_of.sum()))

    def by_query(self) -> np.ndarray:
        """The chance of each query, float [queries]; NaN where it has no good or no poor pair."""
        return _ratio(self.right, self.all_of)

    def statistic(self, times: np.ndarray, row: np.ndarray, step: np.ndarray | None = None) -> BootstrapStatistic:
        """The index with its replicates over queries, and over the pairs drawn of each where pairs have rows of theirs.

        Parameters
        ----------
        times, row : how much pairs count in each replicate, and each pair's row of that, as of
            `relstudy.analysis.resampling.draws.Draws`
        step : float [queries], how far a query's counts go from 1, as of `Draws`; None: ones
        """
        says = self.all_of > 0
        if not says.any():
            return BootstrapStatistic(np.nan, np.full(times.shape[1], np.nan), NOTHING_TO_ORDER)
        row = row[self.order]
        if times.shape[0] == self.queries and np.array_equal(row, self.query):
            replicates = _ratio(self.right @ times, self.all_of @ times)
        else:

            def part_of(part: slice) -> np.ndarray:
                right, all_of = self._couples(times[:, part][row])
                return _ratio(right.sum(axis=0), all_of.sum(axis=0))

            replicates = in_threads(part_of, parts_of(len(row), times.shape[1], WIDTH))
        without = LeftOut.of(np.flatnonzero(says), step)
        return BootstrapStatistic(
            self.value,
            replicates,
            clusters=int(says.sum()),
            left_out=None
            if without is None
            else _ratio(without.sums(self.right[says])[0], without.sums(self.all_of[says])[0]),
        )

    def under_raters(self, pairs: ReweightedPairs) -> np.ndarray:
        """The index in every replicate of raters, float [replicates]; `pairs` are in the order they were given in."""
        ranked = self.order, self.query, self.end, self.weight
        return _ratio(*_couples_under_raters(*ranked, pairs.mass, pairs.hits))

    def _couples(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mass = self.weight[:, None] * times
        return self._of(mass * self.relevant[:, None], mass * (1.0 - self.relevant[:, None]))

    def _of(self, gain: np.ndarray, miss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gain, miss = np.ascontiguousarray(gain), np.ascontiguousarray(miss)
        right, all_of = _couples(self.query, self.end, gain, miss, self.queries)
        return right, all_of


def _ratio(right: np.ndarray, all_of: np.ndarray) -> np.ndarray:
    """Of couples those with the good pair above, or NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(all_of > 0, right / all_of, np.nan)
