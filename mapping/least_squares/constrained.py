"""Least squares under more than monotony: a quadratic program in cvxpy (Shirahatti and Barnard 2005, Eq. 4.1-4.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.pooling import Pooled, into_bins, pool
from relstudy.mapping.solver import cvxpy, solve, solve_quadratic


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


class ConstrainedMapping(MonotoneMapping):
    """Monotone least squares, or Huber loss, with bounds, smoothness, slope limits, or convex-then-concave shape.

    Parameters
    ----------
    bounds : (lowest, highest) mapped score, each may be None; None for no bounds
    smoothness : weight of the squared second differences (of slope over the scaled score), 0 for none
    slope : (least, most) slope of the mapping in its direction, judgments per score, each may be None; None for no
        limits
    turn : score at which the curve turns from convex to concave (in its direction), "auto" to choose it among the
        knots by squared error, None for no such shape
    huber : judgment error beyond which the loss grows linearly, None for squared error
    knots : most distinct scores kept; more are pooled into bins of equal weight
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"

    Attributes
    ----------
    turn_ : the turning score used, or None

    References
    ----------
    Shirahatti and Barnard 2005, section 4.1, Eq. 4.1-4.7, and the ogives of section 4.3.

    Examples
    --------
    >>> fit = ConstrainedMapping(bounds=(1, 4)).fit([0, 1, 2], [0, 3, 5])
    >>> fit.predict([0, 1, 2]).round(4).tolist()
    [1.0, 3.0, 4.0]
    """

    method = "constrained"

    def __init__(
        self,
        bounds: tuple[float | None, float | None] | None = None,
        smoothness: float = 0.0,
        slope: tuple[float | None, float | None] | None = None,
        turn: float | str | None = None,
        huber: float | None = None,
        knots: int = 300,
        increasing: bool | str = "auto",
        out_of_bounds: str = "clip",
    ) -> None:
        self.bounds = bounds
        self.smoothness = smoothness
        self.slope = slope
        self.turn = turn
        self.huber = huber
        self.knots = knots
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        self._check()
        pooled = into_bins(pool(scores, judgments, weights), self.knots)
        cells = None
        if self.huber is not None:
            # a robust loss needs the judgments themselves: their mean has lost what an outlier is
            at = np.clip(np.searchsorted(_edges(pooled), scores, side="right"), 0, len(pooled.scores) - 1)
            cells = at, judgments, np.ones(len(scores)) if weights is None else weights
        self.turn_: float | None = None
        if self.turn is None or len(pooled.scores) < 3:
            values, _ = self._solve(pooled, cells, None)
        elif self.turn == "auto":
            inner = np.unique(np.linspace(0, len(pooled.scores) - 1, 21).astype(int))
            solved = {float(pooled.scores[i]): self._solve(pooled, cells, float(pooled.scores[i])) for i in inner}
            self.turn_ = min(solved, key=lambda score: solved[score][1])
            values = solved[self.turn_][0]
        else:
            self.turn_ = float(self.turn)
            values, _ = self._solve(pooled, cells, self.turn_)
        knots, values = self._within(scores, pooled.scores, values)
        return self._fitted(knots, values, meta={"turn": self.turn_})

    def _check(self) -> None:
        for name, pair in (("bounds", self.bounds), ("slope", self.slope)):
            if pair is not None and None not in pair and not pair[0] <= pair[1]:  # type: ignore[operator]
                raise ValueError(f"{name} is (least, most) with least at most most, not {pair}")
        if self.slope is not None and any(end is not None and end < 0 for end in self.slope):
            raise ValueError(f"slope limits count in the mapping's own direction and are at least 0, not {self.slope}")
        if self.smoothness < 0 or (self.huber is not None and self.huber <= 0) or self.knots < 2:
            raise ValueError("smoothness is at least 0, huber above 0, knots at least 2")
        if isinstance(self.turn, str) and self.turn != "auto":
            raise ValueError(f"turn is a score, 'auto' or None, not {self.turn!r}")

    def _solve(self, pooled: Pooled, cells: Any, turn: float | None) -> tuple[np.ndarray, float]:
        cp = cvxpy()
        m = len(pooled.scores)
        sign = 1.0 if self.increasing_ else -1.0
        span = float(pooled.scores[-1] - pooled.scores[0]) or 1.0
        gaps = np.diff(pooled.scores) / span
        f = cp.Variable(m)
        centre = pooled.mean
        if cells is None:
            w = pooled.weights / pooled.weights.sum()
            loss = cp.sum(cp.multiply(w, cp.square(f - (pooled.means - centre))))
        else:
            at, judgments, weights = cells
            loss = cp.sum(cp.multiply(weights / weights.sum(), cp.huber(f[at] - (judgments - centre), self.huber)))
        constraints = []
        if m > 1:
            constraints.append(_monotony(m, self.increasing_) @ f <= 0)
            rise = sign * cp.multiply(cp.diff(f), 1 / gaps)
            least, most = self.slope or (None, None)
            constraints += [] if least is None else [rise >= least * span]
            constraints += [] if most is None else [rise <= most * span]
        if m > 2:
            bend = cp.diff(rise)
            middle = (gaps[1:] + gaps[:-1]) / 2
            if self.smoothness > 0:
                loss += self.smoothness * cp.sum(cp.multiply(1 / middle, cp.square(bend)))
            if turn is not None:
                before = pooled.scores[1:-1] <= turn
                constraints += [bend[np.flatnonzero(before)] >= 0] if before.any() else []
                constraints += [bend[np.flatnonzero(~before)] <= 0] if not before.all() else []
        low, high = self.bounds or (None, None)
        constraints += [] if low is None else [f >= low - centre]
        constraints += [] if high is None else [f <= high - centre]
        problem = cp.Problem(cp.Minimize(loss), constraints)
        solve(problem)
        values = np.asarray(f.value) + centre
        return np.clip(values, low, high) if self.bounds else values, float(problem.value)


def _edges(pooled: Pooled) -> np.ndarray:
    return (pooled.scores[1:] + pooled.scores[:-1]) / 2
