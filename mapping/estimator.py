"""Base class of every mapping method: scikit-learn's conventions around a fitted mapping."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from relstudy.mapping.fitted import OUT_OF_BOUNDS, FittedMapping
from relstudy.mapping.tied_scores import is_increasing


class MonotoneMapping(RegressorMixin, BaseEstimator):
    """A monotone map from one system's scores to human judgments.

    Subclasses take at least these parameters and give `method` and `_fit`.

    Parameters
    ----------
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" (constant outside the fitted range) or "raise"

    Attributes
    ----------
    mapping_ : the fitted mapping; keep it as JSON with `mapping_.write(path)`
    increasing_ : the direction used
    """

    method: str = ""
    increasing: bool | str
    out_of_bounds: str
    mapping_: FittedMapping
    increasing_: bool

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit.

        Parameters
        ----------
        X : scores, shape (n,) or (n, 1), finite
        y : judgments, shape (n,), finite
        sample_weight : shape (n,), at least 0, not all 0
        groups : query of each pair, shape (n,); used where a method cross-validates inside its fit

        Raises
        ------
        ValueError
            where shapes differ, a number is not finite, or a parameter is not allowed
        """
        scores, judgments, weights = self._checked(X, y, sample_weight)
        if self.out_of_bounds not in OUT_OF_BOUNDS:
            raise ValueError(f"out_of_bounds is 'clip' or 'raise', not {self.out_of_bounds!r}")
        if self.increasing not in (True, False, "auto"):
            raise ValueError(f"increasing is True, False or 'auto', not {self.increasing!r}")
        auto = self.increasing == "auto"
        self.increasing_ = is_increasing(scores, judgments, weights) if auto else bool(self.increasing)
        named = None if groups is None else np.asarray(groups)
        if named is not None:
            check_consistent_length(scores, named)
        if weights is not None and not weights.all():
            keep = weights > 0
            scores, judgments, weights = scores[keep], judgments[keep], weights[keep]
            named = None if named is None else named[keep]
        self.mapping_ = self._fit(scores, judgments, weights, named)
        return self

    @abstractmethod
    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        """Fit checked numbers, weights all above 0, in the direction `increasing_`."""

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Mapped scores, shape (n,)."""
        check_is_fitted(self)
        return self.mapping_.predict(_flat(X))

    def _within(
        self, scores: np.ndarray, knots: np.ndarray, values: np.ndarray, *bands: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Knots, values and bands carried level from the outer bins' middles to the lowest and highest score seen."""
        before, after = int(scores.min() < knots[0]), int(scores.max() > knots[-1])
        carried = [np.pad(part, (before, after), mode="edge") for part in (knots, values, *bands)]
        carried[0][0], carried[0][-1] = scores.min(), scores.max()
        return tuple(carried)

    def _fitted(self, knots: np.ndarray, values: np.ndarray, **more: Any) -> FittedMapping:
        """The mapping, its values put in order where rounding left them out of it by a hair."""
        ordered = np.maximum.accumulate(values) if self.increasing_ else np.minimum.accumulate(values)
        return FittedMapping(
            knots,
            ordered,
            increasing=self.increasing_,
            out_of_bounds=self.out_of_bounds,
            method=self.method,
            **more,
        )

    def _checked(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        scores = _flat(X)
        judgments = column_or_1d(check_array(y, ensure_2d=False, dtype=float, input_name="y"), warn=True)
        check_consistent_length(scores, judgments)
        if sample_weight is None:
            return scores, judgments, None
        weights = check_array(sample_weight, ensure_2d=False, dtype=float, input_name="sample_weight")
        if weights.ndim == 0:
            weights = np.full(len(scores), float(weights))
        check_consistent_length(scores, weights)
        if (weights < 0).any() or not (weights > 0).any():
            raise ValueError("sample_weight must be at least 0, and some weight not zero")
        return scores, judgments, weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def _flat(X: ArrayLike) -> np.ndarray:
    array = check_array(X, ensure_2d=False, dtype=float, input_name="X")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"a mapping takes one score a pair: X of shape (n,) or (n, 1), not {array.shape}")
    return np.asarray(array)
