"""The samplers of monotone steps against the exact posterior, and each of their parts against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import multivariate_t

from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.changepoint.chains import Chains, diagnose
from relstudy.mapping.changepoint.mapping import BayesMapping
from relstudy.mapping.changepoint.model import ConjugatePrior
from relstudy.mapping.changepoint.pymc_model import build_model, propose, sample
from relstudy.mapping.changepoint.sampler import insert, log_marginal, remove, sample_steps
from relstudy.mapping.tied_scores import into_bins, pool

ERRORS = 4.5  # Monte-Carlo standard errors allowed: 1 in 100,000 for one comparison, and there are some hundred


def pairs(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    step = 1.5 + 1.0 * (x > 0.3) + 1.2 * (x > 0.7)
    return x, np.clip(np.round(step + rng.normal(size=n) * 1.1), 1, 5)


def noise(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.uniform(size=n), rng.integers(1, 6, n).astype(float)


def falling(n: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = pairs(n)
    return -x, y


def assert_within_monte_carlo_error(sampled: BayesMapping, exact: BayesMapping) -> None:
    import arviz as az

    chains = sampled.chains_

    def compare(quantity: np.ndarray, expected: float, grid: float = 0.0) -> None:
        error = quantity.std() / math.sqrt(float(az.ess(quantity)))
        assert abs(quantity.mean() - expected) < ERRORS * error + grid

    sign = 1 if sampled.increasing_ else -1
    mean = exact.predict(exact.bins_.scores)[::sign]
    for j in range(0, len(mean), max(len(mean) // 10, 1)):
        # the exact engine's levels lie on a grid: half a step of it
        compare(chains.curves[:, :, j], float(mean[j]), exact.prior_.step / 2)
    compare(chains.sigma, exact.sigma_mean_, 0.02 * exact.sigma_sd_)
    compare(chains.sigma**2, float(exact.sigma_weights_ @ exact.sigma_**2), 0.04 * exact.sigma_sd_ * exact.sigma_mean_)
    effective = float(az.ess(chains.counts.astype(float)))
    for k, chance in enumerate(exact.count_[:8]):
        error = math.sqrt(chance * (1 - chance) / effective)
        # and what is expected in less than one effective draw
        assert abs((chains.counts == k).mean() - chance) < ERRORS * error + 1 / effective
    np.testing.assert_allclose(sampled.changes_, exact.changes_, atol=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "bins"),
    [(pairs(300), 12), (pairs(8000), 100), (noise(400), 40), (falling(500), 30), (pairs(6), 6)],
    ids=["few bins", "many pairs", "no relation", "falling", "six pairs"],
)
def test_the_sampler_has_the_exact_posterior(data: tuple[np.ndarray, np.ndarray], bins: int) -> None:
    exact = BayesMapping(prior="conjugate", bins=bins, grid=801, sigma_points=41).fit(*data)
    sampled = BayesMapping(engine="sampler", bins=bins, seed=5).fit(*data)
    assert_within_monte_carlo_error(sampled, exact)
    assert sampled.diagnostics_.r_hat < 1.01 and sampled.diagnostics_.ess_bulk > 400
    assert sampled.mapping_.method == "bayes-sampler" and exact.mapping_.method == "bayes-conjugate"


@pytest.mark.slow
def test_pymc_has_the_exact_posterior() -> None:
    import arviz as az

    data = pairs(300)
    exact = BayesMapping(prior="conjugate", bins=12, grid=801, sigma_points=41).fit(*data)
    sampled = BayesMapping(engine="pymc", bins=12, draws=1000, chains=2, seed=1).fit(*data)
    assert_within_monte_carlo_error(sampled, exact)
    inference_data = sampled.inference_data_
    assert isinstance(inference_data, az.InferenceData)
    assert inference_data.posterior["begins"].shape == (2, 1000, 11)
    # change points are sampled, not summed out: their number differs from draw to draw
    assert np.ptp(inference_data.posterior["begins"].sum("begins_dim_0").to_numpy()) > 0
    assert (np.diff(inference_data.posterior_predictive["curve"].to_numpy(), axis=2) >= 0).all()
    assert sampled.diagnostics_.r_hat < 1.01 and sampled.mapping_.method == "bayes-pymc"


def conjugate(most: int) -> ConjugatePrior:
    return ConjugatePrior(1.0, 5.0, 1.5, 2.0, 3, most, mean=2.8, strength=1.3, shape=2.0, scale=0.8)


def test_the_marginal_likelihood_of_change_points_is_scipys_multivariate_t() -> None:
    rng = np.random.default_rng(0)
    x, y = np.repeat(np.arange(5.0), 3), rng.normal(3, 1, size=15)
    bins, prior = pool(x, y), conjugate(5)
    means = bins.means - prior.mean
    parts = np.array([bins.weights, bins.weights * means, bins.weights * means**2])
    sums = np.concatenate([np.zeros((3, 1)), np.cumsum(parts, axis=1)], axis=1)
    settings = np.array([prior.strength, prior.shape, prior.scale])
    ours, expected = [], []
    for k in range(1, 6):
        for cuts in itertools.combinations(range(1, 5), k - 1):
            starts = np.array([0, *cuts, 5, 0, 0])
            ours.append(log_marginal(starts, k, sums, float(bins.within.sum()), settings)[0])
            which = np.searchsorted(cuts, x, side="right")
            shape = prior.scale / prior.shape * (np.eye(15) + (which[:, None] == which) / prior.strength)
            expected.append(multivariate_t.logpdf(y, loc=np.full(15, prior.mean), shape=shape, df=2 * prior.shape))
    # up to a constant, by rounding
    np.testing.assert_allclose(np.subtract(ours, ours[0]), np.subtract(expected, expected[0]), atol=1e-10)


@pytest.mark.slow
def test_pymcs_density_is_that_of_eq_4_11_to_4_13_with_the_levels_integrated_out() -> None:
    import pytensor
    from scipy.stats import invgamma, multivariate_normal

    rng = np.random.default_rng(0)
    x, y = np.repeat(np.arange(4.0), 3), rng.normal(3, 1, size=12)
    prior = conjugate(4)
    with pytensor.config.change_flags(mode="FAST_COMPILE"):  # the same graph, for eight points
        density = build_model(pool(x, y), prior).compile_logp(jacobian=False)
    for cuts in [(), (1,), (0, 2), (0, 1, 2)]:
        for variance in (0.5, 1.7):
            begins = np.isin(np.arange(3), cuts).astype(int)
            which = np.concatenate([[0], np.cumsum(begins)])[x.astype(int)]
            spread = variance * (np.eye(12) + (which[:, None] == which) / prior.strength)
            expected = multivariate_normal.logpdf(y, np.full(12, prior.mean), spread)
            expected += invgamma.logpdf(variance, prior.shape, scale=prior.scale) + prior.log_weights(4)[len(cuts)]
            point = {"variance_log__": np.log(variance), "begins": begins}
            assert float(density(point)) == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_pymcs_proposals_are_balanced() -> None:
    # with nothing but proposals and their ratio, every set of change points is as likely: chi-square over 2^4 of them
    rng = np.random.default_rng(0)
    begins, seen = np.zeros(4, dtype=int), np.zeros(16)
    steps = 60_000
    for _ in range(steps):
        proposed, log_ratio = propose(begins, rng)
        if proposed is not None and np.log(rng.random()) < log_ratio:
            begins = proposed
        seen[begins @ [1, 2, 4, 8]] += 1
    # draws of a chain: some five steps count as one
    assert np.sum((seen - steps / 16) ** 2 / (steps / 16)) / 5 < 15 + 5 * math.sqrt(30)


def test_change_points_are_put_in_and_taken_out_in_order() -> None:
    starts = np.array([0, 3, 7, 10, 0, 0])
    assert insert(starts, 3, 5) and starts[:5].tolist() == [0, 3, 5, 7, 10]
    assert not insert(starts, 4, 7) and not insert(starts, 4, 0)
    remove(starts, 4, 1)
    assert starts[:4].tolist() == [0, 5, 7, 10]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_chains_and_another_seed_others() -> None:
    bins, prior = into_bins(pool(*pairs(200)), 10), conjugate(5)
    first, again, other = (sample_steps(bins, prior, draws=200, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.curves, again.curves)
    assert not np.array_equal(first.curves, other.curves)
    assert not np.array_equal(first.curves[0], first.curves[1])


@pytest.mark.slow
def test_judgments_that_contradict_the_order_end_in_a_sentence() -> None:
    x = np.repeat(np.arange(10.0), 400)
    with pytest.raises(RelstudyError, match=r"the sampler kept .* use --method bayes with the exact engine"):
        BayesMapping(engine="sampler", increasing=True, draws=100).fit(x, 10 - x)
    with pytest.raises(RelstudyError, match="at least two distinct scores"):
        sample(pool([1.0, 1.0], [2.0, 3.0]), conjugate(3))


def chains_of(sigma: np.ndarray, divergences: int = 0) -> Chains:
    counts = np.ones(sigma.shape, dtype=int)
    return Chains(np.ones((*sigma.shape, 3)), sigma, counts, np.zeros(2), 1.0, divergences)


@pytest.mark.slow
def test_chains_that_disagree_are_warned_of_in_words() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(RuntimeWarning, match=r"the chains disagree \(R-hat"):
        apart = diagnose(chains_of(rng.normal(size=(4, 300)) + np.arange(4)[:, None]))
    assert apart.r_hat > 1.5 and apart.warning is not None and "do not use this fit" in apart.warning
    assert diagnose(chains_of(rng.normal(size=(4, 3000)))).warning is None
    with pytest.warns(RuntimeWarning, match="3 transitions diverged"):
        diagnose(chains_of(rng.normal(size=(4, 3000)), divergences=3))
    assert "R-hat 1.0" in str(diagnose(chains_of(rng.normal(size=(4, 3000)))))
