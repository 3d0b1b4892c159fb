"""Were pairs handed out at random? `pooled` rests on it, so it is tested before it is believed.

What was handed out is a page: the pairs of one query that the same raters were given. Pairs of one query are alike, so
the pairs of a page are no independent draws, and permuting them one by one takes pages dealt at random for sorted ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import chdtrc

from relstudy.calibration.methods.crossed import components, crossed
from relstudy.calibration.methods.shrinkage import centred_by_block, crossed_offsets, shrink_spreads, shrunk
from relstudy.calibration.panel import Panel
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

MIN_RATINGS = 5
MIN_FOR_SPREAD = 10
PERMUTATIONS = 999
MAX_ROWS = 200_000
CELLS_AT_ONCE = 2_000_000
"""Permuted pages in memory at a time, which does not change what is drawn."""
ENOUGH_BEYOND = 10
"""With fewer permutations beyond what was observed, their share says little and the fitted tail is used."""
FIRST = 50
"""Permutations after which it is looked at whether they suffice for a decision."""
LEAST_PAGES = 5
"""With fewer pages per rater, the luck of few draws would pass for leniency: then pairs, not pages, are permuted."""
SIGNATURE_BITS = 38


@dataclass(frozen=True)
class Balance:
    """Result of the test whether raters' unique pairs are alike, as they are when handed out at random.

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


def balance(panel: Panel, seed: int = 0, *, only_decides: bool = False) -> Balance:
    """Test whether raters' unique pairs differ more than random hand-out explains.

    Where unique pairs have several ratings, the *other* raters' calibrated ratings of a rater's pairs say how good
    these are; their means are compared with those after pages have changed places at random (pairs, where raters have
    fewer than five pages each). Where a pair has one rating, the rater's offset and spread on it are compared with
    those on the base block: Cochran's Q for each, Bonferroni over the two, with the design effect of pages (Kish 1965).
    A rater who drifts and a rater who was dealt better pairs look alike to it, and it objects to both.

    A permutation p can't be below one over the number of permutations; where fewer than ten go beyond what was
    observed, the tail is that of Pearson's type III curve with the permutations' mean, variance and skewness (Josse,
    Pagès and Husson 2008).

    Parameters
    ----------
    only_decides : whether p is only held against a limit up to .01: then permutations end once ten go beyond what was
        observed, as p of all of them cannot be below that any more

    Returns
    -------
    Balance; without unique pairs, a base block, or three raters with both, p is None and `reason` says why

    Examples
    --------
    >>> from relstudy.calibration.simulation import simulate_panel
    >>> from relstudy.common.tables.meaning.pair_assignment import HandOut
    >>> balance(simulate_panel(12, 20, 40, handed_out=HandOut.FIXED, seed=1).panel).p < 0.01
    True
    >>> balance(simulate_panel(12, 20, 0, seed=1).panel).reason
    'every pair is in the base block'
    """
    everything = panel.decided()
    in_block = everything.base[everything.pair]
    if in_block.all():
        return Balance(None, None, 0, reason="every pair is in the base block")
    block, unique = everything.keep(in_block), everything.keep(~in_block)
    page = pages(panel)
    count = unique.by_pair()
    shared = unique.keep(count[unique.pair] > 1)
    if len(shared.rating) >= 0.5 * len(unique.rating) and np.count_nonzero(shared.by_rater() >= MIN_RATINGS) >= 3:
        if in_block.any():
            return _by_others(shrunk(everything).calibrated(shared), shared, page, seed, only_decides)
        if components(shared) == 1:
            return _by_others(crossed(everything).calibrated(shared), shared, page, seed, only_decides)
    if not in_block.any():
        return Balance(None, None, 0, reason="there is no base block to compare with")
    both = (block.by_rater() >= MIN_RATINGS) & (unique.by_rater() >= MIN_RATINGS)
    if np.count_nonzero(both) < 3:
        reason = f"fewer than three raters have {MIN_RATINGS} ratings in and outside the base block"
        return Balance(None, None, int(np.count_nonzero(both)), reason=reason)
    return _by_base(everything, block, unique, both, page)


def pages(panel: Panel) -> np.ndarray:
    """Pages that pairs were handed out on: one code for the pairs of a query that the same raters saw, int array (P).

    Undecided rows count as seen. Where the panel knows no queries, each pair is a page of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("aabbb"), "query_id": "q", "result_id": list("xyxyz"), "rating": 1.0})
    >>> pages(Panel.from_frame(frame)).tolist()
    [0, 0, 1]
    """
    if "query_id" not in panel.pairs:
        return np.arange(panel.n_pairs)
    import pandas as pd

    # A sum of random whole numbers a rater names a set of raters; below 2^53 it is exact whatever the order.
    name = np.random.default_rng(0).integers(1, 2**SIGNATURE_BITS, panel.n_raters).astype(float)
    raters = panel.by_pair(name[panel.rater])
    # counted in the order of their least pair, so that permutations are the same whatever the order of rows
    order = places(panel)
    query = pd.factorize(panel.pairs["query_id"])[0]
    dealt = pd.DataFrame({"query": query, "raters": raters}).iloc[np.argsort(order)]
    counted = dealt.groupby(["query", "raters"], sort=False).ngroup().to_numpy()
    return np.asarray(counted[order])


def places(panel: Panel) -> np.ndarray:
    """Each pair's place, from 0, among all by query and result, whatever the order of rows; int array (P)."""
    ids = PAIR if "query_id" in panel.pairs else ["pair_id"]
    if any(name not in panel.pairs for name in ids):
        return np.arange(panel.n_pairs)
    sorted_pairs = panel.pairs[ids].reset_index(drop=True).sort_values(ids, kind="stable").index
    rank = np.empty(panel.n_pairs, dtype=np.intp)
    rank[sorted_pairs.to_numpy()] = np.arange(panel.n_pairs)
    return rank


def _by_others(calibrated: np.ndarray, shared: Panel, page: np.ndarray, seed: int, only_decides: bool) -> Balance:
    step = -(-len(shared.rating) // MAX_ROWS)
    if step > 1:
        rows = page[shared.pair] % step == 0
        shared, calibrated = shared.keep(rows), calibrated[rows]
    n, count = shared.by_rater(), shared.by_pair()
    total = shared.by_pair(calibrated)
    others = (total[shared.pair] - calibrated) / (count[shared.pair] - 1)
    pairs = np.flatnonzero(count)
    pairs = pairs[np.argsort(places(shared)[pairs])]
    quality = total[pairs] / count[pairs]
    used = n > 0
    a_rater = len(np.unique(shared.rater * (page.max() + 1) + page[shared.pair])) / np.count_nonzero(used)
    unit = np.unique(page[pairs], return_inverse=True)[1] if a_rater >= LEAST_PAGES else np.arange(len(pairs))
    size = np.bincount(unit)
    mean = np.bincount(unit, quality) / size
    deviation = _deviations(quality, unit, size, mean)
    standard = (mean - quality.mean()) / deviation
    unit_of = np.zeros(shared.n_pairs, dtype=np.intp)
    unit_of[pairs] = unit
    ones = np.ones(len(shared.rating))
    rated = csr_array((ones, (shared.rater, unit_of[shared.pair])), shape=(shared.n_raters, len(size)))

    def spread(totals: np.ndarray) -> np.ndarray:
        """Sum of squares between raters of their totals, float array (R, ...), about the common mean."""
        average = totals.sum(axis=0) / n.sum()
        return np.asarray(((totals[used].T - np.multiply.outer(average, n[used])) ** 2 / n[used]).sum(axis=-1))

    scale = float(np.var(others)) / max(float(np.var((total / np.maximum(count, 1))[shared.pair])), 1e-12)
    observed = float(spread(shared.by_rater(others)))
    rng = np.random.default_rng(seed)
    permutations = PERMUTATIONS if len(shared.rating) <= 50_000 else 199
    together = min(max(CELLS_AT_ONCE // len(size), 1), FIRST if only_decides else permutations)
    draws = np.empty(permutations)
    for start in range(0, permutations, together):
        some = draws[start : start + together]
        order = rng.permuted(np.tile(np.arange(len(size)), (len(some), 1)), axis=1)
        some[:] = scale * spread(rated @ (standard[order] * deviation).T)
        done = draws[: start + len(some)]
        if only_decides and np.count_nonzero(done >= observed) >= ENOUGH_BEYOND:
            draws = done
            break
    excess = max(observed - float(draws.mean()), 0.0) / float(n.sum())
    p = permutation_p(observed, draws)
    return Balance(p, float(np.sqrt(excess)), int(np.count_nonzero(used)), "others")


def _deviations(quality: np.ndarray, unit: np.ndarray, size: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Standard deviation of the mean of each page, by one-way analysis of variance; float array (pages)."""
    number, groups = len(quality), len(size)
    if groups == number:
        return np.ones(groups)
    inside = float(np.sum((quality - mean[unit]) ** 2)) / (number - groups)
    across = float(size @ (mean - quality.mean()) ** 2) / max(groups - 1, 1)
    typical = (number - float(size @ size) / number) / max(groups - 1, 1)
    between = max(across - inside, 0.0) / max(typical, 1e-12)
    return np.sqrt(np.maximum(between + inside / size, 1e-12))


def permutation_p(observed: float, draws: np.ndarray) -> float:
    """Chance of a statistic at least as large as observed, given its values under permutation.

    The share of permutations, or, where fewer than ten reach the observed value, the tail of Pearson's type III curve
    through their first three moments.

    Examples
    --------
    >>> draws = np.random.default_rng(0).chisquare(20, 999)
    >>> permutation_p(20.0, draws) > 0.4, 1e-6 < permutation_p(60.0, draws) < 5e-5
    (True, True)
    """
    beyond = int(np.count_nonzero(draws >= observed))
    if beyond >= ENOUGH_BEYOND or np.ptp(draws) == 0:
        return (1 + beyond) / (1 + len(draws))
    from scipy.stats import pearson3, skew

    curve = pearson3(max(float(skew(draws)), 0.0), loc=draws.mean(), scale=draws.std(ddof=1))
    return float(min(curve.sf(observed), (1 + beyond) / (1 + len(draws)) if beyond else 1.0))


def _by_base(everything: Panel, block: Panel, unique: Panel, both: np.ndarray, page: np.ndarray) -> Balance:
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
            effect = 1.0 if sign < 0 else _design_effect(part, deviation, page, square=name == "spread")[both]
            variance[name] = variance.get(name, zero) + effect * estimate.variance[both]
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


def _design_effect(panel: Panel, deviation: np.ndarray, page: np.ndarray, *, square: bool) -> np.ndarray:
    """By what the variance of each rater's mean (or of their spread, with `square`) is larger for pages; (R).

    1 + (m - 1) rho for pages of m ratings that correlate by rho (Kish 1965, section 5.4); squares correlate by rho^2.
    """
    n = panel.by_rater()
    code, group = np.unique(panel.rater * (page.max() + 1) + page[panel.pair], return_inverse=True)
    size = np.bincount(group)
    freedom = len(group) - len(size), len(size) - int(np.count_nonzero(n))
    if min(freedom) < 1:
        return np.ones(panel.n_raters)
    mean = np.bincount(group, deviation) / size
    inside = float(np.sum((deviation - mean[group]) ** 2)) / freedom[0]
    rater = code // (page.max() + 1)
    squares = np.bincount(rater, size * size, panel.n_raters) / np.maximum(n, 1)
    across = float(size @ mean**2) / freedom[1]
    between = (across - inside) * freedom[1] / (len(group) - float(squares.sum()))
    rho = max(between, 0.0) / max(max(between, 0.0) + inside, 1e-12)
    return np.asarray(1 + np.maximum(squares - 1, 0) * (rho**2 if square else rho))


def _cochran(difference: np.ndarray, variance: np.ndarray) -> tuple[float, float]:
    """p of Cochran's Q, and the variance in excess of the sampling variances (DerSimonian and Laird)."""
    weight = 1 / np.maximum(variance, 1e-12)
    centred = difference - weight @ difference / weight.sum()
    q, freedom = float(weight @ centred**2), len(difference) - 1
    spare = float(weight.sum() - (weight**2).sum() / weight.sum())
    return float(chdtrc(freedom, q)), max(q - freedom, 0.0) / max(spare, 1e-12)
