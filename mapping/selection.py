"""Which mapping: out-of-fold predictions with folds by query, and the method that predicts best there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relstudy.common.errors import RelstudyError
from relstudy.common.estimates import Estimate
from relstudy.mapping.correlation.optimum import NO_RELATION
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.folds import folds_by_group
from relstudy.mapping.methods import BEST, METHODS, make_mapping

INCREASING: dict[str, bool | str] = {"auto": "auto", "higher": True, "lower": False}
"""What a direction means to an estimator."""


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
        where there is no pair
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

    @property
    def is_one_query(self) -> bool:
        """Whether all pairs belong to one query, so that none can be held out."""
        return len(np.unique(self.queries)) < 2

    def among(self, chosen: np.ndarray) -> ScoredPairs:
        """Only the pairs where `chosen`, bool (n,), is true."""
        weights = None if self.weights is None else self.weights[chosen]
        return ScoredPairs(self.scores[chosen], self.judgments[chosen], self.queries[chosen], weights, self.system)


@dataclass(frozen=True)
class FitSettings:
    """How mappings are fitted.

    Parameters
    ----------
    folds : number of folds, whole queries each, at least 2; where there are fewer queries, each query is a fold
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
    estimator = make_mapping(method, settings.seed, increasing=INCREASING[settings.direction]).fit(
        pairs.scores, pairs.judgments, sample_weight=pairs.weights, groups=pairs.queries
    )
    return replace(estimator.mapping_, system=pairs.system)


def cross_fit(pairs: ScoredPairs, method: str = BEST, settings: FitSettings = DEFAULT) -> np.ndarray:
    """Mapped scores out of fold: each pair mapped by a fit that saw no pair of its query.

    Parameters
    ----------
    method : one of EVERY_METHOD, or "best": chosen anew inside each training part, so that the choice, too, is out
        of fold

    Returns
    -------
    shape (n,), in the order of the pairs, on the scale of the judgments

    Raises
    ------
    RelstudyError
        where there are fewer than two queries, fewer than two folds, or an unknown method

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(40) / 40
    >>> mapped = cross_fit(ScoredPairs(x, 1 + 4 * x, np.arange(40) % 8), "isotonic", FitSettings(folds=4))
    >>> mapped[:3].round(2).tolist()
    [1.1, 1.1, 1.2]
    """
    fold = _folds(pairs.queries, settings)
    mapped = np.empty(len(pairs))
    for k in range(int(fold.max()) + 1):
        test = fold == k
        training = pairs.among(~test)
        chosen = best_method(training, settings) if method == BEST else method
        mapped[test] = fit_mapping(training, chosen, settings).predict(pairs.scores[test])
    return mapped


def best_method(pairs: ScoredPairs, settings: FitSettings = DEFAULT, methods: Sequence[str] = METHODS) -> str:
    """The method with the greatest cross-validated correlation; the first where one query allows none."""
    if pairs.is_one_query:
        return methods[0]
    correlations = [correlation(cross_fit(pairs, method, settings), pairs.judgments) or 0.0 for method in methods]
    return methods[int(np.argmax(correlations))]


@dataclass(frozen=True)
class MethodScore:
    """How well one method maps one system.

    Parameters
    ----------
    in_sample : correlation of mapped scores with the judgments that they were fitted to; flatters
    out_of_fold : correlation out of fold, with a bootstrap interval over queries
    rmse : root mean squared error out of fold, in the unit of the judgments, with its interval
    """

    in_sample: Estimate
    out_of_fold: Estimate
    rmse: Estimate

    def as_json(self) -> dict[str, Any]:
        return {
            "in_sample": self.in_sample.as_json(),
            "out_of_fold": self.out_of_fold.as_json(),
            "rmse": self.rmse.as_json(),
        }


@dataclass(frozen=True)
class Choice:
    """The methods compared on one system, the best of them, and its fit to all pairs.

    Parameters
    ----------
    system : name
    methods : method -> its scores
    best : the method with the greatest out-of-fold correlation
    mapping : `best` fitted to all pairs
    predictions : method -> mapped scores out of fold, shape (n,)
    """

    system: str
    methods: dict[str, MethodScore]
    best: str
    mapping: FittedMapping
    predictions: dict[str, np.ndarray]

    def as_json(self) -> dict[str, Any]:
        return {**{name: score.as_json() for name, score in self.methods.items()}, "best": self.best}


def choose(
    pairs: ScoredPairs,
    methods: Sequence[str] = METHODS,
    settings: FitSettings = DEFAULT,
    resamples: int = 2000,
) -> Choice:
    """Compare methods on one system's scores out of fold, and fit the best of them to all pairs.

    Parameters
    ----------
    methods : the methods to compare
    resamples : bootstrap samples of queries behind each 95 % interval

    Returns
    -------
    Choice. With fewer than two queries nothing is out of fold: those figures are missing with the reason, and the first
    of `methods` is taken.
    """
    scored: dict[str, MethodScore] = {}
    predictions: dict[str, np.ndarray] = {}
    fits: dict[str, FittedMapping] = {}
    for method in methods:
        fits[method] = fit_mapping(pairs, method, settings)
        in_sample = _correlation_estimate(fits[method].predict(pairs.scores), pairs.judgments)
        if pairs.is_one_query:
            missing = Estimate.missing("all pairs belong to one query, so nothing can be held out")
            scored[method] = MethodScore(in_sample, missing, missing)
            continue
        predictions[method] = cross_fit(pairs, method, settings)
        out_of_fold, rmse = over_queries(predictions[method], pairs.judgments, pairs.queries, resamples, settings.seed)
        scored[method] = MethodScore(in_sample, out_of_fold, rmse)
    best = max(methods, key=lambda method: _value(scored[method].out_of_fold))
    return Choice(pairs.system, scored, best, fits[best], predictions)


def correlation(predicted: np.ndarray, judgments: np.ndarray) -> float | None:
    """Pearson's correlation; None where either side does not vary."""
    a, b = predicted - predicted.mean(), judgments - judgments.mean()
    # spread that is rounding alone is none
    if np.abs(a).max() <= 1e-12 * np.abs(predicted).max() or np.abs(b).max() <= 1e-12 * np.abs(judgments).max():
        return None
    return float(np.clip(a @ b / math.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def over_queries(
    predicted: np.ndarray, judgments: np.ndarray, queries: np.ndarray, resamples: int, seed: int
) -> tuple[Estimate, Estimate]:
    """Correlation and root mean squared error with 95 % percentile intervals from resampling whole queries.

    A sample of queries is a multinomial count per query, and both figures follow from six sums per query.
    """
    _, inverse = np.unique(queries, return_inverse=True)
    centre = judgments.mean()
    p, y = predicted - centre, judgments - centre
    columns = [np.ones(len(p)), p, y, p * p, y * y, p * y]
    sums = np.column_stack([np.bincount(inverse, column) for column in columns])
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=resamples)
    n, sp, sy, spp, syy, spy = (counts @ sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (spy - sp * sy / n) / np.sqrt(np.maximum(spp - sp * sp / n, 0) * np.maximum(syy - sy * sy / n, 0))
    rmse = np.sqrt(np.maximum(spp - 2 * spy + syy, 0) / n)
    r = r[np.isfinite(r)]
    point = _correlation_estimate(predicted, judgments)
    if point.reason is None and len(r) > 0:
        point = Estimate.of(float(point.value or 0.0), *np.quantile(r, [0.025, 0.975]))
    error = float(np.sqrt(np.mean((predicted - judgments) ** 2)))
    return point, Estimate.of(error, *np.quantile(rmse, [0.025, 0.975]))


def _correlation_estimate(predicted: np.ndarray, judgments: np.ndarray) -> Estimate:
    if np.ptp(judgments) == 0:
        return Estimate.missing("all judgments are equal")
    value = correlation(predicted, judgments)
    return Estimate(0.0, reason=NO_RELATION) if value is None else Estimate(value)


def _value(estimate: Estimate) -> float:
    return -math.inf if estimate.value is None else estimate.value


def _folds(queries: np.ndarray, settings: FitSettings) -> np.ndarray:
    if settings.folds < 2:
        raise RelstudyError(f"cross-validation needs at least 2 folds, not {settings.folds}")
    fold = folds_by_group(queries, settings.folds, settings.seed)
    if fold.max() == 0:
        raise RelstudyError("all pairs belong to one query, so nothing can be held out; at least two are needed")
    return fold
