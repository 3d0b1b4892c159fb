"""Cubic ogives (Shirahatti and Barnard 2005, section 4.3, Eq. 4.10): monotone, convex to the inflection, concave after.

With u the score brought to [0, 1] and t_0 = 0 < t_1 < ... < t_k < t_{k+1} = 1 the change points, Eq. 4.10

    f(u) = alpha + gamma (u - t_0) + beta (u - t_0)^2 + 1/6 sum_{i=1}^{k+1} delta_i (u - t_{i-1})_+^3

is every cubic spline with knots t_1..t_k: its second derivative is linear between them. (The text beside Eq. 4.10 calls
t_0 the inflection point, which would leave f without a cubic term before it; as the left end the equation is whole.)
The same function is given by alpha, gamma and the bends s_0..s_{k+1}, its second derivatives at t_0..t_{k+1}, and in
these the shape is plain: the bends change sign at most once, from + to -, and the slope is at least 0 at both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relstudy.common.runtime.compiled import compiled
from relstudy.mapping.changepoint.model import ConjugatePrior
from relstudy.mapping.tied_scores import Pooled

CONSTANT, LINEAR, SQUARE, FIRST_CUBE = 0, 1, 2, 3


@dataclass(frozen=True)
class OgivePrior:
    """Normal coefficients given the variance, and what `ConjugatePrior` says of variance and number of change points.

    Parameters
    ----------
    steps : mean, strength, shape, scale, rate; `strength` is the precision of alpha
    slope : prior standard deviation of gamma, in standard deviations of a judgment over the range of the scores
    bend : prior standard deviation of each s_i, in standard deviations of a judgment over the squared range
    """

    steps: ConjugatePrior
    slope: float = 5.0
    bend: float = 50.0

    @property
    def precisions(self) -> np.ndarray:
        """Prior precisions, times the variance, of alpha, gamma and each bend, shape (3,)."""
        return np.array([self.steps.strength, self.slope**-2, self.bend**-2])


class Moments(NamedTuple):
    """All that fitting needs of the pairs: moments of 1, u, u^2/2, and u's cubes from 0 and from each gap.

    Parameters
    ----------
    gaps : where a change point can lie: the middles between neighbouring bins, shape (m - 1,)
    gram : weighted sums of products of the functions, shape (m + 3, m + 3)
    cross : of each function and the judgments from the prior mean, shape (m + 3,)
    square : weighted sum of the squared judgments from the prior mean
    weight : summed weight
    """

    gaps: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    square: float
    weight: float


def spline_moments(bins: Pooled, mean: float) -> tuple[np.ndarray, Moments]:
    """The bins' scores brought to [0, 1], shape (m,), and their moments.

    Parameters
    ----------
    bins : in the order in which the mapping rises; at least two
    mean : prior mean of a judgment
    """
    along = np.abs(bins.scores - bins.scores[0])
    u = along / along[-1]
    gaps = (u[1:] + u[:-1]) / 2
    functions = spline_functions(u, gaps)
    y, w = bins.means - mean, bins.weights
    square = float(bins.within.sum() + w @ y**2)
    gram, cross = functions.T @ (functions * w[:, None]), functions.T @ (w * y)
    return u, Moments(gaps, gram, cross, square, float(w.sum()))


def spline_functions(u: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """1, u, u^2/2, u^3/6 and (u - gap)_+^3/6 for each gap, shape (n, 4 + gaps)."""
    cubes = np.maximum(u[:, None] - np.concatenate([[0.0], gaps]), 0.0) ** 3 / 6
    return np.column_stack([np.ones(len(u)), u, u**2 / 2, cubes])


class Fit(NamedTuple):
    """Precision of the coefficients, their weighted products with the judgments, and the precision's Cholesky root."""

    precision: np.ndarray
    products: np.ndarray
    root: np.ndarray


@compiled
def combine(starts: np.ndarray, count: int, gaps: np.ndarray, which: np.ndarray, factor: np.ndarray) -> int:
    """The functions of `spline_functions` that make up alpha, gamma and each bend, and their factors.

    Parameters
    ----------
    starts : bin from which on each piece runs, the first 0, then m
    count : number of pieces, change points and one
    which, factor : written to, three entries a row; what is not needed has factor 0

    Returns
    -------
    number of rows: alpha, gamma, bends at 0, at the change points and at 1
    """
    which[: count + 3] = 0
    factor[: count + 3] = 0.0
    which[0, 0], factor[0, 0] = CONSTANT, 1.0
    which[1, 0], factor[1, 0] = LINEAR, 1.0
    for i in range(count + 1):
        row = i + 2
        start = 0.0 if i == 0 else (1.0 if i == count else gaps[starts[i] - 1])
        if i > 0:
            before = 0.0 if i == 1 else gaps[starts[i - 1] - 1]
            rise = 1.0 / (start - before)
            which[row, 0], factor[row, 0] = FIRST_CUBE + starts[i - 1], rise
            if i < count:
                which[row, 1], factor[row, 1] = FIRST_CUBE + starts[i], -rise
        else:
            which[row, 0], factor[row, 0] = SQUARE, 1.0
        if i < count:
            after = 1.0 if i + 1 == count else gaps[starts[i + 1] - 1]
            fall = 1.0 / (after - start)
            which[row, 1] = FIRST_CUBE + starts[i]
            factor[row, 1] -= fall
            if i + 1 < count:
                which[row, 2], factor[row, 2] = FIRST_CUBE + starts[i + 1], fall
    return count + 3


@compiled
def fill_moments(
    rows: int, which: np.ndarray, factor: np.ndarray, moments: Moments, precisions: np.ndarray, fit: Fit
) -> None:
    """The coefficients' precision and their weighted products with the judgments, and the precision's Cholesky root."""
    precision, products, root = fit.precision, fit.products, fit.root
    for i in range(rows):
        products[i] = 0.0
        for a in range(3):
            products[i] += factor[i, a] * moments.cross[which[i, a]]
        for j in range(i + 1):
            total = 0.0
            for a in range(3):
                for b in range(3):
                    total += factor[i, a] * factor[j, b] * moments.gram[which[i, a], which[j, b]]
            if i == j:
                total += precisions[min(i, 2)]
            precision[i, j] = precision[j, i] = total
            for k in range(j):
                total -= root[i, k] * root[j, k]
            if i == j:
                root[i, i] = math.sqrt(max(total, 1e-12 * precision[i, i]))
            else:
                root[i, j] = total / root[j, j]
