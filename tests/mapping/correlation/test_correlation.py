"""Correlation maximisation: the closed form, the cone program, and the smooth family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize

from relstudy.mapping.correlation.mapping import (
    CorrelationMapping,
    Moments,
    break_points,
    ispline_basis,
    least_squares,
    most_correlated,
)
from relstudy.mapping.correlation.optimum import centred_judgments, closed_form, correlation_with
from relstudy.mapping.least_squares.isotonic import IsotonicMapping
from relstudy.mapping.solver import cvxpy, solve
from relstudy.mapping.tied_scores import Pooled, pool


def cone_program(pooled: Pooled, increasing: bool = True) -> tuple[np.ndarray, float]:
    """The monotone function of greatest correlation as a second-order cone program in cvxpy.

    Maximise <w (y - mean), f> subject to f monotone, <w, f> = 0, |sqrt(w) f| <= 1.

    Returns
    -------
    f at the pooled scores, centred and of weighted norm 1 (all 0 where there is no monotone relation), and its
    correlation with the judgments
    """
    cp = cvxpy()
    w, y, deviation = centred_judgments(pooled)
    f = cp.Variable(len(w))
    sign = 1 if increasing else -1
    constraints = [w @ f == 0, cp.norm(cp.multiply(np.sqrt(w), f)) <= 1]
    if len(w) > 1:
        constraints.append(sign * cp.diff(f) >= 0)
    problem = cp.Problem(cp.Maximize((w * y) @ f), constraints)
    solve(problem)
    if problem.value <= 1e-9 * max(deviation, 1e-150):
        return np.zeros(len(w)), 0.0
    return np.asarray(f.value), float(problem.value / deviation)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.booleans())
def test_with_free_steps_the_cone_program_and_the_isotonic_fit_have_one_optimum(
    seed: int, n: int, increasing: bool
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 15, n)
    pooled = pool(x, np.clip(np.round(3 + 0.1 * x + rng.normal(size=n)), 1, 5), rng.uniform(0.5, 2, n))
    fit, best = closed_form(pooled, increasing)
    f, correlation = cone_program(pooled, increasing)
    # 1e-8: Clarabel's gap; near the optimum the function itself is known to the root of that
    assert correlation == pytest.approx(best, abs=1e-8)
    assert best >= 0
    if best > 1e-3:
        assert np.corrcoef(f, fit)[0, 1] == pytest.approx(1, abs=1e-3)


def test_no_other_monotone_function_correlates_more() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    pooled = pool(x, 3 + x + rng.normal(size=30))
    _, best = closed_form(pooled)
    for _ in range(300):
        steps = np.r_[0, rng.exponential(size=29) * (rng.random(29) < rng.random())]
        assert correlation_with(pooled, np.cumsum(steps)) <= best + 1e-12


@pytest.mark.slow
def test_a_constant_fit_has_correlation_zero_and_says_no_monotone_relation() -> None:
    falling = pool([1, 2, 3], [3, 2, 1])
    assert closed_form(falling, increasing=True)[1] == 0.0
    assert cone_program(falling, increasing=True)[1] == 0.0
    fit = CorrelationMapping(increasing=True).fit([1, 2, 3, 4], [4, 3, 2, 1])
    assert fit.relation_ == "no monotone relation"
    assert fit.mapping_.constant
    assert fit.predict([2.0])[0] == pytest.approx(2.5)


def test_isplines_are_integrals_of_msplines() -> None:
    breaks = np.array([0.0, 0.3, 0.7, 1.0])
    basis = ispline_basis(np.linspace(0, 1, 101), breaks)
    assert basis.shape == (101, 4)
    assert (np.diff(basis, axis=0) >= -1e-15).all()
    assert basis[0].tolist() == [0] * 4 and np.allclose(basis[-1], 1)

    # M-splines of order 2 are triangles of area 1 on the break points: the inner one by its definition
    def triangle(t: float) -> float:
        return 2 / 0.7 * (t / 0.3 if t < 0.3 else (0.7 - t) / 0.4) if 0 <= t < 0.7 else 0.0

    areas = [quad(triangle, 0, t, points=[min(0.3, t)])[0] for t in (0.1, 0.3, 0.5, 0.9)]
    values = ispline_basis(np.array([0.1, 0.3, 0.5, 0.9]), breaks)
    assert min(np.abs(values[:, k] - areas).max() for k in range(4)) < 1e-8


def test_break_points_lie_at_weighted_quantiles_and_fewer_where_ties_are_many() -> None:
    assert break_points(np.arange(11.0), np.ones(11), 3).tolist() == [0, 5, 10]
    heavy = np.ones(11)
    heavy[10] = 1000
    assert break_points(np.arange(11.0), heavy, 5).tolist() == [0, 10]


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_the_cone_program_over_splines_and_least_squares_have_one_optimum(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200)
    basis = ispline_basis(x, break_points(np.sort(x), np.ones(200), count))
    moments = Moments.of(basis, x + rng.normal(size=200) * rng.uniform(0.3, 5), rng.uniform(0.5, 2, 200))
    a, c = most_correlated(moments)
    b, d = least_squares(moments)
    # squared error is flat at the optimum: 1e-6 of the total is the root of the solver's gap, squared
    assert moments.squared_error(a, c) == pytest.approx(moments.squared_error(b, d), abs=1e-7 * moments.square)
    np.testing.assert_allclose(a + basis @ c, b + basis @ d, atol=2e-3)


@pytest.mark.slow
def test_the_spline_optimum_is_global() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(size=150)
    y = x**3 + rng.normal(size=150) * 0.3
    basis = ispline_basis(x, np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    _, c = most_correlated(Moments.of(basis, y, np.ones(150)))
    ours = np.corrcoef(basis @ c, y)[0, 1]
    for seed in range(5):
        start = np.random.default_rng(seed).exponential(size=5)
        peer = minimize(lambda v: -np.corrcoef(basis @ np.abs(v) + 1e-12 * x, y)[0, 1], start, method="Nelder-Mead")
        assert -peer.fun <= ours + 1e-8


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.booleans())
def test_the_smooth_mapping_is_monotone_never_beats_free_steps_and_mirrors(seed: int, n: int, falling: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 12, n) / 3
    y = rng.integers(1, 6, n).astype(float)
    fit = CorrelationMapping(increasing=not falling).fit(x, y)
    mirrored = CorrelationMapping(increasing=falling).fit(-x, y)
    reach = np.linspace(-1, 5, 50)
    np.testing.assert_allclose(fit.predict(reach), mirrored.predict(-reach), atol=1e-9)
    assert (np.diff(fit.predict(reach)) * (-1 if falling else 1) >= 0).all()
    free = IsotonicMapping(increasing=not falling).fit(x, y)
    assert np.sum((fit.predict(x) - y) ** 2) >= np.sum((free.predict(x) - y) ** 2) - 1e-9


def test_the_number_of_break_points_follows_the_truth() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=4000)
    noisy = x + rng.normal(size=4000) * 0.3
    straight, halves = CorrelationMapping().fit(x, noisy), CorrelationMapping(folds=2).fit(x[:500], noisy[:500])
    stepped = CorrelationMapping().fit(x, 1.0 * (x > 0.3) + 1.0 * (x > 0.8) + rng.normal(size=4000) * 0.3)
    assert max(straight.break_points_, halves.break_points_) <= 4 < stepped.break_points_


def test_one_distinct_score_whose_mean_is_rounded_has_correlation_zero() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        pooled = pool([1, 1, 1], [3.0, 3.0, 3.0], rng.uniform(0.5, 2, 3))
        assert closed_form(pooled, False)[1] == 0.0


def test_one_distinct_score_and_two_pairs_are_fitted() -> None:
    assert CorrelationMapping().fit([2, 2], [1, 5]).predict([0, 2, 9]).tolist() == [3, 3, 3]
    # the root of the cone program's gap
    np.testing.assert_allclose(CorrelationMapping().fit([1, 2], [1, 5]).predict([1, 2]), [1, 5], atol=1e-4)
