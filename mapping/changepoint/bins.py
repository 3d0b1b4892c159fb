"""Pairs in bins, weighed by the number of independent pairs that they are worth, and the prior they suggest."""

from __future__ import annotations

import numpy as np

from relstudy.mapping.changepoint.model import ConjugatePrior
from relstudy.mapping.least_squares.plain import isotonic_fit
from relstudy.mapping.tied_scores import Pooled, into_bins, pool

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


def design_effect(
    scores: np.ndarray,
    judgments: np.ndarray,
    weights: np.ndarray | None,
    groups: np.ndarray | None,
    increasing: bool = True,
    sets: int = 4,
) -> float:
    """The variance of a level, over what it would be if pairs of one query were independent.

    Residuals from the monotone fit are summed by query inside `sets` neighbouring sets of scores of equal weight; the
    sums' squares are what queries make of the variance of a set's mean, the squares of the residuals what independent
    pairs would (Liang and Zeger 1986). Where queries differ and a query's scores lie close
    together, the effect is large; where each query's scores run over the whole range it is near 1.

    Parameters
    ----------
    scores, judgments, weights : shape (n,), weights above 0 or None for equal ones
    groups : query of each pair, shape (n,), or None where it is not known
    sets : as many as levels are expected

    Returns
    -------
    at least 1; 1 where groups are unknown, all of one query, or one pair each

    Examples
    --------
    >>> x, y = np.tile([0.0, 1.0], 4), np.repeat([1.0, -1.0, 1.0, -1.0], 2)
    >>> effect = design_effect(x, y, None, np.repeat(np.arange(4), 2), sets=1)
    >>> round(effect, 2), design_effect(x, y, None, np.arange(8))
    (2.67, 1.0)
    """
    if groups is None:
        return 1.0
    _, query = np.unique(groups, return_inverse=True)
    queries = int(query.max()) + 1
    if queries < 2 or queries == len(scores):
        return 1.0
    w = np.ones(len(scores)) if weights is None else weights
    pooled = pool(scores, judgments, w)
    fit = np.interp(scores, pooled.scores, isotonic_fit(pooled, increasing))
    residual = w * (judgments - fit)
    order = np.argsort(scores, kind="stable")
    middle = np.empty(len(scores))
    middle[order] = np.cumsum(w[order]) - w[order] / 2
    within = np.minimum((middle / w.sum() * sets).astype(int), sets - 1)
    sums = np.bincount(within * queries + query, residual, sets * queries)
    independent = float(residual @ residual)
    # a sample of few queries has spent one of them on the level
    effect = float(sums @ sums) / independent * queries / (queries - 1) if independent > 0 else 1.0
    return max(effect, 1.0)
