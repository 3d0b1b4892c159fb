"""The least-squares monotone fit by itself, which needs neither an estimator nor a library of optimisers."""

from __future__ import annotations

import numpy as np

from relstudy.common.runtime.compiled import compiled_for_many
from relstudy.mapping.tied_scores import Pooled


def isotonic_fit(pooled: Pooled, increasing: bool = True) -> np.ndarray:
    """Minimise sum w (f - mean)^2 over monotone f: Eq. 4.1 under 4.2, by pool-adjacent-violators in O(m).

    Returns
    -------
    f at the pooled scores, shape (m,)

    Examples
    --------
    >>> from relstudy.mapping.tied_scores import pool
    >>> isotonic_fit(pool([1, 2, 3], [1, 4, 2])).tolist()
    [1.0, 3.0, 3.0]
    """
    if increasing:
        return np.asarray(_rising(pooled.means, pooled.weights))
    return np.asarray(_rising(pooled.means[::-1].copy(), pooled.weights[::-1].copy()))[::-1]


@compiled_for_many
def _rising(means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The rising fit to means, float [m] (Ayer and others 1955): each joins the blocks before it that are not lower."""
    level, mass = np.empty(len(means)), np.empty(len(means))
    first = np.empty(len(means), np.int64)
    blocks = 0
    for i in range(len(means)):
        value, weight, start = means[i], weights[i], i
        while blocks > 0 and level[blocks - 1] >= value:
            blocks -= 1
            value = (mass[blocks] * level[blocks] + weight * value) / (mass[blocks] + weight)
            weight += mass[blocks]
            start = first[blocks]
        level[blocks], mass[blocks], first[blocks] = value, weight, start
        blocks += 1
    fit, end = np.empty(len(means)), len(means)
    for block in range(blocks - 1, -1, -1):
        fit[first[block] : end] = level[block]
        end = first[block]
    return fit
