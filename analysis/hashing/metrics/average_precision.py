"""Average precision from the count table, in closed form over every order of ties.

Codes at one distance are tied, and a sort that breaks ties by accident reports an accident. Here each query has an
interval [pessimistic, expected, optimistic]: the worst, the mean and the best over all orders within ties.

With N, M the codes and relevant codes before a group of n codes, m of them relevant, T of the n within the cut-off,
and a = (m - 1)/(n - 1), the group adds to the sum of precisions of Eq. 3.12 (Moran 2016, section 3.6.4)
    expected     (m/n) { a T + [M + 1 - a (N + 1)] (H(N + T) - H(N)) }
    optimistic   j + (M - N)(H(N + j) - H(N)),                j = min(T, m)
    pessimistic  j + (M - N - f)(H(N + f + j) - H(N + f)),    f = n - m, j = max(0, T - f).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.stats import hypergeom

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.first_ranks import Tie, ranks_taken
from relstudy.analysis.hashing.metrics.harmonic import harmonic_difference

Denominator = Literal["relevant", "min(K, relevant)", "hits"]
DENOMINATORS: tuple[Denominator, ...] = ("relevant", "min(K, relevant)", "hits")
CUTS = 1000
"""Queries whose cut groups are looked at together: each needs as many numbers as relevant codes may fall inside."""


def average_precision(
    table: CountTable, tie: Tie = "expected", k: int | None = None, denominator: Denominator = "min(K, relevant)"
) -> np.ndarray:
    """Average precision of each query, at a cut-off k or over the whole database.

    Parameters
    ----------
    table : counts of M queries
    tie : which order of ties
    k : cut-off, at least 1; None for the whole ranking
    denominator : what the sum of precisions is divided by: all `relevant` codes; `min(K, relevant)`; or the `hits`
        within the cut-off, as some published evaluators do (finding more can then lower the figure)

    Returns
    -------
    float (M,) in [0, 1]; NaN for a query without a relevant code.

    Examples
    --------
    Ding, Li and Li 2018, figure 2: one code, 10 items, 5 relevant: best 1, worst 0.3544.

    >>> table = CountTable(np.array([[10]]), np.array([[5]]))
    >>> [round(float(average_precision(table, tie)[0]), 4) for tie in ("pessimistic", "expected", "optimistic")]
    [0.3544, 0.6072, 1.0]
    """
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before, taken = ranks_taken(table, k)
    hits_before = np.cumsum(relevant, axis=1) - relevant
    relevant_codes = relevant.sum(axis=1)
    if denominator == "hits" and k is not None:
        return _over_hits(table, tie, before, hits_before, taken)
    added = _group_sum(total, relevant, before, hits_before, taken, tie).sum(axis=1)
    bottom = (
        relevant_codes if k is None or denominator == "relevant" else np.minimum(relevant_codes, min(k, table.codes))
    )
    return np.divide(added, bottom, out=np.full(len(relevant_codes), np.nan), where=relevant_codes > 0)


def _group_sum(
    n: np.ndarray, m: np.ndarray, before: np.ndarray, hits: np.ndarray, t: np.ndarray, tie: Tie
) -> np.ndarray:
    if tie == "expected":
        slope = np.divide(m - 1, n - 1, out=np.zeros_like(n), where=n > 1)
        share = np.divide(m, n, out=np.zeros_like(n), where=n > 0)
        return np.asarray(share * (slope * t + (hits + 1 - slope * (before + 1)) * harmonic_difference(before, t)))
    if tie == "optimistic":
        j = np.minimum(t, m)
        return np.asarray(j + (hits - before) * harmonic_difference(before, j))
    misses = n - m
    j = np.maximum(0.0, t - misses)
    return np.asarray(j + (hits - before - misses) * harmonic_difference(before + misses, j))


def _over_hits(
    table: CountTable, tie: Tie, before: np.ndarray, hits_before: np.ndarray, taken: np.ndarray
) -> np.ndarray:
    # Divided by a random number of hits: condition on how many relevant codes of the cut group fall inside.
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    whole = taken == total
    added = np.where(whole, _group_sum(total, relevant, before, hits_before, taken, tie), 0.0).sum(axis=1)
    full_hits = np.where(whole, relevant, 0.0).sum(axis=1)
    result = np.divide(added, full_hits, out=np.zeros(len(added)), where=full_hits > 0)
    cut = np.argwhere(~whole & (taken > 0))  # at most one group a query
    for start in range(0, len(cut), CUTS):
        query, group = cut[start : start + CUTS].T
        n, m, t, first, hits = (
            array[query, group].astype(float) for array in (total, relevant, taken, before, hits_before)
        )
        result[query] = _cut_by_hits(added[query], n, m, t, first, hits, tie)
    return np.where(relevant.sum(axis=1) > 0, result, np.nan)


def _cut_by_hits(
    added: np.ndarray, n: np.ndarray, m: np.ndarray, t: np.ndarray, before: np.ndarray, hits: np.ndarray, tie: Tie
) -> np.ndarray:
    least = np.maximum(0, t - (n - m))
    numbers = (np.minimum(t, m) - least + 1).astype(int)
    starts = np.cumsum(numbers) - numbers
    query = np.repeat(np.arange(len(n)), numbers)
    inside = least[query] + np.arange(len(query)) - starts[query]
    # Of `inside` relevant codes among the t taken, the group is a whole one.
    values = added[query] + _group_sum(t[query], inside, before[query], hits[query], t[query], tie)
    relevant_codes = hits[query] + inside
    values = np.divide(values, relevant_codes, out=np.zeros(len(query)), where=relevant_codes > 0)
    if tie == "expected":
        return np.add.reduceat(values * hypergeom.pmf(inside, n[query], m[query], t[query]), starts)
    # Not monotone in the number inside, so every number is looked at.
    return (np.maximum if tie == "optimistic" else np.minimum).reduceat(values, starts)


def grouped_average_precision(table: CountTable) -> np.ndarray:
    """Average precision with every tied group at its last precision, as scikit-learn has it.

    float (M,), NaN for a query without a relevant code.
    """
    seen, hits = np.cumsum(table.total, axis=1), np.cumsum(table.relevant, axis=1)
    relevant_codes = hits[:, -1].astype(float)
    added = (table.relevant * hits / np.maximum(seen, 1)).sum(axis=1)
    return np.divide(added, relevant_codes, out=np.full(len(relevant_codes), np.nan), where=relevant_codes > 0)
