"""Least-squares mappings: the quadratic program, its fast solution, and their bootstrap average."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.isotonic import IsotonicRegression

from relstudy.mapping.least_squares.isotonic import BaggedMapping, IsotonicMapping, bootstrap_fits
from relstudy.mapping.least_squares.plain import isotonic_fit
from relstudy.mapping.paper.quadratic import quadratic_program
from relstudy.mapping.tied_scores import into_bins, is_increasing, pool, sort_pairs


@st.composite
def pair_tables(draw: st.DrawFn, least: int = 1, most: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with ties, judgments on 1-5, whole weights."""
    n = draw(st.integers(least, most))
    scores = draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n))
    judgments = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return np.array(scores) / 4.0, np.array(judgments, dtype=float), np.array(weights, dtype=float)


@pytest.mark.parametrize("increasing", [True, False])
@pytest.mark.parametrize("number", [1, 500, 3000])
def test_few_and_many_means_are_fitted_as_scipy_does(number: int, increasing: bool) -> None:
    random = np.random.default_rng(number)
    scores, judgments = np.arange(number), np.round(np.linspace(0, 3, number) + random.normal(size=number), 1)
    pooled = pool(scores, judgments, random.integers(1, 4, number).astype(float))
    peer = isotonic_regression(pooled.means, weights=pooled.weights, increasing=increasing).x
    # sums in another order differ in the last digits
    np.testing.assert_allclose(isotonic_fit(pooled, increasing), peer, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(pair_tables(), st.booleans())
def test_isotonic_equals_scikit_learn_with_ties_and_weights_in_both_directions(
    table: tuple[np.ndarray, np.ndarray, np.ndarray], increasing: bool
) -> None:
    x, y, w = table
    ours = IsotonicMapping(increasing=increasing).fit(x, y, sample_weight=w)
    peer = IsotonicRegression(increasing=increasing, out_of_bounds="clip").fit(x, y, sample_weight=w)
    reach = np.linspace(-3, 3, 61)
    # both are exact; sums in another order differ in the last digits
    np.testing.assert_allclose(ours.predict(reach), peer.predict(reach), rtol=0, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(pair_tables(least=2, most=25), st.booleans())
def test_the_quadratic_program_as_printed_agrees_with_the_fast_fit(
    table: tuple[np.ndarray, np.ndarray, np.ndarray], increasing: bool
) -> None:
    pooled = pool(*table)
    # 1e-6 is what the specification asks of the two paths
    np.testing.assert_allclose(quadratic_program(pooled, increasing), isotonic_fit(pooled, increasing), atol=1e-6)


def test_the_quadratic_program_settles_where_a_constraint_holds_without_force() -> None:
    pooled = pool([-0.5, 0.25, -0.25, 0.0], [1.0, 2.0, 2.0, 4.0], [4.0, 1.0, 1.0, 2.0])
    np.testing.assert_allclose(quadratic_program(pooled, False), isotonic_fit(pooled, False), atol=1e-6)


def test_the_quadratic_program_agrees_to_1e_6_on_hundreds_of_noisy_pairs() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=500)
    pooled = pool(x, np.clip(np.round(3 + x + rng.normal(size=500)), 1, 5), rng.uniform(0.2, 5, 500))
    assert np.abs(quadratic_program(pooled) - isotonic_fit(pooled)).max() < 1e-6


def test_a_fit_by_hand() -> None:
    # blocks of pool-adjacent-violators by hand: {1}, {4, 2} -> 3, {6}
    assert isotonic_fit(pool([1, 2, 3, 4], [1, 4, 2, 6])).tolist() == [1, 3, 3, 6]


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(pair_tables())
def test_weights_are_repeats_and_the_order_of_pairs_does_not_matter(
    table: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    x, y, w = table
    repeated = np.repeat(np.arange(len(x)), w.astype(int))
    shuffled = np.random.default_rng(0).permutation(repeated)
    ours = IsotonicMapping().fit(x, y, sample_weight=w)
    other = IsotonicMapping().fit(x[shuffled], y[shuffled])
    np.testing.assert_allclose(ours.predict(x), other.predict(x), atol=1e-9)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(pair_tables())
def test_decreasing_scores_give_the_mirrored_mapping(table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, y, w = table
    forward = IsotonicMapping(increasing=True).fit(x, y, sample_weight=w)
    mirrored = IsotonicMapping(increasing=False).fit(-x, y, sample_weight=w)
    np.testing.assert_allclose(forward.predict(x), mirrored.predict(-x), atol=1e-9)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(pair_tables(least=2))
def test_the_mean_is_kept_and_values_stay_within_the_judgments(
    table: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    x, y, w = table
    mapped = IsotonicMapping().fit(x, y, sample_weight=w).predict(x)
    assert np.average(mapped, weights=w) == pytest.approx(np.average(y, weights=w), abs=1e-9)
    assert mapped.min() >= y.min() - 1e-12 and mapped.max() <= y.max() + 1e-12


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(pair_tables())
def test_pooling_keeps_weight_sum_and_sum_of_squares(table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, y, w = table
    for pooled in (pool(x, y, w), into_bins(pool(x, y, w), 3)):
        assert (np.diff(pooled.scores) > 0).all()
        assert pooled.weights.sum() == pytest.approx(w.sum())
        assert pooled.weights @ pooled.means == pytest.approx(w @ y)
        total = pooled.within.sum() + pooled.weights @ pooled.means**2
        assert total == pytest.approx(w @ y**2)


def test_scores_that_differ_by_rounding_alone_are_one_score() -> None:
    assert 0.1 + 0.2 != 0.3
    pooled = pool([0.1 + 0.2, 0.3, 0.3 + 1e-12], [1, 2, 6])
    assert pooled.weights.tolist() == [2, 1] and pooled.means.tolist() == [1.5, 6]
    tiny = pool([-1e-300, 0.0, 1e-300, 2e-300], [1, 2, 3, 4])
    assert tiny.weights.tolist() == [1, 1, 1, 1]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(pair_tables(least=3))
def test_auto_direction_is_the_sign_of_spearmans_rho(table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    from scipy.stats import spearmanr

    x, y, _ = table
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        rho = spearmanr(x, y).statistic
        if abs(rho) > 1e-12:
            assert is_increasing(x, y) == (rho > 0)
    assert is_increasing(x, np.ones(len(x)))


def test_one_score_two_pairs_and_flat_judgments_are_fitted() -> None:
    assert IsotonicMapping().fit([2, 2, 2], [1, 2, 6]).predict([0, 2, 9]).tolist() == [3, 3, 3]
    assert IsotonicMapping().fit([1, 2], [1, 5]).predict([1.5]).tolist() == [3]
    flat = IsotonicMapping().fit([1, 2, 3], [4, 4, 4]).mapping_
    assert flat.constant and flat.predict([2]).tolist() == [4]


@pytest.mark.parametrize("truth", ["flat", "step", "sigmoid"])
def test_flat_step_and_sigmoid_truths_are_recovered(truth: str) -> None:
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, 20000)
    curves = {"flat": 0 * x + 3, "step": np.where(x > 0.2, 4.0, 2.0), "sigmoid": 1 + 4 / (1 + np.exp(-6 * x))}
    y = curves[truth] + rng.normal(size=len(x))
    for mapping in (IsotonicMapping(), BaggedMapping(bagged=20)):
        error = mapping.fit(x, y).predict(x) - curves[truth]
        # isotonic risk falls as n^(-2/3): 20,000^(-1/3) is 0.037; twice that
        assert np.sqrt(np.mean(error**2)) < 0.075


def test_bagging_by_multinomial_counts_is_resampling_pairs() -> None:
    rng = np.random.default_rng(11)
    scores, judgments = np.round(rng.normal(size=60), 1), rng.integers(1, 6, 60).astype(float)
    pairs = sort_pairs(scores, judgments)
    drawn = np.random.default_rng(4)
    x, y, starts = pairs.scores, pairs.judgments, pairs.starts
    for fit in bootstrap_fits(pairs, 20, 4, True):
        index = drawn.integers(0, 60, 60)
        peer = IsotonicRegression(out_of_bounds="clip").fit(x[index], y[index]).predict(x[starts])
        np.testing.assert_allclose(fit, peer, atol=1e-9)


def test_bagging_is_the_mean_of_its_fits_and_its_band_their_quantiles() -> None:
    rng = np.random.default_rng(12)
    scores = rng.normal(size=80)
    judgments = scores + rng.normal(size=80)
    fit = BaggedMapping(bagged=50, seed=9, increasing=True).fit(scores, judgments).mapping_
    every = np.array(list(bootstrap_fits(sort_pairs(scores, judgments), 50, 9, True)))
    np.testing.assert_allclose(fit.values, every.mean(axis=0), atol=1e-12)
    assert fit.low is not None and fit.high is not None
    np.testing.assert_allclose(fit.low, np.quantile(every, 0.05, axis=0), atol=1e-12)
    np.testing.assert_allclose(fit.high, np.quantile(every, 0.95, axis=0), atol=1e-12)
