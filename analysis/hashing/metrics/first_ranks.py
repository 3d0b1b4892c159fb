"""Precision and recall of the first k ranks, when codes at one distance are tied and k may cut through a tie."""

from __future__ import annotations

from typing import Literal

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.hypergeometric import no_hit_probability
from relstudy.common.runtime.errors import RelstudyError

Tie = Literal["pessimistic", "expected", "optimistic"]
TIES: tuple[Tie, ...] = ("pessimistic", "expected", "optimistic")


def check_cut(k: int | None) -> None:
    """Refuse a cut-off below 1; None is the whole ranking."""
    if k is not None and k < 1:
        raise RelstudyError("a cut-off k must be at least 1")


def ranks_taken(table: CountTable, k: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Codes ranked before each tied group, and how many of the group are among the first k: int64 (M, Q + 1) each.

    Parameters
    ----------
    k : cut-off, at least 1; None for the whole ranking

    Examples
    --------
    >>> before, taken = ranks_taken(CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]])), 5)
    >>> before.tolist(), taken.tolist()
    ([[0, 2, 6]], [[2, 3, 0]])
    """
    check_cut(k)
    before = np.cumsum(table.total, axis=1) - table.total
    last = table.codes if k is None else min(k, table.codes)
    return before, np.clip(last - before, 0, table.total)


def precision_at(table: CountTable, k: int, tie: Tie = "expected") -> np.ndarray:
    """Precision of the first k, float (M,): (M + T m/n)/k with the ties at the cut resolved by `tie`.

    A database with fewer than k codes counts the missing ranks as misses.

    Examples
    --------
    >>> table = CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]]))
    >>> [float(precision_at(table, 5, tie)[0]) for tie in TIES]
    [0.6, 0.7, 0.8]
    """
    total, relevant = table.total, table.relevant
    _, taken = ranks_taken(table, k)
    if tie == "expected":
        hits = np.divide(taken * relevant, total, out=np.zeros(total.shape), where=total > 0)
    elif tie == "optimistic":
        hits = np.minimum(taken, relevant).astype(float)
    else:
        hits = np.maximum(0, taken - (total - relevant)).astype(float)
    return np.asarray(hits.sum(axis=1) / float(k))


def recall_at(table: CountTable, k: int, tie: Tie = "expected") -> np.ndarray:
    """Share of the relevant codes that are among the first k, float (M,); NaN for a query without a relevant code.

    Examples
    --------
    >>> recall_at(CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]])), 5).tolist()
    [0.7]
    """
    relevant = table.relevant.sum(axis=1)
    hits = precision_at(table, k, tie) * k
    return np.divide(hits, relevant, out=np.full(len(hits), np.nan), where=relevant > 0)


def hit_probability(table: CountTable, k: int) -> np.ndarray:
    """Probability that a query's first k hold a relevant code, over the order of ties: float (M,).

    Examples
    --------
    >>> hit_probability(CountTable(np.array([[4]]), np.array([[1]])), 1).tolist()
    [0.25]
    """
    _, taken = ranks_taken(table, k)
    misses = table.total - table.relevant
    none = np.where(taken > misses, 0.0, 1.0)
    some = (taken > 0) & (taken <= misses) & (table.relevant > 0)
    none[some] = no_hit_probability(table.total[some], table.relevant[some], taken[some])
    return np.asarray(1.0 - np.prod(none, axis=1))
