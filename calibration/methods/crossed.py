"""`crossed`: raters random, pairs fixed, over all pairs that several raters share.

A rater's offset is compared only with other raters' on the same pairs, so it doesn't matter how pairs were handed out:
nothing is assumed of the pairs that a rater happened to get. The base block is only the pairs that most raters share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.methods.shrinkage import Shrunk, best_share, shrink_spreads, tuning_rows
from relstudy.calibration.panel import Panel
from relstudy.common.runtime.errors import RelstudyError

TOLERANCE = 1e-6
MOST_STEPS = 500


@dataclass(frozen=True)
class Effects:
    """Rater offsets of y = pair + rater + noise with pairs fixed and raters random.

    Parameters
    ----------
    offset : best linear unbiased predictions, float array (R)
    variance : of what is left of each rater's offset after prediction (diagonal approximation), float array (R)
    level : each pair's level, the mean of its ratings less their raters' offsets, float array (P)
    between, noise : variance between raters, and of one rating
    """

    offset: np.ndarray
    variance: np.ndarray
    level: np.ndarray
    between: float
    noise: float


def crossed(panel: Panel) -> Lines:
    """Offsets by crossed effects; log spreads relative to the levels of the pairs that a rater saw, both shrunk.

    A rater's line turns around the mean level of their own pairs, which may be better or worse than the others'.

    Raises
    ------
    RelstudyError
        where no pair has two ratings
    """
    everything = panel.decided()
    shared = everything.keep(everything.by_pair()[everything.pair] > 1)
    if not len(shared.rating):
        raise RelstudyError("crossed compares raters on pairs that several rated, and no pair has two ratings")
    effects = crossed_effects(shared)
    n = shared.by_rater()
    rated = np.maximum(n, 1)
    seen = effects.level[shared.pair]
    centre = np.where(n > 0, shared.by_rater(seen) / rated, float(seen.mean()))
    spreads = _relative_spreads(shared, effects, seen - centre[shared.rater], n)
    some = tuning_rows(shared)
    sample = shared if some is None else shared.keep(some)
    deviation = sample.rating - centre[sample.rater] - effects.offset[sample.rater]
    share = best_share(sample, deviation, spreads.value[sample.rater], centre[sample.rater])
    slope = np.exp(-share * spreads.value)
    return Lines("crossed", slope, centre - slope * (centre + effects.offset), share, effects.variance)


def crossed_effects(panel: Panel) -> Effects:
    """Variances by fitting constants (Henderson's method III), offsets by the mixed-model equations.

    With pairs fixed, both sets of normal equations reduce to the raters; they are solved by conjugate gradients on
    sums over rows, so that no matrix is formed. Within-pair sums of squares before and after the raters are fitted
    have expectations (N - P) between + (N - P) noise and (N - P - R + components) noise.

    Parameters
    ----------
    panel : decided ratings of pairs that have at least two

    References
    ----------
    Henderson, C. R. (1953). Estimation of variance and covariance components. Biometrics 9, 226-252.
    """
    count, n = panel.by_pair(), panel.by_rater()
    several = np.maximum(count, 1)
    rows, pairs, raters = len(panel.rating), int(np.count_nonzero(count)), int(np.count_nonzero(n))
    centred = panel.rating - (panel.by_pair(panel.rating) / several)[panel.pair]
    right = panel.by_rater(centred)
    precision = n - panel.by_rater((1 / several)[panel.pair])

    def left(offset: np.ndarray, ridge: float) -> np.ndarray:
        values = offset[panel.rater]
        values = values - (panel.by_pair(values) / several)[panel.pair]
        return panel.by_rater(values) + ridge * offset

    fixed = _conjugate_gradients(lambda offset: left(offset, 0.0), right, precision)
    within = float(centred @ centred)
    explained = float(right @ fixed)
    contrasts = raters - components(panel)
    noise = max(within - explained, 0.0) / max(rows - pairs - contrasts, 1)
    between = max((explained - contrasts * noise) / max(rows - pairs, 1), 0.0)
    if between <= 0:
        offset = np.zeros(panel.n_raters)
        noise = within / max(rows - pairs, 1)
        variance = np.zeros(panel.n_raters)
    else:
        ridge = noise / between
        offset = _conjugate_gradients(lambda value: left(value, ridge), right, precision + ridge)
        variance = between * ridge / (precision + ridge) if ridge > 0 else np.zeros(panel.n_raters)
    level = panel.by_pair(panel.rating - offset[panel.rater]) / several
    return Effects(offset, variance, level, between, noise)


def components(panel: Panel) -> int:
    """Into how many groups raters fall that share no pair, directly or by way of others."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    edges = csr_array(
        (np.ones(len(panel.rater), dtype=np.int8), (panel.rater, panel.n_raters + panel.pair)),
        shape=(panel.n_raters + panel.n_pairs,) * 2,
    )
    label = connected_components(edges, directed=False)[1]
    return len(np.unique(label[panel.rater]))


def _relative_spreads(panel: Panel, effects: Effects, seen: np.ndarray, n: np.ndarray) -> Shrunk:
    """Log spread of each rater over that expected of their pairs' levels (`seen`, a row each) and the noise, shrunk.

    The pairs being given, only the part of a spread that is noise varies by chance: the variance of a log spread of
    normal values is multiplied by 1 - r^2, with r the share of the levels in it.
    """
    rated = np.maximum(n, 1)
    level_variance = panel.by_rater(seen * seen) / np.maximum(n - 1, 1)
    level_variance -= panel.by_rater((effects.noise / np.maximum(panel.by_pair(), 1))[panel.pair]) / rated
    level_variance = np.maximum(level_variance, 0.0)
    expected = level_variance + effects.noise
    deviation = panel.rating - (panel.by_rater(panel.rating) / rated)[panel.rater]
    usable = expected > 1e-12
    safe = np.where(usable, expected, 1.0)
    relative = deviation / np.sqrt(safe)[panel.rater]
    by_chance = np.where(usable, 1 - (level_variance / safe) ** 2, 1.0)
    return shrink_spreads(panel, relative, panel.by_rater(relative * relative), n, by_chance).shrunk


def _conjugate_gradients(
    left: Callable[[np.ndarray], np.ndarray], right: np.ndarray, diagonal: np.ndarray
) -> np.ndarray:
    """Solve a symmetric, positive semi-definite and consistent system, preconditioned by its diagonal."""
    scale = 1 / np.maximum(diagonal, 1e-12)
    value = np.zeros_like(right)
    residual = right.copy()
    step = scale * residual
    size = float(residual @ step)
    goal = TOLERANCE**2 * size
    for _ in range(MOST_STEPS):
        if size <= goal or size == 0:
            break
        moved = left(step)
        length = size / max(float(step @ moved), 1e-300)
        value += length * step
        residual -= length * moved
        scaled = scale * residual
        size, before = float(residual @ scaled), size
        step = scaled + size / before * step
    return value
