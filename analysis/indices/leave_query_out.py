"""Average precision and normalised rank without each query in turn, for the jackknife.

A query's own pairs are taken off the sums over all. What a query takes off above a relevant pair changes only at pairs
of the query; between two of them precision is (hits - h) / (seen - s) at each relevant pair, with the same h and s.
Where seen is far above s, the quotients' sum is that of the first terms of their series in s, whose coefficients are
differences of running sums; only near the top of the ranking is every quotient met.
"""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.correlation import parts_of
from relstudy.analysis.resampling.bootstrap import in_threads
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.common.runtime.compiled import compiled_for_many

FAR = 50.0
"""The series stands in where `seen` is at least so many times a query's whole weight."""
TERMS = 6
"""Of the series; what is left out is below FAR ** -TERMS, 6e-11, of each quotient."""


def retrieval_without(
    left_out: LeftOut,
    order: np.ndarray,
    group_end: np.ndarray,
    weight: np.ndarray,
    own: np.ndarray,
    relevant: np.ndarray,
) -> np.ndarray:
    """As of the sums that `relstudy.analysis.indices.kernels.retrieval` gives with `left_out.times`.

    Parameters
    ----------
    left_out : of the pairs as they stand
    order : int [pairs], by descending score
    group_end, weight, own, relevant : [pairs] in that order, as of `kernels.retrieval`

    Returns
    -------
    float64 [2, queries]: average precision, area
    """
    query = left_out.query[order]
    kept = left_out.kept[query]
    group = np.cumsum(group_end) - group_end
    mine = np.argsort(query, kind="stable")
    start = np.searchsorted(query[mine], np.arange(left_out.queries + 1))

    def part_of(part: slice) -> np.ndarray:
        figures: np.ndarray = _without(
            query, group, weight * kept, own * kept, relevant, mine, start, left_out.dropped, part.start, part.stop
        )
        return figures

    return in_threads(part_of, parts_of(len(query), left_out.queries, left_out.queries))


@compiled_for_many
def _without(
    query: np.ndarray,
    group: np.ndarray,
    weight: np.ndarray,
    own: np.ndarray,
    relevant: np.ndarray,
    mine: np.ndarray,
    start: np.ndarray,
    dropped: np.ndarray,
    first: int,
    last: int,
) -> np.ndarray:
    """Queries from `first` to `last`; `mine` holds the places of query q's pairs from start[q] to start[q + 1]."""
    pairs, groups = len(query), group[-1] + 1
    gain = weight * relevant
    seen_at, hits_at = np.zeros(groups), np.zeros(groups)
    for i in range(pairs):
        seen_at[group[i]] += weight[i]
        hits_at[group[i]] += gain[i]
    seen_to, hits_to = np.cumsum(seen_at), np.cumsum(hits_at)
    all_seen, all_hits = seen_to[-1], hits_to[-1]
    area, itself = 0.0, 0.0
    for g in range(groups):
        area += (seen_at[g] - hits_at[g]) * (hits_to[g] - 0.5 * hits_at[g])
    # relevant pairs alone, with what stands above each apart from the excess of its own weight
    number = 0
    for i in range(pairs):
        number += relevant[i] > 0.0
    part, top, bottom = np.empty(number), np.empty(number), np.empty(number)
    number_of, whose = np.empty(pairs, np.int64), np.empty(number, np.int64)
    first_of, before = np.empty(groups + 1, np.int64), np.zeros(number + 1)
    k, g_next = 0, 0
    for i in range(pairs):
        while g_next <= group[i]:
            first_of[g_next] = k
            g_next += 1
        if relevant[i] > 0.0:
            more = weight[i] - own[i]
            number_of[i], whose[k], part[k] = k, query[i], gain[i]
            top[k], bottom[k] = hits_to[group[i]] - more * relevant[i], seen_to[group[i]] - more
            before[k + 1] = before[k] + gain[i] * top[k] / bottom[k]
            itself += gain[i] * weight[i] * (1.0 - relevant[i])
            k += 1
    first_of[groups] = number
    # from the last pair up, for near the top `bottom` may be small and its powers huge:
    # sums of part * top / bottom ** (t + 1), and of part / bottom ** (t + 1)
    below = np.zeros((number + 1, 2, TERMS))
    least = np.full(number + 1, np.inf)
    for k in range(number - 1, -1, -1):
        least[k] = min(least[k + 1], bottom[k])
        term = part[k] / bottom[k]
        for t in range(TERMS):
            below[k, 0, t] = below[k + 1, 0, t] + term * top[k]
            below[k, 1, t] = below[k + 1, 1, t] + term
            term /= bottom[k]
    figures = np.empty((2, last - first))
    for q in range(first, last):
        drop = dropped[q]
        left = 1.0 - drop
        begin, end = start[q], start[q + 1]
        whole_weight = 0.0
        for j in range(begin, end):
            whole_weight += weight[mine[j]]
        precision = before[first_of[group[mine[begin]]]]
        hits, seen = 0.0, 0.0  # of this query's pairs so far, as much as is taken off
        of_hits, of_misses, of_both, of_itself = 0.0, 0.0, 0.0, 0.0
        j = begin
        while j < end:
            g = group[mine[j]]
            stop, here_hits, here_seen = j, 0.0, 0.0
            while stop < end and group[mine[stop]] == g:
                i = mine[stop]
                here_hits += gain[i]
                here_seen += weight[i]
                of_itself += gain[i] * weight[i] * (1.0 - relevant[i])
                stop += 1
            misses = here_seen - here_hits
            of_misses += misses * (hits_to[g] - 0.5 * hits_at[g])
            missed_to = seen_to[g] - hits_to[g]
            missed_at = seen_at[g] - hits_at[g]
            of_hits += here_hits * (all_seen - all_hits - missed_to + 0.5 * missed_at)
            of_both += misses * (hits / drop + 0.5 * here_hits) if drop > 0.0 else 0.0
            hits += drop * here_hits
            seen += drop * here_seen
            until = first_of[group[mine[stop]]] if stop < end else number
            near = first_of[g]
            while near < until and least[near] < FAR * whole_weight:
                if whose[near] != q:
                    precision += part[near] * (top[near] - hits) / (bottom[near] - seen)
                near += 1
            power = 1.0
            for t in range(TERMS if near < until else 0):
                of_top, of_one = below[near, 0, t] - below[until, 0, t], below[near, 1, t] - below[until, 1, t]
                precision += power * (of_top - hits * of_one)
                power *= seen
            for n in range(j, stop):
                i = mine[n]
                if relevant[i] > 0.0:
                    more = weight[i] - own[i]
                    above, over = hits_to[g] - hits, seen_to[g] - seen
                    if number_of[i] >= near:  # it is in the series, and should not be
                        precision -= gain[i] * (above - more * relevant[i]) / (over - more)
                    if left > 0.0:
                        precision += left * gain[i] * (above - left * more * relevant[i]) / (over - left * more)
            j = stop
        hits_left = all_hits - hits
        misses_left = all_seen - seen - hits_left
        if hits_left <= 1e-12 * all_hits:
            figures[:, q - first] = np.nan
            continue
        figures[0, q - first] = precision / hits_left
        itself_left = itself - (1.0 - left * left) * of_itself
        area_left = area - drop * (of_misses + of_hits) + drop * drop * of_both
        whole = hits_left * misses_left - itself_left
        seen_left = all_seen - seen
        enough = misses_left > 1e-12 * seen_left and whole > 1e-12 * seen_left * seen_left
        figures[1, q - first] = (area_left - 0.5 * itself_left) / whole if enough else np.nan
    return figures
