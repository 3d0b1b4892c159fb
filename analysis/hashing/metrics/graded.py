"""Tie-aware expected nDCG from one histogram per grade, for graded relevance such as human judgments.

McSherry and Najork 2008: a tied result gains the mean of its group.
"""

from __future__ import annotations

import numpy as np


def expected_ndcg(counts: np.ndarray, gains: np.ndarray | None = None, k: int | None = None) -> float | None:
    """nDCG of one query, its expectation over the order of ties.

    Parameters
    ----------
    counts : numbers (grades, Q + 1), not negative: points of each grade at each radius. Where a point of a sample
        stands for 1/p points, its count is 1/p; between whole ranks the sum of discounts runs straight.
    gains : float (grades,), by default 2**grade - 1
    k : cut-off; None for the whole ranking

    Returns
    -------
    A number in [0, 1], or None where no point has a gain.

    Examples
    --------
    >>> expected_ndcg(np.array([[0, 3], [2, 0]]))
    1.0
    """
    gain = 2.0 ** np.arange(len(counts)) - 1 if gains is None else np.asarray(gains, dtype=float)
    sizes = counts.sum(axis=0)
    ideal_order = np.argsort(-gain, kind="stable")
    length = float(sizes.sum())
    cut = length if k is None else min(float(k), length)
    discount = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, int(np.ceil(cut)) + 2)))])
    mean_gain = np.divide(gain @ counts, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    ideal = _discounted(gain[ideal_order], counts.sum(axis=1)[ideal_order], discount, cut)
    return _discounted(mean_gain, sizes, discount, cut) / ideal if ideal > 0 else None


def _discounted(gains: np.ndarray, sizes: np.ndarray, discount: np.ndarray, cut: float) -> float:
    ends = np.minimum(np.cumsum(sizes), cut)
    starts = np.minimum(np.concatenate([[0], np.cumsum(sizes)[:-1]]), cut)
    ranks = np.arange(len(discount))
    return float(gains @ (np.interp(ends, ranks, discount) - np.interp(starts, ranks, discount)))
