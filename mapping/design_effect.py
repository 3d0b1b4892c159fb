"""How many pairs the pairs of whole queries are worth."""

from __future__ import annotations

import numpy as np

from relstudy.mapping.least_squares.isotonic import isotonic_fit
from relstudy.mapping.pooling import pool


def design_effect(
    scores: np.ndarray,
    judgments: np.ndarray,
    weights: np.ndarray | None,
    groups: np.ndarray | None,
    increasing: bool = True,
    sets: int = 4,
) -> float:
    """The variance of a level, over what it would be if pairs of one query were independent.

    Residuals from the monotone fit are summed by query inside `sets` neighbouring sets of scores of equal weight; the
    sums' squares are what queries make of the variance of a set's mean, the squares of the residuals what independent
    pairs would (Liang and Zeger 1986). Where queries differ and a query's scores lie close
    together, the effect is large; where each query's scores run over the whole range it is near 1.

    Parameters
    ----------
    scores, judgments, weights : shape (n,), weights above 0 or None for equal ones
    groups : query of each pair, shape (n,), or None where it is not known
    sets : as many as levels are expected

    Returns
    -------
    at least 1; 1 where groups are unknown, all of one query, or one pair each

    Examples
    --------
    >>> x, y = np.tile([0.0, 1.0], 4), np.repeat([1.0, -1.0, 1.0, -1.0], 2)
    >>> effect = design_effect(x, y, None, np.repeat(np.arange(4), 2), sets=1)
    >>> round(effect, 2), design_effect(x, y, None, np.arange(8))
    (2.67, 1.0)
    """
    if groups is None:
        return 1.0
    _, query = np.unique(groups, return_inverse=True)
    queries = int(query.max()) + 1
    if queries < 2 or queries == len(scores):
        return 1.0
    w = np.ones(len(scores)) if weights is None else weights
    pooled = pool(scores, judgments, w)
    fit = np.interp(scores, pooled.scores, isotonic_fit(pooled, increasing))
    residual = w * (judgments - fit)
    order = np.argsort(scores, kind="stable")
    middle = np.empty(len(scores))
    middle[order] = np.cumsum(w[order]) - w[order] / 2
    within = np.minimum((middle / w.sum() * sets).astype(int), sets - 1)
    sums = np.bincount(within * queries + query, residual, sets * queries)
    independent = float(residual @ residual)
    # a sample of few queries has spent one of them on the level
    effect = float(sums @ sums) / independent * queries / (queries - 1) if independent > 0 else 1.0
    return max(effect, 1.0)
