"""Hamming balls: how many codes lie within a radius, and what a look-up by radius costs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.radius import precision_recall_by_radius
from relstudy.analysis.hashing.options import LeftOut


def ball_sizes(bits: int, radius: int) -> list[int]:
    """V(Q, r) = sum over k <= r of C(Q, k) for r = 0..`radius`: the number of codes within each radius, exact.

    Examples
    --------
    >>> ball_sizes(4, 2), ball_sizes(128, 128)[-1] == 2**128
    ([1, 5, 11], True)
    """
    shells = accumulate(range(radius), lambda shell, k: shell * (bits - k) // (k + 1), initial=1)
    return list(accumulate(shells))


def ramap(table: CountTable, radius: int, empty_ball: LeftOut = "zero") -> float:
    """RAMAP@R (Jiang, Li and Li 2019, Eq. 1): mean over r = 0..R of precision within r over its probes V(Q, r).

    Parameters
    ----------
    radius : R, from 0 to Q
    empty_ball : `zero` is what the paper's own numbers need

    Examples
    --------
    >>> round(ramap(CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]])), 1), 4)
    0.6111
    """
    precision = precision_recall_by_radius(table, empty_ball=empty_ball).precision_macro
    return ramap_by_radius(precision, table.bits)[radius]


def ramap_by_radius(precision: np.ndarray, bits: int) -> list[float]:
    """RAMAP@R for each R, from the mean precisions at the radii 0, 1, ..., of which one that is NaN adds 0."""
    sizes = ball_sizes(bits, len(precision) - 1)
    # 1 / V is 0 where V is too large for a float; p / V would overflow.
    sums = accumulate(float(p) * (1 / size) for p, size in zip(np.nan_to_num(precision), sizes, strict=True))
    return [total / (r + 1) for r, total in enumerate(sums)]


def lookup_cost(table: CountTable) -> list[dict[str, float | int]]:
    """Cost of a look-up within each radius: probes V(Q, r), mean candidates a query, and queries with an empty ball.

    Jiang, Li and Li 2019, figures 5 and 7. One entry a radius.
    """
    seen = np.cumsum(table.total, axis=1)
    return [
        {"r": r, "probes": size, "candidates": float(seen[:, r].mean()), "empty": int((seen[:, r] == 0).sum())}
        for r, size in enumerate(ball_sizes(table.bits, table.bits))
    ]


def collision_probability(bits: int, width: int, tables: int, distance: int) -> float:
    """Probability that a code at `distance` shares at least one of `tables` disjoint segments of `width` bits.

    Over a uniformly random permutation of the bits: sum_j (-1)^(j+1) C(L, j) C(Q - jK, d)/C(Q, d) (Moran 2016,
    section 3.4.2), in exact fractions.

    Examples
    --------
    >>> collision_probability(8, 2, 4, 3)
    1.0
    """
    if width * tables > bits:
        raise ValueError(f"{tables} disjoint segments of {width} bits do not fit a code of {bits} bits")
    ways = math.comb(bits, distance)
    return float(
        sum(
            (-1) ** (j + 1) * Fraction(math.comb(tables, j) * math.comb(bits - j * width, distance), ways)
            for j in range(1, tables + 1)
        )
    )
