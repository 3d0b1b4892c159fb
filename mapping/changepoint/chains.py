"""Draws of curves from several chains of a sampler of change points, and diagnostics of the chains."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import percent

R_HAT_LIMIT = 1.01
CURVE_POINTS = 9
"""Points of the curve, evenly spread over the bins, judged for convergence beside sigma and the number of levels."""


@dataclass(frozen=True)
class Chains:
    """Draws that obey the order, by chain.

    Parameters
    ----------
    curves : level of each bin, bins in the order in which levels rise, shape (chains, draws, m)
    sigma : noise, in the unit of the judgments, shape (chains, draws)
    counts : number of change points, shape (chains, draws)
    changes : share of the draws with a change point in the gap after each bin, shape (m - 1,)
    retained : share of the draws (of ogives: of the changes proposed) that obeyed the order, 0 to 1; the others were
        thrown away
    divergences : transitions of a gradient sampler that diverged
    """

    curves: np.ndarray
    sigma: np.ndarray
    counts: np.ndarray
    changes: np.ndarray
    retained: float
    divergences: int = 0

    @property
    def flat(self) -> np.ndarray:
        """All curves, shape (chains * draws, m)."""
        return self.curves.reshape(-1, self.curves.shape[-1])


@dataclass(frozen=True)
class Diagnostics:
    """Convergence diagnostics of the chains.

    Parameters
    ----------
    r_hat : rank-normalised split R-hat of the worst quantity (Vehtari and others 2021)
    ess_bulk : effective sample size of the worst quantity
    draws, chains : draws of a chain, and chains
    retained : share of the draws, or of the changes proposed, that obeyed the order
    warning : a sentence where the fit should not be used as it is, or None
    """

    r_hat: float
    ess_bulk: float
    draws: int
    chains: int
    retained: float
    warning: str | None

    def __str__(self) -> str:
        return (
            f"{self.chains} chains of {self.draws} draws, R-hat {self.r_hat:.3f}, effective sample size "
            f"{self.ess_bulk:.0f}, {percent(self.retained)} kept the order"
        )


def diagnose(chains: Chains) -> Diagnostics:
    """R-hat and effective sample size of the worst of sigma, number of change points, and the curve at some bins.

    Warns
    -----
    RuntimeWarning
        where the chains disagree (R-hat above 1.01) or a transition diverged
    """
    import arviz as az

    at = np.unique(np.linspace(0, chains.curves.shape[2] - 1, CURVE_POINTS).astype(int))
    quantities = [chains.sigma, chains.counts.astype(float), *np.moveaxis(chains.curves[:, :, at], 2, 0)]
    varying = [quantity for quantity in quantities if np.ptp(quantity) > 0]
    r_hat = max((float(az.rhat(quantity)) for quantity in varying), default=1.0)
    ess = min((float(az.ess(quantity)) for quantity in varying), default=float(chains.sigma.size))
    warning = None
    if not r_hat < R_HAT_LIMIT:
        warning = (
            f"the chains disagree (R-hat {r_hat:.3f}, below {R_HAT_LIMIT} is needed): they have not settled on one "
            "answer, so do not use this fit; sample longer, or use the exact engine"
        )
    elif chains.divergences > 0:
        warning = (
            f"{chains.divergences} transitions diverged: the posterior may be biased; use the exact engine to check"
        )
    if warning is not None:
        warnings.warn(warning, RuntimeWarning, stacklevel=2)
    return Diagnostics(r_hat, ess, chains.sigma.shape[1], chains.sigma.shape[0], chains.retained, warning)


def too_few(kept: int, tried: int) -> RelstudyError:
    """Message for chains with too few ordered draws."""
    return RelstudyError(
        f"the sampler kept {kept} of {tried:,} draws, since the others broke the order: the judgments hardly follow "
        f"the shape asked for; use {option('method', 'bayes')} with the exact engine"
    )


def band_of(curves: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the pointwise band that holds this share of the curves (draws, m), each of shape (m,)."""
    low, high = np.quantile(curves, [(1 - share) / 2, (1 + share) / 2], axis=0)
    return low, high
