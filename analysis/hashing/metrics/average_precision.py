"""Average precision from the count table, in closed form over every order of ties.

Codes at one distance are tied, and a sort that breaks ties by accident reports an accident. Here each query has an
interval [pessimistic, expected, optimistic]: the worst, the mean and the best over all orders within ties.

With N, M the codes and relevant codes before a group of n codes, m of them relevant, T of the n within the cut-off,
and a = (m - 1)/(n - 1), the group adds to the sum of precisions of Eq. 3.12 (Moran 2016, section 3.6.4)
    expected     (m/n) { a T + [M + 1 - a (N + 1)] (H(N + T) - H(N)) }
    optimistic   j + (M - N)(H(N + j) - H(N)),                j = min(T, m)
    pessimistic  j + (M - N - f)(H(N + f + j) - H(N + f)),    f = n - m, j = max(0, T - f).
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.first_ranks import Tie, check_cut, ranks_taken
from relstudy.analysis.hashing.metrics.hypergeometric import mean_inverse, no_hit_probability
from relstudy.analysis.hashing.options import Denominator

DENOMINATORS: tuple[Denominator, ...] = ("relevant", "min(K, relevant)", "hits", "first K relevant")


def average_precision(
    table: CountTable, tie: Tie = "expected", k: int | None = None, denominator: Denominator = "min(K, relevant)"
) -> np.ndarray:
    """Average precision of each query, at a cut-off k or over the whole database.

    Parameters
    ----------
    table : counts of M queries
    tie : which order of ties
    k : cut-off, at least 1; None for the whole ranking
    denominator : what the sum of precisions is divided by: all `relevant` codes; `min(K, relevant)`; or the `hits`
        within the cut-off, as some published evaluators do (finding more can then lower the figure). With
        `first K relevant` k is not a cut-off: the mean precision at the first min(k, relevant) relevant codes, whatever
        their ranks

    Returns
    -------
    float (M,) in [0, 1]; NaN for a query without a relevant code.

    Examples
    --------
    Ding, Li and Li 2018, figure 2: one code, 10 items, 5 relevant: best 1, worst 0.3544.

    >>> table = CountTable(np.array([[10]]), np.array([[5]]))
    >>> [round(float(average_precision(table, tie)[0]), 4) for tie in ("pessimistic", "expected", "optimistic")]
    [0.3544, 0.6072, 1.0]
    """
    if denominator == "first K relevant" and k is not None:
        return first_relevant_precision(table, k, tie)
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before, taken = ranks_taken(table, k)
    hits_before = np.cumsum(relevant, axis=1) - relevant
    relevant_codes = relevant.sum(axis=1)
    if denominator == "hits" and k is not None:
        return _over_hits(table, tie, before, hits_before, taken)
    added = group_sum(total, relevant, before, hits_before, taken, tie).sum(axis=1)
    bottom = (
        relevant_codes if k is None or denominator == "relevant" else np.minimum(relevant_codes, min(k, table.codes))
    )
    return np.divide(added, bottom, out=np.full(len(relevant_codes), np.nan), where=relevant_codes > 0)


def average_precision_within(table: CountTable, radius: int, tie: Tie = "expected") -> np.ndarray:
    """Average precision over the codes within a radius, divided by the relevant ones among them ("mAP@H<=2").

    Returns
    -------
    float (M,); 0 where the ball holds no relevant code, NaN for a query without a relevant code anywhere.
    """
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before, taken = ranks_taken(table, None)
    hits_before = np.cumsum(relevant, axis=1) - relevant
    within = slice(0, radius + 1)
    added = group_sum(total, relevant, before, hits_before, taken, tie)[:, within].sum(axis=1)
    hits = relevant[:, within].sum(axis=1)
    values = np.divide(added, hits, out=np.zeros(len(hits)), where=hits > 0)
    return np.where(relevant.sum(axis=1) > 0, values, np.nan)


def _over_hits(
    table: CountTable, tie: Tie, before: np.ndarray, hits_before: np.ndarray, taken: np.ndarray
) -> np.ndarray:
    # Divided by a random number of hits: condition on how many relevant codes of the cut group fall inside.
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    whole = taken == total
    added = np.where(whole, group_sum(total, relevant, before, hits_before, taken, tie), 0.0).sum(axis=1)
    full_hits = np.where(whole, relevant, 0.0).sum(axis=1)
    result = np.divide(added, full_hits, out=np.zeros(len(added)), where=full_hits > 0)
    query, group = np.nonzero(~whole & (taken > 0))  # at most one group a query
    n, m, t, first, hits = (
        array[query, group].astype(float) for array in (total, relevant, taken, before, hits_before)
    )
    rule = {"expected": _expected_by_hits, "optimistic": _best_by_hits, "pessimistic": _worst_by_hits}[tie]
    result[query] = rule(added[query], n, m, t, first, hits)
    return np.where(relevant.sum(axis=1) > 0, result, np.nan)


def _expected_by_hits(
    added: np.ndarray, n: np.ndarray, m: np.ndarray, t: np.ndarray, before: np.ndarray, hits: np.ndarray
) -> np.ndarray:
    """E[(added + G(j))/(hits + j)] over the number j of relevant codes among the t of n that are taken.

    G(j) = b j (j - 1) + a j is a whole group's expected sum, so that division by j + hits leaves a line in j and a
    multiple of E[1/(hits + j)].
    """
    harmonic = harmonic_difference(before, t)
    a = (hits + 1) * harmonic / t
    b = np.divide(t - (before + 1) * harmonic, t * (t - 1), out=np.zeros_like(t), where=t > 1)
    constant = a - b - b * hits
    mean = t * m / n
    some = hits > 0
    inverse = np.zeros_like(t)
    inverse[some] = mean_inverse(n[some], m[some], t[some], hits[some])
    # Without an earlier hit the value is 0 where j is 0.
    kept = np.where(some, 1.0, 1 - no_hit_probability(n, m, t))
    return np.asarray(b * mean + constant * kept + (added - hits * constant) * inverse)


def _best_by_hits(
    added: np.ndarray, n: np.ndarray, m: np.ndarray, t: np.ndarray, before: np.ndarray, hits: np.ndarray
) -> np.ndarray:
    # The precision at each further hit grows with their number, so the mean first falls and then rises: an end is best.
    least, most = _ends(n, m, t)
    # Without an earlier hit the mean starts at one hit; at none it is 0.
    first = np.minimum(np.maximum(least, hits == 0), most)
    low, high = (_value_by_hits(added, t, j, before, hits, "optimistic") for j in (first, most))
    return np.maximum(low, high)


def _worst_by_hits(
    added: np.ndarray, n: np.ndarray, m: np.ndarray, t: np.ndarray, before: np.ndarray, hits: np.ndarray
) -> np.ndarray:
    # The sum is convex in the number of hits, so the mean falls and then rises: the turn is found by halving.
    low, high = _ends(n, m, t)
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        at_middle, past_middle = (
            _value_by_hits(added, t, j, before, hits, "pessimistic") for j in (middle, middle + 1)
        )
        rises = past_middle >= at_middle
        low, high = np.where(rises | (low >= high), low, middle + 1), np.where(rises, np.minimum(middle, high), high)
    return _value_by_hits(added, t, low, before, hits, "pessimistic")


def _ends(n: np.ndarray, m: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.maximum(0, t - (n - m)), np.minimum(t, m)


def _value_by_hits(
    added: np.ndarray, t: np.ndarray, inside: np.ndarray, before: np.ndarray, hits: np.ndarray, tie: Tie
) -> np.ndarray:
    # Of `inside` relevant codes among the t taken, the group is a whole one.
    values = added + group_sum(t, inside, before, hits, t, tie)
    return np.divide(values, hits + inside, out=np.zeros_like(values), where=hits + inside > 0)


def grouped_average_precision(table: CountTable) -> np.ndarray:
    """Average precision with every tied group at its last precision, as scikit-learn has it.

    float (M,), NaN for a query without a relevant code.
    """
    seen, hits = np.cumsum(table.total, axis=1), np.cumsum(table.relevant, axis=1)
    relevant_codes = hits[:, -1].astype(float)
    added = (table.relevant * hits / np.maximum(seen, 1)).sum(axis=1)
    return np.divide(added, relevant_codes, out=np.full(len(relevant_codes), np.nan), where=relevant_codes > 0)


_LARGE = 50.0


def harmonic_difference(start: np.ndarray | float, terms: np.ndarray | float) -> np.ndarray:
    """H(start + terms) - H(start) = sum of 1/(start + i), i = 1..terms.

    Subtracting two digammas loses digits where `start` is large (8e-8 at 1e9); from `start` = 50 on, log1p and the
    first terms of the asymptotic series keep them.

    Parameters
    ----------
    start, terms : whole numbers >= 0, any shapes that broadcast

    Examples
    --------
    >>> round(float(harmonic_difference(0, 3)), 12)
    1.833333333333
    """
    begin, length = np.broadcast_arrays(np.asarray(start, dtype=float), np.asarray(terms, dtype=float))
    a = np.maximum(begin, _LARGE)
    large = np.log1p(length / (a + 0.5)) + _series(a + length + 0.5) - _series(a + 0.5)
    b = np.minimum(begin, _LARGE)
    return np.where(begin < _LARGE, digamma(b + length + 1) - digamma(b + 1), large)


def _series(x: np.ndarray) -> np.ndarray:
    return 1 / (24 * x**2) - 7 / (960 * x**4) + 31 / (8064 * x**6)


def group_sum(
    n: np.ndarray, m: np.ndarray, before: np.ndarray, hits: np.ndarray, t: np.ndarray, tie: Tie
) -> np.ndarray:
    """The sum of precisions at the relevant codes among the first t of a group.

    Parameters
    ----------
    n, m : codes of the group, and relevant ones among them
    before, hits : codes and relevant codes ranked before it
    t : how many of the group are taken
    """
    if tie == "expected":
        slope = np.divide(m - 1, n - 1, out=np.zeros_like(n), where=n > 1)
        share = np.divide(m, n, out=np.zeros_like(n), where=n > 0)
        return np.asarray(share * (slope * t + (hits + 1 - slope * (before + 1)) * harmonic_difference(before, t)))
    if tie == "optimistic":
        j = np.minimum(t, m)
        return np.asarray(j + (hits - before) * harmonic_difference(before, j))
    misses = n - m
    j = np.maximum(0.0, t - misses)
    return np.asarray(j + (hits - before - misses) * harmonic_difference(before + misses, j))


def first_relevant_precision(table: CountTable, k: int, tie: Tie = "expected") -> np.ndarray:
    """Mean precision at the first min(k, relevant) relevant codes of each query, whatever their ranks.

    Jiang and Li 2017 (DCMH) publish an evaluator that cuts the list of relevant ranks, not the ranking. The group of
    ties in which the k-th relevant code stands then counts in part: of its m relevant codes among n the first J. At
    place s + 1 of the group stands a relevant code with probability m/n, and h of the s codes before it are relevant,
    hypergeometrically; it counts while h < J. So the group adds

        (m/n) sum_s [(M + 1) P(h < J) + E(h; h < J)] / (N + s + 1).

    Returns
    -------
    float (M,) in [0, 1]; NaN for a query without a relevant code

    Examples
    --------
    One code before ten of which five are relevant: the first relevant one is at rank 2 at best.

    >>> table = CountTable(np.array([[1, 10]]), np.array([[0, 5]]))
    >>> first_relevant_precision(table, 1, "optimistic").tolist()
    [0.5]
    """
    check_cut(k)
    total, relevant = table.total.astype(float), table.relevant.astype(float)
    before = np.cumsum(total, axis=1) - total
    hits = np.cumsum(relevant, axis=1) - relevant
    whole = hits + relevant <= k
    added = np.where(whole, group_sum(total, relevant, before, hits, total, tie), 0.0).sum(axis=1)
    query, group = np.nonzero(~whole & (hits < k))  # at most one group a query
    n, m, first, earlier = (array[query, group] for array in (total, relevant, before, hits))
    wanted = k - earlier
    if tie == "optimistic":
        added[query] += wanted + (earlier - first) * harmonic_difference(first, wanted)
    elif tie == "pessimistic":
        misses = n - m
        added[query] += wanted + (earlier - first - misses) * harmonic_difference(first + misses, wanted)
    else:
        added[query] += [_expected(*row) for row in zip(n, m, first, earlier, wanted, strict=True)]
    number = np.minimum(relevant.sum(axis=1), k)
    return np.divide(added, number, out=np.full(len(number), np.nan), where=number > 0)


def _expected(n: float, m: float, before: float, hits: float, wanted: float) -> float:
    """Expected sum that the first `wanted` of m relevant codes among n add, over their order."""
    places = np.arange(n)
    counted = _at_most(places, m - 1, n - 1, wanted - 1)
    # E(h; h < J) of s draws is s (m - 1)/(n - 1) P(h' < J - 1), h' of one draw and one relevant code less.
    mean = places * (m - 1) / (n - 1) * _at_most(np.maximum(places - 1, 0), m - 2, n - 2, wanted - 2)
    return float(m / n * (((hits + 1) * counted + mean) / (before + places + 1)).sum())


def _at_most(draws: np.ndarray, marked: float, size: float, most: float) -> np.ndarray:
    """P(no more than `most` of the marked are drawn), for every number of draws 0, 1, 2, ... in order.

    Each further draw takes it down by the chance that exactly `most` were drawn and this one is marked.
    """
    if most < 0:
        return np.zeros(len(draws))
    if most >= marked:
        return np.ones(len(draws))
    s = np.arange(draws.max())
    s = s[s < size]
    reachable = (s >= most) & (s - most <= size - marked)
    log = np.full(len(s), -np.inf)
    at = s[reachable]
    log[reachable] = _choose(at, most) + _choose(size - at, marked - most) - _choose(size, marked)
    fall = np.exp(log) * (marked - most) / (size - s)
    return np.asarray(np.clip(1 - np.r_[0.0, np.cumsum(fall)], 0, 1)[draws.astype(int)])


def _choose(n: np.ndarray | float, k: np.ndarray | float) -> np.ndarray:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
