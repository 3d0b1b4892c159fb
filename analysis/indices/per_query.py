"""Indices within each query alone: where a system does well and where it fails."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.correlation import group_ends

FEWEST_RELEVANT = 10
"""With fewer relevant results drawn of a query, its average precision is left empty: it would come out too high."""


def within_queries(
    query: np.ndarray,
    ranking: np.ndarray,
    relevant: np.ndarray,
    weight: np.ndarray,
    number: int,
    own: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted average precision and area under the ROC curve of each query, float [number]; NaN where undefined.

    `relevant` is bool [pairs], or float [pairs]: the share of people who call the pair relevant. As in
    `relstudy.analysis.indices.kernels.retrieval`, no pair is held against itself, and `own` is the weight of a pair in
    its own precision (None: `weight`).
    """
    order = np.lexsort((-ranking, query))
    q, hit, w = query[order], relevant[order].astype(float), weight[order]
    excess = np.zeros(len(w)) if own is None else w - own[order]
    last = group_ends(ranking[order]) | group_ends(q)
    group = np.r_[0, np.cumsum(last)[:-1]]
    group_query = q[last]
    gained = np.bincount(group, w * hit)
    missed = np.bincount(group, w * (1 - hit))
    itself = np.bincount(q, w * w * hit * (1 - hit), number)
    hits, misses = _running(gained, group_query), _running(missed, group_query)
    with np.errstate(invalid="ignore", divide="ignore"):
        all_hits = np.bincount(group_query, gained, number)
        all_misses = np.bincount(group_query, missed, number)
        at_own = (hits[group] - excess * hit) / ((hits + misses)[group] - excess)
        precision = np.bincount(q, w * hit * at_own, number) / all_hits
        whole = all_hits * all_misses - itself
        area = (np.bincount(group_query, missed * (hits - 0.5 * gained), number) - 0.5 * itself) / whole
    both = whole > 1e-12 * all_hits * all_misses
    return precision, np.where(both, area, np.nan)


def _running(values: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Cumulative sums that start again at each query."""
    total = np.cumsum(values)
    start = np.r_[True, query[1:] != query[:-1]]
    before = (total - values)[start]
    running: np.ndarray = total - before[np.cumsum(start) - 1]
    return running


def pearson_within(query: np.ndarray, x: np.ndarray, y: np.ndarray, number: int) -> np.ndarray:
    """Pearson's correlation within each query, float [number]; NaN with under three pairs or equal values."""
    many = np.bincount(query, minlength=number)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = x - (np.bincount(query, x, number) / many)[query]
        y = y - (np.bincount(query, y, number) / many)[query]
        xx, yy, xy = (np.bincount(query, each, number) for each in (x * x, y * y, x * y))
        figure = xy / np.sqrt(xx * yy)
    return np.where((many >= 3) & (xx > 0) & (yy > 0), figure, np.nan)
