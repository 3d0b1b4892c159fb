"""Lines whose moments know how uncertain they are: `shrunk` (base block) and `pooled` (all ratings).

A rater with twenty base ratings has a noisy mean and a noisier spread; Eq. 2.1 takes both at their word. Here each
offset and log spread is shrunk towards the panel's by its sampling variance (empirical Bayes), and the share of the
spread that is taken out is the one under which held-out ratings agree best with the other raters'. Where raters
differ by a stretch of the whole scale that share is near 1; where they differ in how much noise they add, or the
scale's ends compress them, it is smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import polygamma

from relstudy.calibration.methods.linear import Lines, in_base
from relstudy.calibration.panel import Panel

SHARES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
DEFAULT_SHARE = 0.75
"""Used where too few pairs have two ratings to choose the share from the data."""
ENOUGH = 20
TUNING_ROWS = 400_000
ROUNDS = 12


@dataclass(frozen=True)
class Shrunk:
    """Empirical-Bayes values for R raters.

    Parameters
    ----------
    value : shrunken values less the panel's mean, float array (R)
    raw : the values themselves, less the same mean
    variance : their sampling variances
    weight : the share of each value that is kept, 0 to 1
    between : variance between raters
    """

    value: np.ndarray
    raw: np.ndarray
    variance: np.ndarray
    weight: np.ndarray
    between: float

    @property
    def left(self) -> np.ndarray:
        """Variance of what is left of each value once the shrunken one is taken out, float array (R)."""
        return self.between * (1 - self.weight)


def shrink(values: np.ndarray, variance: np.ndarray, usable: np.ndarray) -> Shrunk:
    """Shrink values towards their mean in proportion to their sampling variance.

    Parameters
    ----------
    values, variance : float arrays (R)
    usable : bool array (R); the rest get the panel's mean

    Examples
    --------
    >>> result = shrink(np.array([-1.0, 1.0]), np.array([1.0, 1.0]), np.array([True, True]))
    >>> result.weight.tolist()
    [0.5, 0.5]
    """
    if usable.sum() < 2:
        zero = np.zeros(len(values))
        return Shrunk(zero, zero, variance, zero, 0.0)
    centre = values[usable].mean()
    between = max(float(values[usable].var(ddof=1) - variance[usable].mean()), 0.0)
    weight = np.where(usable, between / (between + variance), 0.0) if between > 0 else np.zeros(len(values))
    raw = np.where(usable, values - centre, 0.0)
    return Shrunk(weight * raw, raw, variance, weight, between)


def shrunk(panel: Panel) -> Lines:
    """Empirical-Bayes moments over the base block.

    Raises
    ------
    RelstudyError
        when no base pair has a rating
    """
    block = in_base(panel)
    y, rater, pair = block.rating, block.rater, block.pair
    n = block.by_rater()
    rated = np.maximum(n, 1)
    item_mean = block.pair_means(y)
    level = block.rater_means(y)
    raw = block.rater_means(y - item_mean[pair])
    residual = y - item_mean[pair] - raw[rater]
    degrees = int(len(y) - np.count_nonzero(n) - np.count_nonzero(block.by_pair()) + 1)
    noise = float(residual @ residual) / max(degrees, 1)
    offsets = shrink(raw, noise / rated, n > 0)
    square = block.by_rater((y - level[rater]) ** 2)
    spreads = shrink_spreads(block, y - level[rater], square, n)
    # The share is chosen on ratings whose rater's moments leave that rating out: the block is too short to be its
    # own judge.
    fewer = np.maximum(n[rater] - 1, 1)
    centre = raw[rater] - offsets.raw[rater]
    offset_without = offsets.weight[rater] * ((n[rater] * raw[rater] - (y - item_mean[pair])) / fewer - centre)
    square_without = square[rater] - (y - level[rater]) ** 2 * n[rater] / fewer
    log_without = 0.5 * np.log(np.maximum(square_without, 1e-12) / np.maximum(n[rater] - 2, 1))
    shift = np.where(square_without > 1e-9, log_without - spreads.centre, 0.0)
    share = best_share(block, y - y.mean() - offset_without, spreads.shrunk.weight[rater] * shift)
    return _lines("shrunk", float(y.mean()), offsets, spreads.shrunk.value, share)


def pooled(panel: Panel) -> Lines:
    """Empirical-Bayes moments over all of a rater's ratings, base and unique.

    Rests on pairs having been handed out at random, so that every rater's pairs have the same expected mean and
    spread. Where a pair has several ratings its own quality is estimated from the others' ratings and taken out, to
    the degree that they determine it: the offsets are those of a model with random raters and random pairs.
    """
    everything = panel.decided()
    centre, centred = centred_by_block(everything)
    n = everything.by_rater()
    offsets = crossed_offsets(everything, centred, n)
    deviation = centred - everything.rater_means(centred)[everything.rater]
    square = everything.by_rater(deviation * deviation)
    log_spread = shrink_spreads(everything, deviation, square, n).shrunk.value
    some = tuning_rows(everything)
    sample, centred = (everything, centred) if some is None else (everything.keep(some), centred[some])
    share = best_share(sample, centred - offsets.value[sample.rater], log_spread[sample.rater])
    return _lines("pooled", centre, offsets, log_spread, share)


def _lines(method: str, centre: float, offsets: Shrunk, log_spread: np.ndarray, share: float) -> Lines:
    """The line of each rater that takes out their offset and a share of their spread.

    A rating h becomes centre + (h - centre - offset) / exp(log_spread)^share, where centre is the mean rating and
    spreads are relative to the panel's: a share of 1 makes all spreads alike, a share of 0 leaves them.
    """
    slope = np.exp(-share * log_spread)
    return Lines(method, slope, centre - slope * (centre + offsets.value), share, offsets.left)


def centred_by_block(panel: Panel) -> tuple[float, np.ndarray]:
    """The mean rating, and each rating less its block's mean: a base block may be better or worse than the rest."""
    total, count = panel.by_pair(panel.rating), panel.by_pair()
    means = np.zeros(panel.n_pairs)
    for block in (panel.base, ~panel.base):
        means[block] = total[block].sum() / max(count[block].sum(), 1)
    return float(total.sum() / max(count.sum(), 1)), panel.rating - means[panel.pair]


def crossed_offsets(panel: Panel, centred: np.ndarray, n: np.ndarray) -> Shrunk:
    """Rater offsets of the model y = pair + rater + noise, all three random.

    Each round estimates the variances, then a pair's quality from its *other* ratings (shrunk by how many they are),
    then each rater's offset as a precision-weighted mean of what is left; rounds end when offsets move by less than a
    fiftieth of their standard error. The row-wise form is

        offset_j = sum_i w_i (y_ij - f_i (t_i - (y_ij - a_j))) / sum_i w_i

    with t_i the pair's sum of adjusted ratings, f_i its trust over its number of others, and w_i = 1 / (noise + quality
    (1 - trust)); it is summed here without forming the adjusted ratings, because rows are many.
    """
    rater, pair = panel.rater, panel.pair
    count = panel.by_pair()
    others = np.maximum(count - 1, 1)
    several = count > 1
    rows = len(centred)
    freedom = max(float(count[several].sum() - np.count_nonzero(several)), 1.0)
    squares, pair_sum, rater_sum = float(centred @ centred), panel.by_pair(centred), panel.by_rater(centred)
    current = rater_sum / np.maximum(n, 1)
    offsets = shrink(np.zeros(len(n)), np.ones(len(n)), np.zeros(len(n), dtype=bool))
    for _ in range(ROUNDS):
        total = pair_sum - panel.by_pair(current[rater])
        square = squares - 2 * float(current @ rater_sum) + float(n @ current**2)
        variance = max(square / rows - (float(total.sum()) / rows) ** 2, 1e-12)
        within = max(square - float((total**2 / np.maximum(count, 1)).sum()), 0.0)
        # Where no pair has two ratings, noise and quality cannot be separated, nor need they be.
        noise = max(within / freedom, 1e-6 * variance) if several.any() else variance
        quality = max(variance - noise, 1e-6 * variance)
        trust = np.where(several, quality / (quality + noise / others), 0.0)
        weight = 1 / (noise + quality * (1 - trust))
        pull = weight * trust / others
        precision = np.maximum(panel.by_rater(weight[pair]), 1e-300)
        own_offsets = panel.by_rater(pull[pair]) * current
        left = centred * (weight + pull)[pair]
        left -= (pull * total)[pair]
        offsets = shrink((panel.by_rater(left) - own_offsets) / precision, 1 / precision, n > 0)
        moved = float(np.sqrt(np.mean((offsets.value - current) ** 2)))
        current = offsets.value
        if moved < 0.02 * np.sqrt(offsets.variance[n > 0].mean()):
            break
    return offsets


@dataclass(frozen=True)
class Spreads:
    shrunk: Shrunk
    centre: float


def shrink_spreads(
    panel: Panel, deviation: np.ndarray, square: np.ndarray, n: np.ndarray, by_chance: np.ndarray | float = 1.0
) -> Spreads:
    """Each rater's log standard deviation, shrunk towards the panel's by its sampling variance.

    The log standard deviation of n normal values has variance trigamma((n - 1) / 2) / 4. For other distributions this
    is multiplied by (kurtosis - 1) / 2, which is 1 for a normal one; so discrete and binary scales are allowed for.
    `by_chance` is the share of that variance which is left where the pairs themselves are given, 0 to 1.
    """
    usable = (n >= 3) & (square > 1e-9)
    safe = np.where(usable, square, 1.0)
    spread_square = safe / np.maximum(n - 1, 1)
    rows = usable[panel.rater]
    if not rows.any():
        zero = np.zeros(len(n))
        return Spreads(shrink(zero, zero + 1, usable), 0.0)
    fourth = deviation * deviation
    fourth *= fourth
    fourth = panel.by_rater(fourth)
    population = safe / np.maximum(n, 1)
    kurtosis = float((fourth / population**2)[usable].sum() / n[usable].sum())
    sizes, inverse = np.unique(np.maximum(n, 3), return_inverse=True)
    variance = (polygamma(1, (sizes - 1) / 2) / 4)[inverse] * max(kurtosis - 1, 0.2) / 2 * by_chance
    logs = np.where(usable, 0.5 * np.log(spread_square), 0.0)
    return Spreads(shrink(logs, variance, usable), float(logs[usable].mean()))


def best_share(panel: Panel, deviation: np.ndarray, log_spread: np.ndarray, centre: np.ndarray | float = 0.0) -> float:
    """The share of the spread under which ratings agree best with the other raters' mean, 0 to 1.

    Parameters
    ----------
    deviation, log_spread : each row's rating less its rater's offset, and its rater's log spread
    centre : around which each row's deviation is counted, where raters differ in it
    """
    count = panel.by_pair()
    rows = count[panel.pair] > 1
    if np.count_nonzero(rows) < ENOUGH or not np.any(log_spread):
        return DEFAULT_SHARE
    panel, deviation, log_spread = panel.keep(rows), deviation[rows], log_spread[rows]
    middle = np.broadcast_to(centre, rows.shape)[rows]
    fewer = (count - 1)[panel.pair]
    agreement = []
    for share in SHARES:
        calibrated = middle + deviation * np.exp(-share * log_spread)
        others = (panel.by_pair(calibrated)[panel.pair] - calibrated) / fewer
        agreement.append(_correlation(calibrated, others))
    return top_share(agreement) if np.isfinite(agreement).all() else DEFAULT_SHARE


def top_share(agreement: list[float]) -> float:
    """The share, 0 to 1, at the top of the parabola through the agreement at each of SHARES; the best of these where it
    has no top."""
    curve = np.polyfit(SHARES, agreement, 2)
    if curve[0] >= 0:
        return float(SHARES[int(np.argmax(agreement))])
    return float(np.clip(-curve[1] / (2 * curve[0]), 0, 1))


def tuning_rows(panel: Panel) -> np.ndarray | None:
    """Rows that `best_share` is computed on: all (None), or those of evenly spaced pairs when there are very many."""
    step = -(-len(panel.rating) // TUNING_ROWS)
    if step == 1:
        return None
    chosen = np.zeros(panel.n_pairs, dtype=bool)
    chosen[::step] = True
    return np.flatnonzero(chosen[panel.pair])


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 0 else np.nan
