"""Average precision from the count table, in closed form over every order of ties.

Codes at one distance are tied, and a sort that breaks ties by accident reports an accident. Here each query has an
interval [pessimistic, expected, optimistic]: the worst, the mean and the best over all orders within ties.

With N, M the codes and relevant codes before a group of n codes, m of them relevant, T of the n within the cut-off,
and a = (m - 1)/(n - 1), the group adds (design of paper 002, section 3.6, closed forms checked by brute force)
    expected     (m/n) { a T + [M + 1 - a (N + 1)] (H(N + T) - H(N)) }
    optimistic   j + (M - N)(H(N + j) - H(N)),                j = min(T, m)
    pessimistic  j + (M - N - f)(H(N + f + j) - H(N + f)),    f = n - m, j = max(0, T - f).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import hypergeom

from analysis.hashing.counts import CountTable
from analysis.hashing.harmonic import harmonic_difference

Tie = Literal["pessimistic", "expected", "optimistic"]
Denominator = Literal["relevant", "min(K, relevant)", "hits"]
NoRelevant = Literal["skip", "zero"]
TIES: tuple[Tie, ...] = ("pessimistic", "expected", "optimistic")
DENOMINATORS: tuple[Denominator, ...] = ("relevant", "min(K, relevant)", "hits")


@dataclass(frozen=True)
class TieInterval:
    """One figure under the worst, the mean and the best order of ties; None where no query has a relevant code."""

    pessimistic: float | None
    expected: float | None
    optimistic: float | None

    def as_json(self) -> dict[str, float | None]:
        """The three figures by name."""
        return {"pessimistic": self.pessimistic, "expected": self.expected, "optimistic": self.optimistic}


def average_precision(
    table: CountTable, tie: Tie = "expected", k: int | None = None, denominator: Denominator = "min(K, relevant)"
) -> np.ndarray:
    """Average precision of each query, at a cut-off k or over the whole database.

    Parameters
    ----------
    table : counts of M queries
    tie : which order of ties
    k : cut-off, at least 1; None for the whole ranking
    denominator : what the sum of precisions is divided by: all `relevant` codes; `min(K, relevant)`; or the `hits` within
        the cut-off, as some published evaluators do (finding more can then lower the figure)

    Returns
    -------
    float (M,) in [0, 1]; NaN for a query without a relevant code.

    Examples
    --------
    Paper 001, figure 2: one code, 10 items, 5 relevant: best 1, worst 0.3544.

    >>> table = CountTable(np.array([[10]]), np.array([[5]]))
    >>> [round(float(average_precision(table, tie)[0]), 4) for tie in TIES]
    [0.3544, 0.6072, 1.0]
    """
    if k is not None and k < 1:
        raise ValueError("the cut-off k must be at least 1")
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before = np.cumsum(total, axis=1) - total
    hits_before = np.cumsum(relevant, axis=1) - relevant
    within = total if k is None else np.clip(k - before, 0, total)
    found = relevant.sum(axis=1)
    if denominator == "hits" and k is not None:
        return _over_hits(table, tie, k, before, hits_before, within)
    added = _group_sum(total, relevant, before, hits_before, within, tie).sum(axis=1)
    bottom = found if k is None or denominator == "relevant" else np.minimum(found, float(k))
    return np.divide(added, bottom, out=np.full(len(found), np.nan), where=found > 0)


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
    table: CountTable, tie: Tie, k: int, before: np.ndarray, hits_before: np.ndarray, within: np.ndarray
) -> np.ndarray:
    # Divided by a random number of hits: condition on how many relevant codes of the cut group fall inside.
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    whole = within == total
    added = np.where(whole, _group_sum(total, relevant, before, hits_before, within, tie), 0.0).sum(axis=1)
    full_hits = np.where(whole, relevant, 0.0).sum(axis=1)
    result = np.divide(added, full_hits, out=np.zeros(len(added)), where=full_hits > 0)
    for query, group in np.argwhere(~whole & (within > 0)):
        n, m, t = (int(array[query, group]) for array in (total, relevant, within))
        start, hits = before[query, group], hits_before[query, group]
        inside = np.arange(max(0, t - (n - m)), min(t, m) + 1, dtype=float)
        values = (added[query] + _given_inside(inside, t, start, hits, tie)) / np.maximum(hits + inside, 1)
        values = np.where(hits + inside > 0, values, 0.0)
        if tie == "expected":
            result[query] = hypergeom.pmf(inside, n, m, t) @ values
        else:  # not monotone in the number inside, so every number is looked at
            result[query] = values.max() if tie == "optimistic" else values.min()
    return np.where(relevant.sum(axis=1) > 0, result, np.nan)


def _given_inside(inside: np.ndarray, t: int, start: float, hits: float, tie: Tie) -> np.ndarray:
    if tie == "expected":
        slope = (inside - 1) / (t - 1) if t > 1 else np.zeros_like(inside)
        return np.asarray(inside / t * (slope * t + (hits + 1 - slope * (start + 1)) * harmonic_difference(start, t)))
    if tie == "optimistic":
        return np.asarray(inside + (hits - start) * harmonic_difference(start, inside))
    misses = t - inside
    return np.asarray(inside + (hits - start - misses) * harmonic_difference(start + misses, inside))


def grouped_average_precision(table: CountTable) -> np.ndarray:
    """Average precision with every tied group at its last precision, scikit-learn's rule: float (M,), NaN without relevant."""
    seen, hits = np.cumsum(table.total, axis=1), np.cumsum(table.relevant, axis=1)
    found = hits[:, -1].astype(float)
    added = (table.relevant * hits / np.maximum(seen, 1)).sum(axis=1)
    return np.divide(added, found, out=np.full(len(found), np.nan), where=found > 0)


def mean_average_precision(
    table: CountTable,
    k: int | None = None,
    denominator: Denominator = "min(K, relevant)",
    no_relevant: NoRelevant = "skip",
    no_hit: NoRelevant = "zero",
) -> TieInterval:
    """Mean over queries of average precision, as an interval over the order of ties.

    Parameters
    ----------
    k, denominator : as in `average_precision`
    no_relevant : queries without a relevant code are left out (`skip`) or count as 0 (`zero`)
    no_hit : queries without a relevant code among the first k count as 0 (`zero`) or are left out (`skip`), as some
        evaluators do; with `skip`, `expected` is the ratio of the expected sum to the expected number of queries left
    """
    figures = []
    for tie in TIES:
        values = average_precision(table, tie, k, denominator)
        if no_hit == "skip" and k is not None:
            weight = hit_probability(table, k, tie)
            figures.append(float(np.nansum(values) / weight.sum()) if weight.sum() > 0 else None)
        else:
            figures.append(mean_over_queries(values, no_relevant))
    return TieInterval(*figures)


def hit_probability(table: CountTable, k: int, tie: Tie = "expected") -> np.ndarray:
    """Probability that a query's first k hold a relevant code, over the order of ties: float (M,)."""
    before = np.cumsum(table.total, axis=1) - table.total
    within = np.clip(k - before, 0, table.total)
    misses = table.total - table.relevant
    if tie == "optimistic":
        none = np.minimum(within, table.relevant) == 0
    elif tie == "pessimistic":
        none = within <= misses
    else:
        none = np.ones(table.total.shape)
        some = within > 0
        none[some] = hypergeom.pmf(0, table.total[some], table.relevant[some], within[some])
    return np.asarray(1.0 - np.prod(none, axis=1, dtype=float))


def mean_over_queries(values: np.ndarray, no_relevant: NoRelevant) -> float | None:
    """The mean of per-query figures that are NaN where a query has no relevant code; None when nothing is left."""
    kept = values[~np.isnan(values)] if no_relevant == "skip" else np.nan_to_num(values, nan=0.0)
    return float(kept.mean()) if len(kept) else None


def precision_at(table: CountTable, k: int, tie: Tie = "expected") -> np.ndarray:
    """Precision of the first k, float (M,): (M + T m/n)/k with the ties at the cut resolved by `tie`.

    A database with fewer than k codes counts the missing ranks as misses.
    """
    total, relevant = table.total, table.relevant
    before = np.cumsum(total, axis=1) - total
    within = np.clip(k - before, 0, total)
    if tie == "expected":
        hits = np.divide(within * relevant, total, out=np.zeros(total.shape), where=total > 0)
    elif tie == "optimistic":
        hits = np.minimum(within, relevant).astype(float)
    else:
        hits = np.maximum(0, within - (total - relevant)).astype(float)
    return np.asarray(hits.sum(axis=1) / k)
