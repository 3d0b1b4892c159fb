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

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.first_ranks import Tie, ranks_taken
from relstudy.analysis.hashing.metrics.first_relevant import first_relevant_precision
from relstudy.analysis.hashing.metrics.harmonic import harmonic_difference
from relstudy.analysis.hashing.metrics.hypergeometric import mean_inverse, no_hit_probability
from relstudy.analysis.hashing.metrics.tied_groups import group_sum

Denominator = Literal["relevant", "min(K, relevant)", "hits", "first K relevant"]
DENOMINATORS: tuple[Denominator, ...] = ("relevant", "min(K, relevant)", "hits", "first K relevant")


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
        within the cut-off, as some published evaluators do (finding more can then lower the figure). With
        `first K relevant` k is no cut-off: the mean precision at the first min(k, relevant) relevant codes, whatever
        their ranks

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
    if denominator == "first K relevant" and k is not None:
        return first_relevant_precision(table, k, tie)
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before, taken = ranks_taken(table, k)
    hits_before = np.cumsum(relevant, axis=1) - relevant
    relevant_codes = relevant.sum(axis=1)
    if denominator == "hits" and k is not None:
        return _over_hits(table, tie, before, hits_before, taken)
    added = group_sum(total, relevant, before, hits_before, taken, tie).sum(axis=1)
    bottom = (
        relevant_codes if k is None or denominator == "relevant" else np.minimum(relevant_codes, min(k, table.codes))
    )
    return np.divide(added, bottom, out=np.full(len(relevant_codes), np.nan), where=relevant_codes > 0)


def average_precision_within(table: CountTable, radius: int, tie: Tie = "expected") -> np.ndarray:
    """Average precision over the codes within a radius, divided by the relevant ones among them ("mAP@H<=2").

    Returns
    -------
    float (M,); 0 where the ball holds no relevant code, NaN for a query without a relevant code anywhere.
    """
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before, taken = ranks_taken(table, None)
    hits_before = np.cumsum(relevant, axis=1) - relevant
    within = slice(0, radius + 1)
    added = group_sum(total, relevant, before, hits_before, taken, tie)[:, within].sum(axis=1)
    hits = relevant[:, within].sum(axis=1)
    values = np.divide(added, hits, out=np.zeros(len(hits)), where=hits > 0)
    return np.where(relevant.sum(axis=1) > 0, values, np.nan)


def _over_hits(
    table: CountTable, tie: Tie, before: np.ndarray, hits_before: np.ndarray, taken: np.ndarray
) -> np.ndarray:
    # Divided by a random number of hits: condition on how many relevant codes of the cut group fall inside.
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    whole = taken == total
    added = np.where(whole, group_sum(total, relevant, before, hits_before, taken, tie), 0.0).sum(axis=1)
    full_hits = np.where(whole, relevant, 0.0).sum(axis=1)
    result = np.divide(added, full_hits, out=np.zeros(len(added)), where=full_hits > 0)
    query, group = np.nonzero(~whole & (taken > 0))  # at most one group a query
    n, m, t, first, hits = (
        array[query, group].astype(float) for array in (total, relevant, taken, before, hits_before)
    )
    rule = {"expected": _expected_by_hits, "optimistic": _best_by_hits, "pessimistic": _worst_by_hits}[tie]
    result[query] = rule(added[query], n, m, t, first, hits)
    return np.where(relevant.sum(axis=1) > 0, result, np.nan)


def _expected_by_hits(
    added: np.ndarray, n: np.ndarray, m: np.ndarray, t: np.ndarray, before: np.ndarray, hits: np.ndarray
) -> np.ndarray:
    """E[(added + G(j))/(hits + j)] over the number j of relevant codes among the t of n that are taken.

    G(j) = b j (j - 1) + a j is a whole group's expected sum, so that division by j + hits leaves a line in j and a
    multiple of E[1/(hits + j)].
    """
    harmonic = harmonic_difference(before, t)
    a = (hits + 1) * harmonic / t
    b = np.divide(t - (before + 1) * harmonic, t * (t - 1), out=np.zeros_like(t), where=t > 1)
    constant = a - b - b * hits
    mean = t * m / n
    some = hits > 0
    inverse = np.zeros_like(t)
    inverse[some] = mean_inverse(n[some], m[some], t[some], hits[some])
    # Without an earlier hit the value is 0 where j is 0.
    kept = np.where(some, 1.0, 1 - no_hit_probability(n, m, t))
    return np.asarray(b * mean + constant * kept + (added - hits * constant) * inverse)


def _best_by_hits(
    added: np.ndarray, n: np.ndarray, m: np.ndarray, t: np.ndarray, before: np.ndarray, hits: np.ndarray
) -> np.ndarray:
    # The precision at each further hit grows with their number, so the mean first falls and then rises: an end is best.
    least, most = _ends(n, m, t)
    # Without an earlier hit the mean starts at one hit; at none it is 0.
    first = np.minimum(np.maximum(least, hits == 0), most)
    low, high = (_value_by_hits(added, t, j, before, hits, "optimistic") for j in (first, most))
    return np.maximum(low, high)


def _worst_by_hits(
    added: np.ndarray, n: np.ndarray, m: np.ndarray, t: np.ndarray, before: np.ndarray, hits: np.ndarray
) -> np.ndarray:
    # The sum is convex in the number of hits, so the mean falls and then rises: the turn is found by halving.
    low, high = _ends(n, m, t)
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        here, after = (_value_by_hits(added, t, j, before, hits, "pessimistic") for j in (middle, middle + 1))
        rises = after >= here
        low, high = np.where(rises | (low >= high), low, middle + 1), np.where(rises, np.minimum(middle, high), high)
    return _value_by_hits(added, t, low, before, hits, "pessimistic")


def _ends(n: np.ndarray, m: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.maximum(0, t - (n - m)), np.minimum(t, m)


def _value_by_hits(
    added: np.ndarray, t: np.ndarray, inside: np.ndarray, before: np.ndarray, hits: np.ndarray, tie: Tie
) -> np.ndarray:
    # Of `inside` relevant codes among the t taken, the group is a whole one.
    values = added + group_sum(t, inside, before, hits, t, tie)
    return np.divide(values, hits + inside, out=np.zeros_like(values), where=hits + inside > 0)


def grouped_average_precision(table: CountTable) -> np.ndarray:
    """Average precision with every tied group at its last precision, as scikit-learn has it.

    float (M,), NaN for a query without a relevant code.
    """
    seen, hits = np.cumsum(table.total, axis=1), np.cumsum(table.relevant, axis=1)
    relevant_codes = hits[:, -1].astype(float)
    added = (table.relevant * hits / np.maximum(seen, 1)).sum(axis=1)
    return np.divide(added, relevant_codes, out=np.full(len(relevant_codes), np.nan), where=relevant_codes > 0)
