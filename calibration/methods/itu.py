"""The models of video quality's recommendations: raters' biases taken out, and each rater's inconsistency estimated.

ITU-T P.913 (06/2021), clause 12.4, takes each rater's mean distance from the pairs' means out. ITU-T P.910 (11/2021),
annex E, and P.913, clause 12.6, take a rating for the pair's quality plus the rater's bias plus noise of the rater's
own size, and find all three by alternating projection (Li, Bampis, Krasula, Janowski and Katsavounidis 2020). The
likelihood has no top where all qualities are those that one rater gave: with few raters the projection may end there,
and that rater then decides alone.
"""

from __future__ import annotations

import numpy as np

from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.panel import Panel

ROUNDS = 1000
CLOSE = 1e-8
LEAST_VARIANCE = 1e-8
"""Added to a rater's variance, so that one who never errs has a finite weight."""
ROUNDING = 1e-9
"""Distances that are a bound but for less than this count as beyond it."""


def p913(panel: Panel) -> Lines:
    """Each rater's bias taken out (P.913, 12.4): the mean distance of their ratings from their pairs' means.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("aabb"), "pair_id": list("pqpq"), "rating": [1, 3, 3, 5]})
    >>> p913(Panel.from_frame(frame)).offset.tolist()
    [1.0, -1.0]
    """
    decided = panel.decided()
    quality = decided.pair_means(decided.rating)
    bias = decided.rater_means(decided.rating - quality[decided.pair])
    rest = decided.rating - quality[decided.pair] - bias[decided.rater]
    left = decided.rater_means(rest**2) / np.maximum(decided.by_rater(), 1)
    return Lines("p913", np.ones(panel.n_raters), -bias, 0.0, offset_variance=left)


def p910(panel: Panel) -> Lines:
    """Each rater's bias and inconsistency (P.910, annex E), by maximum likelihood.

    Biases have mean 0, and ratings weigh one over their rater's variance.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("aabb"), "pair_id": list("pqpq"), "rating": [1, 3, 2, 5]})
    >>> lines = p910(Panel.from_frame(frame))
    >>> lines.offset.round(3).tolist(), lines.rater_variance.round(4).tolist()
    ([0.75, -0.75], [0.0625, 0.0625])
    """
    decided = panel.decided()
    quality = decided.pair_means(decided.rating)
    bias = decided.rater_means(decided.rating - quality[decided.pair])
    variance = np.ones(panel.n_raters)
    for _ in range(ROUNDS):
        rest = decided.rating - quality[decided.pair] - bias[decided.rater]
        mean = decided.rater_means(rest)
        variance = decided.rater_means((rest - mean[decided.rater]) ** 2)
        weight = 1.0 / (variance + LEAST_VARIANCE)
        mass = decided.by_pair(weight[decided.rater])
        product = decided.by_pair(weight[decided.rater] * (decided.rating - bias[decided.rater]))
        before, quality = quality, product / np.where(mass > 0, mass, 1.0)
        bias = decided.rater_means(decided.rating - quality[decided.pair])
        if float(np.linalg.norm(quality - before)) < CLOSE:
            break
    rated = decided.by_rater() > 0
    bias = np.where(rated, bias - bias[rated].mean(), 0.0) if rated.any() else bias
    left = variance / np.maximum(decided.by_rater(), 1)
    floored = variance + LEAST_VARIANCE
    return Lines("p910", np.ones(panel.n_raters), -bias, 0.0, offset_variance=left, rater_variance=floored)


def screened(panel: Panel, fewest: int = 5) -> np.ndarray:
    """The raters whom ITU-R BT.500-15, annex 1, clause A1-2.3.1, would reject, bool (R).

    A rating is far out where it is two standard deviations from its pair's mean, or the square root of 20 where the
    pair's ratings are not nearly normal (kurtosis from 2 to 4). A rater is named who is far out on more than a
    twentieth of their pairs, and on both sides nearly alike.

    Parameters
    ----------
    fewest : pairs with fewer ratings have no part
    """
    decided = panel.decided()
    part = decided.keep(decided.by_pair()[decided.pair] >= fewest)
    away = part.rating - part.pair_means(part.rating)[part.pair]
    away = away / (np.abs(away).max(initial=0.0) or 1.0)  # in whatever unit, no power of it overflows
    square, fourth = part.pair_means(away**2), part.pair_means(away**4)
    kurtosis = np.where(square > 0, fourth / np.where(square > 0, square, 1.0) ** 2, np.nan)
    normal = (kurtosis >= 2) & (kurtosis <= 4)
    bound = np.where(normal, 2.0, np.sqrt(20.0)) * np.sqrt(square) * (1 - ROUNDING)
    apart = square[part.pair] > 0
    above = part.by_rater(((away >= bound[part.pair]) & apart) * 1.0)
    below = part.by_rater(((away <= -bound[part.pair]) & apart) * 1.0)
    out, rated = above + below, np.maximum(part.by_rater(), 1)
    lean = np.abs(above - below) / np.where(out > 0, out, 1.0)
    found = (out / rated > 0.05) & (out > 0) & (lean < 0.3)
    return np.zeros(panel.n_raters, dtype=bool) if found.all() else np.asarray(found)
