"""The loops that meet every pair in every replicate, compiled: one pass over pairs sorted once.

Each takes `counts` [queries, replicates] (how often a query is drawn) and walks the pairs in the order of one system's
score; the inner loop runs over the replicates, side by side. Groups of equal scores are closed together, so ties
are exact. A replicate in which an index is undefined gets NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np


def _compiled(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Compile once and keep it on disk; where no folder may be written (a locked-down installation), once a process."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        kept: Callable[..., np.ndarray] = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        kept = numba.njit(**options)(function)
    return kept


@_compiled
def retrieval(
    query: np.ndarray, group_end: np.ndarray, weight: np.ndarray, relevant: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Average precision and area under the ROC curve, weighted.

    Parameters
    ----------
    query : int64 [pairs], in order of descending score
    group_end : bool [pairs], True at the last pair of each group of equal scores
    weight : float64 [pairs], positive
    relevant : bool [pairs]
    counts : float64 [queries, replicates]

    Returns
    -------
    float64 [2, replicates]: average precision, area (ties count half)
    """
    width = counts.shape[1]
    seen = np.zeros(width)
    hits = np.zeros(width)
    hits_before = np.zeros(width)
    seen_before = np.zeros(width)
    precision = np.zeros(width)
    area = np.zeros(width)
    some_relevant = False
    for i in range(len(query)):
        row = counts[query[i]]
        w = weight[i]
        if relevant[i]:
            some_relevant = True
            for b in range(width):
                share = w * row[b]
                seen[b] += share
                hits[b] += share
        else:
            for b in range(width):
                seen[b] += w * row[b]
        if group_end[i]:
            if some_relevant:
                for b in range(width):
                    gained = hits[b] - hits_before[b]
                    missed = (seen[b] - seen_before[b]) - gained
                    if gained > 0.0:
                        precision[b] += gained * hits[b] / seen[b]
                    if missed > 0.0:
                        area[b] += missed * (hits_before[b] + 0.5 * gained)
                    hits_before[b] = hits[b]
                    seen_before[b] = seen[b]
            else:
                for b in range(width):
                    area[b] += (seen[b] - seen_before[b]) * hits[b]
                    seen_before[b] = seen[b]
            some_relevant = False
    figures = np.empty((2, width))
    for b in range(width):
        figures[0, b] = precision[b] / hits[b] if hits[b] > 0.0 else np.nan
        misses = seen[b] - hits[b]
        whole = hits[b] * misses
        figures[1, b] = area[b] / whole if hits[b] > 0.0 and misses > 1e-12 * seen[b] else np.nan
    return figures


@_compiled
def ranks_by_level(query: np.ndarray, level: np.ndarray, levels: int, counts: np.ndarray) -> np.ndarray:
    """Mean rank of each level of a variable in each replicate.

    Parameters
    ----------
    query, level : int64 [pairs]; `level` numbers the distinct values from the lowest, 0
    levels : number of distinct values

    Returns
    -------
    float64 [levels, replicates], centred on the middle rank
    """
    width = counts.shape[1]
    table = np.zeros((levels, width))
    for i in range(len(query)):
        row = counts[query[i]]
        here = table[level[i]]
        for b in range(width):
            here[b] += row[b]
    total = np.zeros(width)
    for v in range(levels):
        here = table[v]
        for b in range(width):
            many = here[b]
            here[b] = total[b] + 0.5 * (many + 1.0)
            total[b] += many
    for v in range(levels):
        here = table[v]
        for b in range(width):
            here[b] -= 0.5 * (total[b] + 1.0)
    return table


@_compiled
def spearman(
    query: np.ndarray, group_end: np.ndarray, level: np.ndarray, ranks: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Spearman's correlation of a score with a variable whose ranks are `ranks_by_level`.

    Parameters
    ----------
    query, group_end, level : [pairs] in order of ascending score; `level` of the other variable
    ranks : float64 [levels, replicates]

    Returns
    -------
    float64 [replicates]
    """
    width = counts.shape[1]
    total = np.zeros(width)
    for i in range(len(query)):
        row = counts[query[i]]
        for b in range(width):
            total[b] += row[b]
    before = np.zeros(width)
    many = np.zeros(width)
    other = np.zeros(width)
    cross = np.zeros(width)
    squares = np.zeros(width)
    other_squares = np.zeros(width)
    for i in range(len(query)):
        row = counts[query[i]]
        rank = ranks[level[i]]
        for b in range(width):
            many[b] += row[b]
            share = row[b] * rank[b]
            other[b] += share
            other_squares[b] += share * rank[b]
        if group_end[i]:
            for b in range(width):
                centred = before[b] + 0.5 * (many[b] - total[b])
                cross[b] += centred * other[b]
                squares[b] += centred * centred * many[b]
                before[b] += many[b]
                many[b] = 0.0
                other[b] = 0.0
    figures = np.empty(width)
    for b in range(width):
        spread = squares[b] * other_squares[b]
        figures[b] = cross[b] / np.sqrt(spread) if squares[b] > 0.0 and other_squares[b] > 0.0 else np.nan
    return figures


@_compiled
def kendall(query: np.ndarray, group_end: np.ndarray, level: np.ndarray, levels: int, counts: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of a score with a variable of numbered levels, by a Fenwick tree over the levels.

    Parameters
    ----------
    query, group_end, level : [pairs] in order of ascending score; `level` of the other variable
    levels : number of distinct values of the other variable

    Returns
    -------
    float64 [replicates]. Cost: pairs x log2(levels) x replicates.
    """
    width = counts.shape[1]
    tree = np.zeros((levels + 1, width))
    held = np.zeros((levels, width))
    inserted = np.zeros(width)
    many = np.zeros(width)
    balance = np.zeros(width)
    tied = np.zeros(width)
    below = np.zeros(width)
    start = 0
    for i in range(len(query)):
        row = counts[query[i]]
        here = held[level[i]]
        for b in range(width):
            below[b] = -inserted[b] + here[b]
        node = level[i]
        while node > 0:
            step = tree[node]
            for b in range(width):
                below[b] += 2.0 * step[b]
            node -= node & -node
        for b in range(width):
            balance[b] += row[b] * below[b]
            many[b] += row[b]
        if group_end[i]:
            for j in range(start, i + 1):
                added = counts[query[j]]
                slot = held[level[j]]
                for b in range(width):
                    slot[b] += added[b]
                node = level[j] + 1
                while node <= levels:
                    step = tree[node]
                    for b in range(width):
                        step[b] += added[b]
                    node += node & -node
            for b in range(width):
                inserted[b] += many[b]
                tied[b] += many[b] * (many[b] - 1.0)
                many[b] = 0.0
            start = i + 1
    other_tied = np.zeros(width)
    for v in range(levels):
        slot = held[v]
        for b in range(width):
            other_tied[b] += slot[b] * (slot[b] - 1.0)
    figures = np.empty(width)
    for b in range(width):
        whole = inserted[b] * (inserted[b] - 1.0)
        left = whole - tied[b]
        right = whole - other_tied[b]
        figures[b] = 2.0 * balance[b] / (np.sqrt(left) * np.sqrt(right)) if left > 0.0 and right > 0.0 else np.nan
    return figures
