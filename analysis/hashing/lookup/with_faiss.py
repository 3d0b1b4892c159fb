"""The same buckets in faiss: IndexBinaryMultiHash, the extra `faiss`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.lookup.bucket_index import LookUpResult
from relstudy.common.runtime.errors import RelstudyError


def need_faiss() -> None:
    """Raise one sentence where the extra `faiss` is not installed."""
    if find_spec("faiss") is None:
        raise RelstudyError("this needs faiss: pip install 'relstudy[faiss]'")


class FaissBuckets:
    """L tables of the code's first L * K bits, K after K, as `segments` without a seed has them.

    Parameters
    ----------
    database : codes; faiss pads them to whole bytes
    width, tables : K and L
    """

    def __init__(self, database: Codes, width: int, tables: int) -> None:
        need_faiss()
        import faiss

        if width * tables > database.bits:
            raise RelstudyError(f"{tables} disjoint tables of {width} bits do not fit a code of {database.bits} bits")
        self.bits = database.bits
        self.index: Any = faiss.IndexBinaryMultiHash(8 * -(-database.bits // 8), tables, width)
        self.index.add(_octets(database))

    def look_up(self, queries: Codes, flips: int = 0) -> LookUpResult:
        """The result of `BucketIndex.look_up`; faiss also measures the distance of every candidate."""
        self.index.nflip = flips
        # Strictly less than the radius, so that it leaves nothing out.
        limits, _, rows = self.index.range_search(_octets(queries), self.bits + 1)
        starts = limits.astype(np.int64)
        query = np.repeat(np.arange(len(queries)), np.diff(starts))
        return LookUpResult(starts, rows[np.lexsort((rows, query))].astype(np.int64))


def _octets(codes: Codes) -> np.ndarray:
    return np.packbits(codes.unpacked(), axis=1, bitorder="little")
