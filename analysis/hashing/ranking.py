"""Rankings by distances that are real numbers, as count tables that stand beside those of hash codes.

The distances are asymmetric ones, those of product quantisation, or those of the vectors themselves.

Where a table of codes has a column for each Hamming radius, this one has a column for each level of ranks: the first
thousand ranks one by one, later ones in levels of a hundredth. Items at equal distance stand in one level. So mAP,
precision and recall at k are intervals over the order within levels as they are over ties, exact up to rank 1,000 and
narrow beyond; what is made of Hamming radii does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.lookup.with_faiss import need_faiss
from relstudy.analysis.hashing.truth.relevance import Truth, check_sizes, facts_of
from relstudy.analysis.hashing.truth.vector_truth import TOO_LARGE
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import row_blocks

SINGLE = 1000
"""Ranks that are kept one by one."""
GROWTH = 0.01
"""Share by which the levels beyond grow."""


def rank_levels(items: int) -> np.ndarray:
    """The first rank (from 0) of each level of a ranking of so many items: int64.

    Examples
    --------
    >>> rank_levels(3).tolist(), rank_levels(10**6)[[999, 1000, 1001]].tolist()
    ([0, 1, 2], [999, 1000, 1010])
    """
    starts = list(range(min(items, SINGLE)))
    rank = SINGLE
    while rank < items:
        starts.append(rank)
        rank += max(1, int(rank * GROWTH))
    return np.array(starts)


def rank_table(distances: Iterable[np.ndarray], truth: Truth, distance: str, notes: Sequence[str] = ()) -> CountTable:
    """Count items and relevant items by level of rank.

    Parameters
    ----------
    distances : of each query in turn, float (N,), from every item of the database
    truth : which items are relevant to which query
    distance : what ranks, in a word or two; kept with the table
    notes : on what was assumed of vectors and labels; kept too

    Returns
    -------
    A count table with `by_rank` set: a column a level, and no Hamming radius.
    """
    queries, items = truth.sizes
    levels = rank_levels(items)
    total, relevant = np.zeros((2, queries, len(levels)), dtype=np.int64)
    number = 0
    for number, given in enumerate(distances, 1):
        row = np.asarray(given)
        if number > queries or row.shape != (items,) or row.dtype.kind not in "biuf" or np.isnan(row).any():
            raise RelstudyError(
                f"distances of query {number}: numbers of shape ({items},) for each of {queries} queries are needed"
            )
        order = np.argsort(row, kind="stable")
        ordered = row[order]
        first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        sizes = np.diff(np.r_[first, items])
        level = np.searchsorted(levels, np.repeat(first, sizes), side="right") - 1
        total[number - 1] = np.bincount(level, minlength=len(levels))
        wanted = np.zeros(items, dtype=bool)
        wanted[truth.of(number - 1)] = True
        relevant[number - 1] = np.bincount(level[wanted[order]], minlength=len(levels))
    check_sizes(truth, number, items)
    return CountTable(total, relevant, {**facts_of(truth), "distance": distance, "notes": list(notes)})


CENTRES = 256
"""Of each part of a quantised vector: a byte."""
ROWS = 1 << 16
NUMBERS_AT_ONCE = 1 << 25
"""Distances that are held at once: 256 MB."""
SOME_ROWS = 1000
"""Rows, about so many, whose median vectors are moved by."""


def asymmetric_distances(queries: np.ndarray, database: Codes) -> Iterator[np.ndarray]:
    """Squared distances of real-valued queries from the orthants that the codes stand for.

    The sum of a query's squared values over the bits in which a code differs from its signs: the lower bound of Gordo
    et al. 2014, which needs nothing of the database but its codes.

    Parameters
    ----------
    queries : float (M, Q), what an encoder's `real_values` gives

    Examples
    --------
    >>> codes = Codes.from_bits(np.array([[1, 1], [1, 0], [0, 0]], dtype=bool))
    >>> next(asymmetric_distances(np.array([[2.0, -1.0]]), codes)).tolist()
    [1.0, 0.0, 4.0]
    """
    if queries.ndim != 2 or queries.shape[1] != database.bits:
        raise RelstudyError(f"queries of the shape (n, {database.bits}) are needed, this array has {queries.shape}")
    # Of each code that occurs once, so that equal ones have the same sum to the last digit and stay ties.
    unique, place = np.unique(database.rows(), axis=0, return_inverse=True)
    bits = Codes(np.ascontiguousarray(unique.T), database.bits).unpacked()
    for values in queries:
        squared = np.asarray(values, dtype=float) ** 2
        positive = values > 0
        # Where the query is positive a 0 costs, elsewhere a 1.
        cost = np.where(positive, -squared, squared)
        parts = [bits[start : start + ROWS] @ cost for start in range(0, len(bits), ROWS)]
        # What must be 0 is 0 also after rounding.
        yield np.maximum(np.concatenate(parts) + squared[positive].sum(), 0.0)[place.ravel()]


def euclidean_distances(queries: np.ndarray, database: np.ndarray) -> Iterator[np.ndarray]:
    """Squared Euclidean distances: what quantisation comes near to, at the price of the vectors.

    Equal vectors are equally far, to the last digit; so are all that truly are, where the numbers are whole.

    Raises
    ------
    RelstudyError
        for vectors of several widths, or of which the squares are too large for a number
    """
    if queries.ndim != 2 or database.ndim != 2 or queries.shape[1] != database.shape[1]:
        raise RelstudyError(f"query vectors {queries.shape} and database vectors {database.shape} need the same width")
    # Less a whole number in the midst of them, vectors have small squares, and whole numbers stay whole. A median, of
    # rows from all parts: one vector that is far from all others would draw a mean away from these.
    some = np.asarray(database[:: max(1, len(database) // SOME_ROWS)], dtype=float)
    middle: np.ndarray = np.round(np.median(some, axis=0))
    first = _first_equal(database)
    at_once = max(1, NUMBERS_AT_ONCE // max(1, len(database)))
    for start in range(0, len(queries), at_once):
        asked = np.asarray(queries[start : start + at_once], dtype=float) - middle
        yield from _apart(asked, database, middle)[:, first]


def _apart(queries: np.ndarray, database: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Squared distances of queries from each vector less `middle`: float64 (M, N)."""
    apart = np.empty((len(queries), len(database)))
    own = np.einsum("ij,ij->i", queries, queries)[:, None]
    for start, block in row_blocks(database):
        points = np.asarray(block, dtype=float) - middle
        norms = own + np.einsum("ij,ij->i", points, points)
        if not np.isfinite(norms).all():
            raise RelstudyError(TOO_LARGE)
        apart[:, start : start + len(block)] = norms - 2 * queries @ points.T
    return apart


def _first_equal(vectors: np.ndarray) -> np.ndarray:
    """Of each vector the first row that equals it."""
    rows = np.ascontiguousarray(vectors + np.zeros((), dtype=vectors.dtype))  # -0 equals 0
    octets = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, place = np.unique(octets, return_index=True, return_inverse=True)
    return np.asarray(first[place.ravel()])


def quantised_distances(
    training: np.ndarray, queries: np.ndarray, database: np.ndarray, bits: int, seed: int = 0
) -> Iterator[np.ndarray]:
    """Squared distances of queries from vectors quantised part by part (Jegou, Douze and Schmid 2011), by faiss, in a
    unit in which the farthest number of any vector is 1 from the training vectors' mean.

    Parameters
    ----------
    training : float (n, D), for the centres; n at least 256
    bits : of a vector's code, a multiple of 8: a byte for each of bits / 8 parts. D is filled up with zeros to a
        multiple of that number.
    """
    need_faiss()
    import faiss

    parts = bits // 8
    if bits < 8 or bits % 8:
        raise RelstudyError(
            f"product quantisation has a byte for each part of a vector: {bits} is not a multiple of 8 bits"
        )
    if len(training) < CENTRES:
        raise RelstudyError(f"{CENTRES} centres of each part need as many training vectors; there are {len(training)}")
    if parts > training.shape[1]:
        raise RelstudyError(f"vectors of {training.shape[1]} numbers do not have {parts} parts")
    learn, points, asked = _in_single_precision(training, database, queries)
    learn, points, asked = (np.pad(each, ((0, 0), (0, -each.shape[1] % parts))) for each in (learn, points, asked))
    index: Any = faiss.IndexPQ(learn.shape[1], parts, 8)
    index.pq.cp.seed = seed
    index.pq.cp.min_points_per_centroid = 1  # the command says so itself; faiss prints what no one asked for
    index.train(learn)
    quantised = index.pq.decode(index.pq.compute_codes(points))
    yield from euclidean_distances(asked, quantised)


def _in_single_precision(*vectors: np.ndarray) -> list[np.ndarray]:
    """Vectors about the first ones' mean, the largest number 1, as float32, which faiss takes: vectors far from 0 would
    be alike in single precision, and very small ones 0."""
    middle = np.mean(vectors[0], axis=0, dtype=float)
    centred = [np.asarray(each, dtype=float) - middle for each in vectors]
    unit = max((float(np.abs(each).max(initial=0)) for each in centred), default=0.0) or 1.0
    return [(each / unit).astype(np.float32) for each in centred]
