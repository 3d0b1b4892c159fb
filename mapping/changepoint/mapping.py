"""The Bayesian change-point fit as a mapping: posterior mean curve, band, number and positions of the change points."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relstudy.mapping.changepoint.bins import conjugate_prior, into_effective_bins, reversed_bins
from relstudy.mapping.changepoint.chains import band_of, diagnose
from relstudy.mapping.changepoint.model import ConjugatePrior, Prior, Smoothed, curves, log_evidence, smooth
from relstudy.mapping.changepoint.sampler import check_chains, sample_steps
from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.least_squares.plain import isotonic_fit
from relstudy.mapping.tied_scores import Pooled

ENGINES = ("exact", "sampler", "pymc")
PRIORS = ("uniform", "conjugate")
NEGLIGIBLE = 12.0  # in log density: what lies beyond has a weight below 1e-5
HALF_WIDTH = 5.0  # of the sigma grid, in posterior standard deviations
ROUNDS = 12
COARSE_GRID, COARSE_LEVELS = 41, 8


class BayesMapping(MonotoneMapping):
    """Posterior mean of a monotone step function with an unknown number of steps.

    Weights are taken as importance: they are scaled to sum to the effective number of pairs, (sum w)^2 / sum w^2, so
    that large weights do not pass for many pairs. Where `fit` is given queries (`groups`), it is divided by the design
    effect (`relstudy.mapping.changepoint.bins`), since pairs of one query are alike.

    Parameters
    ----------
    engine : "exact" (forward-backward recursion, sigma on a grid), "sampler" (steps 1 to 5 of the source, compiled,
        several chains) or "pymc" (change points by a step method of their own in PyMC, sigma by NUTS)
    prior : "uniform" (ordered uniform levels, half-normal sigma), "conjugate" (the source's, see `ConjugatePrior`), or
        None: "uniform" for the exact engine, "conjugate" for the others, which need it
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"
    scale : (lowest, highest) level, or None for the range of the judgments
    bins : largest number of bins the scores are pooled into
    grid : number of values a level can take (engine = "exact")
    rate : mean of the Poisson number of change points
    learn_rate : whether the rate is unknown, Gamma(rate, 1), instead of given
    max_levels : largest number of levels
    sigma_scale : scale of sigma's half-normal prior, or None for half the length of the scale
    sigma_points : points of the grid over sigma (engine = "exact")
    draws, chains : curves kept of each chain, and chains (engine = "sampler" or "pymc")
    band : posterior share of the pointwise band
    seed : of draws and of the PyMC engine

    Attributes
    ----------
    bins_ : Pooled, ascending by score
    prior_ : Prior or ConjugatePrior
    levels_, posterior_ : the values a level can take, shape (G,), and Smoothed, bins ascending by score (engine =
        "exact" only)
    chains_ : Chains, bins in the order in which levels rise (engine = "sampler" and "pymc" only)
    count_ : p(M levels), M = 1, ..., shape (M_max,)
    changes_ : p(change point in the gap after each bin), shape (m - 1,)
    gaps_ : score at the middle of each gap, shape (m - 1,)
    sigma_, sigma_weights_ : grid over sigma, or its draws, and their posterior weights
    design_effect_ : how much more a level varies for pairs coming in queries, at least 1
    sigma_mean_, sigma_sd_ : posterior mean and standard deviation of sigma
    inference_data_ : ArviZ InferenceData (engine = "pymc" only)
    diagnostics_ : Diagnostics: R-hat, effective sample size, warning (engine = "sampler" and "pymc" only)

    References
    ----------
    Shirahatti and Barnard 2005, section 4.3, Eq. 4.11-4.14. Holmes and Heard 2003.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 200)
    >>> y = np.where(x > 0.5, 4.0, 2.0) + np.tile([-0.5, 0.5], 100)
    >>> fit = BayesMapping(scale=(1, 5)).fit(x, y)
    >>> fit.predict([0.1, 0.9]).round(1).tolist(), int(fit.count_.argmax()) + 1
    ([2.0, 4.0], 2)
    """

    method = "bayes"

    def __init__(
        self,
        engine: str = "exact",
        increasing: bool | str = "auto",
        out_of_bounds: str = "clip",
        scale: tuple[float, float] | None = None,
        bins: int = 100,
        grid: int = 201,
        rate: float = 3.0,
        learn_rate: bool = False,
        max_levels: int = 20,
        sigma_scale: float | None = None,
        sigma_points: int = 15,
        prior: str | None = None,
        draws: int = 2000,
        chains: int = 4,
        band: float = 0.9,
        seed: int = 0,
    ) -> None:
        self.engine = engine
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds
        self.scale = scale
        self.bins = bins
        self.grid = grid
        self.rate = rate
        self.learn_rate = learn_rate
        self.max_levels = max_levels
        self.sigma_scale = sigma_scale
        self.sigma_points = sigma_points
        self.prior = prior
        self.draws = draws
        self.chains = chains
        self.band = band
        self.seed = seed

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        self._check()
        self.design_effect_, self.bins_, rising = into_effective_bins(
            scores, judgments, weights, groups, self.increasing_, self.rate, self.bins
        )
        self.gaps_ = (self.bins_.scores[1:] + self.bins_.scores[:-1]) / 2
        self.prior_ = self._prior(rising, judgments)
        fit = self._exact if self.engine == "exact" else self._sampled
        mean, low, high, self.changes_ = (part if self.increasing_ else part[::-1] for part in fit(rising))
        self.sigma_mean_ = float(self.sigma_weights_ @ self.sigma_)
        self.sigma_sd_ = float(np.sqrt(self.sigma_weights_ @ (self.sigma_ - self.sigma_mean_) ** 2))
        meta: dict[str, Any] = {
            "engine": self.engine,
            "prior": "conjugate" if isinstance(self.prior_, ConjugatePrior) else "uniform",
            "bins": len(self.bins_.scores),
            "rate": self.rate,
            "levels": int(self.count_.argmax()) + 1,
            "sigma": self.sigma_mean_,
            "design_effect": self.design_effect_,
        }
        if self.engine != "exact":
            meta["diagnostics"] = asdict(self.diagnostics_)
        knots, mean, low, high = self._within(scores, self.bins_.scores, mean, low, high)
        fitted = self._fitted(knots, mean, low=low, high=high, band=self.band, meta=meta)
        # cross-validation of a mapping that was read from its file takes the same prior and engine
        variant = "conjugate" if self.engine == "exact" and self.prior == "conjugate" else self.engine
        return fitted if variant == "exact" else replace(fitted, method=f"{self.method}-{variant}")

    def _check(self) -> None:
        if self.engine not in ENGINES:
            raise ValueError(f"engine is one of {', '.join(ENGINES)}, not {self.engine!r}")
        if self.prior not in (None, *PRIORS):
            raise ValueError(f"prior is one of {', '.join(PRIORS)}, not {self.prior!r}")
        if self.engine != "exact" and (self.prior == "uniform" or self.learn_rate):
            raise ValueError(
                f'engine="{self.engine}" samples with prior="conjugate" and a given rate; use engine="exact"'
            )
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise ValueError(f"scale is (lowest, highest) with lowest below highest, not {self.scale}")
        if min(self.grid, self.bins, self.sigma_points) < 2 or self.max_levels < 1 or self.rate <= 0:
            raise ValueError("grid, bins and sigma_points are at least 2, max_levels at least 1, rate above 0")
        check_chains(self.chains, self.draws)

    def _prior(self, rising: Pooled, judgments: np.ndarray) -> Prior:
        if self.engine != "exact" or self.prior == "conjugate":
            return conjugate_prior(rising, self.rate, self.grid, self.max_levels, self.learn_rate)
        low, high = (judgments.min(), judgments.max()) if self.scale is None else self.scale
        low, high = float(low), float(high)
        if low == high:
            low, high = low - 0.5, high + 0.5
        sigma_scale = (high - low) / 2 if self.sigma_scale is None else self.sigma_scale
        return Prior(low, high, self.rate, sigma_scale, self.grid, self.max_levels, self.learn_rate)

    def _exact(self, rising: Pooled) -> tuple[np.ndarray, ...]:
        """Mean and both ends of the band of the curve, and p(change), bins in the order in which levels rise."""
        self.levels_ = self.prior_.levels
        self.sigma_, self.sigma_weights_ = sigma_posterior(rising, self.prior_, self.sigma_points)
        posterior = smooth(rising, self.prior_, self.sigma_, self.sigma_weights_)
        self.posterior_ = posterior if self.increasing_ else _turned(posterior)
        self.count_ = posterior.count
        band = _band(posterior.levels, self.prior_, self.band)
        return posterior.levels @ self.levels_, *band, posterior.changes

    def _sampled(self, rising: Pooled) -> tuple[np.ndarray, ...]:
        """Mean curve, both ends of its band, and the chance of each change point, from chains of draws."""
        assert isinstance(self.prior_, ConjugatePrior)
        if self.engine == "pymc":
            from relstudy.mapping.changepoint.pymc_model import sample

            self.chains_, self.inference_data_ = sample(
                rising, self.prior_, draws=self.draws, chains=self.chains, seed=self.seed
            )
        else:
            self.chains_ = sample_steps(rising, self.prior_, draws=self.draws, chains=self.chains, seed=self.seed)
        self.diagnostics_ = diagnose(self.chains_)
        self.sigma_ = self.chains_.sigma.ravel()
        self.sigma_weights_ = np.full(len(self.sigma_), 1 / len(self.sigma_))
        self.count_ = np.bincount(self.chains_.counts.ravel()) / self.chains_.counts.size
        return self.chains_.flat.mean(axis=0), *band_of(self.chains_.flat, self.band), self.chains_.changes

    def draw(self, count: int, seed: int | np.random.Generator = 0) -> np.ndarray:
        """Curves from the posterior at the bins' scores (`bins_.scores`), shape (count, m).

        Independent with the exact engine, picked from the chains with the others.
        """
        check_is_fitted(self)
        rng = np.random.default_rng(seed)
        if self.engine != "exact":
            drawn = rng.choice(self.chains_.flat, size=count)
            return drawn if self.increasing_ else drawn[:, ::-1]
        sigma = rng.choice(self.sigma_, size=count, p=self.sigma_weights_)
        rising = self.bins_ if self.increasing_ else reversed_bins(self.bins_)
        drawn = self.levels_[curves(rising, self.prior_, sigma, rng)]
        return drawn if self.increasing_ else drawn[:, ::-1]


def sigma_posterior(bins: Pooled, prior: Prior, points: int) -> tuple[np.ndarray, np.ndarray]:
    """A grid over sigma that holds its posterior, and the weights of its points.

    The grid is equally spaced in log sigma; a coarse recursion finds where the posterior lies, the full one is run
    there, and again on a wider grid where its ends turn out not to be negligible. Sigma is at least one step of the
    grid of levels: below that the grid itself would be the noise, and judgments that fit exactly would pull sigma to
    zero.
    """
    floor = float(np.log(prior.step))
    ceiling = max(float(np.log(8 * prior.sigma_scale)), floor + 1.0)
    fit = isotonic_fit(bins)
    total = float(bins.weights.sum())
    residual = float(bins.within.sum() + bins.weights @ (bins.means - fit) ** 2) / total
    centre = float(np.clip(0.5 * np.log(max(residual, 1e-300)), floor, ceiling))
    half = HALF_WIDTH / np.sqrt(2 * total)
    coarse = replace(prior, grid=min(prior.grid, COARSE_GRID), max_levels=min(prior.max_levels, COARSE_LEVELS))
    low, high = max(centre - half, floor), min(centre + half, ceiling)
    for stage in (coarse, prior):
        for _ in range(ROUNDS):
            grid = np.linspace(low, max(high, low + 1e-6), points)
            density = log_evidence(bins, stage, np.exp(grid)) + stage.log_sigma(np.exp(grid)) + grid
            weights = np.exp(density - density.max())
            weights[[0, -1]] /= 2
            weights /= weights.sum()
            mean = float(weights @ grid)
            spread = float(np.sqrt(weights @ (grid - mean) ** 2))
            step = grid[1] - grid[0]
            open_low = density[0] > density.max() - NEGLIGIBLE and low > floor
            open_high = density[-1] > density.max() - NEGLIGIBLE and high < ceiling
            if open_low or open_high:
                width = max(high - low, half)
                low, high = (
                    (max(floor, low - width) if open_low else low),
                    (min(ceiling, high + width) if open_high else high),
                )
            elif spread < 0.5 * step:
                low, high = max(floor, mean - 2 * step), min(ceiling, mean + 2 * step)
            else:
                break
        if stage is coarse:
            low, high = max(floor, mean - HALF_WIDTH * spread), min(ceiling, mean + HALF_WIDTH * spread)
    return np.exp(grid), weights


def _turned(posterior: Smoothed) -> Smoothed:
    return Smoothed(posterior.levels[::-1], posterior.count, posterior.changes[::-1])


def _band(levels: np.ndarray, prior: Prior, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Pointwise quantiles; a grid value stands for the cell around it, its probability spread evenly in the cell."""
    edges = np.clip(np.r_[prior.low, prior.levels + prior.step / 2], prior.low, prior.high)
    tails = ((1 - share) / 2, (1 + share) / 2)
    cumulative = np.column_stack([np.zeros(len(levels)), np.cumsum(levels, axis=1)])
    ends = np.array([np.interp(tails, row / row[-1], edges) for row in cumulative])
    return ends[:, 0], ends[:, 1]
