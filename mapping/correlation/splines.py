"""Monotone quadratic splines: non-negative sums of quadratic I-splines (Ramsay 1988)."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline

DEGREE = 2


def break_points(scores: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """At most `count` break points at quantiles of the scores by weight, the lowest and highest score among them.

    Parameters
    ----------
    scores : distinct, ascending, shape (m,)
    weights : shape (m,)
    """
    cumulative = np.cumsum(weights)
    position = np.searchsorted(cumulative, np.linspace(0, 1, count) * cumulative[-1] * (1 - 1e-12))
    position[0], position[-1] = 0, len(scores) - 1
    return np.unique(scores[position])


def ispline_basis(scores: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """Quadratic I-splines, one column each, from 0 at the first break point to 1 at the last.

    Parameters
    ----------
    scores : shape (n,); outside the break points the nearest end counts
    breaks : ascending, shape (k,), k >= 2

    Returns
    -------
    shape (n, k): any sum of the columns with weights >= 0 rises, and is once continuously differentiable

    Examples
    --------
    >>> ispline_basis(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0])).tolist()
    [[0.0, 0.0], [0.25, 0.75], [1.0, 1.0]]
    """
    inside = np.clip(scores, breaks[0], breaks[-1])
    knots = np.r_[[breaks[0]] * DEGREE, breaks, [breaks[-1]] * DEGREE]
    bsplines = BSpline.design_matrix(inside, knots, DEGREE).toarray()
    return np.cumsum(bsplines[:, ::-1], axis=1)[:, ::-1][:, 1:][:, ::-1]
