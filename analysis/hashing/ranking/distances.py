"""Distances of queries that are not binarised, a row per query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.lookup.with_faiss import need_faiss
from relstudy.common.errors import RelstudyError

CENTRES = 256
"""Of each part of a quantised vector: a byte."""
ROWS = 1 << 16


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
    bits = database.unpacked()
    for values in queries:
        squared = np.asarray(values, dtype=float) ** 2
        positive = values > 0
        # Where the query is positive a 0 costs, elsewhere a 1.
        cost = np.where(positive, -squared, squared)
        parts = [bits[start : start + ROWS] @ cost for start in range(0, len(bits), ROWS)]
        # What must be 0 is 0 also after rounding.
        yield np.maximum(np.concatenate(parts) + squared[positive].sum(), 0.0)


def euclidean_distances(queries: np.ndarray, database: np.ndarray) -> Iterator[np.ndarray]:
    """Squared Euclidean distances: what quantisation comes near to, at the price of the vectors."""
    if queries.ndim != 2 or database.ndim != 2 or queries.shape[1] != database.shape[1]:
        raise RelstudyError(f"query vectors {queries.shape} and database vectors {database.shape} need the same width")
    points = np.asarray(database, dtype=np.float32)
    norms = np.einsum("ij,ij->i", points, points)
    for values in np.asarray(queries, dtype=np.float32):
        yield norms - 2 * (points @ values)


def quantised_distances(
    training: np.ndarray, queries: np.ndarray, database: np.ndarray, bits: int, seed: int = 0
) -> Iterator[np.ndarray]:
    """Squared distances of queries from vectors quantised part by part (Jegou, Douze and Schmid 2011), by faiss.

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
            f"product quantisation has a byte for each part of a vector: {bits} is no multiple of 8 bits"
        )
    if len(training) < CENTRES:
        raise RelstudyError(f"{CENTRES} centres of each part need as many training vectors; there are {len(training)}")
    if parts > training.shape[1]:
        raise RelstudyError(f"vectors of {training.shape[1]} numbers do not have {parts} parts")
    learn, points, asked = (_filled(each, parts) for each in (training, database, queries))
    index: Any = faiss.IndexPQ(learn.shape[1], parts, 8)
    index.pq.cp.seed = seed
    index.pq.cp.min_points_per_centroid = 1  # the command says so itself; faiss prints what no one asked for
    index.train(learn)
    quantised = index.pq.decode(index.pq.compute_codes(points))
    yield from euclidean_distances(asked, quantised)


def _filled(vectors: np.ndarray, parts: int) -> np.ndarray:
    return np.pad(np.asarray(vectors, dtype=np.float32), ((0, 0), (0, -vectors.shape[1] % parts)))
