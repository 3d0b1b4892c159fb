"""Differences of harmonic numbers, exact to rounding from one term to billions."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

_LARGE = 50.0


def harmonic_difference(start: np.ndarray | float, terms: np.ndarray | float) -> np.ndarray:
    """H(start + terms) - H(start) = sum of 1/(start + i), i = 1..terms.

    Subtracting two digammas loses digits where `start` is large (8e-8 at 1e9); from `start` = 50 on, log1p and the
    first terms of the asymptotic series keep them.

    Parameters
    ----------
    start, terms : whole numbers >= 0, any shapes that broadcast

    Examples
    --------
    >>> round(float(harmonic_difference(0, 3)), 12)
    1.833333333333
    """
    begin, length = np.broadcast_arrays(np.asarray(start, dtype=float), np.asarray(terms, dtype=float))
    a = np.maximum(begin, _LARGE)
    large = np.log1p(length / (a + 0.5)) + _series(a + length + 0.5) - _series(a + 0.5)
    b = np.minimum(begin, _LARGE)
    return np.where(begin < _LARGE, digamma(b + length + 1) - digamma(b + 1), large)


def _series(x: np.ndarray) -> np.ndarray:
    return 1 / (24 * x**2) - 7 / (960 * x**4) + 31 / (8064 * x**6)
