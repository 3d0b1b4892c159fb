"""What a group of tied codes adds to the sum of precisions (see `average_precision`)."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.hashing.metrics.first_ranks import Tie
from relstudy.analysis.hashing.metrics.harmonic import harmonic_difference


def group_sum(
    n: np.ndarray, m: np.ndarray, before: np.ndarray, hits: np.ndarray, t: np.ndarray, tie: Tie
) -> np.ndarray:
    """The sum of precisions at the relevant codes among the first t of a group.

    Parameters
    ----------
    n, m : codes of the group, and relevant ones among them
    before, hits : codes and relevant codes ranked before it
    t : how many of the group are taken
    """
    if tie == "expected":
        slope = np.divide(m - 1, n - 1, out=np.zeros_like(n), where=n > 1)
        share = np.divide(m, n, out=np.zeros_like(n), where=n > 0)
        return np.asarray(share * (slope * t + (hits + 1 - slope * (before + 1)) * harmonic_difference(before, t)))
    if tie == "optimistic":
        j = np.minimum(t, m)
        return np.asarray(j + (hits - before) * harmonic_difference(before, j))
    misses = n - m
    j = np.maximum(0.0, t - misses)
    return np.asarray(j + (hits - before - misses) * harmonic_difference(before + misses, j))
