"""The Bayesian cubic ogive as a mapping: the average of ogives with a random number of change points, and its band."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from relstudy.mapping.changepoint.bins import conjugate_prior, into_effective_bins
from relstudy.mapping.changepoint.chains import band_of, diagnose
from relstudy.mapping.changepoint.sampler import check_chains
from relstudy.mapping.estimator import MonotoneMapping
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.paper.ogive.chain import sample_ogives
from relstudy.mapping.paper.ogive.spline import OgivePrior, spline_functions, spline_moments

REACH = 101  # scores, evenly spread, at which the curve is kept beside the bins': it is cubic between its change points


class OgiveMapping(MonotoneMapping):
    """Posterior mean of a cubic ogive: monotone, convex to its inflection, concave after (Eq. 4.10).

    The average of ogives is monotone, but need not be an ogive itself: their inflections differ. Weights are taken as
    importance, as in `BayesMapping`.

    Parameters
    ----------
    increasing : True, False, or "auto": by the sign of Spearman's rho
    out_of_bounds : "clip" or "raise"
    bins : largest number of bins the scores are pooled into; change points lie between bins
    rate : mean of the Poisson number of change points
    max_changes : largest number of change points
    draws, chains : curves kept of each chain, and chains
    band : posterior share of the pointwise band
    seed : of the chains

    Attributes
    ----------
    draws_ : OgiveDraws
    design_effect_ : as in `BayesMapping`
    diagnostics_ : Diagnostics: R-hat, effective sample size, warning
    count_ : p(0, 1, ... change points)

    References
    ----------
    Shirahatti and Barnard 2005, section 4.3, Eq. 4.10. Green 1995.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)
    >>> y = 1 + 4 / (1 + np.exp(-6 * x)) + np.tile([-0.5, 0.5], 100)
    >>> OgiveMapping(draws=300).fit(x, y).predict([-0.9, 0.0, 0.9]).round(0).tolist()
    [1.0, 3.0, 5.0]
    """

    method = "ogive"

    def __init__(
        self,
        increasing: bool | str = "auto",
        out_of_bounds: str = "clip",
        bins: int = 100,
        rate: float = 3.0,
        max_changes: int = 10,
        draws: int = 1000,
        chains: int = 4,
        band: float = 0.9,
        seed: int = 0,
    ) -> None:
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds
        self.bins = bins
        self.rate = rate
        self.max_changes = max_changes
        self.draws = draws
        self.chains = chains
        self.band = band
        self.seed = seed

    def _fit(
        self, scores: np.ndarray, judgments: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
    ) -> FittedMapping:
        if self.bins < 2 or self.max_changes < 0 or self.rate <= 0:
            raise ValueError("bins are at least 2, max_changes at least 0, rate above 0")
        check_chains(self.chains, self.draws)
        self.design_effect_, bins, rising = into_effective_bins(
            scores, judgments, weights, groups, self.increasing_, self.rate, self.bins
        )
        if len(bins.scores) < 2:
            return self._fitted(bins.scores, bins.means, meta={"change_points": 0})
        prior = OgivePrior(conjugate_prior(rising, self.rate, grid=2, max_levels=self.max_changes + 1))
        self.draws_ = sample_ogives(rising, prior, draws=self.draws, chains=self.chains, seed=self.seed)
        self.diagnostics_ = diagnose(self.draws_.chains)
        counts = self.draws_.chains.counts
        self.count_ = np.bincount(counts.ravel()) / counts.size
        u, moments = spline_moments(rising, prior.steps.mean)
        reach = np.unique(np.concatenate([u, np.linspace(0, 1, REACH)]))
        coefficients = self.draws_.coefficients.reshape(-1, self.draws_.coefficients.shape[-1])
        curves = prior.steps.mean + coefficients @ spline_functions(reach, moments.gaps).T
        knots = rising.scores[0] + reach * (rising.scores[-1] - rising.scores[0])
        parts = [knots, curves.mean(axis=0), *band_of(curves, self.band)]
        knots, mean, low, high = (part if self.increasing_ else part[::-1] for part in parts)
        keep = np.flatnonzero(np.r_[True, np.diff(knots) > 0])
        knots, mean, low, high = self._within(scores, knots[keep], mean[keep], low[keep], high[keep])
        meta = {
            "change_points": int(self.count_.argmax()),
            "sigma": float(self.draws_.chains.sigma.mean()),
            "design_effect": self.design_effect_,
            "diagnostics": asdict(self.diagnostics_),
        }
        return self._fitted(knots, mean, low=low, high=high, band=self.band, meta=meta)
