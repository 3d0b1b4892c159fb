"""Weight of each judged pair in each bootstrap replicate.

Where nothing is known of how the queries came about, whole queries are drawn with replacement, and a pair counts as
often as its query is drawn. Where the queries are a simple random sample of a known share of a collection's queries,
that would be too much: what the sample holds is certain. Then the bootstrap is that of two-stage sampling, rescaled so
that its variance is the design's (docs/scoring.md derives it).

Sources: Rao and Wu 1988 (the rescaled bootstrap, two stages in section 4). Deville's estimator of the variance of a
sample of fixed size with unequal probabilities: Matei and Tillé 2005, "Dev2".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.resampling.bootstrap import query_counts

MOST_CELLS = 250_000_000
"""Pairs times replicates that are in memory at once: 2 GB."""


@dataclass(frozen=True, eq=False)
class Draws:
    """The bootstrap's draws for one set of judged pairs.

    Parameters
    ----------
    counts : float64 [queries, replicates], how often each query is drawn
    times : float64 [rows, replicates], how much a pair counts; a row per query, or a row per pair
    row : int64 [pairs], each pair's row of `times`
    between : float64 [queries, replicates], how much a query counts apart from which of its pairs were drawn
    step : float64 [queries], sqrt(1 - f) with f the probability that the query was drawn, 1 where its population is
        open: how far a query's counts go from 1
    """

    counts: np.ndarray
    times: np.ndarray
    row: np.ndarray
    between: np.ndarray
    step: np.ndarray

    @property
    def queries(self) -> int:
        return int(self.counts.shape[0])


def whole_queries(query: np.ndarray, queries: int, replicates: int, seed: int) -> Draws:
    """Queries with replacement, each with all its pairs."""
    counts = query_counts(queries, replicates, seed)
    return Draws(counts, counts, query.astype(np.int64), counts, np.ones(queries))


def two_stages(
    query: np.ndarray,
    fraction: np.ndarray,
    given_query: np.ndarray,
    replicates: int,
    seed: int,
    order: np.ndarray | None = None,
) -> Draws:
    """Queries from a finite population, and pairs within each query.

    Parameters
    ----------
    query : int [pairs], 0 to queries - 1
    fraction : float [queries], 0 to 1, the probability that the query was drawn
    given_query : float [pairs], above 0 to 1, the probability of the pair given its query
    order : int [pairs], the order in which pairs take their random numbers (so that the order of a file's rows has no
        part); None takes them as they stand

    Returns
    -------
    Draws with a row per pair. With f the fraction, m how often the query is drawn and d the pair's deviation
    (`deviations`), a pair counts (1 + sqrt(1 - f) (m - 1)) (1 + k d) times, k^2 = f / (1 + (1 - f) (1 - 1 / queries)):
    the variance between queries counts 1 - f times, that within queries f times. As f goes to 0 this is
    `whole_queries`.

    Notes
    -----
    A query whose variance within cannot be estimated (all but one of its pairs were certain to be drawn) keeps f = 0,
    which errs on the long side.
    """
    queries = len(fraction)
    counts = query_counts(queries, replicates, seed)
    random = np.random.default_rng([seed, 2])
    times = np.empty((len(query), replicates))
    between, step = np.empty_like(counts), np.ones(queries)
    by_query = np.arange(len(query)) if order is None else order
    by_query = by_query[np.argsort(query[by_query], kind="stable")]
    ends = np.cumsum(np.bincount(query, minlength=queries))
    for number, rows in enumerate(np.split(by_query, ends[:-1])):
        share = float(fraction[number])
        within = deviations(1.0 - given_query[rows], replicates, random) if share > 0 else 0.0
        if within is None:
            within, share = 0.0, 0.0
        step[number] = np.sqrt(1.0 - share)
        between[number] = 1.0 + step[number] * (counts[number] - 1.0)
        scale = np.sqrt(share / (1.0 + (1.0 - share) * (1.0 - 1.0 / queries)))
        times[rows] = between[number] * np.maximum(1.0 + scale * within, 0.0)  # -1 may have been rounded
    return Draws(counts, times, np.arange(len(query), dtype=np.int64), between, step)


def each_query_left_out(query: np.ndarray, step: np.ndarray) -> Draws:
    """A replicate per query, without it: those of the delete-one jackknife.

    Parameters
    ----------
    query : int [pairs], 0 to queries - 1
    step : float [queries], of the bootstrap's draws; two queries are needed

    Notes
    -----
    (queries - 1) / queries times the sum of squares about the mean is the variance between queries, 1 - f times that
    where the population is finite; the choice of pairs within queries is not in it then.

    Examples
    --------
    >>> each_query_left_out(np.array([0, 1, 1]), np.ones(2)).times.tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    queries = len(step)
    counts = (1.0 - np.eye(queries)) * queries / (queries - 1)
    between = 1.0 + step[:, None] * (counts - 1.0)
    return Draws(counts, between, query.astype(np.int64), between, step)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The same for indices that take a query's part off the whole, instead of meeting every pair once for each query.

    Parameters
    ----------
    query : int64 [pairs], 0 to queries - 1, each of which has a pair
    kept : float64 [queries], how much a query counts while another is left out
    dropped : float64 [queries], which share of that goes when it is left out itself
    """

    query: np.ndarray
    kept: np.ndarray
    dropped: np.ndarray

    @classmethod
    def of(cls, query: np.ndarray, step: np.ndarray | None = None, among: int | None = None) -> LeftOut | None:
        """For some pairs; None where they are of fewer than two queries.

        Parameters
        ----------
        query : int [pairs], the rows of `step`
        step : float [queries], of the bootstrap's draws; None: ones
        among : how many queries there are of which one is left out; None: as many as the pairs are of

        Examples
        --------
        >>> LeftOut.of(np.array([3, 5, 5])).query.tolist()
        [0, 1, 1]
        """
        names, number = np.unique(query, return_inverse=True)
        if len(names) < 2:
            return None
        steps = np.ones(len(names)) if step is None else step[names]
        kept = 1.0 + steps / ((len(names) if among is None else among) - 1)
        return cls(number.astype(np.int64), kept, 1.0 - (1.0 - steps) / kept)

    @property
    def queries(self) -> int:
        return len(self.kept)

    @property
    def times(self) -> np.ndarray:
        """Weight of each query in each replicate, float64 [queries, queries]."""
        return np.asarray(self.kept[:, None] * (1.0 - np.diag(self.dropped)))

    def sums(self, values: np.ndarray, bins: np.ndarray | None = None, number: int = 1) -> np.ndarray:
        """Sums of values over the pairs without each query, float64 [number, queries].

        Parameters
        ----------
        values : float [pairs]
        bins : int [pairs], 0 to number - 1, which sum each belongs to; None: one sum
        """
        cell = self.query if bins is None else bins * self.queries + self.query
        by_query = np.bincount(cell, values * self.kept[self.query], number * self.queries).reshape(number, -1)
        sums: np.ndarray = by_query.sum(axis=1, keepdims=True) - self.dropped * by_query
        return sums


def deviations(left: np.ndarray, replicates: int, random: np.random.Generator) -> np.ndarray | float | None:
    """Random deviations of a query's pairs from 1 that vary a weighted sum as drawing the pairs does.

    Parameters
    ----------
    left : float [pairs], one minus the pair's probability given its query

    Returns
    -------
    float64 [pairs, replicates], mean 0, never below -1 (no weight may be negative); 0.0 where every pair was certain;
    None where only one was not, so that the sum's variation is unknown

    Notes
    -----
    With p = left / sum(left), s = 1 - sum(p^2) and c = left / s, Deville's variance of sum(y) is
    sum(c (y - a)^2) with a = sum(p y). Drawing M pairs with replacement with probabilities p, r times each, and taking
    sqrt(sum(left) / (s M)) (r - M p) has this very variance; M = sum(left) s, rounded down, keeps it above -1. Where
    only a pair or so was left to chance (M = 1) and chances differ much, the step is cut so that -1 is kept to.

    Examples
    --------
    >>> left, y = np.array([0.9, 0.5, 0.6, 0.0]), np.array([3.0, 1.0, 2.0, 7.0])
    >>> varied = y @ deviations(left, 400_000, np.random.default_rng(0))
    >>> p = left / left.sum()
    >>> deville = np.sum(left / (1 - np.sum(p**2)) * (y - p @ y) ** 2)
    >>> round(float(np.var(varied) / deville), 2)
    1.0
    """
    total = float(left.sum())
    if total <= 1e-9 * max(len(left), 1):
        return 0.0
    share = left / total
    spread = 1.0 - float(np.sum(share**2))
    if spread <= 1e-9:
        return None
    number = max(1, int(total * spread + 1e-9))
    drawn_pair = np.searchsorted(np.cumsum(share)[:-1], random.random((number, replicates)), side="right")
    cells = drawn_pair + len(left) * np.arange(replicates)
    drawn = np.bincount(cells.ravel(), minlength=len(left) * replicates).reshape(replicates, len(left)).T
    step = min(float(np.sqrt(total / (spread * number))), 1.0 / (number * float(share.max())))
    scaled: np.ndarray = step * (drawn - number * share[:, None])
    return scaled
