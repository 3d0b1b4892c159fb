"""Derivatives of indices with respect to what people say of each pair: where a further judgment tells most.

Each takes ranking, what people say (relevance 0 to 1, or judgment), weights, and the variance of what each judgment is
the mean of; it gives float [pairs], not finite where the index is undefined.
"""

from __future__ import annotations

import numpy as np


def of_average_precision(
    ranking: np.ndarray, relevance: np.ndarray, weight: np.ndarray, spread: np.ndarray | float = 0.0
) -> np.ndarray:
    """Of average precision."""
    level, seen, hit = _by_level(ranking, relevance, weight)
    total = hit.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.cumsum(hit) / np.cumsum(seen)
        value = hit @ precision / total
        below = np.cumsum((hit / np.cumsum(seen))[::-1])[::-1]
        return np.asarray(weight * (precision + below - value)[level] / total)


def of_normalised_rank(
    ranking: np.ndarray, relevance: np.ndarray, weight: np.ndarray, spread: np.ndarray | float = 0.0
) -> np.ndarray:
    """Of one minus the area under the ROC curve."""
    level, seen, hit = _by_level(ranking, relevance, weight)
    total, miss = hit.sum(), seen - hit
    with np.errstate(invalid="ignore", divide="ignore"):
        missed_above = np.cumsum(miss) - miss / 2
        hits_below = total - np.cumsum(hit) + hit / 2
        # no pair is held against itself
        itself = weight**2 * relevance * (1 - relevance)
        itself_slope = weight**2 * (1 - 2 * relevance)
        pairs = total * miss.sum() - itself.sum()
        value = (hit @ missed_above - itself.sum() / 2) / pairs
        changed = weight * (missed_above - hits_below)[level] - itself_slope / 2
        return np.asarray((changed - value * (weight * (miss.sum() - total) - itself_slope)) / pairs)


def _by_level(
    ranking: np.ndarray, relevance: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each pair's level of scores, 0 for the highest, and the weight of all and of relevant pairs at each level."""
    _, level = np.unique(-ranking, return_inverse=True)
    return level, np.bincount(level, weight), np.bincount(level, weight * relevance)


def of_pearson(
    values: np.ndarray, judgment: np.ndarray, weight: np.ndarray, spread: np.ndarray | float = 0.0
) -> np.ndarray:
    """Of Pearson's correlation of `values` with judgments."""
    share = weight / weight.sum()
    x, y = values - share @ values, judgment - share @ judgment
    xx, yy = share @ (x * x), share @ (y * y + spread)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = share @ (x * y) / np.sqrt(xx * yy)
        return np.asarray(share * (x / np.sqrt(xx * yy) - r * y / yy))
