"""Monotone splines of greatest correlation (Shirahatti and Barnard 2005, section 4.2, Eq. 4.9), globally optimal.

With free steps the method adds nothing to least squares (`optimum`). It earns its keep with a smooth family: quadratic
I-splines with few break points, their number chosen by cross-validation.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import nnls

from relstudy.mapping.correlation.optimum import NO_RELATION
from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.query_folds import folds_by_group
from relstudy.mapping.solver import cvxpy, solve

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
    """Quadratic I-splines (Ramsay 1988), one column each, from 0 at the first break point to 1 at the last.

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


STEPS = 32  # straight pieces per spline segment in the fitted form: off by at most 1/8000 of a segment's bend


@dataclass(frozen=True)
class Moments:
    """Second moments of a spline basis and the judgments: all that fitting needs, whatever the number of pairs.

    Parameters
    ----------
    weight : summed weight
    basis : weighted sums of the columns, shape (k,)
    judgment : weighted sum of the judgments
    gram : weighted sums of products of columns, shape (k, k)
    cross : weighted sums of column times judgment, shape (k,)
    square : weighted sum of squared judgments
    """

    weight: float
    basis: np.ndarray
    judgment: float
    gram: np.ndarray
    cross: np.ndarray
    square: float

    @classmethod
    def of(cls, basis: np.ndarray, judgments: np.ndarray, weights: np.ndarray) -> Moments:
        weighted = basis * weights[:, None]
        return cls(
            float(weights.sum()),
            weighted.sum(axis=0),
            float(weights @ judgments),
            weighted.T @ basis,
            weighted.T @ judgments,
            float(weights @ judgments**2),
        )

    def __sub__(self, other: Moments) -> Moments:
        return Moments(
            self.weight - other.weight,
            self.basis - other.basis,
            self.judgment - other.judgment,
            self.gram - other.gram,
            self.cross - other.cross,
            self.square - other.square,
        )

    def centred(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Covariances among the columns, with the judgments, and the judgments' variance."""
        mean = self.basis / self.weight
        gram = self.gram / self.weight - np.outer(mean, mean)
        cross = self.cross / self.weight - mean * (self.judgment / self.weight)
        return gram, cross, self.square / self.weight - (self.judgment / self.weight) ** 2

    def squared_error(self, intercept: float, coefficients: np.ndarray) -> float:
        """Weighted sum of squared errors of intercept + basis @ coefficients."""
        c = coefficients
        fitted = intercept**2 * self.weight + 2 * intercept * (self.basis @ c) + c @ self.gram @ c
        return float(self.square - 2 * (intercept * self.judgment + self.cross @ c) + fitted)


def least_squares(moments: Moments) -> tuple[float, np.ndarray]:
    """Intercept and coefficients >= 0 of least squared error: the same optimum as `most_correlated`, much faster."""
    gram, cross, _ = moments.centred()
    root = _root(gram)
    target = np.linalg.lstsq(root.T, cross, rcond=1e-10)[0]
    coefficients = nnls(root, target)[0]
    return float((moments.judgment - moments.basis @ coefficients) / moments.weight), coefficients


def most_correlated(moments: Moments) -> tuple[float, np.ndarray]:
    """Intercept and coefficients >= 0 of greatest correlation, by a cone program in cvxpy, on the judgments' scale.

    Maximise <cross, c> subject to |root c| <= 1, c >= 0, root' root the covariance of the columns; then the rising
    straight line of least squares takes the function to the judgments' scale. Where no column goes along with the
    judgments the coefficients are all 0: no monotone relation.
    """
    cp = cvxpy()
    gram, cross, _ = moments.centred()
    c = cp.Variable(len(cross), nonneg=True)
    coefficients = np.zeros(len(cross))
    if (cross > 0).any():
        solve(cp.Problem(cp.Maximize((cross / np.abs(cross).max()) @ c), [cp.norm(_root(gram) @ c) <= 1]))
        direction = np.maximum(np.asarray(c.value), 0.0)
        coefficients = direction * (cross @ direction) / (direction @ gram @ direction)
    return float((moments.judgment - moments.basis @ coefficients) / moments.weight), coefficients


def _root(gram: np.ndarray) -> np.ndarray:
    """R with R'R = gram, without the directions that are rounding alone."""
    values, vectors = np.linalg.eigh(gram)
    keep = values > 1e-12 * max(values[-1], 1e-300)
    return np.asarray(np.sqrt(values[keep])[:, None] * vectors[:, keep].T)


class CorrelationMapping(MonotoneMapping):
    """Greatest correlation over monotone quadratic splines; the number of break points by cross-validation.

    Parameters
    ----------
    break_points : numbers of break points to choose from; one number is taken as it is
    folds : folds of the choice, by `groups` where given, else by pair
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"
    seed : of the folds

    Attributes
    ----------
    break_points_ : the number chosen
    relation_ : None, or "no monotone relation" where the best function is constant

    References
    ----------
    Shirahatti and Barnard 2005, section 4.2, Eq. 4.9. Ramsay 1988.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 50)
    >>> CorrelationMapping(break_points=2).fit(x, 1 + 4 * x**2).predict([0.0, 0.5, 1.0]).round(3).tolist()
    [1.0, 2.0, 5.0]
    """

    method = "correlation"

    def __init__(
        self,
        break_points: int | tuple[int, ...] = (2, 3, 4, 5, 6, 8, 10),
        folds: int = 10,
        increasing: bool | str = "auto",
        out_of_bounds: str = "clip",
        seed: int = 0,
    ) -> None:
        self.break_points = break_points
        self.folds = folds
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds
        self.seed = seed

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        sign = 1.0 if self.increasing_ else -1.0
        w = np.ones(len(scores)) if weights is None else weights
        distinct, inverse = np.unique(sign * scores, return_inverse=True)
        self.relation_: str | None = None
        self.break_points_ = 1
        if len(distinct) == 1:
            self.relation_ = NO_RELATION
            constant = np.full(1, np.average(judgments, weights=w))
            return self._fitted(sign * distinct, constant, meta={"relation": NO_RELATION})
        at = np.bincount(inverse, w)
        # from here on judgments count from their mean: the moments then keep their digits
        centre = float(np.average(judgments, weights=w))
        fold = folds_by_group(np.arange(len(scores)) if groups is None else groups, self.folds, self.seed)
        candidates = self._candidates(distinct, at)
        best = min(candidates, key=lambda breaks: self._error(breaks, distinct, inverse, judgments - centre, w, fold))
        basis = ispline_basis(distinct, best)
        moments = Moments.of(basis, np.bincount(inverse, w * (judgments - centre)) / at, at)
        intercept, coefficients = most_correlated(moments)
        self.break_points_ = len(best)
        if not coefficients.any():
            self.relation_ = NO_RELATION
        fine = np.unique(np.concatenate([np.linspace(a, b, STEPS + 1) for a, b in itertools.pairwise(best)]))
        values = centre + intercept + ispline_basis(fine, best) @ coefficients
        order = slice(None) if self.increasing_ else slice(None, None, -1)
        meta = {"break_points": (sign * best)[order].tolist(), "relation": self.relation_, "seed": self.seed}
        return self._fitted((sign * fine)[order], np.maximum.accumulate(values)[order], meta=meta)

    def _candidates(self, distinct: np.ndarray, at: np.ndarray) -> list[np.ndarray]:
        counts = (self.break_points,) if isinstance(self.break_points, int) else tuple(self.break_points)
        if not counts or min(counts) < 2:
            raise ValueError(f"break_points are numbers of at least 2, not {self.break_points!r}")
        distinct_breaks: dict[bytes, np.ndarray] = {}
        for count in sorted(counts):
            breaks = break_points(distinct, at, count)
            distinct_breaks.setdefault(breaks.tobytes(), breaks)
        return list(distinct_breaks.values())

    @staticmethod
    def _error(
        breaks: np.ndarray,
        distinct: np.ndarray,
        inverse: np.ndarray,
        judgments: np.ndarray,
        w: np.ndarray,
        fold: np.ndarray,
    ) -> float:
        """Cross-validated squared error of the spline with these break points, from moments alone."""
        basis = ispline_basis(distinct, breaks)[inverse]
        parts = [Moments.of(basis[fold == k], judgments[fold == k], w[fold == k]) for k in range(int(fold.max()) + 1)]
        whole = Moments.of(basis, judgments, w)
        if len(parts) < 2:
            return whole.squared_error(*least_squares(whole))
        return sum(part.squared_error(*least_squares(whole - part)) for part in parts)
