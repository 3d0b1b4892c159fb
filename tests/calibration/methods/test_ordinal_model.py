"""The cumulative-link model: its likelihood against quadrature, its gradient, its mode against NUTS, and folds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from relstudy.calibration.methods.ordinal_likelihood import Likelihood, category_scores
from relstudy.calibration.methods.ordinal_model import fit_ordinal
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation
from relstudy.calibration.simulation import simulate_panel
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.console import hushed
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import succeeds

pytestmark = pytest.mark.slow


def few_ratings(categories: int, seed: int = 0) -> tuple[Likelihood, np.ndarray, tuple[np.ndarray, ...]]:
    """Seven pairs rated by some of three raters; the rows; and parameters to try."""
    rng = np.random.default_rng(seed)
    rows = np.array([(p, r, rng.integers(categories)) for p in range(7) for r in range(3) if rng.random() < 0.8])
    thresholds = np.sort(rng.normal(0, 2, (3, categories - 1)), axis=1)
    parameters = rng.normal(size=3), np.exp(rng.normal(0.5, 0.3, 3)), thresholds
    return Likelihood(*rows.T, (7, 3, categories)), rows, parameters


@pytest.mark.parametrize("categories", [2, 3, 6])
def test_the_likelihood_is_the_integral_over_each_pairs_worth(categories: int) -> None:
    likelihood, rows, (leniency, discrimination, thresholds) = few_ratings(categories)

    def density(quality: float, pair: int) -> float:
        product = np.exp(-(quality**2) / 2) / np.sqrt(2 * np.pi)
        for _, rater, category in rows[rows[:, 0] == pair]:
            ends = expit(thresholds[rater] - leniency[rater] - discrimination[rater] * quality)
            product *= np.diff(np.r_[0, ends, 1])[category]
        return float(product)

    expected = sum(np.log(quad(density, -8, 8, (pair,), epsabs=1e-12)[0]) for pair in range(7))
    # The grid ends at 4.5 standard deviations, beyond which lie 7e-6 of the prior.
    assert likelihood.value_and_gradient(leniency, discrimination, thresholds)[0] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("categories", [2, 3, 6])
def test_the_gradient_is_that_of_finite_differences(categories: int) -> None:
    likelihood, _, parameters = few_ratings(categories)
    flat = np.concatenate([part.ravel() for part in parameters])

    def value(at: np.ndarray) -> float:
        return likelihood.value_and_gradient(at[:3], at[3:6], at[6:].reshape(3, -1))[0]

    gradient = np.concatenate([part.ravel() for part in likelihood.value_and_gradient(*parameters)[1:]])
    step = 1e-5 * np.eye(len(flat))
    # Central differences are off by the step squared times the third derivative, here below 10,000.
    expected = [(value(flat + by) - value(flat - by)) / 2e-5 for by in step]
    assert gradient == pytest.approx(expected, abs=2e-6)


def test_pairs_taken_some_at_a_time_give_the_same_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _, parameters = few_ratings(4)
    monkeypatch.setattr("relstudy.calibration.methods.ordinal_likelihood.PAIRS_AT_ONCE", 2)
    parted, _, _ = few_ratings(4)
    assert len(parted.parts) == 4
    for one, other in zip(whole.value_and_gradient(*parameters), parted.value_and_gradient(*parameters), strict=True):
        assert np.allclose(one, other, rtol=1e-12)


def test_extreme_parameters_keep_the_likelihood_and_its_gradient_finite() -> None:
    likelihood, _, (leniency, discrimination, thresholds) = few_ratings(4)
    for scale in (1e-9, 300.0):
        value_and_gradient = likelihood.value_and_gradient(scale * leniency, scale * discrimination, scale * thresholds)
        assert all(np.isfinite(part).all() for part in value_and_gradient)


def test_a_categorys_score_is_the_mean_worth_given_that_rating() -> None:
    thresholds = np.array([-1.0, 0.5, 2.0])
    rng = np.random.default_rng(0)
    theta = rng.normal(size=2_000_000)
    latent = 0.3 + 1.7 * theta + rng.logistic(size=theta.size)
    category = np.searchsorted(thresholds, latent)
    expected = [theta[category == k].mean() for k in range(4)]
    # Monte Carlo error of a mean over at least 200,000 draws is 0.002.
    assert category_scores(np.array([0.3]), np.array([1.7]), thresholds)[0] == pytest.approx(expected, abs=0.006)


@pytest.mark.slow
def test_the_ordinal_model_recovers_leniency_and_puts_raters_on_one_scale() -> None:
    simulated = simulate_panel(10, 25, 40, seed=5)
    panel = simulated.panel
    result = fit_ordinal(panel)
    assert np.corrcoef(result.leniency, simulated.leniency)[0, 1] > 0.9
    assert (np.diff(result.scores, axis=1) > 0).all()
    calibrated = result.calibrated(panel)
    assert calibrated.mean() == pytest.approx(panel.rating.mean())
    raw = np.corrcoef(panel.rating, simulated.quality[panel.pair])[0, 1]
    assert np.corrcoef(calibrated, simulated.quality[panel.pair])[0, 1] > raw + 0.02
    lines = result.lines(panel)
    assert np.corrcoef(lines.calibrated(panel), calibrated)[0, 1] > 0.98


@pytest.mark.slow
def test_undecided_ratings_stay_undecided_and_tell_the_model_nothing() -> None:
    panel = simulate_panel(5, 20, 0, seed=3).panel
    gaps = panel.rating.copy()
    gaps[::9] = np.nan
    whole, without = panel.with_rating(gaps), panel.keep(~np.isnan(gaps))
    one, other = fit_ordinal(whole), fit_ordinal(without)
    assert np.isnan(one.calibrated(whole)).tolist() == np.isnan(gaps).tolist()
    assert one.scores.tolist() == other.scores.tolist()


@pytest.mark.slow
def test_the_mode_agrees_with_the_mean_of_nuts_on_the_same_model() -> None:
    import pymc as pm
    import pytensor

    from relstudy.calibration.methods.ordinal_posterior import build_model

    panel = simulate_panel(5, 40, 0, seed=8).panel
    mode = fit_ordinal(panel)
    code = np.searchsorted(mode.categories, panel.rating)
    likelihood = Likelihood(panel.pair, panel.rater, code, (panel.n_pairs, 5, len(mode.categories)))
    with pytensor.config.change_flags(mode="FAST_COMPILE"), hushed("pymc"), build_model(likelihood, 5, mode.thresholds):
        draws = pm.sample(
            150, tune=150, chains=1, random_seed=1, progressbar=False, compute_convergence_checks=False
        ).posterior
    sampled = [draws[name].to_numpy()[0] for name in ("leniency", "discrimination", "thresholds")]
    mean, spread = [part.mean(axis=0) for part in sampled], [part.std(axis=0) for part in sampled]
    for estimate, centre, width in zip(
        (mode.leniency, mode.discrimination, mode.thresholds), mean, spread, strict=True
    ):
        # A mode of a skewed posterior is not its mean, and 150 draws know the mean to a fifth of the spread or so.
        assert (np.abs(estimate - centre) < 0.7 * width).all()
    exact = category_scores(*mean)[panel.rater, code]
    assert np.corrcoef(exact, mode.calibrated(panel))[0, 1] > 0.999


# Folds


@pytest.mark.slow
def test_a_rating_that_the_model_never_saw_takes_its_place_between_its_neighbours() -> None:
    panel = simulate_panel(5, 30, 0, seed=2).panel
    without = fit_ordinal(panel.keep(panel.rating != 3))
    assert without.categories.tolist() == [1, 2, 4, 5]
    values = without.calibrated(panel)
    for rater in range(5):
        score = without.scores[rater]
        assert values[(panel.rater == rater) & (panel.rating == 3)] == pytest.approx((score[1] + score[2]) / 2)
    ends = fit_ordinal(panel.keep((panel.rating > 1) & (panel.rating < 5))).calibrated(panel)
    assert np.isfinite(ends).all()


@pytest.mark.slow
def test_the_command_reports_the_ordinal_methods_correlation_out_of_sample(tmp_path: Path) -> None:
    panel = simulate_panel(5, 15, 10, seed=11).panel
    frame = panel.pairs.iloc[panel.pair].assign(rater_id=panel.raters.to_numpy()[panel.rater], rating=panel.rating)
    frame["block"] = np.where(panel.base[panel.pair], "base", "unique")
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    arguments = [
        "calibrate",
        str(tmp_path / "ratings.csv"),
        "-o",
        str(tmp_path / "out"),
        "--method",
        "ordinal",
        "--json",
    ]
    result = succeeds(*arguments)
    figures = json.loads(result.stdout)
    assert "leave_one_out_correlation.after" not in figures["reasons"]
    correlation = figures["leave_one_out_correlation"]
    assert correlation["after"] > correlation["before"]
    low, high = correlation["after_interval"]
    assert low < correlation["after"] < high


@pytest.mark.slow
@pytest.mark.real_data
def test_on_tifa160_the_ordinal_model_agrees_out_of_sample_as_well_as_the_lines_do(shared_data: Path) -> None:
    panel = Panel.from_frame(read_ratings(shared_data / "tifa160_likert" / "ratings.csv").frame)
    none, shrunk, ordinal = (leave_one_out_correlation(panel, method).value for method in ("none", "shrunk", "ordinal"))
    assert none is not None and shrunk is not None
    # L-BFGS stops within a millionth of the mode; what was measured has four digits.
    assert ordinal == pytest.approx(0.7952, abs=1e-4)
    assert ordinal > max(none + 0.008, shrunk)


# Refusals


def test_the_ordinal_model_refuses_numbers_that_are_no_categories() -> None:
    panel = simulate_panel(4, 10, 0, seed=1).panel
    noisy = panel.with_rating(panel.rating + np.random.default_rng(0).normal(size=len(panel.rating)))
    with pytest.raises(RelstudyError, match="2 to 20 distinct ratings, and these have 40"):
        fit_ordinal(noisy)
