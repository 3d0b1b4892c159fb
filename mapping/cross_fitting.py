"""Predictions out of fold, folds by query, and the method that predicts best there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.methods import BEST, METHODS
from relstudy.mapping.query_folds import folds_by_group
from relstudy.mapping.scored_pairs import DEFAULT, FitSettings, ScoredPairs, fit_mapping
from relstudy.mapping.tied_scores import levels_of, levels_rise


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Mapped scores out of fold: each pair mapped by a fit that saw no pair of its query.

    Parameters
    ----------
    predictions : shape (n,), in the order of the pairs, on the scale of the judgments
    noise : how much of the variance of mapped scores is the fits' own, 0 to 1 (`fits_noise`)
    """

    predictions: np.ndarray
    noise: float


def cross_fit(pairs: ScoredPairs, method: str = BEST, settings: FitSettings = DEFAULT) -> CrossFit:
    """Map each pair by a fit to the other folds.

    Parameters
    ----------
    method : one of EVERY_METHOD, or "best": chosen again inside each training part, so that the choice, too, is out
        of fold

    Raises
    ------
    RelstudyError
        if there are fewer than two queries, fewer than two folds, or an unknown method

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(40) / 40
    >>> fit = cross_fit(ScoredPairs(x, 1 + 4 * x, np.arange(40) % 8), "isotonic", FitSettings(folds=4))
    >>> fit.predictions[:3].round(2).tolist(), round(fit.noise, 2)
    ([1.1, 1.1, 1.2], 0.0)
    """
    fold = _folds(pairs.query, settings)
    mapped = np.empty((int(fold.max()) + 1, len(pairs)))
    order = np.argsort(pairs.scores)  # knots are found faster for scores that rise
    rising = pairs.scores[order]
    levels = levels_of(pairs.scores), levels_of(pairs.judgments)
    for k in range(len(mapped)):
        inside = fold != k
        training, bound = pairs.among(inside), settings
        chosen = best_method(training, settings) if method == BEST else method
        if settings.direction == "auto":
            rise = levels_rise(levels[0][inside], levels[1][inside], training.weights)
            bound = replace(settings, direction="higher" if rise else "lower")
        mapped[k, order] = fit_mapping(training, chosen, bound).predict(rising)
    return CrossFit(mapped[fold, np.arange(len(pairs))], fits_noise(mapped))


def fits_noise(mapped: np.ndarray) -> float:
    """The share of the variance of mapped scores that is the fits' own noise, by the jackknife over folds.

    A fit bends to the noise of its judgments, and the judgments left out are noise to the others' fits: a correlation
    out of fold is made of products of the two. A bootstrap that keeps the fits sees one side. With the fits' noise as
    the share s of their spread, the variance of the correlation is 1 + s times what it says; 1 where a system knows
    nothing, so that its fits are noise alone.

    Parameters
    ----------
    mapped : scores of all pairs mapped by each fold's fit, shape (folds, n)

    Examples
    --------
    >>> fits_noise(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])), fits_noise(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (0.0, 1.0)
    """
    shapes = mapped - mapped.mean(axis=1, keepdims=True)
    average = shapes.mean(axis=0)
    noise = (len(mapped) - 1) / len(mapped) * ((shapes - average) ** 2).sum(axis=0).mean()
    spread = (shapes**2).mean()
    return float(min(noise / spread, 1.0)) if spread > 1e-24 * (mapped**2).mean() else 0.0


def around_training_means(predictions: np.ndarray, pairs: ScoredPairs, settings: FitSettings = DEFAULT) -> np.ndarray:
    """Predictions out of fold, each from the mean of the judgments that its fit saw, around the mean of all judgments.

    Folds' fits differ in height: a training mean is high where the judgments left out are low. Pooled as they are,
    predictions of a system that says nothing so correlate with the judgments, and negatively. Where a fit is constant
    it is its training mean, and what is left is no spread at all.

    Parameters
    ----------
    predictions : as `cross_fit` gives them for these pairs and settings, shape (n,)

    Returns
    -------
    shape (n,), to be correlated with the judgments; errors are those of `predictions` themselves

    Examples
    --------
    >>> import numpy as np
    >>> pairs = ScoredPairs(np.ones(6), [1, 1, 2, 2, 5, 5], list("aabbcc"))
    >>> constant = cross_fit(pairs, "isotonic").predictions
    >>> constant.round(1).tolist()
    [3.5, 3.5, 3.0, 3.0, 1.5, 1.5]
    >>> around_training_means(constant, pairs).round(1).tolist()
    [2.7, 2.7, 2.7, 2.7, 2.7, 2.7]
    """
    fold = _folds(pairs.query, settings)
    w = np.ones(len(pairs)) if pairs.weights is None else pairs.weights
    weight, total = np.bincount(fold, w), np.bincount(fold, w * pairs.judgments)
    training_means = (total.sum() - total) / (weight.sum() - weight)
    deviations = predictions - training_means[fold]
    # what is rounding alone would be a spread of its own
    deviations[np.abs(deviations) <= 1e-12 * np.abs(predictions).max()] = 0.0
    return np.asarray(np.average(pairs.judgments, weights=w) + deviations)


def correlation(predicted: np.ndarray, judgments: np.ndarray) -> float | None:
    """Pearson's correlation; None where either side does not vary."""
    a, b = predicted - predicted.mean(), judgments - judgments.mean()
    # spread that is rounding alone is none
    if np.abs(a).max() <= 1e-12 * np.abs(predicted).max() or np.abs(b).max() <= 1e-12 * np.abs(judgments).max():
        return None
    return float(np.clip(a @ b / math.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def best_method(pairs: ScoredPairs, settings: FitSettings = DEFAULT, methods: Sequence[str] = METHODS) -> str:
    """The method with the greatest correlation out of fold; the first where one query allows none."""
    if pairs.is_one_query:
        return methods[0]
    predictions = [cross_fit(pairs, method, settings).predictions for method in methods]
    around_means = [around_training_means(each, pairs, settings) for each in predictions]
    correlations = [correlation(each, pairs.judgments) or 0.0 for each in around_means]
    return methods[int(np.argmax(correlations))]


def _folds(queries: np.ndarray, settings: FitSettings) -> np.ndarray:
    fold = folds_by_group(queries, settings.folds, settings.seed)
    if fold.max() == 0:
        raise RelstudyError("all pairs belong to one query, so nothing can be held out; at least two are needed")
    return fold
