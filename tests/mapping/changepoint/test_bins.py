"""Bands where queries differ: pairs of one query are not as many pairs as they look."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.mapping.changepoint.bins import design_effect
from relstudy.mapping.least_squares.isotonic import BaggedMapping
from relstudy.mapping.methods import make_mapping
from relstudy.mapping.tied_scores import resampled, sort_pairs


def study(number: int, lift: float, together: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores, true values, judgments, queries: 20 of 20 results, whose scores lie near one another or not."""
    rng = np.random.default_rng(number)
    query = np.repeat(np.arange(20), 20)
    scores = (rng.normal(0, 0.8, 20)[query] if together else 0) + rng.normal(0, 0.6, 400)
    truth = 3 + 0.6 * scores
    return scores, truth, truth + rng.normal(0, lift, 20)[query] + rng.normal(size=400), query


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bagged", "bayes"])
def test_bands_hold_the_truth_where_queries_differ(method: str) -> None:
    covered: dict[bool, list[float]] = {True: [], False: []}
    for number in range(25):
        scores, truth, judgments, query = study(number, 0.7)
        inner = np.argsort(scores)[40:-40]
        for queries, shares in covered.items():
            fit = make_mapping(method, increasing=True).fit(scores, judgments, groups=query if queries else None)
            low, high = fit.mapping_.predict_band(scores[inner])
            shares.append(float(np.mean((low <= truth[inner]) & (truth[inner] <= high))))
    # nominal .90; a mean over 25 studies has a standard error of .03. Pairs taken for independent: .65 to .75
    assert np.mean(covered[True]) > 0.83
    assert np.mean(covered[False]) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("together", "lift"), [(True, 0.0), (False, 0.7), (True, 0.7)])
def test_the_design_effect_is_the_variance_of_a_levels_mean_beside_that_of_independent_pairs(
    together: bool, lift: float
) -> None:
    """By brute force: the errors of the means of four neighbouring sets of scores, over 300 studies."""
    estimated, errors, alone = [], [], []
    for number in range(300):
        scores, truth, judgments, query = study(number, lift, together)
        estimated.append(design_effect(scores, judgments, None, query))
        error = (judgments - truth)[np.argsort(scores)].reshape(4, 100)
        errors.append(error.mean(axis=1) ** 2)
        alone.append(error.var(axis=1) / 100)
    true = np.mean(errors) / np.mean(alone)
    # the fit takes a part of the queries' lifts for its own, and an effect below 1 counts as 1
    assert 0.75 * true < np.mean(estimated) < 1.15 * max(true, 1.0) + 0.1


def test_a_bootstrap_sample_of_queries_takes_all_pairs_of_a_query_equally_often() -> None:
    query = np.array(["a", "b", "a", "c", "b", "c"])
    pairs = sort_pairs([6, 5, 4, 3, 2, 1], [0] * 6, None, query)
    seen = set()
    for seed in range(20):
        sample, drawn = resampled(pairs, np.random.default_rng(seed))
        times = np.zeros(6)
        times[drawn] = sample.weights
        by_query = {name: set(times[query[::-1] == name].tolist()) for name in "abc"}
        assert all(len(values) == 1 for values in by_query.values()) and times.sum() == 6
        seen.add(tuple(times))
    assert len(seen) > 3


def test_one_query_is_resampled_by_pairs_so_that_its_band_has_a_width() -> None:
    x = np.arange(20.0)
    fit = BaggedMapping(bagged=50).fit(x, x + np.tile([-2, 2], 10), groups=["q"] * 20).mapping_
    assert fit.low is not None and fit.high is not None and (fit.high - fit.low).mean() > 0.1
