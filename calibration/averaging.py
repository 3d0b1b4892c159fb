"""Calibrated ratings averaged into judgments, each with its standard error."""

from __future__ import annotations

import numpy as np

from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import RaterNoise
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.scales import KnownScale, Scale

PRIOR_RATINGS = 8
NORMAL = 1.96
DIGITS = 12
"""Of judgments: two that are equal but for the order in which ratings were added are equal, and so are their ranks."""


def make_judgments(
    panel: Panel, calibrated: np.ndarray, scale: KnownScale | None = None, noise: RaterNoise | None = None
) -> Judgments:
    """Average calibrated ratings into judgments.

    Parameters
    ----------
    panel : the ratings
    calibrated : their values on the common scale, float array (N), NaN = undecided
    scale : the scale of the ratings; None takes it from the panel's ends
    noise : each rater's weight and errors; None counts all alike and takes their offsets for known

    Returns
    -------
    Judgments, whose frame holds one row per pair with at least one rating, in order of first appearance: pair_id,
    query_id, result_id, judgment, n_ratings, standard_error, the 95 % interval judgment_low to judgment_high (all three
    NaN where no pair has two ratings), relevant_share (share of its ratings above the scale's cut, which relevance_cut
    names, each as far as its rater looked), and the probabilities that the ratings came with

    Notes
    -----
    A judgment's variance is that of a weighted mean of independent ratings: its raters' noise, times how noisy pairs at
    its level are (`noise_by_level`), plus what is left of the raters' offsets. Without a noise by level, the pair's own
    sum of squares over the raters' noise, Q, counts beside eight more ratings, (8 + Q) / (8 + n - 1). The interval
    is judgment +- 1.96 standard errors, widened to the values that its level makes possible, within the scale.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": ["a", "b"], "query_id": ["q", "q"], "result_id": ["x", "x"],
    ...                       "rating": [2.0, 4.0]})
    >>> judgments = make_judgments(Panel.from_frame(frame), np.array([2.0, 4.0]))
    >>> judgments.frame[["judgment", "standard_error"]].values.tolist()
    [[3.0, 1.0]]
    """
    decided = panel.with_rating(calibrated).decided()
    count, mean, variance = judgment_moments(decided, noise)
    rated = count > 0
    frame = panel.pairs.loc[rated].reset_index(drop=True)
    if "pair_id" not in frame:
        frame.insert(0, "pair_id", frame["query_id"].astype("str") + "|" + frame["result_id"].astype("str"))
    frame["judgment"] = np.round(mean[rated], DIGITS)
    frame["n_ratings"] = count[rated].astype(int)
    frame = frame.assign(**{name: values[rated] for name, values in _errors(panel, mean, variance, noise).items()})
    if scale is None:
        scale = KnownScale(Scale.between(panel.low, panel.high), "stated", "the ends of the panel's scale")
    cut = scale.scale.cut
    counts = None if noise is None or noise.care is None else noise.care[decided.rater]
    above = decided.by_pair((decided.rating > cut) * (1.0 if counts is None else counts))
    frame["relevant_share"] = (above / np.where(rated, decided.by_pair(counts), 1.0))[rated]
    frame["relevance_cut"] = cut
    ratings = decided.pairs[PAIR].iloc[decided.pair].reset_index(drop=True) if set(PAIR) <= set(panel.pairs) else None
    if ratings is not None:
        ratings["calibrated"] = decided.rating
        ratings["rater_id"] = decided.raters[decided.rater]
        ratings["rating"] = panel.rating[~np.isnan(calibrated)]
        ratings["weight"] = 1.0 if noise is None else noise.weight[decided.rater]
        if counts is not None:
            ratings["care"] = counts
    undecided = None
    if ratings is not None:
        seen = np.bincount(panel.pair, minlength=panel.n_pairs) > 0
        undecided = panel.pairs.loc[seen & ~rated, PAIR].reset_index(drop=True)
    return Judgments(frame.assign(**scale.scale.columns()), scale, ratings=ratings, undecided=undecided)


def errors_of(panel: Panel, calibrated: np.ndarray, noise: RaterNoise) -> dict[str, np.ndarray]:
    """standard_error, judgment_low and judgment_high of each rated pair, as in `make_judgments`; float arrays."""
    count, mean, variance = judgment_moments(panel.with_rating(calibrated).decided(), noise)
    return {name: values[count > 0] for name, values in _errors(panel, mean, variance, noise).items()}


def _errors(panel: Panel, mean: np.ndarray, variance: np.ndarray, noise: RaterNoise | None) -> dict[str, np.ndarray]:
    error = np.where(np.isfinite(variance), np.sqrt(variance), np.nan)
    low, high = mean - NORMAL * error, mean + NORMAL * error
    if noise is not None and noise.by_level is not None:
        low, high = np.fmin(low, noise.by_level.low), np.fmax(high, noise.by_level.high)
    low, high = np.minimum(np.maximum(low, panel.low), mean), np.maximum(np.minimum(high, panel.high), mean)
    return {"standard_error": error, "judgment_low": low, "judgment_high": high}


def judgment_moments(decided: Panel, noise: RaterNoise | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each pair's number of ratings, judgment and squared standard error, float arrays (P); see `make_judgments`."""
    count = decided.by_pair()
    if noise is None:
        noise = _alike(decided, count)
    weight = noise.weight[decided.rater]
    mass = np.where(count > 0, decided.by_pair(weight), 1.0)
    mean = decided.by_pair(weight * decided.rating) / mass
    variance_of_rater = noise.variance[decided.rater]
    squares = decided.by_pair((decided.rating - mean[decided.pair]) ** 2 / np.maximum(variance_of_rater, 1e-300))
    if noise.by_level is None:
        disagreement = (PRIOR_RATINGS + squares) / (PRIOR_RATINGS + np.maximum(count - 1, 0))
    else:
        disagreement = noise.by_level.noise
    by_chance = decided.by_pair(weight**2 * variance_of_rater) / mass**2
    by_rater = decided.by_pair(weight**2 * noise.offset_variance[decided.rater]) / mass**2
    return count, mean, by_chance * disagreement + by_rater


def _alike(decided: Panel, count: np.ndarray) -> RaterNoise:
    """All raters with the mean over pairs of the variance within a pair, and nothing left of their offsets."""
    squares = decided.by_pair((decided.rating - decided.pair_means(decided.rating)[decided.pair]) ** 2)
    several = count > 1
    typical = float((squares[several] / (count[several] - 1)).mean()) if several.any() else np.nan
    same = np.ones(decided.n_raters)
    return RaterNoise(typical * same, 0 * same, same, 0.0)
