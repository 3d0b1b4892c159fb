"""Differences of harmonic numbers, exact to rounding from one term to billions."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

_SHORT = 32
_LARGE = 50.0


def harmonic_difference(start: np.ndarray | float, terms: np.ndarray | float) -> np.ndarray:
    """H(start + terms) - H(start) = sum of 1/(start + i), i = 1..terms.

    Subtracting two digammas loses digits where `start` is large (8e-8 at 1e9); a short run is summed term by term and
    a long one beyond `start` = 50 uses log1p with the first terms of the asymptotic series.

    Parameters
    ----------
    start, terms : whole numbers >= 0, any shapes that broadcast

    Examples
    --------
    >>> float(harmonic_difference(0, 3))
    1.8333333333333333
    """
    begin, length = np.broadcast_arrays(np.asarray(start, dtype=float), np.asarray(terms, dtype=float))
    result = np.zeros(begin.shape)
    short = length <= _SHORT
    if short.any():
        for i in range(1, int(length[short].max(initial=0)) + 1):
            result += np.where(short & (length >= i), 1.0 / (begin + i), 0.0)
    small = ~short & (begin < _LARGE)
    if small.any():
        result[small] = digamma(begin[small] + length[small] + 1) - digamma(begin[small] + 1)
    large = ~short & ~small
    if large.any():
        a, t = begin[large], length[large]
        result[large] = np.log1p(t / (a + 0.5)) + _series(a + t + 0.5) - _series(a + 0.5)
    return result


def _series(x: np.ndarray) -> np.ndarray:
    return 1 / (24 * x**2) - 7 / (960 * x**4) + 31 / (8064 * x**6)
