"""The PyMC engine: the same model, the same posterior, and a warning in words where chains disagree."""

from __future__ import annotations

from dataclasses import replace

import arviz as az
import numpy as np
import pytensor
import pytest
from scipy.stats import gamma, truncnorm

from relstudy.common.errors import RelstudyError
from relstudy.mapping.changepoint.mapping import BayesMapping
from relstudy.mapping.changepoint.model import Prior, log_evidence
from relstudy.mapping.changepoint.pymc_model import build_model, diagnose, sample
from relstudy.mapping.pooling import into_bins, pool

SMALL = {"scale": (1, 5), "bins": 15, "grid": 41, "max_levels": 6, "increasing": True}


def pairs(n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=n)
    step = 1.5 + 1.0 * (x > 0.3) + 1.2 * (x > 0.7)
    return x, np.clip(np.round(step + rng.normal(size=n) * 1.1), 1, 5)


@pytest.mark.slow
@pytest.mark.parametrize("learn_rate", [False, True])
def test_the_models_density_is_the_exact_evidence_times_the_priors(learn_rate: bool) -> None:
    bins = into_bins(pool(*pairs(300)), 8)
    prior = Prior(1.0, 5.0, 3.0, 2.0, 21, 5, learn_rate=learn_rate)
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        model = build_model(bins, prior)
        density = model.compile_logp(jacobian=False)
    for sigma in (0.7, 1.0, 1.9):
        for rate in (1.3, 4.0) if learn_rate else (3.0,):
            with model:
                point = {"sigma": np.array(sigma), "rate": np.array(rate)}
                values = {
                    model.rvs_to_values[rv].name: np.asarray(
                        model.rvs_to_transforms[rv].forward(point[rv.name], *rv.owner.inputs).eval()
                    )
                    for rv in model.free_RVs
                }
            fixed = replace(prior, rate=rate, learn_rate=False)
            expected = log_evidence(bins, fixed, np.array([sigma]))[0]
            expected += truncnorm.logpdf(sigma, prior.step / 2, np.inf, scale=2.0)
            expected += gamma.logpdf(rate, 3.0) if learn_rate else 0.0
            assert float(density(values)) == pytest.approx(expected, abs=1e-6)


@pytest.fixture(scope="module")
def fits() -> tuple[BayesMapping, BayesMapping]:
    x, y = pairs()
    return BayesMapping(engine="pymc", seed=1, **SMALL).fit(x, y), BayesMapping(**SMALL).fit(x, y)


@pytest.mark.slow
def test_chains_and_recursion_agree_within_monte_carlo_error(fits: tuple[BayesMapping, BayesMapping]) -> None:
    chains, exact = fits
    posterior = chains.inference_data_.posterior
    error = float(az.mcse(posterior)["sigma"])
    # four Monte-Carlo standard errors
    assert abs(float(posterior["sigma"].mean()) - exact.sigma_mean_) < 4 * error
    assert float(posterior["sigma"].std()) == pytest.approx(exact.sigma_sd_, rel=0.15)
    # the curve averages exact curves over 200 draws of sigma: it moves by hundredths of sigma's own spread
    np.testing.assert_allclose(chains.mapping_.values, exact.mapping_.values, atol=0.1 * exact.sigma_sd_)
    np.testing.assert_allclose(chains.count_, exact.count_, atol=0.02)


@pytest.mark.slow
def test_inference_data_holds_sigma_and_monotone_curves_and_r_hat_is_below_its_limit(
    fits: tuple[BayesMapping, BayesMapping],
) -> None:
    chains, exact = fits
    inference_data = chains.inference_data_
    assert isinstance(inference_data, az.InferenceData)
    assert chains.diagnostics_["r_hat"] < 1.01 and chains.diagnostics_["warning"] is None
    curve = inference_data.posterior_predictive["curve"]
    assert curve.dims == ("chain", "draw", "bin") and curve.shape == (2, 100, 15)
    assert (np.diff(curve.to_numpy(), axis=2) >= 0).all()
    # 200 draws of levels with a spread of about 0.1: five standard errors
    np.testing.assert_allclose(
        curve.mean(("chain", "draw")), exact.predict(exact.bins_.scores), atol=5 * 0.15 / 200**0.5
    )


def test_chains_that_disagree_are_warned_of_in_words() -> None:
    rng = np.random.default_rng(0)
    apart = az.from_dict(posterior={"sigma": rng.normal(size=(4, 300)) + np.arange(4)[:, None]})
    diagnostics = diagnose(apart)
    assert diagnostics["r_hat"] > 1.5
    assert "the chains disagree (R-hat" in diagnostics["warning"] and "do not use this fit" in diagnostics["warning"]
    together = az.from_dict(posterior={"sigma": rng.normal(size=(4, 3000))})
    assert diagnose(together)["warning"] is None
    diverged = az.from_dict(
        posterior={"sigma": rng.normal(size=(4, 3000))},
        sample_stats={"diverging": np.arange(12000).reshape(4, 3000) < 3},
    )
    assert "3 transitions diverged" in diagnose(diverged)["warning"]


def test_what_the_engine_cannot_fit_is_refused_before_it_compiles() -> None:
    prior = Prior(1.0, 5.0, 3.0, 2.0, 21, 5)
    with pytest.raises(RelstudyError, match="at least two distinct scores"):
        sample(pool([1.0, 1.0], [2.0, 3.0]), prior)
    x = np.repeat([0.0, 1.0], 2000)
    with pytest.raises(RelstudyError, match="contradict the direction"):
        sample(pool(x, np.where(x > 0.5, 1.0, 5.0)), prior)
