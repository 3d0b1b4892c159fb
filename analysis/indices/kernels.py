"""The loops that meet every pair in every replicate: one pass over pairs sorted once.

Each takes `times` [rows, replicates] (how much a pair counts in each replicate), every pair's row of it, and the
replicates from `start` to `stop`; it walks the pairs in the order of one system's score, and the inner loop runs over
the replicates, side by side. Groups of equal scores are closed together, so ties are exact. A replicate in which an
index is undefined gets NaN. Many pairs are walked by machine code, few by numpy (`relstudy.common.runtime.compiled`).
"""

from __future__ import annotations

import numpy as np

from relstudy.common.runtime.compiled import choose, compiled_for_many, lanes

SIDE_BY_SIDE = 16
"""Replicates of `spearman` at once: a row of them is two lines of the cache, and a table of some 40,000 stays in it."""

AHEAD = 32
"""Pairs whose rows of a large table are fetched together: copies one after another are waited for at once."""


@compiled_for_many
def sums(columns: np.ndarray, times: np.ndarray, start: int, stop: int) -> np.ndarray:
    """`columns` [quantities, rows] times `times`, float64 [quantities, stop - start].

    A matrix product, but one that a library for square ones does slowly: few quantities, and a table of times too large
    to be copied.
    """
    number, rows = columns.shape
    table = np.zeros((number, stop - start))
    for i in range(rows):
        counts = times[i, start:stop]
        for k in range(number):
            value = columns[k, i]
            row = table[k]
            for b in lanes(stop - start):
                row[b] += value * counts[b]
    return table


@compiled_for_many
def sums_by_bin(
    row: np.ndarray,
    bin_of: np.ndarray,
    bins: int,
    weight: np.ndarray,
    relevant: np.ndarray,
    times: np.ndarray,
    start: int,
    stop: int,
) -> np.ndarray:
    """Weight of all pairs and of what is relevant of them in each bin.

    Parameters
    ----------
    row, bin_of : int64 [pairs], bins from 0 to bins - 1
    weight : float64 [pairs]
    relevant : float64 [pairs], the share of people who call the pair relevant, 0 to 1

    Returns
    -------
    float64 [2, bins, stop - start]
    """
    table = np.zeros((2, bins, stop - start))
    for i in range(len(row)):
        counts = times[row[i], start:stop]
        w = weight[i]
        seen = table[0, bin_of[i]]
        for b in lanes(stop - start):
            seen[b] += w * counts[b]
        if relevant[i] > 0.0:
            hits = table[1, bin_of[i]]
            w *= relevant[i]
            for b in lanes(stop - start):
                hits[b] += w * counts[b]
    return table


@compiled_for_many
def retrieval(
    row: np.ndarray,
    group_end: np.ndarray,
    weight: np.ndarray,
    own: np.ndarray,
    relevant: np.ndarray,
    times: np.ndarray,
    start: int,
    stop: int,
) -> np.ndarray:
    """Sums behind average precision and the area under the ROC curve, weighted (`retrieval_of_sums`).

    Parameters
    ----------
    row : int64 [pairs], in order of descending score
    group_end : bool [pairs], True at the last pair of each group of equal scores
    weight : float64 [pairs], positive
    own : float64 [pairs], the weight of a pair in its own precision, at most `weight`
    relevant : float64 [pairs], the share of people who call the pair relevant, 0 to 1
    times : float64 [rows, replicates], not negative

    Returns
    -------
    float64 [5, stop - start]: weight of all pairs and of what is relevant; precision at what is relevant, and what is
    relevant above what is not, both by weight; and what of that each pair has with itself
    """
    width = stop - start
    seen, hits, precision, area, itself, seen_before, hits_before = 0, 1, 2, 3, 4, 5, 6
    sums = np.zeros((7, width))  # one array: the compiler has to prove it apart from `times` alone
    some_relevant = False
    first = 0
    for i in range(len(row)):
        counts = times[row[i], start:stop]
        w = weight[i]
        share = relevant[i]
        gain, both, excess = w * share, w * share * w * (1.0 - share), w - own[i]
        if first == i and group_end[i]:  # without equals
            if share > 0.0:
                for b in lanes(width):
                    seen_here, hits_here = sums[seen, b] + w * counts[b], sums[hits, b] + gain * counts[b]
                    gained = hits_here - sums[hits, b]
                    missed = np.maximum((seen_here - sums[seen, b]) - gained, 0.0)
                    sums[area, b] += missed * (sums[hits, b] + 0.5 * gained)
                    more = excess * counts[b]
                    part = gain * counts[b] * (hits_here - more * share) / (seen_here - more)
                    sums[precision, b] += choose(counts[b] > 0.0, part, 0.0)
                    sums[itself, b] += both * counts[b] * counts[b]
                    sums[seen, b] = seen_here
                    sums[hits, b] = hits_here
            else:
                for b in lanes(width):
                    seen_here = sums[seen, b] + w * counts[b]
                    sums[area, b] += (seen_here - sums[seen, b]) * sums[hits, b]
                    sums[seen, b] = seen_here
            first = i + 1
            continue
        if first == i:
            sums[seen_before] = sums[seen]
            sums[hits_before] = sums[hits]
        some_relevant = some_relevant or share > 0.0
        for b in lanes(width):
            sums[seen, b] += w * counts[b]
        if share > 0.0:
            for b in lanes(width):
                sums[hits, b] += gain * counts[b]
                sums[itself, b] += both * counts[b] * counts[b]
        if group_end[i]:
            if some_relevant:
                for b in lanes(width):
                    gained = sums[hits, b] - sums[hits_before, b]
                    missed = np.maximum((sums[seen, b] - sums[seen_before, b]) - gained, 0.0)
                    sums[area, b] += missed * (sums[hits_before, b] + 0.5 * gained)
                for j in range(first, i + 1):
                    if relevant[j] > 0.0:
                        share = relevant[j]
                        gain = weight[j] * share
                        excess = weight[j] - own[j]
                        counts = times[row[j], start:stop]
                        for b in lanes(width):
                            more = excess * counts[b]
                            part = gain * counts[b] * (sums[hits, b] - more * share) / (sums[seen, b] - more)
                            sums[precision, b] += choose(counts[b] > 0.0, part, 0.0)
            else:
                for b in lanes(width):
                    sums[area, b] += (sums[seen, b] - sums[seen_before, b]) * sums[hits, b]
            some_relevant = False
            first = i + 1
    return sums[: itself + 1]


def retrieval_of_sums(sums: np.ndarray) -> np.ndarray:
    """Average precision and area under the ROC curve (ties count half; no pair is held against itself), float64
    [2, replicates], of the sums of `retrieval`; NaN where undefined."""
    seen, hits, precision, area, itself = sums
    misses = seen - hits
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = hits * misses - itself
        enough = (hits > 0.0) & (misses > 1e-12 * seen) & (whole > 1e-12 * seen * seen)
        return np.stack(
            [
                np.where(hits > 0.0, precision / hits, np.nan),
                np.where(enough, (area - 0.5 * itself) / whole, np.nan),
            ]
        )


@compiled_for_many
def ranks_by_level(
    row: np.ndarray, level: np.ndarray, levels: int, weight: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean rank of each level of a variable in each replicate.

    Parameters
    ----------
    row, level : int64 [pairs]; `level` numbers the distinct values from the lowest, 0
    levels : number of distinct values
    weight : float64 [pairs], positive; ones count pairs alike
    times : float64 [rows, replicates], as they lie in memory

    Returns
    -------
    The ranks, float64 [levels, replicates], centred on the middle one; how much all pairs count, and that times the
    squares of their ranks, float64 [replicates] each
    """
    width = times.shape[1]
    table, total, squares = np.zeros((levels, width)), np.zeros(width), np.zeros(width)
    for i in range(len(row)):
        number, of_row, w = level[i], row[i], weight[i]
        for b in lanes(width):
            table[number, b] += w * times[of_row, b]
    for v in range(levels):
        for b in lanes(width):
            total[b] += table[v, b]
    before = np.zeros(width)
    for v in range(levels):
        for b in lanes(width):
            rank = before[b] + 0.5 * table[v, b] - 0.5 * total[b]
            before[b] += table[v, b]
            squares[b] += table[v, b] * rank * rank
            table[v, b] = rank
    return table, total, squares


@compiled_for_many
def spearman(
    row: np.ndarray,
    group_end: np.ndarray,
    level: np.ndarray,
    ranked: tuple[np.ndarray, np.ndarray, np.ndarray],
    weight: np.ndarray,
    times: np.ndarray,
) -> np.ndarray:
    """Spearman's correlation of a score with a variable, float64 [replicates].

    All that is summed up for a pair without equals stands in one array: one loop over the replicates side by side. Of
    the ranks, whose table is larger than the cache, the rows of `AHEAD` pairs are fetched at once.

    Parameters
    ----------
    row, group_end, level : [pairs] in order of ascending score; `level` of the other variable
    ranked : of the other variable, by `ranks_by_level` of the same replicates
    weight : float64 [pairs], positive; ones count pairs alike
    times : float64 [rows, replicates]; of many pairs best `SIDE_BY_SIDE`
    """
    ranks, total, other_squares = ranked
    width = times.shape[1]
    before, cross, squares = 0, 1, 2
    sums, many, other = np.zeros((3, width)), np.zeros(width), np.zeros(width)
    near = np.empty((AHEAD, width))
    alone = True
    for i in range(len(row)):
        if i % AHEAD == 0:
            for k in range(min(AHEAD, len(row) - i)):
                number = level[i + k]
                for b in lanes(width):
                    near[k, b] = ranks[number, b]
        of_row, k, w = row[i], i % AHEAD, weight[i]
        if alone and group_end[i]:
            for b in lanes(width):
                much = w * times[of_row, b]
                centred = sums[before, b] + 0.5 * (much - total[b])
                sums[cross, b] += centred * (much * near[k, b])
                sums[squares, b] += centred * centred * much
                sums[before, b] += much
            continue
        for b in lanes(width):
            many[b] += w * times[of_row, b]
        for b in lanes(width):
            other[b] += w * times[of_row, b] * near[k, b]
        alone = group_end[i]
        if alone:
            for b in lanes(width):
                centred = sums[before, b] + 0.5 * (many[b] - total[b])
                sums[cross, b] += centred * other[b]
                sums[squares, b] += centred * centred * many[b]
                sums[before, b] += many[b]
            many[:] = 0.0
            other[:] = 0.0
    figures = np.empty(width)
    for b in lanes(width):
        spread = sums[squares, b] * other_squares[b]
        varied = (sums[squares, b] > 0.0) & (other_squares[b] > 0.0)
        figures[b] = choose(varied, sums[cross, b] / np.sqrt(spread), np.nan)
    return figures


@compiled_for_many
def concordance(group_end: np.ndarray, level: np.ndarray, levels: int, weight: np.ndarray) -> np.ndarray:
    """Each pair's concordance with all others, by a Fenwick tree over the levels of the other variable.

    Parameters
    ----------
    group_end, level : [pairs] in order of ascending score; `level` of the other variable
    levels : number of distinct values of the other variable
    weight : float64 [pairs], positive; ones count pairs alike

    Returns
    -------
    float64 [pairs]: the sum over the others of their weight, times 1 where both variables order the two alike, -1 where
    they do not, and 0 where either is tied. Cost: pairs x log2(levels).
    """
    pairs = len(level)
    by_level = np.zeros(levels)
    for i in range(pairs):
        by_level[level[i]] += weight[i]
    total = np.cumsum(by_level)[-1]  # one after another: numpy's sum() adds in another order
    below = 0.0
    over_all = np.empty(levels)
    for v in range(levels):
        over_all[v] = 2.0 * below + by_level[v] - total
        below += by_level[v]
    tree, by_level[:], inserted, first = np.zeros(levels + 1), 0.0, 0.0, 0

    def over(own: int, inserted: float) -> float:  # weight of lower levels less that of higher ones
        below = 0.0
        node = own
        while node > 0:
            below += tree[node]
            node -= node & -node
        return 2.0 * below + by_level[own] - inserted

    figures = np.empty(pairs)
    for i in range(pairs):
        figures[i] = over(level[i], inserted) - over_all[level[i]]
        if group_end[i]:
            for j in range(first, i + 1):
                by_level[level[j]] += weight[j]
                inserted += weight[j]
                node = level[j] + 1
                while node <= levels:
                    tree[node] += weight[j]
                    node += node & -node
            for j in range(first, i + 1):
                figures[j] += over(level[j], inserted)
            first = i + 1
    return figures
