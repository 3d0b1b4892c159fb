"""The noise ceiling: how much of the differences between judgments any system could explain.

Judgments are means of few ratings, by people who differ. Even a system that knew what the whole population of raters
thinks of each pair would not correlate perfectly with them; its squared correlation is what can be explained.
"""

from __future__ import annotations

import numpy as np

from relstudy.calibration.averaging import judgment_moments
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import RaterNoise
from relstudy.calibration.reliability.two_way_intervals import (
    Figure,
    mean_over_pairs,
    squared_differences,
    variance_of_rounding,
)
from relstudy.common.results.estimates import Estimate


def noise_ceiling(panel: Panel, noise: RaterNoise, weight: np.ndarray | None = None) -> Estimate:
    """The share of the judgments' variance that is not error, 0 to 1; its interval is for raters and pairs like these.

    One less the mean squared standard error over the variance of the judgments. The square root is the correlation
    that a system would have which knew every pair's true value.

    Parameters
    ----------
    panel : calibrated ratings
    noise : the raters' noise and weights
    weight : of each pair, float array (P), such as one over its inclusion probability; None: alike

    Examples
    --------
    >>> from relstudy.calibration.methods.linear import none
    >>> from relstudy.calibration.rater_noise import rater_noise
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(20, 20, 60, seed=1).panel
    >>> 0.5 < noise_ceiling(panel, rater_noise(panel, none(panel))).value < 0.9
    True
    """
    decided = panel.decided()
    count, judgment, error = judgment_moments(decided, noise)
    rated = count > 0
    if np.count_nonzero(rated) < 2 or not np.isfinite(error[rated]).all():
        return Estimate.missing("no pair has two ratings, so noise cannot be separated from differences between pairs")
    own_share = np.where(rated, 1.0 if weight is None else weight, 0.0)
    share, deviation, variance = _spread(np.where(rated, judgment, 0.0), own_share)
    if variance <= 0:
        return Estimate.missing("all judgments are the same")
    typical = float(share @ np.where(rated, error, 0.0))
    # The mean squared error follows the variance within pairs, the judgments' variance the pairs drawn and, through
    # each judgment, the ratings.
    weight_of_rater = noise.weight[decided.rater]
    pull = weight_of_rater / decided.by_pair(weight_of_rater)[decided.pair] * (decided.rating - judgment[decided.pair])
    spread = Figure(variance, 2 * (share * deviation)[decided.pair] * pull, share * (deviation**2 - variance))
    several = count > 1
    inside = mean_over_pairs(decided, squared_differences(decided)) if several.any() else None
    if inside is None or inside.value <= 0:
        return Estimate(max(1 - typical / variance, 0.0))
    errors = inside.times(typical / inside.value)
    figure = errors.over(spread).times(-1.0, 1.0)
    estimate = figure.estimate(decided)
    ends = [None if end is None else min(max(end, 0.0), 1.0) for end in (estimate.low, estimate.high)]
    return Estimate(min(max(figure.value, 0.0), 1.0), ends[0], ends[1], estimate.reason)


def _spread(judgment: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Each pair's share of the weight, its deviation from the weighted mean (0 where it has no weight), and the
    variance (0 where it is of rounding alone, or one pair has all weight)."""
    share = weight / weight.sum()
    deviation = np.where(weight > 0, judgment - share @ judgment, 0.0)
    others = float(1 - share @ share)
    variance = float(share @ deviation**2) / others if others > 0 else 0.0
    return share, deviation, variance if variance > variance_of_rounding(judgment) else 0.0


def reachable_correlation(judgment: np.ndarray, standard_error: np.ndarray, weight: np.ndarray) -> float | None:
    """The correlation with these judgments of a system that knew every pair's true value, 0 to 1.

    The square root of `noise_ceiling`, from the judgments and their standard errors alone, and so without an interval.

    Parameters
    ----------
    judgment, standard_error, weight : float [pairs]; pairs with a NaN are left out

    Returns
    -------
    None where under two pairs have all three, or all judgments are the same

    Examples
    --------
    >>> judgment = np.array([1.0, 2.0, 4.0, 5.0])
    >>> round(reachable_correlation(judgment, np.full(4, 0.5), np.ones(4)), 3)
    0.962
    """
    usable = np.isfinite(judgment) & np.isfinite(standard_error) & np.isfinite(weight)
    if np.count_nonzero(usable) < 2:
        return None
    share, _, variance = _spread(judgment[usable], weight[usable])
    if variance <= 0:
        return None
    return float(np.sqrt(max(1 - float(share @ standard_error[usable] ** 2) / variance, 0.0)))
