"""Two expectations over how many relevant codes of a tied group fall inside a cut, exact to rounding at any size.

A group of n codes, m of them relevant, is cut so that t are taken in random order; the number j of relevant ones among
them is hypergeometric.
"""

from __future__ import annotations

import numpy as np

DIRECT = 512
"""Factors that are multiplied one by one; longer products are integrated."""
SPREADS, LEAST = 12, 60
"""Half-width of what is summed around the mode: 12 standard deviations (1e-32 is left out) and 60 numbers."""
ROOM = 1 << 20
"""Numbers held at once."""
_LOWEST_LOG = -745.0


def no_hit_probability(n: np.ndarray, m: np.ndarray, t: np.ndarray) -> np.ndarray:
    """P(j = 0) = C(n - m, t)/C(n, t), float (groups,).

    The product of 1 - l/(n - i) over i < s, with s the smaller and l the larger of m and t. Its logarithm is summed
    term by term up to `DIRECT` terms, and by Euler and Maclaurin's formula at midpoints beyond; a difference of
    logarithms of factorials would lose 1e-4 at n = 1e9.

    Parameters
    ----------
    n, m, t : whole numbers (groups,), m and t from 0 to n

    Examples
    --------
    >>> no_hit_probability(np.array([4]), np.array([1]), np.array([1])).tolist()
    [0.75]
    """
    size, small, large = (np.asarray(part, dtype=float) for part in (n, np.minimum(m, t), np.maximum(m, t)))
    log = np.full(len(size), -np.inf)
    possible = (small + large <= size) & (small * large <= -_LOWEST_LOG * size)
    short = np.flatnonzero(possible & (small <= DIRECT))
    step = np.arange(DIRECT)
    for start in range(0, len(short), ROOM // DIRECT):
        rows = short[start : start + ROOM // DIRECT]
        share = np.where(step < small[rows, None], large[rows, None] / np.maximum(size[rows, None] - step, 1), 0.0)
        terms = np.log1p(-share)
        log[rows] = terms.sum(axis=1)
    rest = np.flatnonzero(possible & (small > DIRECT))
    if len(rest):
        log[rest] = _long_log_product(size[rest], small[rest], large[rest])
    return np.asarray(np.exp(log))


def _long_log_product(n: np.ndarray, s: np.ndarray, large: np.ndarray) -> np.ndarray:
    nodes, weights = np.polynomial.legendre.leggauss(64)
    # From -1/2 to s - 1/2, but not into the singularity of a product that is 0 to rounding anyway.
    top = np.minimum(s - 0.5, n - large - 1e-9)
    at = (nodes + 1) / 2 * (top + 0.5)[:, None] - 0.5
    integral = np.log1p(-large[:, None] / (n[:, None] - at)) @ weights / 2 * (top + 0.5)

    def slope(x: np.ndarray) -> np.ndarray:
        return np.asarray(-large / ((n - x) * (n - large - x)))

    return np.asarray(integral - (slope(top) - slope(np.full_like(top, -0.5))) / 24)


def mean_inverse(n: np.ndarray, m: np.ndarray, t: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """E[1/(hits + j)], float (groups,), by the recurrence of the probabilities from their mode, scaled to sum to one.

    Parameters
    ----------
    n, m, t : as in `no_hit_probability`
    hits : relevant codes before the group, at least 1
    """
    n, m, t, hits = (np.asarray(part, dtype=float) for part in (n, m, t, hits))
    least, most = np.maximum(0, t - (n - m)), np.minimum(t, m)
    mode = np.clip(np.floor((t + 1) * (m + 1) / (n + 2)), least, most)
    variance = t * (m / n) * (1 - m / n) * (n - t) / np.maximum(n - 1, 1)
    reach = np.ceil(SPREADS * np.sqrt(variance)) + LEAST
    result = np.empty(len(n))
    order = np.argsort(reach, kind="stable")
    start = 0
    while start < len(order):
        # Groups of like width together, as many as there is room for.
        stop = start + 1
        while stop < len(order) and (stop + 1 - start) * (reach[order[stop]] + 1) <= ROOM:
            stop += 1
        rows = order[start:stop]
        step = np.arange(int(reach[rows[-1]]) + 1)
        parts = [part[rows, None] for part in (n, m, t, hits, mode, least, most)]
        up, down = (_weighted_inverse(*parts, step=step, direction=direction) for direction in (1, -1))
        centre = 1 / (hits[rows] + mode[rows])
        result[rows] = (up[0] + down[0] + centre) / (up[1] + down[1] + 1)
        start = stop
    return result


def _weighted_inverse(
    n: np.ndarray,
    m: np.ndarray,
    t: np.ndarray,
    hits: np.ndarray,
    mode: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    *,
    step: np.ndarray,
    direction: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of p(j)/(hits + j) and of p(j) on one side of the mode, with p(mode) = 1."""
    if direction > 0:
        j = mode + step  # p(j + 1)/p(j)
        ratio = np.where(j < most, (m - j) * (t - j) / ((j + 1) * np.maximum(n - m - t + j + 1, 1)), 0.0)
        after = j + 1
    else:
        j = mode - step  # p(j - 1)/p(j)
        ratio = np.where(j > least, j * (n - m - t + j) / ((m - j + 1) * (t - j + 1)), 0.0)
        after = j - 1
    probability = np.cumprod(ratio, axis=1)
    inverse = 1 / np.maximum(hits + after, 1)
    return (probability * inverse).sum(axis=1), probability.sum(axis=1)
