"""Sections 4.1 and 4.2 as they were done: the programs, their bootstrap averages, and a local optimiser's shortfall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.correlation.optimum import closed_form, correlation_with
from relstudy.mapping.least_squares.isotonic import BaggedMapping, IsotonicMapping
from relstudy.mapping.methods import BOOTSTRAP_PROGRAMS, EVERY_METHOD, make_mapping
from relstudy.mapping.paper.local_search import (
    STARTS,
    LocalCorrelationMapping,
    maximise_correlation,
    starting_point,
)
from relstudy.mapping.paper.quadratic import QuadraticMapping
from relstudy.mapping.tied_scores import pool, resampled, sort_pairs


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    x = rng.normal(size=n)
    return x, np.clip(np.round(3 + x + rng.normal(size=n)), 1, 5)


def test_the_quadratic_programs_average_is_that_of_the_fast_fits_over_the_same_samples() -> None:
    x, y = pairs(120)
    # 1e-6: the program's tolerance, as for a single fit
    plain, fast = QuadraticMapping().fit(x, y), IsotonicMapping().fit(x, y)
    np.testing.assert_allclose(plain.predict(x), fast.predict(x), atol=1e-6)
    averaged, bagged = (kind(bagged=8, seed=3).fit(x, y) for kind in (QuadraticMapping, BaggedMapping))
    np.testing.assert_allclose(averaged.predict(x), bagged.predict(x), atol=1e-6)
    assert averaged.mapping_.method == "quadratic-bagged" and averaged.mapping_.meta["bagged"] == 8


def test_a_resample_is_what_pooling_the_drawn_pairs_gives() -> None:
    x, y = pairs(60)
    sorted_pairs = sort_pairs(np.round(x, 1), y)
    sample, drawn = resampled(sorted_pairs, np.random.default_rng(2))
    index = np.random.default_rng(2).integers(0, 60, 60)
    expected = pool(sorted_pairs.scores[index], sorted_pairs.judgments[index])
    for name in ("scores", "weights", "means", "within"):
        np.testing.assert_allclose(getattr(sample, name), getattr(expected, name), atol=1e-9)
    np.testing.assert_array_equal(sorted_pairs.distinct[drawn], expected.scores)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 25), st.booleans(), st.sampled_from(STARTS))
def test_the_local_optimum_is_monotone_and_never_above_the_convex_one(
    seed: int, n: int, increasing: bool, start: str
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 15, n)
    pooled = pool(x, np.clip(np.round(3 + 0.1 * x + rng.normal(size=n)), 1, 5), rng.uniform(0.5, 2, n))
    _, best = closed_form(pooled, increasing)
    optimum = maximise_correlation(pooled, increasing, start, rng)
    assert (np.diff(optimum.fit) * (1 if increasing else -1) >= 0).all()
    assert 0 <= optimum.correlation <= best + 1e-9
    assert optimum.correlation == pytest.approx(correlation_with(pooled, optimum.fit), abs=1e-9)


def test_from_the_scores_it_comes_within_its_tolerance_of_the_convex_optimum() -> None:
    x, y = pairs(30)
    pooled = pool(x, y)
    optimum = maximise_correlation(pooled)
    assert optimum.settled and optimum.steps > 1
    # it stops where a step gains less than 1e-6; some steps more would have gained
    assert optimum.correlation == pytest.approx(closed_form(pooled)[1], abs=1e-4)
    # on the judgments' scale by the straight line of least squares, which leaves their mean
    assert pooled.weights @ optimum.fit / pooled.weights.sum() == pytest.approx(pooled.mean)


def test_a_start_is_what_its_name_says() -> None:
    pooled = pool([1.0, 2.0, 10.0], [1, 2, 3])
    rng = np.random.default_rng(0)
    starts = {name: starting_point(pooled, name, True, rng) for name in STARTS}
    assert np.diff(starts["scores"])[1] == pytest.approx(8 * np.diff(starts["scores"])[0])
    assert np.diff(starts["ranks"])[1] == pytest.approx(np.diff(starts["ranks"])[0])
    assert (np.diff(starts["random"]) > 0).all()
    np.testing.assert_allclose(starting_point(pooled, "ranks", False, rng), -starts["ranks"])


def test_where_nothing_monotone_goes_along_the_fit_is_constant_and_says_so() -> None:
    fit = LocalCorrelationMapping(increasing=True).fit([1, 2, 3, 4], [4, 3, 2, 1])
    assert fit.mapping_.constant and fit.predict([2.0])[0] == pytest.approx(2.5)
    assert fit.mapping_.meta["relation"] == "no monotone relation"
    assert LocalCorrelationMapping().fit([2, 2], [1, 5]).predict([0, 9]).tolist() == [3, 3]


@pytest.mark.slow
def test_the_bootstrap_average_of_local_optima_lies_near_that_of_isotonic_fits() -> None:
    x, y = pairs(400)
    local, bagged = LocalCorrelationMapping(bagged=20, bins=30).fit(x, y), BaggedMapping(bagged=20).fit(x, y)
    assert local.mapping_.method == "local-bagged"
    reach = np.linspace(-1.5, 1.5, 20)
    # both average the same optimum over the same samples, one of them pooled into 30 bins of scores
    assert np.abs(local.predict(reach) - bagged.predict(reach)).mean() < 0.1


@pytest.mark.slow
def test_every_method_is_made_by_its_name_and_its_fit_bears_it() -> None:
    x, y = pairs(40)
    for method in EVERY_METHOD:
        estimator = make_mapping(method, seed=4)
        parameters = estimator.get_params()
        assert parameters.get("bagged", 0) == {
            "bagged": 100, "quadratic-bagged": BOOTSTRAP_PROGRAMS, "local-bagged": BOOTSTRAP_PROGRAMS
        }.get(method, 0)  # fmt: skip
        if method != "bayes-pymc":
            assert estimator.set_params(increasing=True).fit(x, y).mapping_.method == method
    with pytest.raises(RelstudyError, match="there is no mapping method 'bayes-guess'; there are: isotonic"):
        make_mapping("bayes-guess")


@pytest.mark.parametrize("wrong", [{"start": "zero"}, {"bagged": -1}, {"bins": 1}])
def test_parameters_out_of_range_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LocalCorrelationMapping(**wrong).fit([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="bagged"):
        QuadraticMapping(bagged=-1).fit([1.0, 2.0], [1.0, 2.0])
