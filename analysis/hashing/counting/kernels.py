"""The one heavy loop: distances from every query to every code, counted by radius.

Both kernels work on array slices, which lets the compiler use vector popcount where the processor has it; indexing
the whole array inside the loop would cost a factor of seven. Blocks of the database stay in cache for several queries.
The numpy engine gives the same integers, slower, and `nibbles` gives them faster if there is no vector popcount.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange
from numba.extending import intrinsic

from relstudy.common.runtime.compiled import compiled, compiled_for_all_cores

BLOCK = 1 << 16
"""Codes per block: at most 65,536, so that half a block's counts fit 16 bits."""
IN_CACHE = 1 << 17
"""Words of a block: a megabyte, which stays in a core's second cache while QUERIES pass over it."""
QUERIES = 8
"""Queries that share a block of the database while it is in cache."""
WIDEST_PAIR = 200
"""Longest code for which two queries share one joint histogram; beyond, it no longer fits the cache."""


@intrinsic
def _popcount(context: Any, word: Any) -> tuple[Any, Callable[..., Any]]:
    return word(word), lambda ctx, builder, signature, arguments: builder.ctpop(arguments[0])


@compiled
def _distance(words: np.ndarray, query: np.uint64, out: np.ndarray) -> None:
    for j in range(words.size):
        out[j] = _popcount(words[j] ^ query)


@compiled
def _add_distance(words: np.ndarray, query: np.uint64, out: np.ndarray) -> None:
    for j in range(words.size):
        out[j] += np.uint16(_popcount(words[j] ^ query))


@compiled
def _joint(words: np.ndarray, first: np.uint64, second: np.uint64, side: np.uint16, out: np.ndarray) -> None:
    for j in range(words.size):
        out[j] = np.uint16(np.uint16(_popcount(words[j] ^ first)) * side + np.uint16(_popcount(words[j] ^ second)))


@compiled
def _joint_two_words(
    low: np.ndarray, high: np.ndarray, first: np.ndarray, second: np.ndarray, side: np.uint16, out: np.ndarray
) -> None:
    a, b, c, d = first[0], first[1], second[0], second[1]
    for j in range(low.size):
        out[j] = np.uint16(
            np.uint16(_popcount(low[j] ^ a) + _popcount(high[j] ^ b)) * side
            + np.uint16(_popcount(low[j] ^ c) + _popcount(high[j] ^ d))
        )


@compiled
def _add_joint(words: np.ndarray, first: np.uint64, second: np.uint64, side: np.uint16, out: np.ndarray) -> None:
    for j in range(words.size):
        out[j] += np.uint16(np.uint16(_popcount(words[j] ^ first)) * side + np.uint16(_popcount(words[j] ^ second)))


@compiled
def count_halves(keys: np.ndarray, counts: np.ndarray, size: int) -> None:
    # Two histograms, so that equal keys in a row do not wait for each other's store.
    even, odd, one = counts[:size], counts[size:], np.uint16(1)
    for k in range(keys.size // 2):
        even[keys[2 * k]] += one
        odd[keys[2 * k + 1]] += one
    if keys.size % 2:
        even[keys[keys.size - 1]] += one


@compiled
def marginals(counts: np.ndarray, side: int, of_first: np.ndarray, of_second: np.ndarray) -> None:
    size = side * side
    for a in range(side):
        together = np.int64(0)
        even = counts[a * side : a * side + side]
        odd = counts[size + a * side : size + a * side + side]
        for b in range(side):
            distance = np.int64(even[b]) + np.int64(odd[b])
            together += distance
            of_second[b] += distance
        of_first[a] += together


@compiled_for_all_cores
def count_by_class(
    columns: np.ndarray, starts: np.ndarray, queries: np.ndarray, classes: np.ndarray, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """Histograms over the radius of all codes and of the relevant ones, rows of the database grouped by class.

    Parameters
    ----------
    columns : uint64 (words, N), codes ordered so that class c stands in starts[c]:starts[c + 1]
    starts : int64 (classes + 1,)
    queries : uint64 (M, words);  classes : int64 (M,), a class outside the range has no relevant code
    bits : code length Q; up to `WIDEST_PAIR` two queries are counted in one joint histogram

    Returns
    -------
    total, relevant : int64 (M, Q + 1)
    """
    number, words, side = len(queries), len(columns), bits + 1
    block = min(BLOCK, IN_CACHE // words)
    total = np.zeros((number, side), np.int64)
    relevant = np.zeros((number, side), np.int64)
    pair = bits <= WIDEST_PAIR
    joint_size = side * side if pair else side
    for group in prange((number + QUERIES - 1) // QUERIES):
        keys = np.empty(block, np.uint16)
        counts = np.zeros(2 * joint_size, np.uint16)
        of_first = np.zeros(side, np.int64)
        of_second = np.zeros(side, np.int64)
        first_query = group * QUERIES
        last_query = min(number, first_query + QUERIES)
        for c in range(len(starts) - 1):
            low = starts[c]
            while low < starts[c + 1]:
                high = min(low + block, starts[c + 1])
                out = keys[: high - low]
                i = first_query
                while i < last_query:
                    counts[:] = 0
                    of_first[:] = 0
                    if pair:
                        k = min(i + 1, last_query - 1)
                        of_second[:] = 0
                        if words == 2:
                            _joint_two_words(
                                columns[0, low:high], columns[1, low:high], queries[i], queries[k], np.uint16(side), out
                            )
                        else:
                            _joint(columns[0, low:high], queries[i, 0], queries[k, 0], np.uint16(side), out)
                            for w in range(1, words):
                                _add_joint(columns[w, low:high], queries[i, w], queries[k, w], np.uint16(side), out)
                        count_halves(out, counts, joint_size)
                        marginals(counts, side, of_first, of_second)
                        if k != i:
                            total[k] += of_second
                            if classes[k] == c:
                                relevant[k] += of_second
                    else:
                        _distance(columns[0, low:high], queries[i, 0], out)
                        for w in range(1, words):
                            _add_distance(columns[w, low:high], queries[i, w], out)
                        count_halves(out, counts, joint_size)
                        for d in range(side):
                            of_first[d] = np.int64(counts[d]) + np.int64(counts[side + d])
                    total[i] += of_first
                    if classes[i] == c:
                        relevant[i] += of_first
                    i += 2 if pair else 1
                low = high
    return total, relevant


@compiled_for_all_cores
def count_own_class(
    columns: np.ndarray, starts: np.ndarray, queries: np.ndarray, classes: np.ndarray, bits: int
) -> np.ndarray:
    """Histograms over the radius of each query's own class alone, int64 (M, Q + 1); arguments as of `count_by_class`.

    Where classes are many or small, a pass over each of them for every query would mostly empty and add up joint
    histograms.
    """
    side, words = bits + 1, len(columns)
    relevant = np.zeros((len(queries), side), np.int64)
    for i in prange(len(queries)):
        if classes[i] < 0 or classes[i] + 1 >= len(starts):
            continue
        low, end = starts[classes[i]], starts[classes[i] + 1]
        keys = np.empty(min(BLOCK, end - low), np.uint16)
        counts = np.zeros(2 * side, np.uint16)
        while low < end:
            high = min(low + BLOCK, end)
            out = keys[: high - low]
            counts[:] = 0
            _distance(columns[0, low:high], queries[i, 0], out)
            for w in range(1, words):
                _add_distance(columns[w, low:high], queries[i, w], out)
            count_halves(out, counts, side)
            for d in range(side):
                relevant[i, d] += np.int64(counts[d]) + np.int64(counts[side + d])
            low = high
    return relevant


@compiled
def _mark_shared(labels: np.ndarray, query: np.uint64, out: np.ndarray) -> None:
    for j in range(labels.size):
        out[j] |= np.uint16((labels[j] & query) != 0)


@compiled
def _double(out: np.ndarray) -> None:
    for j in range(out.size):
        out[j] = np.uint16(out[j] * np.uint16(2))


@compiled_for_all_cores
def count_by_labels(
    columns: np.ndarray, masks: np.ndarray, queries: np.ndarray, query_masks: np.ndarray, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """As `count_by_class`, for label sets: relevant where code and query share a label. Any row order.

    Parameters
    ----------
    masks : uint64 (label words, N);  query_masks : uint64 (M, label words)
    """
    number, words, side, size = len(queries), len(columns), bits + 1, columns.shape[1]
    block = min(BLOCK, IN_CACHE // words)
    total = np.zeros((number, side), np.int64)
    relevant = np.zeros((number, side), np.int64)
    for group in prange((number + QUERIES - 1) // QUERIES):
        keys = np.empty(block, np.uint16)
        counts = np.zeros(4 * side, np.uint16)
        low = 0
        while low < size:
            high = min(low + block, size)
            out = keys[: high - low]
            for i in range(group * QUERIES, min(number, group * QUERIES + QUERIES)):
                counts[:] = 0
                _distance(columns[0, low:high], queries[i, 0], out)
                for w in range(1, words):
                    _add_distance(columns[w, low:high], queries[i, w], out)
                _double(out)
                for w in range(len(masks)):
                    _mark_shared(masks[w, low:high], query_masks[i, w], out)
                count_halves(out, counts, 2 * side)
                for d in range(side):
                    hits = np.int64(counts[2 * d + 1]) + np.int64(counts[2 * side + 2 * d + 1])
                    relevant[i, d] += hits
                    total[i, d] += hits + np.int64(counts[2 * d]) + np.int64(counts[2 * side + 2 * d])
            low = high
    return total, relevant


@compiled_for_all_cores
def largest_bins(columns: np.ndarray, multiplicity: np.ndarray, queries: np.ndarray, bits: int) -> np.ndarray:
    """Largest multiplicity of one code within each radius: int64 (M, Q + 1), over unique codes only."""
    number, words, side, size = len(queries), len(columns), bits + 1, columns.shape[1]
    largest = np.zeros((number, side), np.int64)
    for group in prange((number + QUERIES - 1) // QUERIES):
        keys = np.empty(BLOCK, np.uint16)
        low = 0
        while low < size:
            high = min(low + BLOCK, size)
            out, many = keys[: high - low], multiplicity[low:high]
            for i in range(group * QUERIES, min(number, group * QUERIES + QUERIES)):
                _distance(columns[0, low:high], queries[i, 0], out)
                for w in range(1, words):
                    _add_distance(columns[w, low:high], queries[i, w], out)
                for j in range(out.size):
                    if many[j] > largest[i, out[j]]:
                        largest[i, out[j]] = many[j]
            low = high
        for i in range(group * QUERIES, min(number, group * QUERIES + QUERIES)):
            for d in range(1, side):
                largest[i, d] = max(largest[i, d], largest[i, d - 1])
    return largest
