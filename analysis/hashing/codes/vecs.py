"""Vectors as .fvecs, .ivecs and .bvecs, the formats of SIFT1M and its relatives (Jegou, Douze and Schmid 2011).

Each vector is its length, a 32-bit little-endian integer, and then its numbers: 32-bit floats in .fvecs, 32-bit
integers in .ivecs, bytes in .bvecs. There is no header.
"""

from __future__ import annotations

import os

import numpy as np

from relstudy.common.errors import RelstudyError

NUMBERS: dict[str, np.dtype] = {".fvecs": np.dtype("<f4"), ".ivecs": np.dtype("<i4"), ".bvecs": np.dtype("u1")}
_LENGTH = np.dtype("<i4")


def is_vecs_file(path: str) -> bool:
    """Whether a path ends like a file of this kind."""
    return os.path.splitext(path)[1] in NUMBERS


def read_vecs(path: str) -> np.ndarray:
    """The vectors of a file as (n, D), mapped into memory and not read.

    Parameters
    ----------
    path : ends in .fvecs, .ivecs or .bvecs, which says what the numbers are

    Raises
    ------
    RelstudyError
        for an empty file, one that ends inside a vector, and vectors of several lengths
    OSError
        where it cannot be opened
    """
    numbers = NUMBERS[os.path.splitext(path)[1]]
    size = os.path.getsize(path)
    with open(path, "rb") as handle:
        start = handle.read(_LENGTH.itemsize)
    length = int(np.frombuffer(start, _LENGTH)[0]) if len(start) == _LENGTH.itemsize else 0
    row = _LENGTH.itemsize + length * numbers.itemsize
    if length < 1 or size % row:
        raise RelstudyError(
            f"{path}: {size} bytes are no whole number of vectors of {length} numbers, the length that it begins with"
        )
    rows = np.memmap(path, dtype=np.dtype([("length", _LENGTH), ("vector", numbers, (length,))]), mode="r")
    others = np.flatnonzero(rows["length"] != length)
    if len(others):
        raise RelstudyError(
            f"{path}, vector {int(others[0])} (counted from 0): its length is {int(rows['length'][others[0]])}, "
            f"the first one's {length}; all must be equal"
        )
    return np.asarray(rows["vector"])
