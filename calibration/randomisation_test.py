"""Were pairs handed out at random? `pooled` rests on it, so it is tested before it is believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from relstudy.calibration.methods.shrinkage import centred_by_block, crossed_offsets, shrink_spreads, shrunk
from relstudy.calibration.panel import Panel

MIN_RATINGS = 5
MIN_FOR_SPREAD = 10
PERMUTATIONS = 999
MAX_ROWS = 200_000


@dataclass(frozen=True)
class Balance:
    """Whether raters' unique pairs are alike, as they are when handed out at random.

    Parameters
    ----------
    p : probability of so much difference under random hand-out, None where it can't be tested
    imbalance : standard deviation over raters of what random hand-out doesn't explain, in ratings; None likewise
    raters : how many raters it rests on
    how : "others" (the other raters' ratings of the same pairs) or "base" (the rater's own on the base block)
    reason : why it can't be tested, or None
    """

    p: float | None
    imbalance: float | None
    raters: int
    how: str | None = None
    reason: str | None = None


def balance(panel: Panel, seed: int = 0) -> Balance:
    """Test whether raters' unique pairs differ more than random hand-out explains.

    Where unique pairs have several ratings, the *other* raters' calibrated ratings of a rater's pairs say how good
    these are; their means are compared with those after pairs have changed places at random, so that sets of pairs
    handed out whole are no objection as long as the sets were drawn at random. Where a pair has one rating, the
    rater's offset and spread on it are compared with those on the base block: Cochran's Q for each, Bonferroni over
    the two. That can't tell a rater who drifts from a rater who was dealt better pairs, and objects to both.

    Returns
    -------
    Balance; without unique pairs, a base block, or three raters with both, p is None and `reason` says why

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> from relstudy.common.hand_out import HandOut
    >>> balance(simulate_panel(12, 20, 40, handed_out=HandOut.FIXED, seed=1).panel).p < 0.01
    True
    >>> balance(simulate_panel(12, 20, 0, seed=1).panel).reason
    'every pair is in the base block'
    """
    everything = panel.decided()
    in_block = everything.base[everything.pair]
    if not in_block.any():
        return Balance(None, None, 0, reason="there is no base block to compare with")
    if in_block.all():
        return Balance(None, None, 0, reason="every pair is in the base block")
    block, unique = everything.keep(in_block), everything.keep(~in_block)
    count = unique.by_pair()
    shared = unique.keep(count[unique.pair] > 1)
    if len(shared.rating) >= 0.5 * len(unique.rating) and np.count_nonzero(shared.by_rater() >= MIN_RATINGS) >= 3:
        return _by_others(everything, shared, seed)
    both = (block.by_rater() >= MIN_RATINGS) & (unique.by_rater() >= MIN_RATINGS)
    if np.count_nonzero(both) < 3:
        reason = f"fewer than three raters have {MIN_RATINGS} ratings in and outside the base block"
        return Balance(None, None, int(np.count_nonzero(both)), reason=reason)
    return _by_base(everything, block, unique, both)


def _by_others(everything: Panel, shared: Panel, seed: int) -> Balance:
    step = -(-len(shared.rating) // MAX_ROWS)
    if step > 1:
        shared = shared.keep(shared.pair % step == 0)
    calibrated = shrunk(everything).calibrated(shared)
    n, count = shared.by_rater(), shared.by_pair()
    total = shared.by_pair(calibrated)
    others = (total[shared.pair] - calibrated) / (count[shared.pair] - 1)
    pairs = np.flatnonzero(count)
    quality = np.zeros(shared.n_pairs)
    quality[pairs] = total[pairs] / count[pairs]
    used = n > 0

    def spread(values: np.ndarray) -> float:
        means = shared.by_rater(values - values.mean())[used] / n[used]
        return float(n[used] @ means**2)

    scale = float(np.var(others)) / max(float(np.var(quality[shared.pair])), 1e-12)
    observed = spread(others)
    rng = np.random.default_rng(seed)
    permutations = PERMUTATIONS if len(shared.rating) <= 50_000 else 199
    draws = np.empty(permutations)
    for i in range(permutations):
        shuffled = quality.copy()
        shuffled[pairs] = quality[rng.permutation(pairs)]
        draws[i] = scale * spread(shuffled[shared.pair])
    p = float((1 + np.count_nonzero(draws >= observed)) / (1 + permutations))
    excess = max(observed - float(draws.mean()), 0.0) / float(n.sum())
    return Balance(p, float(np.sqrt(excess)), int(np.count_nonzero(used)), "others")


def _by_base(everything: Panel, block: Panel, unique: Panel, both: np.ndarray) -> Balance:
    difference: dict[str, np.ndarray] = {}
    variance: dict[str, np.ndarray] = {}
    zero = np.zeros(np.count_nonzero(both))
    for sign, part in ((-1.0, block), (1.0, unique)):
        n = part.by_rater()
        _, centred = centred_by_block(part)
        offset = crossed_offsets(part, centred, n)
        deviation = centred - (part.by_rater(centred) / np.maximum(n, 1))[part.rater]
        spread = shrink_spreads(part, deviation, part.by_rater(deviation * deviation), n).shrunk
        for name, estimate in (("offset", offset), ("spread", spread)):
            difference[name] = difference.get(name, zero) + sign * estimate.raw[both]
            variance[name] = variance.get(name, zero) + estimate.variance[both]
            if name == "spread" and sign > 0:
                # A wide rater is further from the rest on a block that is better or worse than the other one. A
                # spread holds noise as well as slope, so slopes differ more than spreads do.
                gap = float(unique.rating.mean() - block.rating.mean())
                variance["offset"] = variance["offset"] + 2 * estimate.between * gap**2
    p_offset, excess = _cochran(difference["offset"], variance["offset"])
    p = p_offset
    # The log spread of five or so discrete ratings is far from normal, and that of two-valued ones says nothing that
    # the mean does not: both would raise false alarms.
    low, high = everything.rating.min(), everything.rating.max()
    graded = bool(((everything.rating > low) & (everything.rating < high)).any())
    long = np.minimum(block.by_rater(), unique.by_rater())[both] >= MIN_FOR_SPREAD
    if graded and np.count_nonzero(long) >= 3:
        p = min(2 * min(p_offset, _cochran(difference["spread"][long], variance["spread"][long])[0]), 1.0)
    return Balance(p, float(np.sqrt(excess)), int(np.count_nonzero(both)), "base")


def _cochran(difference: np.ndarray, variance: np.ndarray) -> tuple[float, float]:
    """p of Cochran's Q, and the variance in excess of the sampling variances (DerSimonian and Laird)."""
    weight = 1 / np.maximum(variance, 1e-12)
    centred = difference - weight @ difference / weight.sum()
    q, freedom = float(weight @ centred**2), len(difference) - 1
    spare = float(weight.sum() - (weight**2).sum() / weight.sum())
    return float(chi2.sf(q, freedom)), max(q - freedom, 0.0) / max(spare, 1e-12)
