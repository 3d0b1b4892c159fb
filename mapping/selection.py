"""Methods compared on one system out of fold, with intervals over queries; the best of them, fitted, and its lead."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import stdtrit

from relstudy.common.results.estimates import Estimate
from relstudy.mapping.correlation.optimum import NO_RELATION
from relstudy.mapping.cross_fitting import CrossFit, around_training_means, correlation, cross_fit
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.methods import METHODS
from relstudy.mapping.query_folds import folds_by_group
from relstudy.mapping.scored_pairs import DEFAULT, FitSettings, ScoredPairs, fit_mapping


@dataclass(frozen=True)
class MethodScore:
    """Figures of one method on one system.

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

    A mapping of many pairs has no correlation below 0, since a constant is monotone too, so the interval (`_reach` to
    either side) reaches 0.

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
    reach = _reach(r, noise, int(pairs.query.max()) + 1)
    return Estimate.of(point.value, max(point.value - reach, -1.0), min(max(point.value + reach, 0.0), 1.0))


def error_over_queries(pairs: ScoredPairs, predicted: np.ndarray, resamples: int, seed: int) -> Estimate:
    """Root mean squared error with a 95 % percentile interval from resampling whole queries."""
    square = (predicted - pairs.judgments) ** 2
    n, total = resampled_sums([np.ones(len(square)), square], pairs.query, resamples, seed)
    return Estimate.of(float(np.sqrt(square.mean())), *np.quantile(np.sqrt(total / n), [0.025, 0.975]))


def _reach(figures: np.ndarray, noise: float, queries: int) -> float:
    """Half the length of a 95 % interval from a figure in samples of queries.

    The standard error is that of the resampled figures, larger by sqrt(1 + noise) for the fits' own noise
    (`fits_noise`) and by sqrt(n / (n - 1)) for n queries; Student's t has n - 1 degrees of freedom.
    """
    error = float(np.std(figures, ddof=1)) * math.sqrt((1 + noise) * queries / (queries - 1))
    return float(stdtrit(queries - 1, 0.975)) * error


def _correlation_estimate(predicted: np.ndarray, judgments: np.ndarray) -> Estimate:
    if np.ptp(judgments) == 0:
        return Estimate.missing("all judgments are equal")
    value = correlation(predicted, judgments)
    return Estimate(0.0, reason=NO_RELATION) if value is None else Estimate(value)


def _value(estimate: Estimate) -> float:
    return -math.inf if estimate.value is None else estimate.value


@dataclass(frozen=True)
class Chosen:
    """The method of greatest correlation out of fold, beside the next one.

    Parameters
    ----------
    best, second : methods
    lead : of the best in correlation out of fold, with a 95 % interval over queries; a lead whose interval holds 0 is
        no real difference
    by_other_folds : correlation where each fold is mapped by the method that does best on all other folds. The figure
        of the best method itself flatters: it was chosen by the very predictions that it is measured by
    """

    best: str
    second: str
    lead: Estimate
    by_other_folds: Estimate

    @property
    def clear(self) -> bool:
        """True where the lead's interval lies above 0."""
        return self.lead.low is not None and self.lead.low > 0

    def sentence(self) -> str:
        """The best method, its lead, and whether that is a clear difference, as a sentence."""
        difference = "a clear difference" if self.clear else "no real difference"
        text = f"{self.best} is best by {self.lead.value:.3f}, before {self.second}: {difference}"
        if self.by_other_folds.value is None:
            return f"{text}."
        return f"{text}; with the choice out of fold too, {self.by_other_folds.value:.3f}."

    def as_json(self) -> dict[str, Any]:
        return {
            "best": self.best,
            "second": self.second,
            "lead": self.lead.as_json(),
            "clear": self.clear,
            "chosen_by_other_folds": self.by_other_folds.as_json(),
        }


def chosen(
    pairs: ScoredPairs, crossed: Mapping[str, CrossFit], best: str, settings: FitSettings, resamples: int
) -> Chosen | None:
    """The best method beside the next; None with fewer than two that have a correlation.

    Parameters
    ----------
    crossed : each method's predictions out of fold, for these pairs and settings
    """
    shapes = {name: around_training_means(fit.predictions, pairs, settings) for name, fit in crossed.items()}
    values = {name: correlation(shape, pairs.judgments) for name, shape in shapes.items()}
    defined = {name: value for name, value in values.items() if value is not None}
    if best not in defined or len(defined) < 2:
        return None
    second = max((name for name in defined if name != best), key=lambda name: defined[name])
    noise = max(crossed[best].noise, crossed[second].noise)
    lead = _lead(pairs, shapes[best], shapes[second], noise, resamples, settings.seed)
    return Chosen(best, second, lead, _by_other_folds(pairs, {name: shapes[name] for name in defined}, settings))


def _lead(
    pairs: ScoredPairs, best: np.ndarray, second: np.ndarray, noise: float, resamples: int, seed: int
) -> Estimate:
    """The difference of two correlations on the same resampled queries, with Student's t."""
    one, other = (correlations_over_queries(each, pairs, resamples, seed) for each in (best, second))
    value = (correlation(best, pairs.judgments) or 0.0) - (correlation(second, pairs.judgments) or 0.0)
    differences = (one - other)[np.isfinite(one - other)]
    if len(differences) < 2:
        return Estimate(value, reason="no interval: too few queries vary")
    reach = _reach(differences, noise, int(pairs.query.max()) + 1)
    return Estimate(value, value - reach, value + reach)


def _by_other_folds(pairs: ScoredPairs, shapes: Mapping[str, np.ndarray], settings: FitSettings) -> Estimate:
    fold = folds_by_group(pairs.query, settings.folds, settings.seed)
    if fold.max() < 1:
        return Estimate.missing("a choice by the other folds takes at least two")
    put_together = np.empty(len(pairs))
    for k in range(int(fold.max()) + 1):
        others = fold != k

        def worth(name: str, others: np.ndarray = others) -> float:
            value = correlation(shapes[name][others], pairs.judgments[others])
            return -math.inf if value is None else value

        put_together[~others] = shapes[max(shapes, key=worth)][~others]
    value = correlation(put_together, pairs.judgments)
    return Estimate.missing("no correlation: one side does not vary") if value is None else Estimate(value)


def resampled_sums(columns: list[np.ndarray], queries: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Sums of columns over samples of whole queries, shape (columns, resamples); the same samples for the same seed."""
    _, inverse = np.unique(queries, return_inverse=True)
    sums = np.column_stack([np.bincount(inverse, column) for column in columns])
    return np.asarray((_counts_of_queries(len(sums), resamples, seed) @ sums).T)


@lru_cache(maxsize=1)
def _counts_of_queries(queries: int, resamples: int, seed: int) -> np.ndarray:
    """Counts of each query in each sample, float [resamples, queries]; kept, since every figure uses the same."""
    drawn = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1 / queries), size=resamples)
    counts = drawn.astype(float)
    counts.flags.writeable = False
    return counts


def correlations_over_queries(shape: np.ndarray, pairs: ScoredPairs, resamples: int, seed: int) -> np.ndarray:
    """Pearson's correlation of mapped scores with the judgments in each sample of queries, or NaN.

    Parameters
    ----------
    shape : mapped scores, float [pairs]
    """
    p, y = shape - shape.mean(), pairs.judgments - pairs.judgments.mean()
    sums = resampled_sums([np.ones(len(p)), p, y, p * p, y * y, p * y], pairs.query, resamples, seed)
    n, sp, sy, spp, syy, spy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            (spy - sp * sy / n) / np.sqrt(np.maximum(spp - sp * sp / n, 0) * np.maximum(syy - sy * sy / n, 0))
        )
