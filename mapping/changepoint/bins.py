"""What a change-point fit begins with: pairs in bins, weighed by what they are worth, and the prior they suggest."""

from __future__ import annotations

import numpy as np

from relstudy.mapping.changepoint.model import ConjugatePrior
from relstudy.mapping.design_effect import design_effect
from relstudy.mapping.least_squares.isotonic import isotonic_fit
from relstudy.mapping.pooling import Pooled, into_bins, pool

MARGIN = 6.0  # of the grid of levels beyond the isotonic fit, in standard deviations of a bin's mean


def into_effective_bins(
    scores: np.ndarray,
    judgments: np.ndarray,
    weights: np.ndarray | None,
    groups: np.ndarray | None,
    increasing: bool,
    rate: float,
    most: int,
) -> tuple[float, Pooled, Pooled]:
    """The design effect, bins ascending by score, and the same bins in the order in which levels rise.

    Parameters
    ----------
    scores, judgments : float (n,)
    weights : float (n,), positive, or None
    groups : query of each pair (n,), or None
    increasing : whether the mapping rises with the score
    rate : mean of the Poisson number of change points
    most : largest number of bins
    """
    effect = design_effect(scores, judgments, weights, groups, increasing, max(round(rate) + 1, 1))
    bins = into_bins(pool(scores, judgments, effective(weights, effect, len(scores))), most)
    return effect, bins, bins if increasing else reversed_bins(bins)


def effective(weights: np.ndarray | None, design_effect: float, pairs: int) -> np.ndarray | None:
    """Weights as importance: scaled to sum to the effective number of pairs, (sum w)^2 / sum w^2 / design effect."""
    if weights is None:
        return None if design_effect == 1 else np.full(pairs, 1 / design_effect)
    return np.asarray(weights * (weights.sum() / (weights @ weights) / design_effect))


def reversed_bins(bins: Pooled) -> Pooled:
    """Bins by descending score: the order in which the levels of a falling mapping rise."""
    return Pooled(*(part[::-1] for part in (bins.scores, bins.weights, bins.means, bins.within)))


def conjugate_prior(
    rising: Pooled, rate: float, grid: int, max_levels: int, learn_rate: bool = False
) -> ConjugatePrior:
    """The conjugate prior of unit information, on a grid of levels that holds the posterior.

    The mean is that of all judgments, the variance's prior mean their variance. Levels lie between those of the
    isotonic fit, give or take what one bin's judgments leave open.
    """
    total = float(rising.weights.sum())
    variance = max(rising.square / total, 1e-12)
    fit = isotonic_fit(rising)
    strength, shape = 1.0, 2.0
    open_to = MARGIN * np.sqrt(variance / (float(rising.weights.min()) + strength))
    low, high = min(fit.min(), rising.mean) - open_to, max(fit.max(), rising.mean) + open_to
    return ConjugatePrior(
        float(low), float(high), rate, float(high - low) / 2, grid, max_levels, learn_rate,
        mean=rising.mean, strength=strength, shape=shape, scale=variance * (shape - 1),
    )  # fmt: skip
