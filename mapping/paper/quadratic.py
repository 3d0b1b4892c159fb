"""Section 4.1 of Shirahatti and Barnard 2005 as it was done: a quadratic program, and the average over the bootstrap.

The fits are those of `isotonic` and `bagged`, which need no program and are as much faster; these are here to be run by
name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping, drop_inner_knots
from relstudy.mapping.least_squares.isotonic import bootstrap_average
from relstudy.mapping.solver import cvxpy, solve_quadratic
from relstudy.mapping.tied_scores import Pooled, pool, sort_pairs


def quadratic_program(pooled: Pooled, increasing: bool = True) -> np.ndarray:
    """The program of Eq. 4.3-4.7: minimise 1/2 f'Hf + c'f subject to Af <= 0, with H = W and c = -W y.

    Eq. 4.5 prints c = -y/2 beside H = I, which has its optimum at y/2; with the 1/2 in front of f'Hf it is c = -y.

    Returns
    -------
    f at the pooled scores, shape (m,): the isotonic fit, here to 1e-6
    """
    cp = cvxpy()
    w = pooled.weights / pooled.weights.max()
    centre = pooled.mean
    f = cp.Variable(len(w))
    linear = -w * (pooled.means - centre)
    constraints = [_monotony(len(w), increasing) @ f <= 0] if len(w) > 1 else []
    solve_quadratic(cp.Problem(cp.Minimize(0.5 * cp.sum(cp.multiply(w, cp.square(f))) + linear @ f), constraints))
    return np.asarray(f.value) + centre


def _monotony(m: int, increasing: bool) -> Any:
    """A of Eq. 4.6: each row f_i - f_(i+1)."""
    from scipy.sparse import diags_array

    matrix = diags_array([np.ones(m - 1), -np.ones(m - 1)], offsets=[0, 1], shape=(m - 1, m)).tocsr()
    return matrix if increasing else -matrix


class QuadraticMapping(MonotoneMapping):
    """Monotone least squares by the quadratic program of Eq. 4.3-4.7, in cvxpy; or its bootstrap average (Eq. 4.8).

    Parameters
    ----------
    bagged : number of bootstrap samples to average over, 0 for the plain fit
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"
    seed : of the bootstrap

    References
    ----------
    Shirahatti and Barnard 2005, section 4.1, Eq. 4.1-4.8.

    Examples
    --------
    >>> QuadraticMapping().fit([0.1, 0.2, 0.3], [1, 4, 2]).predict([0.0, 0.15, 0.9]).round(6).tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(
        self, bagged: int = 0, increasing: bool | str = "auto", out_of_bounds: str = "clip", seed: int = 0
    ) -> None:
        self.bagged = bagged
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds
        self.seed = seed

    method = "quadratic"

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        if self.bagged < 0:
            raise ValueError(f"bagged is a number of bootstrap samples, or 0 for none, not {self.bagged}")
        if self.bagged == 0:
            pooled = pool(scores, judgments, weights)
            return self._fitted(*drop_inner_knots(pooled.scores, quadratic_program(pooled, self.increasing_)))
        pairs = sort_pairs(scores, judgments, weights)
        average = bootstrap_average(pairs, self.bagged, self.seed, self.increasing_, quadratic_program)
        meta = {"bagged": self.bagged, "seed": self.seed}
        fitted = self._fitted(*drop_inner_knots(pairs.distinct, average), meta=meta)
        return replace(fitted, method=f"{self.method}-bagged")
