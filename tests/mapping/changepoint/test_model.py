"""The change-point model: enumeration, calibration of its bands, and every edge."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_t, norm

from relstudy.mapping.changepoint.mapping import BayesMapping, sigma_posterior
from relstudy.mapping.changepoint.model import ConjugatePrior, Prior, curves, log_evidence, needs_logarithms, smooth
from relstudy.mapping.tied_scores import Pooled, into_bins, pool


def enumerated(
    bins: Pooled, prior: Prior, sigma: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, dict[tuple[int, ...], float]]:
    """Levels, counts, changes and log evidence by summing over every path there is."""
    m, grid = len(bins.weights), prior.levels
    most = prior.most(m)
    p_count = [prior.rate ** (k - 1) / math.factorial(k - 1) for k in range(1, most + 1)]
    p_count = [p / sum(p_count) for p in p_count]
    square = bins.within + bins.weights * bins.means**2
    levels, counts, changes = np.zeros((m, prior.grid)), np.zeros(most), np.zeros(m - 1)
    paths: dict[tuple[int, ...], float] = {}
    for path in itertools.combinations_with_replacement(range(prior.grid), m):
        k = len(set(path))
        if k > most:
            continue
        log = 0.0
        for j, g in enumerate(path):
            error = square[j] - 2 * bins.weights[j] * bins.means[j] * grid[g] + bins.weights[j] * grid[g] ** 2
            log -= error / (2 * sigma**2) + bins.weights[j] * (math.log(sigma) + 0.5 * math.log(2 * math.pi))
        weight = math.exp(log) * p_count[k - 1] * math.factorial(k) / math.comb(m - 1, k - 1) / prior.grid**k
        paths[path] = weight
        counts[k - 1] += weight
        for j, g in enumerate(path):
            levels[j, g] += weight
        for j in range(m - 1):
            changes[j] += weight * (path[j] != path[j + 1])
    total = sum(paths.values())
    return levels / total, counts / total, changes / total, math.log(total), {p: w / total for p, w in paths.items()}


def small_bins(m: int, seed: int) -> Pooled:
    rng = np.random.default_rng(seed)
    x = np.repeat(np.arange(m), rng.integers(1, 5, m)).astype(float)
    return pool(x, np.clip(2 + 0.4 * x + rng.normal(size=len(x)), 1, 5))


@pytest.mark.slow
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("m", "grid", "most"), [(1, 6, 4), (2, 7, 20), (4, 6, 2), (6, 7, 6), (7, 5, 20)])
def test_the_recursion_equals_enumeration_of_every_path(m: int, grid: int, most: int, log: bool) -> None:
    bins, sigma = small_bins(m, m), 0.9
    prior = Prior(1.0, 5.0, 1.5, 2.0, grid, most)
    levels, counts, changes, evidence, _ = enumerated(bins, prior, sigma)
    posterior = smooth(bins, prior, np.array([sigma]), np.ones(1), log)
    # rounding of sums of at most a few thousand terms
    np.testing.assert_allclose(posterior.levels, levels, rtol=0, atol=1e-13)
    np.testing.assert_allclose(posterior.count, counts, rtol=0, atol=1e-13)
    np.testing.assert_allclose(posterior.changes, changes, rtol=0, atol=1e-13)
    assert log_evidence(bins, prior, np.array([sigma]), log)[0] == pytest.approx(evidence, abs=1e-10)


@pytest.mark.parametrize("log", [False, True])
def test_draws_follow_the_enumerated_posterior_of_whole_paths(log: bool) -> None:
    bins, sigma = small_bins(4, 1), 0.8
    prior = Prior(1.0, 5.0, 1.5, 2.0, 5, 4)
    *_, paths = enumerated(bins, prior, sigma)
    draws = 20000
    drawn = curves(bins, prior, np.full(draws, sigma), np.random.default_rng(0), log)
    assert (np.diff(drawn, axis=1) >= 0).all()
    paths_seen, number = np.unique(drawn, axis=0, return_counts=True)
    observed = {tuple(path): count for path, count in zip(paths_seen.tolist(), number, strict=True)}
    expected = np.array([p * draws for p in paths.values()])
    seen = np.array([observed.get(path, 0) for path in paths])
    chi = float(np.sum((seen - expected)[expected > 5] ** 2 / expected[expected > 5]))
    freedom = int((expected > 5).sum())
    # five standard deviations of chi-square
    assert chi < freedom + 5 * math.sqrt(2 * freedom)


def test_sigma_is_integrated_over_its_half_normal_prior() -> None:
    bins = small_bins(5, 3)
    prior = Prior(1.0, 5.0, 3.0, 2.0, 41, 5)
    sigma, weights = sigma_posterior(bins, prior, 15)
    fine = np.linspace(prior.step, 16, 6000)
    log = log_evidence(bins, prior, fine) - 0.5 * (fine / 2.0) ** 2
    density = np.exp(log - log.max())
    mean = np.sum(density * fine) / density.sum()
    spread = math.sqrt(np.sum(density * (fine - mean) ** 2) / density.sum())
    ours = float(weights @ sigma)
    # 15 points of a trapezium over a smooth skewed density: some thousandths of its mean
    assert ours == pytest.approx(mean, rel=0.01)
    assert math.sqrt(weights @ (sigma - ours) ** 2) == pytest.approx(spread, rel=0.05)


@pytest.mark.slow
def test_a_learnt_rate_is_the_mixture_of_fixed_rates() -> None:
    from scipy.integrate import quad
    from scipy.stats import gamma

    learnt = Prior(1.0, 5.0, 3.0, 2.0, 11, 6, learn_rate=True)
    for m in range(1, 7):

        def density(rate: float, m: int = m) -> float:
            fixed = replace(learnt, rate=rate, learn_rate=False)
            return float(gamma.pdf(rate, 3.0) * math.exp(fixed.log_count(6)[m - 1]))

        assert math.exp(learnt.log_count(6)[m - 1]) == pytest.approx(quad(density, 1e-9, 60)[0], abs=1e-5)


def test_logarithms_take_over_where_plain_numbers_would_underflow_and_are_right() -> None:
    # a hundred thousand pairs that fall by one unit: the posterior must sit between, not on the first level met
    bins = Pooled(np.array([0.0, 1.0]), np.array([1e5, 1e5]), np.array([3.5, 2.5]), np.array([1e5, 1e5]))
    prior = Prior(1.0, 5.0, 3.0, 2.0, 41, 20)
    sigma = np.array([1.1])
    assert needs_logarithms(bins, prior, sigma)
    posterior = smooth(bins, prior, sigma, np.ones(1))
    np.testing.assert_allclose(posterior.levels @ prior.levels, [3.0, 3.0], atol=1e-6)
    fit = BayesMapping(scale=(1, 5), increasing=True).fit(
        [0.0] * 500 + [1.0] * 500, [4.0, 3.0] * 250 + [3.0, 2.0] * 250
    )
    # the mean of 1,000 pairs of noise 1.1 has an error of .035
    np.testing.assert_allclose(fit.predict([0.0, 1.0]), [3.0, 3.0], atol=0.1)


def test_a_noise_that_the_data_rule_out_has_no_evidence_and_no_warning() -> None:
    exact = np.linspace(1, 5, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fit = BayesMapping(scale=(1, 5), increasing=True).fit(exact, exact)
    # twenty levels at most, from 1 to 5: half of a step of .2
    np.testing.assert_allclose(fit.predict(exact), exact, atol=0.1)


def test_plain_numbers_and_logarithms_agree_on_noisy_bins() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=3000)
    bins = into_bins(pool(x, np.clip(np.round(2 + 2 * x + rng.normal(size=3000)), 1, 5)), 60)
    prior = Prior(1.0, 5.0, 3.0, 2.0, 81, 12)
    sigma = np.array([0.9, 1.0])
    plain, logs = (log_evidence(bins, prior, sigma, log) for log in (False, True))
    np.testing.assert_allclose(plain, logs, atol=1e-8)
    a, b = (smooth(bins, prior, sigma, np.array([0.3, 0.7]), log) for log in (False, True))
    np.testing.assert_allclose(a.levels, b.levels, atol=1e-11)
    np.testing.assert_allclose(a.changes, b.changes, atol=1e-11)
    assert a.changes.sum() == pytest.approx(a.count @ np.arange(len(a.count)), abs=1e-10)


def test_the_posterior_over_many_sigma_is_the_mixture_of_those_given_each_and_draws_follow_it() -> None:
    bins, prior = small_bins(6, 2), Prior(1.0, 5.0, 3.0, 2.0, 21, 6)
    sigma = np.linspace(0.5, 2, 60)
    weights = np.full(60, 1 / 60)
    whole = smooth(bins, prior, sigma, weights)
    each = [smooth(bins, prior, np.array([value]), np.ones(1)).levels for value in sigma]
    np.testing.assert_allclose(whole.levels, np.mean(each, axis=0), atol=1e-13)
    drawn = curves(bins, prior, np.repeat(sigma, 200), np.random.default_rng(0))
    # 12,000 draws of levels with a spread of about one: four standard errors
    np.testing.assert_allclose(prior.levels[drawn].mean(axis=0), whole.levels @ prior.levels, atol=0.04)


def drawn_from_the_prior(prior: Prior, m: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Levels of m bins, and sigma, by their definition in words."""
    count = m + 1
    while count > prior.most(m):
        count = 1 + rng.poisson(prior.rate)
    levels = np.sort(rng.uniform(prior.low, prior.high, count))
    gaps = np.sort(rng.choice(m - 1, count - 1, replace=False))
    path = levels[np.searchsorted(gaps, np.arange(m))]
    sigma = 0.0
    while sigma < prior.step:
        sigma = abs(rng.normal()) * prior.sigma_scale
    return path, sigma


@pytest.mark.slow
def test_ninety_percent_bands_cover_ninety_percent_of_truths_drawn_from_the_prior() -> None:
    rng = np.random.default_rng(2026)
    m, covered, sigma_covered = 12, [], []
    prior = Prior(1.0, 5.0, 3.0, 2.0, 101, 20)
    for _ in range(400):
        path, sigma = drawn_from_the_prior(prior, m, rng)
        bin_of = np.repeat(np.arange(m), 8)
        y = path[bin_of] + sigma * rng.normal(size=len(bin_of))
        fit = BayesMapping(scale=(1, 5), grid=101, increasing=True).fit(bin_of.astype(float), y)
        low, high = fit.mapping_.low, fit.mapping_.high
        assert low is not None and high is not None
        covered.append(np.mean((low <= path) & (path <= high)))
        cumulative = np.cumsum(fit.sigma_weights_)
        sigma_covered.append(np.interp(sigma, fit.sigma_, cumulative - fit.sigma_weights_ / 2))
    # the goal: between 87 and 93 % over 400 draws
    assert 0.87 <= np.mean(covered) <= 0.93
    # ranks of sigma are uniform: their mean is 0.5 within four standard errors of 1/sqrt(12 * 400)
    assert abs(np.mean(sigma_covered) - 0.5) < 4 * 0.0144


@pytest.mark.parametrize("truth", ["flat", "step", "sigmoid"])
def test_flat_step_and_sigmoid_truths_are_recovered_within_the_band(truth: str) -> None:
    rng = np.random.default_rng(8)
    x = rng.uniform(-1, 1, 5000)
    true = {"flat": 0 * x + 3, "step": np.where(x > 0.2, 4.0, 2.0), "sigmoid": 1 + 4 / (1 + np.exp(-6 * x))}[truth]
    levels = {"flat": {1}, "step": {2}, "sigmoid": set(range(4, 21))}[truth]
    fit = BayesMapping(scale=(1, 5), increasing=True).fit(x, true + rng.normal(size=len(x)))
    # isotonic risk at 5,000 pairs: 5,000^(-1/3) = 0.058, twice that
    assert np.sqrt(np.mean((fit.predict(x) - true) ** 2)) < 0.12
    assert int(fit.count_.argmax()) + 1 in levels
    if truth == "step":
        assert abs(fit.gaps_[fit.changes_.argmax()] - 0.2) < 0.05


@pytest.mark.slow
def test_decreasing_scores_give_the_mirrored_posterior() -> None:
    rng = np.random.default_rng(5)
    # some 60 distinct scores are their own bins; bins of equal weight cut from the other end would differ by a pair
    x = np.round(rng.normal(size=300), 1)
    y = np.clip(np.round(3 + x + rng.normal(size=300)), 1, 5)
    up, down = BayesMapping().fit(x, y), BayesMapping().fit(-x, y)
    assert up.increasing_ and not down.increasing_
    np.testing.assert_allclose(up.mapping_.values, down.mapping_.values[::-1], atol=1e-10)
    np.testing.assert_allclose(up.changes_, down.changes_[::-1], atol=1e-10)
    draws = down.draw(200, seed=1)
    assert (np.diff(draws, axis=1) <= 0).all()


def test_draws_average_to_the_posterior_mean() -> None:
    rng = np.random.default_rng(6)
    x = rng.uniform(size=500)
    fit = BayesMapping(scale=(1, 5), bins=30, grid=81).fit(x, 2 + 2 * (x > 0.5) + rng.normal(size=500))
    draws = fit.draw(2000, seed=3)
    assert draws.shape == (2000, 30)
    # a level's posterior spread is at most about 0.3; five standard errors of 2,000 draws
    np.testing.assert_allclose(draws.mean(axis=0), fit.predict(fit.bins_.scores), atol=5 * 0.3 / math.sqrt(2000))


def test_one_score_one_pair_two_pairs_ties_and_exact_judgments_are_fitted() -> None:
    assert BayesMapping(scale=(1, 5)).fit([1.0], [4.0]).predict([1.0, 7.0]).shape == (2,)
    one = BayesMapping(scale=(1, 5)).fit([2.0] * 50, [3.0] * 25 + [4.0] * 25)
    # under a level that may be anything alike, to the weight beyond the ends of the scale, twenty errors away
    assert one.predict([2.0])[0] == pytest.approx(3.5, abs=1e-9) and one.changes_.shape == (0,)
    two = BayesMapping(scale=(1, 5)).fit([1.0, 2.0], [1.0, 5.0])
    assert two.predict([1.0])[0] < two.predict([2.0])[0]
    exact = BayesMapping(scale=(1, 5)).fit([1.0, 2.0, 3.0] * 20, [1.0, 3.0, 5.0] * 20)
    # sigma is a step of the grid of levels at least, .02, and the outer levels cannot lie beyond the scale
    np.testing.assert_allclose(exact.predict([1.0, 2.0, 3.0]), [1, 3, 5], atol=0.03)
    # three pairs leave open by how much a mapping may rise
    flat = BayesMapping().fit([1.0, 2.0, 3.0], [3.0, 3.0, 3.0])
    np.testing.assert_allclose(flat.predict([1.0, 3.0]), [3, 3], atol=0.2)


@pytest.mark.slow
def test_weights_are_importance_and_their_size_does_not_matter() -> None:
    rng = np.random.default_rng(9)
    x, w = rng.normal(size=200), rng.uniform(0.1, 3, 200)
    y = x + rng.normal(size=200)
    a, b = (BayesMapping().fit(x, y, sample_weight=k * w) for k in (1.0, 1000.0))
    np.testing.assert_allclose(a.mapping_.values, b.mapping_.values, atol=1e-9)
    assert a.bins_.weights.sum() == pytest.approx(w.sum() ** 2 / (w @ w))
    one, other = BayesMapping().fit(x, y), BayesMapping().fit(x, y, sample_weight=np.full(200, 7.0))
    np.testing.assert_allclose(one.mapping_.values, other.mapping_.values, atol=1e-9)


def conjugate(**changed: float) -> ConjugatePrior:
    given = {"mean": 2.8, "strength": 1.0, "shape": 2.0, "scale": 0.8} | changed
    return ConjugatePrior(1.0, 5.0, 1.5, 2.0, grid=7, max_levels=4, **given)


@pytest.mark.slow
@pytest.mark.parametrize("log", [False, True])
def test_under_the_conjugate_prior_the_recursion_equals_enumeration_of_every_path(log: bool) -> None:
    bins, prior, sigma = small_bins(5, 5), conjugate(), 0.9
    m, grid = 5, prior.levels
    chance = norm.pdf(grid, prior.mean, sigma / math.sqrt(prior.strength)) * prior.step
    p_count = np.array([prior.rate**k / math.factorial(k) for k in range(4)])
    p_count /= p_count.sum()
    levels, counts, changes, total = np.zeros((m, 7)), np.zeros(4), np.zeros(m - 1), 0.0
    for k in range(1, 5):
        for cuts in itertools.combinations(range(m - 1), k - 1):
            which = np.searchsorted(cuts, np.arange(m))
            for chosen in itertools.combinations_with_replacement(range(7), k):
                path = np.array(chosen)[which]
                square = bins.within + bins.weights * (bins.means - grid[path]) ** 2
                weight = math.exp(-square.sum() / (2 * sigma**2))
                weight *= (2 * math.pi * sigma**2) ** (-bins.weights.sum() / 2)
                # two neighbouring levels in one cell of the grid are in order half of the time
                weight *= chance[list(chosen)].prod() * 0.5 ** (k - len(set(chosen)))
                weight *= p_count[k - 1] / math.comb(m - 1, k - 1)
                total += weight
                counts[k - 1] += weight
                levels[np.arange(m), path] += weight
                changes[list(cuts)] += weight
    posterior = smooth(bins, prior, np.array([sigma]), np.ones(1), log)
    # rounding of sums of at most a few thousand terms
    np.testing.assert_allclose(posterior.levels, levels / total, rtol=0, atol=1e-13)
    np.testing.assert_allclose(posterior.count, counts / total, rtol=0, atol=1e-13)
    np.testing.assert_allclose(posterior.changes, changes / total, rtol=0, atol=1e-13)
    assert log_evidence(bins, prior, np.array([sigma]), log)[0] == pytest.approx(math.log(total), abs=1e-10)
    drawn = grid[curves(bins, prior, np.full(20000, sigma), np.random.default_rng(0), log)]
    # 20,000 draws of levels with a spread of about 0.6: five standard errors
    np.testing.assert_allclose(drawn.mean(axis=0), (levels / total) @ grid, atol=5 * 0.6 / math.sqrt(20000))


def test_given_change_points_the_conjugate_evidence_is_scipys_multivariate_t() -> None:
    # one level only: the judgments are then multivariate t with 2 shape degrees of freedom
    rng = np.random.default_rng(4)
    y = rng.normal(3, 1, size=12)
    prior = ConjugatePrior(-9.0, 15.0, 1.5, 2.0, grid=2001, max_levels=1, mean=2.8, strength=1.3, shape=2.0, scale=0.8)
    shape = prior.scale / prior.shape * (np.eye(12) + 1 / prior.strength)
    expected = multivariate_t.logpdf(y, loc=np.full(12, prior.mean), shape=shape, df=2 * prior.shape)
    sigma = np.exp(np.linspace(math.log(0.15), math.log(9), 400))
    density = log_evidence(pool(np.zeros(12), y), prior, sigma) + prior.log_sigma(sigma) + np.log(sigma)
    # a trapezium of 400 points over a smooth density
    assert logsumexp(density) + math.log(math.log(sigma[1] / sigma[0])) == pytest.approx(expected, abs=1e-5)


def test_a_mapping_of_one_level_is_constant() -> None:
    fitted = BayesMapping(max_levels=1).fit([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 2.0, 5.0])
    assert np.ptp(fitted.predict([0.0, 2.5, 9.0])) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"engine": "guess"},
        {"scale": (5, 1)},
        {"grid": 1},
        {"max_levels": 0},
        {"rate": 0.0},
        {"prior": "flat"},
        {"engine": "sampler", "prior": "uniform"},
        {"chains": 1},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BayesMapping(**wrong).fit([1.0, 2.0], [1.0, 2.0])
