"""Arrays in files: .npy and .fvecs mapped into memory, one array of a .npz or .mat; never a pickle."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from relstudy.common.runtime.compression import refuse_devices, refuse_swelling, refuse_swelling_zip
from relstudy.common.runtime.damaged_files import DAMAGED_ARRAYS, refuse_tensors
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.formats.file_kind import IN_ARRAYS, VECTORS, file_part

_NPY = b"\x93NUMPY"
BLOCK_ROWS = 1 << 16
MAT_BYTES = {
    "int8": 1,
    "uint8": 1,
    "logical": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "single": 4,
    "char": 4,
}
"""Bytes of a number of a .mat file's classes; 8 of all others."""


def file_stamp(path: str) -> tuple[int, int]:
    """When the file of a path was last changed, and its size: what is kept of it holds as long; zeros without one."""
    file = file_part(path)
    return (file.stat().st_mtime_ns, file.stat().st_size) if file.exists() else (0, 0)


def load_array(path: str) -> np.ndarray:
    """An array that lies in a file.

    Parameters
    ----------
    path : .npy (mapped into memory, without ever unpickling), or .npz or MATLAB's .mat with `:NAME` of the array where
        the file holds several, or .fvecs, .ivecs or .bvecs (mapped too)

    Raises
    ------
    RelstudyError
        one sentence: no such file, a pickle, damage, several arrays and no name
    """
    refuse_tensors(path)
    refuse_devices(path)
    try:
        match = IN_ARRAYS.fullmatch(path)
        if match:
            return _one_of_several(match["file"], match["name"], file_stamp(path))
        if path.lower().endswith(VECTORS):
            return read_vecs(path)
        with open(path, "rb") as handle:
            start = handle.read(len(_NPY))
        if start != _NPY:
            raise RelstudyError(f"{path}: this is not a .npy array; pickled data is never loaded")
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise RelstudyError(f"{file_part(path)}: file not found") from None
    except OSError as error:
        raise RelstudyError(f"{path}: cannot be read ({error.strerror or error})") from None
    except DAMAGED_ARRAYS as error:
        if "object" in str(error).lower():
            raise RelstudyError(
                f"{path}: this array holds Python objects, and pickled data is never loaded; save plain numbers"
            ) from None
        raise RelstudyError(f"{path}: this array is damaged ({error})") from None
    return array


# Read whole, so kept for the parts that follow one another; a file that has changed since is read again.
@lru_cache(maxsize=4)
def _one_of_several(file: str, name: str | None, stamp: tuple[int, int]) -> np.ndarray:
    arrays = _mat(file) if file.lower().endswith(".mat") else _npz(file, name)
    if name is None and len(arrays) != 1:
        raise RelstudyError(f"{file} holds {', '.join(arrays) or 'no array'}; name one, such as {file}:NAME")
    if name is not None and name not in arrays:
        raise RelstudyError(f"{file} has no array {name}; it holds {', '.join(arrays)}")
    array = arrays[name if name is not None else next(iter(arrays))]
    array.flags.writeable = False
    return array


def _npz(file: str, name: str | None) -> dict[str, np.ndarray]:
    try:
        refuse_swelling_zip(file)
        with np.load(file, allow_pickle=False) as archive:
            wanted = [name] if name is not None and name in archive.files else archive.files
            return {each: np.asarray(archive[each]) for each in wanted}
    except ValueError:
        raise
    except DAMAGED_ARRAYS:
        raise RelstudyError(f"{file}: this is not a .npz of arrays") from None


def _mat(file: str) -> dict[str, np.ndarray]:
    from scipy import sparse
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    try:
        sizes = (math.prod(shape) * MAT_BYTES.get(kind, 8) for _, shape, kind in whosmat(file))
        refuse_swelling(file, sum(sizes))
        variables = loadmat(file)
    except NotImplementedError:
        raise RelstudyError(f"{file}: MATLAB's format 7.3 is not read; save it there with the flag -v7") from None
    except (MatReadError, IndexError, *DAMAGED_ARRAYS):
        raise RelstudyError(f"{file}: this is not a .mat file") from None
    arrays = {name: value for name, value in variables.items() if not name.startswith("__")}
    plain = {name: value.toarray() if sparse.issparse(value) else value for name, value in arrays.items()}
    # MATLAB has no vectors: one row of numbers is a vector there.
    return {
        name: value[0] if value.ndim == 2 and value.shape[0] == 1 < value.shape[1] else value
        for name, value in plain.items()
        if isinstance(value, np.ndarray)
    }


def plain_array(value: Any, name: str) -> np.ndarray:
    """An argument as an array; whole numbers and texts that stand as Python objects, as in a pandas column, as such.

    Raises
    ------
    RelstudyError
        where values are masked, as numpy would take what lies under the mask, and for rows of several lengths

    Examples
    --------
    >>> plain_array(np.array(["cat", "dog"], dtype=object), "labels").dtype.kind
    'U'
    """
    if np.ma.is_masked(value):
        masked = count_of(int(np.ma.getmaskarray(value).sum()), "value")
        raise RelstudyError(f"{name}: {masked} masked, and every one is needed")
    try:
        array = np.asarray(value)
    except ValueError:
        raise RelstudyError(f"{name}: an array is needed, and its rows here are of several lengths") from None
    if array.dtype == object and array.size:
        if all(isinstance(each, str) for each in array.flat):
            return array.astype(str)
        if all(isinstance(each, Integral) and not isinstance(each, bool) for each in array.flat):
            # numbers beyond 64 bits stay objects, which nothing takes
            with contextlib.suppress(OverflowError):
                return array.astype(np.int64)
    return array


def finite_numbers(value: Any, name: str, first: int = 0) -> np.ndarray:
    """An array of vectors as float64.

    Parameters
    ----------
    name : what messages call it
    first : the number of its first row, where it is a part

    Raises
    ------
    RelstudyError
        for values that are masked, complex, no numbers or not finite; the first row that is not finite is named
    """
    given = plain_array(value, name)
    if given.dtype.kind not in "biufUO":
        raise RelstudyError(f"{name}: real numbers are needed, this array is {given.dtype}")
    try:
        array: np.ndarray = np.asarray(given, dtype=float)
    except (ValueError, TypeError) as error:
        raise RelstudyError(f"{name}: numbers are needed ({error})") from None
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise RelstudyError(f"{name}, row {first + row} (counted from 0): finite numbers are needed")
    return array


def text_lines(file: str) -> list[str]:
    """The lines of a UTF-8 text without the blanks around them."""
    refuse_devices(file)
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise RelstudyError(f"{file}: file not found") from None
    except UnicodeDecodeError:
        raise RelstudyError(f"{file}: this is neither .npy nor UTF-8 text") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None
    return [line.strip() for line in text.splitlines()]


def row_blocks(array: np.ndarray, first: int = 0, last: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
    """Rows `first` to `last` of an array larger than memory: blocks, each with the number of its first row."""
    last = len(array) if last is None else last
    for start in range(first, last, BLOCK_ROWS):
        yield start, array[start : min(start + BLOCK_ROWS, last)]


NUMBERS: dict[str, np.dtype] = {".fvecs": np.dtype("<f4"), ".ivecs": np.dtype("<i4"), ".bvecs": np.dtype("u1")}
_LENGTH = np.dtype("<i4")


def read_vecs(path: str) -> np.ndarray:
    """The vectors of a file as (n, D), mapped into memory and not read.

    The formats are those of SIFT1M and its relatives (Jegou, Douze and Schmid 2011), without a header: each vector is
    its length, a 32-bit little-endian integer, and then its numbers: 32-bit floats in .fvecs, 32-bit integers in
    .ivecs, bytes in .bvecs.

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
    numbers = NUMBERS[os.path.splitext(path)[1].lower()]
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
