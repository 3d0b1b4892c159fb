"""The monotone function of greatest correlation with the judgments (Shirahatti and Barnard 2005, Eq. 4.9).

It is, up to a rising straight line, the least-squares isotonic fit (`closed_form`). The tests find the same optimum as
a second-order cone program.
"""

from __future__ import annotations

import math

import numpy as np

from relstudy.mapping.least_squares.plain import isotonic_fit
from relstudy.mapping.tied_scores import Pooled

NO_RELATION = "no monotone relation"


def centred_judgments(pooled: Pooled) -> tuple[np.ndarray, np.ndarray, float]:
    """Weights that sum to 1, mean judgments from the mean of all, and the standard deviation of all judgments."""
    total = pooled.weights.sum()
    return pooled.weights / total, pooled.means - pooled.mean, math.sqrt(pooled.square / total)


def closed_form(pooled: Pooled, increasing: bool = True) -> tuple[np.ndarray, float]:
    """The monotone function of greatest correlation and that correlation: the isotonic fit.

    By Moreau's decomposition <y - mean, f> = <p, f> - (something >= 0) for every monotone f, p the projection of the
    centred judgments on the cone of monotone functions; Cauchy-Schwarz then bounds it by |p| |f|, reached at f = p.

    Returns
    -------
    f at the pooled scores, shape (m,), in the unit of the judgments, and its correlation with the judgments,
    which is 0 where f is constant

    Examples
    --------
    >>> from relstudy.mapping.tied_scores import pool
    >>> f, correlation = closed_form(pool([1, 2, 3], [1, 4, 2]))
    >>> round(correlation, 4)
    0.7559
    """
    fit = isotonic_fit(pooled, increasing)
    return fit, correlation_with(pooled, fit)


def correlation_with(pooled: Pooled, fit: np.ndarray) -> float:
    """Weighted correlation of a function of the score with the judgments, ties' spread included; 0 where undefined."""
    w, y, deviation = centred_judgments(pooled)
    f = fit - w @ fit
    spread = math.sqrt(w @ (f * f))
    # a fit, or judgments, whose spread is rounding alone are constant
    rounding = 1e-12 * max(np.abs(pooled.means).max(), np.abs(fit).max())
    if spread <= max(1e-12 * deviation, rounding) or deviation <= rounding:
        return 0.0
    return float((w * f) @ y / (spread * deviation))


def on_judgments_scale(pooled: Pooled, fit: np.ndarray) -> np.ndarray:
    """The straight line of least squares through a function of the score, at each pooled score, shape (m,)."""
    w, y, _ = centred_judgments(pooled)
    f = fit - w @ fit
    return np.asarray(pooled.mean + f * ((w * y) @ f / (w @ f**2)))
