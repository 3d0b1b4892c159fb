"""Average precision over the first k relevant codes, whatever their ranks (the cross-modal evaluators' mAP at k).

Jiang and Li 2017 (DCMH) publish an evaluator that cuts the list of relevant ranks, not the ranking. The group of ties
in which the k-th relevant code stands then counts in part: of its m relevant codes among n the first J. At place s + 1
of the group stands a relevant code with probability m/n, and h of the s codes before it are relevant,
hypergeometrically; it counts while h < J. So the group adds

    (m/n) sum_s [(M + 1) P(h < J) + E(h; h < J)] / (N + s + 1).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.first_ranks import Tie
from relstudy.analysis.hashing.metrics.harmonic import harmonic_difference
from relstudy.analysis.hashing.metrics.tied_groups import group_sum


def first_relevant_precision(table: CountTable, k: int, tie: Tie = "expected") -> np.ndarray:
    """Mean precision at the first min(k, relevant) relevant codes of each query.

    Returns
    -------
    float (M,) in [0, 1]; NaN for a query without a relevant code

    Examples
    --------
    One code before ten of which five are relevant: the first relevant one is at rank 2 at best.

    >>> table = CountTable(np.array([[1, 10]]), np.array([[0, 5]]))
    >>> first_relevant_precision(table, 1, "optimistic").tolist()
    [0.5]
    """
    if k < 1:
        raise ValueError("the cut-off k must be at least 1")
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before = np.cumsum(total, axis=1) - total
    hits = np.cumsum(relevant, axis=1) - relevant
    whole = hits + relevant <= k
    added = np.where(whole, group_sum(total, relevant, before, hits, total, tie), 0.0).sum(axis=1)
    query, group = np.nonzero(~whole & (hits < k))  # at most one group a query
    n, m, first, earlier = (array[query, group] for array in (total, relevant, before, hits))
    wanted = k - earlier
    if tie == "optimistic":
        added[query] += wanted + (earlier - first) * harmonic_difference(first, wanted)
    elif tie == "pessimistic":
        misses = n - m
        added[query] += wanted + (earlier - first - misses) * harmonic_difference(first + misses, wanted)
    else:
        added[query] += [_expected(*row) for row in zip(n, m, first, earlier, wanted, strict=True)]
    number = np.minimum(relevant.sum(axis=1), k)
    return np.divide(added, number, out=np.full(len(number), np.nan), where=number > 0)


def _expected(n: float, m: float, before: float, hits: float, wanted: float) -> float:
    """What the first `wanted` of m relevant codes among n add, over their order."""
    places = np.arange(n)
    counted = _at_most(places, m - 1, n - 1, wanted - 1)
    # E(h; h < J) of s draws is s (m - 1)/(n - 1) P(h' < J - 1), h' of one draw and one relevant code less.
    mean = places * (m - 1) / (n - 1) * _at_most(np.maximum(places - 1, 0), m - 2, n - 2, wanted - 2)
    return float(m / n * (((hits + 1) * counted + mean) / (before + places + 1)).sum())


def _at_most(draws: np.ndarray, marked: float, size: float, most: float) -> np.ndarray:
    """P(no more than `most` of the marked are drawn), for every number of draws 0, 1, 2, ... in order.

    Each further draw takes it down by the chance that exactly `most` were drawn and this one is marked.
    """
    if most < 0:
        return np.zeros(len(draws))
    if most >= marked:
        return np.ones(len(draws))
    s = np.arange(draws.max())
    s = s[s < size]
    reachable = (s >= most) & (s - most <= size - marked)
    log = np.full(len(s), -np.inf)
    at = s[reachable]
    log[reachable] = _choose(at, most) + _choose(size - at, marked - most) - _choose(size, marked)
    fall = np.exp(log) * (marked - most) / (size - s)
    return np.asarray(np.clip(1 - np.r_[0.0, np.cumsum(fall)], 0, 1)[draws.astype(int)])


def _choose(n: np.ndarray | float, k: np.ndarray | float) -> np.ndarray:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
