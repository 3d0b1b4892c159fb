"""The Bayesian change-point fit as a mapping: posterior mean curve, band, number and positions of the change points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relstudy.mapping.changepoint.model import Prior, Smoothed, curves, log_evidence, smooth
from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.isotonic import isotonic_fit
from relstudy.mapping.pooling import Pooled, into_bins, pool

ENGINES = ("exact", "pymc")
NEGLIGIBLE = 12.0  # in log density: what lies beyond has a weight below 1e-5
HALF_WIDTH = 5.0  # of the sigma grid, in posterior standard deviations
ROUNDS = 12
COARSE_GRID, COARSE_LEVELS = 41, 8


class BayesMapping(MonotoneMapping):
    """Posterior mean of a monotone step function with an unknown number of steps.

    Weights are taken as importance: they are scaled to sum to the effective number of pairs, (sum w)^2 / sum w^2, so
    that large weights do not pass for many pairs.

    Parameters
    ----------
    engine : "exact" (forward-backward recursion, sigma on a grid) or "pymc" (the path summed out in PyMC, NUTS on
        sigma; takes at most 50 bins, 81 values and 10 levels, to end within a minute)
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"
    scale : (lowest, highest) level, or None for the range of the judgments
    bins : largest number of bins the scores are pooled into
    grid : number of values a level can take
    rate : mean of the Poisson number of change points
    learn_rate : whether the rate is unknown, Gamma(rate, 1), instead of given
    max_levels : largest number of levels
    sigma_scale : scale of sigma's half-normal prior, or None for half the length of the scale
    sigma_points : points of the grid over sigma
    band : posterior share of the pointwise band
    seed : of draws and of the PyMC engine

    Attributes
    ----------
    bins_ : Pooled, ascending by score
    levels_ : the values a level can take, shape (G,)
    posterior_ : Smoothed, bins ascending by score
    count_ : p(M levels), M = 1, ..., shape (M_max,)
    changes_ : p(change point in the gap after each bin), shape (m - 1,)
    gaps_ : score at the middle of each gap, shape (m - 1,)
    sigma_, sigma_weights_ : grid over sigma and its posterior weights
    sigma_mean_, sigma_sd_ : posterior mean and standard deviation of sigma
    inference_data_ : ArviZ InferenceData (engine = "pymc" only)
    diagnostics_ : r_hat and effective sample size, and a warning in words or None (engine = "pymc" only)

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
        self.band = band
        self.seed = seed

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        if self.engine not in ENGINES:
            raise ValueError(f"engine is 'exact' or 'pymc', not {self.engine!r}")
        sampled = self.engine == "pymc"
        self.bins_ = into_bins(
            pool(scores, judgments, _effective(weights)), min(self.bins, 50) if sampled else self.bins
        )
        self.prior_ = self._prior(judgments)
        if sampled:
            self.prior_ = replace(self.prior_, grid=min(self.grid, 81), max_levels=min(self.max_levels, 10))
        self.levels_ = self.prior_.levels
        rising = self.bins_ if self.increasing_ else _reversed(self.bins_)
        meta: dict[str, Any] = {"engine": self.engine, "bins": len(self.bins_.scores), "rate": self.rate}
        if not sampled:
            self.sigma_, self.sigma_weights_ = sigma_posterior(rising, self.prior_, self.sigma_points)
        else:
            self.sigma_, self.sigma_weights_ = self._sampled(rising)
            meta["diagnostics"] = self.diagnostics_
        posterior = smooth(rising, self.prior_, self.sigma_, self.sigma_weights_)
        self.posterior_ = posterior if self.increasing_ else _turned(posterior)
        self.count_ = self.posterior_.count
        self.changes_ = self.posterior_.changes
        self.gaps_ = (self.bins_.scores[1:] + self.bins_.scores[:-1]) / 2
        self.sigma_mean_ = float(self.sigma_weights_ @ self.sigma_)
        self.sigma_sd_ = float(np.sqrt(self.sigma_weights_ @ (self.sigma_ - self.sigma_mean_) ** 2))
        low, high = _band(self.posterior_.levels, self.prior_, self.band)
        meta |= {"levels": int(self.count_.argmax()) + 1, "sigma": self.sigma_mean_}
        mean = self.posterior_.levels @ self.levels_
        knots, values, low, high = self._within(scores, self.bins_.scores, mean, low, high)
        return self._fitted(knots, values, low=low, high=high, band=self.band, meta=meta)

    def _prior(self, judgments: np.ndarray) -> Prior:
        low, high = (judgments.min(), judgments.max()) if self.scale is None else self.scale
        low, high = float(low), float(high)
        if self.scale is not None and not low < high:
            raise ValueError(f"scale is (lowest, highest) with lowest below highest, not {self.scale}")
        if low == high:
            low, high = low - 0.5, high + 0.5
        if min(self.grid, self.bins, self.sigma_points) < 2 or self.max_levels < 1 or self.rate <= 0:
            raise ValueError("grid, bins and sigma_points are at least 2, max_levels at least 1, rate above 0")
        sigma_scale = (high - low) / 2 if self.sigma_scale is None else self.sigma_scale
        return Prior(low, high, self.rate, sigma_scale, self.grid, self.max_levels, self.learn_rate)

    def _sampled(self, rising: Pooled) -> tuple[np.ndarray, np.ndarray]:
        from relstudy.mapping.changepoint.pymc_model import sample

        sampled = sample(rising, self.prior_, seed=self.seed)
        self.inference_data_ = sampled.inference_data
        self.diagnostics_ = sampled.diagnostics
        return sampled.sigma, np.full(len(sampled.sigma), 1 / len(sampled.sigma))

    def draw(self, count: int, seed: int | np.random.Generator = 0) -> np.ndarray:
        """Independent curves from the posterior at the bins' scores (`bins_.scores`), shape (count, m)."""
        check_is_fitted(self)
        rng = np.random.default_rng(seed)
        sigma = rng.choice(self.sigma_, size=count, p=self.sigma_weights_)
        rising = self.bins_ if self.increasing_ else _reversed(self.bins_)
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


def _effective(weights: np.ndarray | None) -> np.ndarray | None:
    return None if weights is None else weights * (weights.sum() / (weights @ weights))


def _reversed(bins: Pooled) -> Pooled:
    return Pooled(*(part[::-1] for part in (bins.scores, bins.weights, bins.means, bins.within)))


def _turned(posterior: Smoothed) -> Smoothed:
    return Smoothed(posterior.levels[::-1], posterior.count, posterior.changes[::-1])


def _band(levels: np.ndarray, prior: Prior, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Pointwise quantiles; a grid value stands for the cell around it, its probability spread evenly in the cell."""
    edges = np.clip(np.r_[prior.low, prior.levels + prior.step / 2], prior.low, prior.high)
    tails = ((1 - share) / 2, (1 + share) / 2)
    cumulative = np.column_stack([np.zeros(len(levels)), np.cumsum(levels, axis=1)])
    ends = np.array([np.interp(tails, row / row[-1], edges) for row in cumulative])
    return ends[:, 0], ends[:, 1]
