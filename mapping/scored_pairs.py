"""The judged pairs of one system, and a mapping fitted to all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.methods import make_mapping

INCREASING: dict[str, bool | str] = {"auto": "auto", "higher": True, "lower": False}
"""Value of an estimator's `increasing` for each direction."""


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """The judged pairs of one system that its mapping is fitted to.

    Parameters
    ----------
    scores : one system's scores, shape (n,), finite
    judgments : shape (n,), finite
    queries : query of each pair, shape (n,)
    weights : weight of each pair in the fits, shape (n,), or None for equal weights
    system : name, which the mapping takes

    Raises
    ------
    ValueError
        where the arrays differ in length
    RelstudyError
        if there is no pair
    """

    scores: np.ndarray
    judgments: np.ndarray
    queries: np.ndarray
    weights: np.ndarray | None = None
    system: str = ""

    def __init__(
        self,
        scores: ArrayLike,
        judgments: ArrayLike,
        queries: ArrayLike,
        weights: ArrayLike | None = None,
        system: str = "",
    ) -> None:
        x, y, q = np.asarray(scores, dtype=float), np.asarray(judgments, dtype=float), np.asarray(queries)
        w = None if weights is None else np.asarray(weights, dtype=float)
        if not (x.shape == y.shape == q.shape and x.ndim == 1 and (w is None or w.shape == x.shape)):
            raise ValueError("scores, judgments, queries and weights must have one entry per pair")
        if len(x) == 0:
            raise RelstudyError("a mapping needs at least one judged pair")
        for name, value in (("scores", x), ("judgments", y), ("queries", q), ("weights", w), ("system", system)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def query(self) -> np.ndarray:
        """Number of each pair's query in the order of their names, int (n,)."""
        return np.unique(self.queries, return_inverse=True)[1]

    @property
    def is_one_query(self) -> bool:
        """True where all pairs belong to one query, so that none can be held out."""
        return int(self.query.max()) == 0

    def among(self, chosen: np.ndarray) -> ScoredPairs:
        """Only the pairs where `chosen`, bool (n,), is true."""
        weights = None if self.weights is None else self.weights[chosen]
        return ScoredPairs(self.scores[chosen], self.judgments[chosen], self.queries[chosen], weights, self.system)


@dataclass(frozen=True)
class FitSettings:
    """Settings of a fit.

    Parameters
    ----------
    folds : number of folds, whole queries each, at least 2; if there are fewer queries, each query is a fold
    seed : of the folds and of random methods
    direction : "higher" or "lower" score is better, which binds every fit; "auto": by the sign of Spearman's rho of the
        pairs fitted to
    """

    folds: int = 10
    seed: int = 0
    direction: str = "auto"


DEFAULT = FitSettings()


def fit_mapping(pairs: ScoredPairs, method: str, settings: FitSettings = DEFAULT) -> FittedMapping:
    """One method, one of EVERY_METHOD, fitted to all pairs; the result is applied with `predict`."""
    if method == "isotonic":
        return replace(_isotonic(pairs, INCREASING[settings.direction]), system=pairs.system)
    estimator = make_mapping(method, settings.seed, increasing=INCREASING[settings.direction]).fit(
        pairs.scores, pairs.judgments, sample_weight=pairs.weights, groups=pairs.queries
    )
    return replace(estimator.mapping_, system=pairs.system)


def _isotonic(pairs: ScoredPairs, increasing: bool | str) -> FittedMapping:
    """As `IsotonicMapping` fits them, without the second that importing scikit-learn takes."""
    from relstudy.mapping.fitted import drop_inner_knots
    from relstudy.mapping.least_squares.plain import isotonic_fit
    from relstudy.mapping.tied_scores import is_increasing, pool

    scores, judgments = np.asarray(pairs.scores, float), np.asarray(pairs.judgments, float)
    weights = None if pairs.weights is None else np.asarray(pairs.weights, float)
    up = is_increasing(scores, judgments, weights) if increasing == "auto" else bool(increasing)
    if weights is not None and not weights.all():
        keep = weights > 0
        scores, judgments, weights = scores[keep], judgments[keep], weights[keep]
    pooled = pool(scores, judgments, weights)
    knots, values = drop_inner_knots(pooled.scores, isotonic_fit(pooled, up))
    ordered = np.maximum.accumulate(values) if up else np.minimum.accumulate(values)
    return FittedMapping(knots, ordered, increasing=up, out_of_bounds="clip", method="isotonic")
