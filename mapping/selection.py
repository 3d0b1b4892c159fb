"""Methods compared on one system out of fold, with intervals over queries, and the best of them fitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from relstudy.common.estimates import Estimate
from relstudy.mapping.chosen import Chosen, chosen
from relstudy.mapping.correlation.optimum import NO_RELATION
from relstudy.mapping.cross_fitting import CrossFit, around_training_means, correlation, cross_fit
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.methods import METHODS
from relstudy.mapping.resampled import correlations_over_queries, resampled_sums
from relstudy.mapping.scored_pairs import DEFAULT, FitSettings, ScoredPairs, fit_mapping


@dataclass(frozen=True)
class MethodScore:
    """How well one method maps one system.

    Parameters
    ----------
    in_sample : correlation of mapped scores with the judgments that they were fitted to; flatters
    out_of_fold : correlation out of fold (`around_training_means`), with a bootstrap interval over queries
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
    crossed : method -> mapped scores out of fold
    chosen : how far the best is ahead; None where fewer than two methods compare
    """

    system: str
    methods: dict[str, MethodScore]
    best: str
    mapping: FittedMapping
    crossed: dict[str, CrossFit]
    chosen: Chosen | None = None

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
    crossed: dict[str, CrossFit] = {}
    fits: dict[str, FittedMapping] = {}
    for method in methods:
        fits[method] = fit_mapping(pairs, method, settings)
        in_sample = _correlation_estimate(fits[method].predict(pairs.scores), pairs.judgments)
        if pairs.is_one_query:
            missing = Estimate.missing("all pairs belong to one query, so nothing can be held out")
            scored[method] = MethodScore(in_sample, missing, missing)
            continue
        crossed[method] = cross_fit(pairs, method, settings)
        predictions = crossed[method].predictions
        around_means = around_training_means(predictions, pairs, settings)
        out_of_fold = correlation_over_queries(pairs, around_means, crossed[method].noise, resamples, settings.seed)
        rmse = error_over_queries(pairs, predictions, resamples, settings.seed)
        scored[method] = MethodScore(in_sample, out_of_fold, rmse)
    best = max(methods, key=lambda method: _value(scored[method].out_of_fold))
    ahead = chosen(pairs, crossed, best, settings, resamples)
    return Choice(pairs.system, scored, best, fits[best], crossed, ahead)


def correlation_over_queries(
    pairs: ScoredPairs, around_means: np.ndarray, noise: float, resamples: int, seed: int
) -> Estimate:
    """Correlation out of fold with a 95 % interval from resampling whole queries.

    The standard error is that of the resampled figures, larger by sqrt(1 + noise) for the fits' own noise
    (`fits_noise`) and by sqrt(n / (n - 1)) for n queries; Student's t has n - 1 degrees of freedom. A mapping of many
    pairs has no correlation below 0, since a constant is monotone too, so the interval reaches 0.

    Parameters
    ----------
    around_means : predictions out of fold as `around_training_means` gives them, shape (n,)
    noise : of the fits, 0 to 1
    """
    point = _correlation_estimate(around_means, pairs.judgments)
    r = correlations_over_queries(around_means, pairs, resamples, seed)
    r = r[np.isfinite(r)]
    if point.value is None or point.reason is not None or len(r) < 2:
        return point
    clusters = len(np.unique(pairs.queries))
    error = float(np.std(r, ddof=1)) * math.sqrt((1 + noise) * clusters / (clusters - 1))
    reach = float(stdtrit(clusters - 1, 0.975)) * error
    return Estimate.of(point.value, max(point.value - reach, -1.0), min(max(point.value + reach, 0.0), 1.0))


def error_over_queries(pairs: ScoredPairs, predicted: np.ndarray, resamples: int, seed: int) -> Estimate:
    """Root mean squared error with a 95 % percentile interval from resampling whole queries."""
    square = (predicted - pairs.judgments) ** 2
    n, total = resampled_sums([np.ones(len(square)), square], pairs.queries, resamples, seed)
    return Estimate.of(float(np.sqrt(square.mean())), *np.quantile(np.sqrt(total / n), [0.025, 0.975]))


def _correlation_estimate(predicted: np.ndarray, judgments: np.ndarray) -> Estimate:
    if np.ptp(judgments) == 0:
        return Estimate.missing("all judgments are equal")
    value = correlation(predicted, judgments)
    return Estimate(0.0, reason=NO_RELATION) if value is None else Estimate(value)


def _value(estimate: Estimate) -> float:
    return -math.inf if estimate.value is None else estimate.value
