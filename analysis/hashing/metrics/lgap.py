"""Local group average precision: precision within a radius, discounted by crowded buckets.

Ding, Li and Li 2018, Eq. 10 and 11.

phi(k) = N_k / (maxbin_k V(Q, k)) is 1 when the N_k points within radius k fill the ball's codes evenly and small when
one code holds most of them. The largest bin is a running maximum over unique codes by distance; 2^Q codes are never
enumerated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, usable_engine
from relstudy.analysis.hashing.metrics.ball import ball_sizes
from relstudy.analysis.hashing.options import Engine

Ball = Literal["paper", "attainable"]


@dataclass(frozen=True)
class UniqueCodes:
    """The distinct codes of a database and how often each occurs."""

    codes: Codes
    multiplicity: np.ndarray

    @classmethod
    def of(cls, database: Codes) -> UniqueCodes:
        """Sort the codes once.

        Examples
        --------
        >>> unique = UniqueCodes.of(Codes.from_bits(np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)))
        >>> sorted(unique.multiplicity.tolist())
        [1, 2]
        """
        order = np.lexsort(database.columns)
        ordered = database.columns[:, order]
        starts = np.flatnonzero(np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
        counts = np.diff(np.r_[starts, ordered.shape[1]])
        return cls(Codes(np.ascontiguousarray(ordered[:, starts]), database.bits), counts.astype(np.int64))


def largest_bins(queries: Codes, unique: UniqueCodes, engine: Engine = "auto") -> np.ndarray:
    """The largest number of points in one code within each radius of each query: int64 (M, Q + 1).

    Shards may be merged by maximum only when they are cut by code, so that no code stands in two of them.
    """
    if usable_engine(engine) == "numba":
        from relstudy.analysis.hashing.counting import kernels

        return kernels.largest_bins(unique.codes.columns, unique.multiplicity, queries.rows(), queries.bits)
    bins = np.zeros((len(queries), queries.bits + 1), dtype=np.int64)
    for i, query in enumerate(queries.rows()):
        np.maximum.at(bins[i], unique.codes.distances_from(query), unique.multiplicity)
    return np.maximum.accumulate(bins, axis=1)


def local_group_average_precision(table: CountTable, bins: np.ndarray, radius: int, ball: Ball = "paper") -> np.ndarray:
    """LGAP@r of each query: the mean over k = 0..r of precision within k times phi(k); an empty ball adds 0.

    Parameters
    ----------
    table : counts of M queries
    bins : from `largest_bins`, int64 (M, Q + 1)
    radius : r, from 0 to Q
    ball : `paper` divides by V(Q, k); `attainable` caps it at the number of points present, so that a code without any
        collision is not punished for being long

    Returns
    -------
    float (M,) in [0, 1]. Its mean is mLGAP@r.

    Examples
    --------
    Ding, Li and Li's (2018) worked example: LGAP@2 = 0.5424.

    >>> table = CountTable(np.array([[2, 4, 4, 0, 0]]), np.array([[2, 2, 1, 0, 0]]))
    >>> float(local_group_average_precision(table, np.full((1, 5), 2), 2)[0].round(4))
    0.5424
    """
    seen = np.cumsum(table.total, axis=1)[:, : radius + 1].astype(float)
    hits = np.cumsum(table.relevant, axis=1)[:, : radius + 1].astype(float)
    # 1 / V is 0 where V is too large for a float.
    share = np.array([1 / size for size in ball_sizes(table.bits, radius)])
    if ball == "attainable":
        share = np.maximum(share, 1 / np.maximum(seen, 1))
    terms = np.divide(hits, bins[:, : radius + 1], out=np.zeros_like(hits), where=seen > 0) * share
    return np.asarray(terms.mean(axis=1))
