"""A count table of rankings by real-valued distances, so that they stand beside hash codes in a comparison.

Where a table of codes has a column for each Hamming radius, this one has a column for each level of ranks: the first
thousand ranks one by one, later ones in levels of a hundredth. Items at equal distance stand in one level. So mAP,
precision and recall at k are intervals over the order within levels as they are over ties, exact up to rank 1,000 and
narrow beyond; what is made of Hamming radii does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.truth.relevance import Truth, check_sizes, fingerprint, unlabelled
from relstudy.common.errors import RelstudyError

SINGLE = 1000
"""Ranks that are kept one by one."""
GROWTH = 0.01
"""Share by which the levels beyond grow."""


def rank_levels(items: int) -> np.ndarray:
    """The first rank (from 0) of each level of a ranking of so many items: int64.

    Examples
    --------
    >>> rank_levels(3).tolist(), rank_levels(10**6)[[999, 1000, 1001]].tolist()
    ([0, 1, 2], [999, 1000, 1010])
    """
    starts = list(range(min(items, SINGLE)))
    rank = SINGLE
    while rank < items:
        starts.append(rank)
        rank += max(1, int(rank * GROWTH))
    return np.array(starts)


def rank_table(distances: Iterable[np.ndarray], truth: Truth, distance: str) -> CountTable:
    """Count items and relevant items by level of rank.

    Parameters
    ----------
    distances : of each query in turn, float (N,), from every item of the database
    truth : which items are relevant to which query
    distance : what ranks, in a word or two; kept with the table

    Returns
    -------
    A count table with `by_rank` set: a column a level, and no Hamming radius.
    """
    queries, items = truth.sizes
    levels = rank_levels(items)
    total, relevant = np.zeros((2, queries, len(levels)), dtype=np.int64)
    number = 0
    for number, given in enumerate(distances, 1):
        row = np.asarray(given)
        if number > queries or row.shape != (items,) or row.dtype.kind not in "biuf" or np.isnan(row).any():
            raise RelstudyError(
                f"distances of query {number}: numbers of shape ({items},) for each of {queries} queries are needed"
            )
        order = np.argsort(row, kind="stable")
        ordered = row[order]
        first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        sizes = np.diff(np.r_[first, items])
        level = np.searchsorted(levels, np.repeat(first, sizes), side="right") - 1
        total[number - 1] = np.bincount(level, minlength=len(levels))
        wanted = np.zeros(items, dtype=bool)
        wanted[truth.of(number - 1)] = True
        relevant[number - 1] = np.bincount(level[wanted[order]], minlength=len(levels))
    check_sizes(truth, number, items)
    facts = {"truth": truth.kind, "truth_sha256": fingerprint(truth), "unlabelled": unlabelled(truth)}
    return CountTable(total, relevant, {**facts, "distance": distance})
