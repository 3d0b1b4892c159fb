"""A cumulative-link model of ratings, for those who want one: categories, not numbers, and two effects a rater.

P(rating <= k) = logistic(c_k - (a_j + b_j theta_i)): pairs i have a worth theta_i ~ N(0, 1), raters j a leniency a_j
and a sharpness b_j > 0, both from populations whose spread is estimated; the thresholds c_k are shared. Unlike a
line, the model knows that the scale ends. It is fitted by variational inference (ADVI) in PyMC.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.errors import RelstudyError
from calibration.linear import Lines
from calibration.panel import Panel

MOST_CATEGORIES = 20
ITERATIONS = 12_000
DRAWS = 500


@dataclass(frozen=True)
class Ordinal:
    """A fitted cumulative-link model.

    Parameters
    ----------
    calibrated : each rating on the common scale, float array (N), NaN = undecided
    lines : the least-squares line of each rater's calibrated values on their ratings, to read beside other methods
    categories : the K distinct ratings
    scores : calibrated value of each category by each rater, float array (R, K)
    leniency, sharpness : posterior means of a_j and b_j, float arrays (R)
    thresholds : posterior means of c_k, float array (K - 1)
    """

    calibrated: np.ndarray
    lines: Lines
    categories: np.ndarray
    scores: np.ndarray
    leniency: np.ndarray
    sharpness: np.ndarray
    thresholds: np.ndarray


def fit_ordinal(panel: Panel, *, seed: int = 0, iterations: int = ITERATIONS) -> Ordinal:
    """Fit the model; a rating's calibrated value is what it tells of its pair's worth, in rating units.

    The value of category k by rater j is the mean of theta given that one rating, over theta ~ N(0, 1); a common line
    then gives all calibrated ratings the mean of the raw ones and, on average, the spread of a rater's.

    Parameters
    ----------
    panel : ratings with 2 to 20 distinct values
    seed : for the variational fit
    iterations : steps of the fit

    Raises
    ------
    RelstudyError
        when there are too few or too many distinct ratings, or the fit does not settle on numbers
    """
    decided = panel.decided()
    categories, code = np.unique(decided.rating, return_inverse=True)
    if not 2 <= len(categories) <= MOST_CATEGORIES:
        raise RelstudyError(
            f"the ordinal method takes 2 to {MOST_CATEGORIES} distinct ratings, and these have {len(categories)}"
        )
    leniency, sharpness, thresholds = _posterior_means(decided, code, len(categories), seed, iterations)
    worth = category_scores(leniency, sharpness, thresholds)
    raw = worth[decided.rater, code]
    spread = _typical_spread(decided, decided.rating) / max(_typical_spread(decided, raw), 1e-12)
    scores = decided.rating.mean() + spread * (worth - raw.mean())
    calibrated = np.full(len(panel.rating), np.nan)
    calibrated[~np.isnan(panel.rating)] = scores[decided.rater, code]
    return Ordinal(
        calibrated=calibrated,
        lines=_lines(panel, calibrated),
        categories=categories,
        scores=scores,
        leniency=leniency,
        sharpness=sharpness,
        thresholds=thresholds,
    )


def category_scores(leniency: np.ndarray, sharpness: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """E[theta | rating k by rater j] for theta ~ N(0, 1), by quadrature; float array (R, K), rising in k.

    Examples
    --------
    >>> category_scores(np.array([0.0]), np.array([1.0]), np.array([0.0])).round(3).tolist()
    [[-0.413, 0.413]]
    """
    from scipy.special import expit

    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    predictor = leniency[:, None] + sharpness[:, None] * nodes[None, :]
    below = expit(thresholds[None, None, :] - predictor[:, :, None])
    ends = [np.zeros((*predictor.shape, 1)), below, np.ones((*predictor.shape, 1))]
    chance = np.diff(np.concatenate(ends, axis=2), axis=2)
    joint = weights[None, :, None] * np.maximum(chance, 1e-300)
    return np.asarray((joint * nodes[None, :, None]).sum(axis=1) / joint.sum(axis=1))


def _posterior_means(
    panel: Panel, code: np.ndarray, categories: int, seed: int, iterations: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import logging

    import pymc as pm

    share = np.cumsum(np.bincount(code, minlength=categories))[:-1] / len(code)
    start = np.log(share / (1 - share)) * 1.5
    quiet = logging.getLogger("pymc")
    level = quiet.level
    quiet.setLevel(logging.ERROR)
    try:
        with pm.Model():
            theta = pm.Normal("theta", 0, 1, shape=panel.n_pairs)
            leniency_spread = pm.HalfNormal("leniency_spread", 1.5)
            sharpness_spread = pm.HalfNormal("sharpness_spread", 0.5)
            leniency = pm.Deterministic("leniency", leniency_spread * pm.Normal("z_a", 0, 1, shape=panel.n_raters))
            typical = pm.Normal("typical_log_sharpness", 0.5, 1)
            sharpness = pm.Deterministic(
                "sharpness",
                pm.math.exp(typical + sharpness_spread * pm.Normal("z_b", 0, 1, shape=panel.n_raters)),
            )
            thresholds = pm.Normal(
                "thresholds",
                0,
                5,
                shape=categories - 1,
                initval=start,
                transform=pm.distributions.transforms.ordered if categories > 2 else None,
            )
            predictor = leniency[panel.rater] + sharpness[panel.rater] * theta[panel.pair]
            pm.OrderedLogistic("rating", eta=predictor, cutpoints=thresholds, observed=code, compute_p=False)
            approximation = pm.fit(
                iterations,
                method="advi",
                random_seed=seed,
                progressbar=False,
                obj_optimizer=pm.adam(learning_rate=0.02),
            )
            draws = approximation.sample(DRAWS, random_seed=seed).posterior
    finally:
        quiet.setLevel(level)
    means = [draws[name].mean(("chain", "draw")).to_numpy() for name in ("leniency", "sharpness", "thresholds")]
    if not all(np.isfinite(values).all() for values in means):
        raise RelstudyError("the ordinal model did not settle on numbers; use --method pooled or shrunk")
    return means[0], means[1], np.sort(means[2])


def _typical_spread(panel: Panel, values: np.ndarray) -> float:
    """Geometric mean over raters of the spread of their values."""
    n = np.maximum(panel.by_rater(), 1)
    centred = values - (panel.by_rater(values) / n)[panel.rater]
    spread = np.sqrt(panel.by_rater(centred * centred) / n)
    spread = spread[spread > 1e-9]
    return float(np.exp(np.log(spread).mean())) if len(spread) else 0.0


def _lines(panel: Panel, calibrated: np.ndarray) -> Lines:
    part = panel.keep(~np.isnan(calibrated))
    values = calibrated[~np.isnan(calibrated)]
    n = np.maximum(part.by_rater(), 1)
    mean_in, mean_out = part.by_rater(part.rating) / n, part.by_rater(values) / n
    x = part.rating - mean_in[part.rater]
    square = part.by_rater(x * x)
    usable = square > 1e-9
    slope = np.where(usable, part.by_rater(x * values) / np.where(usable, square, 1.0), 1.0)
    return Lines("ordinal", slope, mean_out - slope * mean_in)
