"""Correlation out of fold: a system that says nothing correlates with nothing, whatever the method."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.mapping.cross_fitting import CrossFit, around_training_means, best_method, correlation, cross_fit
from relstudy.mapping.query_folds import folds_by_group
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs
from relstudy.mapping.selection import choose, correlation_over_queries


def null_study(number: int, queries: int = 15, results: int = 20) -> ScoredPairs:
    """Judgments 1 to 5 with queries of different height, and scores that have nothing to do with them."""
    rng = np.random.default_rng(number)
    query = np.repeat(np.arange(queries), results)
    lift = rng.normal(0, 0.5, queries)[query]
    judgments = np.clip(np.round(2.4 + lift + rng.normal(size=len(query)), 1), 1, 5)
    return ScoredPairs(rng.exponential(size=len(query)), judgments, query)


@pytest.mark.slow
def test_a_system_that_knows_nothing_correlates_with_nothing_out_of_fold() -> None:
    pooled, around, excluded = [], [], 0
    for number in range(60):
        pairs, settings = null_study(number), FitSettings(seed=number)
        fit = cross_fit(pairs, "isotonic", settings)
        values = around_training_means(fit.predictions, pairs, settings)
        pooled.append(correlation(fit.predictions, pairs.judgments) or 0.0)
        around.append(correlation(values, pairs.judgments) or 0.0)
        interval = correlation_over_queries(pairs, values, fit.noise, 500, number)
        excluded += interval.low is not None and interval.high is not None and (interval.low > 0 or interval.high < 0)
    # as the folds predict it is far below 0; around their means a standard error (.06 / root of 60) or two from it
    assert np.mean(pooled) < -0.08
    assert abs(np.mean(around)) < 0.03
    # 6 % of 60 are 3.6; a rate of 6 % gives more than 8 in one of 90 such tests. The fits taken as known: 13 (isotonic)
    assert excluded <= 8


def test_fits_that_are_constant_in_each_fold_have_no_spread_and_no_correlation() -> None:
    pairs = null_study(0)
    flat = ScoredPairs(np.ones(len(pairs)), pairs.judgments, pairs.queries)
    predictions = cross_fit(flat, "isotonic").predictions
    assert len(np.unique(predictions)) > 5 and (correlation(predictions, flat.judgments) or 0) < -0.1
    assert np.ptp(around_training_means(predictions, flat)) == 0
    assert choose(flat, ("isotonic",)).methods["isotonic"].out_of_fold.reason == "no monotone relation"


def test_training_means_are_weighted_as_the_fits_are() -> None:
    rng = np.random.default_rng(1)
    pairs = null_study(1)
    weighted = ScoredPairs(pairs.scores, pairs.judgments, pairs.queries, rng.uniform(1, 9, len(pairs)))
    predictions = cross_fit(weighted, "isotonic", FitSettings(5)).predictions
    values = around_training_means(predictions, weighted, FitSettings(5))
    fold = folds_by_group(pairs.queries, 5)
    assert weighted.weights is not None
    for k in range(5):
        rest = fold != k
        mean = np.average(pairs.judgments[rest], weights=weighted.weights[rest])
        whole = np.average(pairs.judgments, weights=weighted.weights)
        np.testing.assert_allclose(values[~rest] - whole, predictions[~rest] - mean, atol=1e-12)  # rounding


def test_the_best_method_is_the_one_of_greatest_correlation_around_the_means(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = null_study(2)
    fold = folds_by_group(pairs.queries, 10)
    means = np.array([pairs.judgments[fold != k].mean() for k in range(10)])[fold]
    within = pairs.judgments - np.array([pairs.judgments[fold == k].mean() for k in range(10)])[fold]
    # "knows" follows the judgments within folds, and its folds' heights hide it when they are pooled
    random = np.random.default_rng(0).normal(size=len(pairs))
    predictions = {"knows": means + 0.02 * within, "nothing": random}
    crossed = {name: CrossFit(values, 0.0) for name, values in predictions.items()}
    monkeypatch.setattr("relstudy.mapping.cross_fitting.cross_fit", lambda pairs, method, settings: crossed[method])
    pooled = {name: correlation(values, pairs.judgments) or 0.0 for name, values in predictions.items()}
    assert pooled["nothing"] > pooled["knows"]
    assert best_method(pairs, FitSettings(), ("nothing", "knows")) == "knows"
