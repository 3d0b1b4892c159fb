"""Cubic ogives: their shape, Eq. 4.10, and their posterior against a fine grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.special import logsumexp
from scipy.stats import chi2, norm, qmc

from relstudy.mapping.changepoint.model import ConjugatePrior
from relstudy.mapping.paper.ogive.chain import OgiveDraws, sample_ogives
from relstudy.mapping.paper.ogive.mapping import OgiveMapping
from relstudy.mapping.paper.ogive.spline import Moments, OgivePrior, spline_functions, spline_moments
from relstudy.mapping.tied_scores import Pooled, into_bins, pool

ERRORS = 4.5  # Monte-Carlo standard errors allowed, as for the steps


def prior_of(most: int, mean: float = 3.0) -> OgivePrior:
    steps = ConjugatePrior(1.0, 5.0, 1.5, 2.0, 2, most, mean=mean, strength=1.0, shape=2.0, scale=0.8)
    return OgivePrior(steps, slope=4.0, bend=12.0)


def bends_and_slope(knots: np.ndarray, u: np.ndarray) -> np.ndarray:
    """1, u, and for each knot the curve of bend 1 there and 0 at the others: by scipy, integrated twice."""
    columns = [np.ones(len(u)), u]
    for i in range(len(knots)):
        columns.append(make_interp_spline(knots, np.eye(len(knots))[i], k=1).antiderivative(2)(u))
    return np.column_stack(columns)


def grid_posterior(bins: Pooled, prior: OgivePrior, log2_points: int) -> tuple[np.ndarray, np.ndarray, float]:
    """P(0 change points), P(1), mean curve at the bins, mean variance: sums over a fine grid of slope and bends.

    The shape does not depend on alpha, which is integrated out in closed form, as is the variance: slope and bends
    are then multivariate t, and the grid is of equal probability under it.
    """
    u = bins.scores / bins.scores[-1]
    gaps, w, y = (u[1:] + u[:-1]) / 2, bins.weights, bins.means - prior.steps.mean
    square = float(bins.within.sum() + w @ y**2)
    log_mass, means, variances, counts = [], [], [], []
    for change in [None, *gaps]:
        knots = np.array([0.0, 1.0]) if change is None else np.array([0.0, change, 1.0])
        basis = bends_and_slope(knots, u)
        size = basis.shape[1]
        precisions = np.r_[prior.steps.strength, prior.slope**-2.0, [prior.bend**-2.0] * len(knots)]
        precision = basis.T @ (basis * w[:, None]) + np.diag(precisions)
        centre = np.linalg.solve(precision, basis.T @ (w * y))
        power = prior.steps.shape + w.sum() / 2
        rest = prior.steps.scale + (square - centre @ precision @ centre) / 2
        log_p = prior.steps.log_weights(len(u))[0 if change is None else 1]
        log_p += 0.5 * np.log(precisions).sum() - 0.5 * np.linalg.slogdet(precision)[1] - power * math.log(rest)
        covariance = np.linalg.inv(precision)[1:, 1:]
        root = np.linalg.cholesky(covariance)
        # Sobol points carried to Student's t with 2 power degrees of freedom, which weighs every
        # point alike
        points = qmc.Sobol(size, seed=0).random_base2(log2_points)
        mixing = chi2.ppf(points[:, 0], 2 * power) / (2 * power)
        z = norm.ppf(points[:, 1:]) * np.sqrt(rest / power / mixing)[:, None]
        inner = centre[1:] + z @ root.T
        bends, slope = inner[:, 1:], inner[:, 0]
        rise = slope + ((bends[:, 1:] + bends[:, :-1]) / 2) @ np.diff(knots)
        ogive = (slope >= 0) & (rise >= 0)
        for i in range(len(knots)):
            for j in range(i + 1, len(knots)):
                ogive &= ~((bends[:, i] < 0) & (bends[:, j] > 0))
        scale = rest + (z**2).sum(axis=1) / 2
        freedom = power + (size - 1) / 2
        chance = ogive / len(ogive)
        log_mass.append(log_p + math.log(chance.sum()))
        chance /= chance.sum()
        alpha = centre[0] - (inner - centre[1:]) @ precision[0, 1:] / precision[0, 0]
        means.append(prior.steps.mean + basis @ np.r_[chance @ alpha, chance @ inner])
        variances.append(chance @ (scale / (freedom - 1)))
        counts.append(0 if change is None else 1)
    share = np.exp(np.array(log_mass) - logsumexp(log_mass))
    return np.bincount(counts, share), share @ np.array(means), float(share @ variances)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["rising", "flat", "bent the wrong way"])
def test_on_small_data_the_sampler_has_the_posterior_of_a_fine_grid(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import arviz as az

    # of five bins draws 20 steps apart are all but independent: 16,000 of them count as 8,000 and more
    monkeypatch.setattr("relstudy.mapping.paper.ogive.chain.STEPS", 20)
    rng = np.random.default_rng(3)
    x = np.repeat(np.arange(5.0), 4)
    truth = {
        "rising": 1.5 + 3 / (1 + np.exp(-2 * (x - 2))),
        "flat": 0 * x + 3,
        "bent the wrong way": 3 + (x - 2) ** 3 / 8,
    }
    y = truth[case] + rng.normal(size=len(x)) * 0.7
    bins, prior = pool(x, y), prior_of(2)
    counts, curve, variance = grid_posterior(bins, prior, 16)
    coarse = grid_posterior(bins, prior, 15)
    draws = sample_ogives(bins, prior, draws=4000, seed=1).chains

    def compare(quantity: np.ndarray, expected: float, other: float) -> None:
        error = quantity.std() / math.sqrt(float(az.ess(quantity)))
        # what two grids differ by is the grid's own error
        assert abs(quantity.mean() - expected) < ERRORS * error + 2 * abs(expected - other)

    compare((draws.counts == 1).astype(float), float(counts[1]), float(coarse[0][1]))
    compare(draws.sigma**2, variance, coarse[2])
    for j in range(5):
        compare(draws.curves[:, :, j], float(curve[j]), float(coarse[1][j]))
        # and the grid itself is fine: a tenth of the posterior's spread
        assert abs(curve[j] - coarse[1][j]) < 0.1 * draws.curves[:, :, j].std()


def sigmoid(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    x = rng.uniform(-1, 1, n)
    truth = 1 + 4 / (1 + np.exp(-6 * x))
    return x, truth + rng.normal(size=n), truth


@pytest.fixture(scope="module")
def drawn() -> tuple[OgiveDraws, Moments]:
    x, y, _ = sigmoid(500)
    bins = into_bins(pool(x, y), 60)
    prior = prior_of(6)
    return sample_ogives(bins, prior, draws=300), spline_moments(bins, prior.steps.mean)[1]


@pytest.mark.slow
def test_every_draw_rises_is_convex_up_to_one_inflection_and_concave_after(
    drawn: tuple[OgiveDraws, Moments],
) -> None:
    draws, moments = drawn
    curves = draws.coefficients.reshape(-1, draws.coefficients.shape[2])
    values = curves @ spline_functions(np.linspace(0, 1, 400), moments.gaps).T
    slopes = np.diff(values, axis=1)
    bends = np.diff(slopes, axis=1)
    # 1e-9: rounding of sums of cubes
    assert slopes.min() > -1e-9
    falls = bends < -1e-9
    after_a_fall = np.cumsum(falls, axis=1) > 0
    assert bends[after_a_fall].max() < 1e-9
    # a sigmoid's ogives bend up first and down at last
    assert (False, True) in {(bool(row[0]), bool(row[-1])) for row in falls}


@pytest.mark.slow
def test_every_draw_is_eq_4_10_with_its_change_points(drawn: tuple[OgiveDraws, Moments]) -> None:
    draws, moments = drawn
    u = np.linspace(0, 1, 33)
    for chain, draw in [(0, 0), (1, 17), (3, 299)]:
        alpha, gamma, twice_beta, *deltas = draws.coefficients[chain, draw]
        knots = np.r_[0.0, moments.gaps]
        # change points of this draw: where the third derivative jumps
        jumps = np.flatnonzero(np.abs(deltas[1:]) > 1e-9)
        assert len(jumps) == draws.chains.counts[chain, draw]
        printed = alpha + gamma * u + twice_beta / 2 * u**2
        for delta, knot in zip(deltas, knots, strict=True):
            printed = printed + delta * np.where(u > knot, u - knot, 0.0) ** 3 / 6
        ours = spline_functions(u, moments.gaps) @ draws.coefficients[chain, draw]
        np.testing.assert_allclose(ours, printed, atol=1e-9)


@pytest.mark.slow
def test_a_sigmoid_is_recovered_more_closely_than_by_steps() -> None:
    from relstudy.mapping.least_squares.isotonic import IsotonicMapping

    x, y, truth = sigmoid(2000)
    fit = OgiveMapping().fit(x, y)
    error, steps = (float(np.sqrt(np.mean((m.predict(x) - truth) ** 2))) for m in (fit, IsotonicMapping().fit(x, y)))
    # eight parameters from 2,000 pairs of noise 1: sqrt(8 / 2000) = 0.063, twice that
    assert error < 0.126 and error < steps
    assert fit.mapping_.low is not None and fit.mapping_.high is not None
    inside = (fit.mapping_.predict_band(x)[0] <= truth) & (truth <= fit.mapping_.predict_band(x)[1])
    # one truth and one sample: pointwise bands of 90 % are correlated, so most of the curve is all that can be asked
    assert inside.mean() > 0.6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_falling_scores_one_score_and_two_scores_are_fitted() -> None:
    x, y, _ = sigmoid(300)
    up, down = OgiveMapping(bins=400).fit(x, y), OgiveMapping(bins=400).fit(-x, y)
    assert up.increasing_ and not down.increasing_
    # rounding parts the chains; 4,000 draws of curves with a spread of 0.1, some 500 of them effective: six errors
    np.testing.assert_allclose(up.predict([-0.5, 0.0, 0.5]), down.predict([0.5, 0.0, -0.5]), atol=0.04)
    assert OgiveMapping().fit([2, 2], [1, 5]).predict([0, 9]).tolist() == [3, 3]
    two = OgiveMapping(draws=100).fit([1, 2] * 20, [1, 4] * 20).predict([1, 2])
    assert two == pytest.approx([1, 4], abs=0.2)


@pytest.mark.parametrize("wrong", [{"bins": 1}, {"rate": 0.0}, {"chains": 1}, {"max_changes": -1}])
def test_parameters_out_of_range_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OgiveMapping(**wrong).fit([1.0, 2.0], [1.0, 2.0])
