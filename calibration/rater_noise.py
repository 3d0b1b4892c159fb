"""Noise of each rater: weights of ratings in their judgments, and standard errors of judgments.

A rater who answers at random says little about a pair, and a mean that counts all raters alike carries that noise. The
best weights are one over the noise; each noise is itself uncertain, so its logarithm is shrunk towards the panel's as
spreads are, and the share of it that is used is the one under which held-out ratings agree best with the others' mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import polygamma

from relstudy.calibration.methods.by_name import unit_of
from relstudy.calibration.methods.crossed import crossed_effects
from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.methods.shrinkage import DEFAULT_SHARE, ENOUGH, SHARES, shrink, top_share
from relstudy.calibration.noise_by_level import ByLevel
from relstudy.calibration.panel import Panel

ROUNDS = 12
MOST_ROWS = 2_000_000


@dataclass(frozen=True)
class RaterNoise:
    """Errors of R raters after calibration; float arrays (R), squared ratings where not said otherwise.

    Parameters
    ----------
    variance : noise of one rating, shrunk; NaN where no pair has two ratings
    offset_variance : of the offset that calibration left
    weight : of a rating in its judgment, geometric mean 1 but for the care that is in it
    share : of the log noise that the weights use, 0 (all alike) to 1 (one over the noise)
    care : how far each rater's ratings count in shares of ratings, 0 to 1; None: wholly
    by_level : how noise depends on a pair's level; None if unknown
    """

    variance: np.ndarray
    offset_variance: np.ndarray
    weight: np.ndarray
    share: float
    care: np.ndarray | None = None
    by_level: ByLevel | None = None

    def with_care(self, care: np.ndarray) -> RaterNoise:
        """The same where ratings count as far as their rater looked, float array (R)."""
        return self if (care == 1).all() else replace(self, weight=self.weight * care, care=care)


def rater_noise(panel: Panel, lines: Lines, *, weighted: bool = True) -> RaterNoise:
    """Noise of each rater from calibrated ratings of pairs that others rated too, and the weights that follow.

    A rating's deviation from its pair's mean has expectation s_j (1 - 2 / n) + S / n^2, with S the sum of its n raters'
    noise variances s; these are fitted by multiplying each with its observed over its expected sum of squares until
    both agree. Each rater's mean deviation is taken out first, for the offset's error is counted apart.

    Parameters
    ----------
    panel : calibrated ratings
    lines : the lines that calibrated them
    weighted : False for plain means

    Examples
    --------
    >>> from relstudy.calibration.methods.by_name import fit_lines
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> panel = simulate_panel(20, 20, 60, noise_spread=0.8, seed=1).panel
    >>> lines = fit_lines(panel, "pooled")
    >>> noise = rater_noise(panel.with_rating(lines.calibrated(panel)), lines)
    >>> bool(noise.share > 0.4), bool(np.ptp(np.log(noise.weight)) > 1)
    (True, True)
    """
    decided = panel.decided()
    several = decided.by_pair() > 1
    step = -(-int(several[decided.pair].sum()) // MOST_ROWS)
    if step > 1:
        several &= np.arange(panel.n_pairs) % step == 0
    shared = decided.keep(several[decided.pair])
    alike = np.ones(panel.n_raters)
    if not len(shared.rating):
        unknown = np.full(panel.n_raters, np.nan)
        return RaterNoise(unknown, unknown, alike, 0.0)
    unit = unit_of(shared)  # what counts as rounding error must not depend on the scale's unit
    variance, log_noise = _variances(shared.with_rating(shared.rating / unit))
    variance = variance * unit**2
    offset_variance = _offset_variance(decided, shared, lines, variance)
    if weighted and lines.rater_variance is not None:
        logs = np.log(lines.rater_variance)
        return RaterNoise(variance, offset_variance, np.exp(logs.mean() - logs), 1.0)
    share = _weight_share(shared, log_noise) if weighted else 0.0
    weight = np.exp(-2 * share * (log_noise - log_noise.mean()))
    return RaterNoise(variance, offset_variance, weight, share)


def _variances(shared: Panel) -> tuple[np.ndarray, np.ndarray]:
    """Each rater's noise variance, shrunk, and its log standard deviation over the panel's; (R) each."""
    count, n = shared.by_pair(), shared.by_rater()
    several = np.maximum(count, 1)
    deviation = shared.rating - (shared.by_pair(shared.rating) / several)[shared.pair]
    deviation = deviation - shared.rater_means(deviation)[shared.rater]
    own_share = shared.by_rater((1 - 2 / several)[shared.pair])
    freedom = shared.by_rater((1 - 1 / several)[shared.pair])
    square = shared.by_rater(deviation * deviation)
    usable = (freedom > 2) & (square > 1e-12)
    left = np.where(usable, 1 - 1 / np.maximum(freedom, 2), 1.0)
    total = max(float(square.sum()), 1e-12)
    raters = int(np.count_nonzero(n))
    typical = total / max(float(freedom.sum()) - raters * (1 - 1 / max(raters, 1)), 1.0)
    if np.count_nonzero(usable) < 2:
        return np.full(shared.n_raters, typical), np.zeros(shared.n_raters)
    variance = np.full(shared.n_raters, typical)
    for _ in range(ROUNDS):
        others = shared.by_rater((shared.by_pair(variance[shared.rater]) / several**2)[shared.pair])
        expected = (variance * own_share + others) * left
        ratio = np.where(usable, square / np.maximum(expected, 1e-12), 1.0)
        variance = variance * np.clip(ratio, 0.25, 4.0)
        if np.abs(np.log(np.clip(ratio, 0.25, 4.0))).max() < 0.01:
            break
    kurtosis = float(
        shared.by_rater(deviation**4)[usable].sum() / np.sum(square[usable] ** 2 / np.maximum(n, 1)[usable])
    )
    mixed = expected / np.maximum(variance * freedom * left, 1e-12)
    logs = np.where(usable, 0.5 * np.log(np.maximum(variance, 1e-12)), 0.0)
    sampling = polygamma(1, np.maximum(freedom - 1, 1) / 2) / 4 * max(kurtosis - 1, 0.2) / 2 * np.maximum(mixed, 1) ** 2
    shrunk = shrink(logs, sampling, usable)
    fitted = np.exp(2 * shrunk.value)
    # The shrunken variances add up to the same within-pair sum of squares.
    return fitted * typical * float(freedom.sum()) / float(freedom @ fitted), shrunk.value


def _offset_variance(decided: Panel, shared: Panel, lines: Lines, variance: np.ndarray) -> np.ndarray:
    """Variance of what is left of each rater's offset, on the calibrated scale, by what the method rests on."""
    if lines.offset_variance is not None:
        return lines.slope**2 * lines.offset_variance
    if lines.method in ("mean", "zscore"):
        base = decided.by_rater(decided.base[decided.pair])
        return np.where(base > 0, variance / np.maximum(base, 1), np.inf)
    left = np.full(shared.n_raters, crossed_effects(shared).between)
    return left if lines.method == "none" else left + variance / np.maximum(shared.by_rater(), 1)


def _weight_share(shared: Panel, log_noise: np.ndarray) -> float:
    """The share of the log noise under which ratings agree best with the weighted mean of the others', 0 to 1."""
    if len(shared.rating) < ENOUGH or not np.any(log_noise):
        return 0.0
    agreement = []
    for share in SHARES:
        mean = others_mean(shared, np.exp(-2 * share * log_noise))
        agreement.append(float(np.corrcoef(shared.rating, mean)[0, 1]) if np.ptp(mean) > 0 else np.nan)
    if not np.isfinite(agreement).all() or np.ptp(agreement) < 1e-12:
        return DEFAULT_SHARE
    return top_share(agreement)


def others_mean(panel: Panel, weight: np.ndarray) -> np.ndarray:
    """For each rating, the mean of the other raters' of the same pair, weighted by rater; float array (N)."""
    weights = weight[panel.rater]
    product = weights * panel.rating
    total, mass = panel.by_pair(product)[panel.pair], panel.by_pair(weights)[panel.pair]
    return (total - product) / (mass - weights)
