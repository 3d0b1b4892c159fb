"""Files of codes: every form that codes come in reads to the same words, and every fault has its sentence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np

from analysis.hashing.codes import Codes
from calibration.errors import Fault, RelstudyError, TableError

Format = Literal["auto", "bits", "packed", "hex"]

_CHECK_ROWS = 1 << 16


def read_codes(path: str | os.PathLike[str], form: Format = "auto", rows: slice = slice(None)) -> Codes:
    """Read codes from .npy (memory-mapped) or from a text file of hexadecimal codes, one a line.

    Parameters
    ----------
    path : .npy holding shape (codes, bits) of bool, 0/1 or -1/+1 numbers, or shape (codes, bytes) of packed uint8;
        any other ending is read as text
    form : `auto` takes uint8 as packed unless all its values are 0 or 1; say `bits` or `packed` to settle it
    rows : which rows to read; what the file holds is settled by the whole file

    Raises
    ------
    RelstudyError, TableError
        for a pickle, a wrong shape, NaN, a zero among -1/+1 codes, any other value, codes of different lengths
    """
    file = os.fspath(path)
    if form == "hex" or (form == "auto" and not file.endswith(".npy")):
        return _read_hex(file).take(rows)
    array = _code_array(file)
    packed = array.dtype == np.uint8 and (form == "packed" or (form == "auto" and _largest(array) > 1))
    if form == "packed" and not packed:
        raise RelstudyError(f"{file}: packed codes must be uint8, this array is {array.dtype}")
    if packed:
        return Codes.from_packed(array[rows])
    return Codes.from_bits(_as_bits(array, file, rows))


def code_form(path: str | os.PathLike[str], form: Format = "auto") -> tuple[Format, int]:
    """What a code file holds, settled once so that its parts can be read alone, and how many codes there are."""
    file = os.fspath(path)
    if form == "hex" or (form == "auto" and not file.endswith(".npy")):
        return "hex", len(text_lines(file))
    array = _code_array(file)
    if form == "auto":
        form = "packed" if array.dtype == np.uint8 and _largest(array) > 1 else "bits"
    return form, len(array)


def _code_array(file: str) -> np.ndarray:
    array = load_array(file)
    if array.ndim != 2 or 0 in array.shape:
        raise RelstudyError(f"{file}: codes need the shape (codes, bits), this array has {array.shape}")
    return array


def load_array(file: str, mmap: bool = True) -> np.ndarray:
    """Load a .npy file without ever unpickling, or say in one sentence why that can't be done."""
    try:
        loaded = np.load(file, mmap_mode="r" if mmap else None, allow_pickle=False)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except (ValueError, EOFError) as error:
        if "pickle" in str(error).lower() or "object" in str(error).lower():
            raise RelstudyError(
                f"{file}: pickled data is never loaded; save a plain numeric array with numpy.save"
            ) from None
        raise RelstudyError(f"{file}: this is not a .npy array ({error})") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror or error})") from None
    if not isinstance(loaded, np.ndarray):
        raise RelstudyError(f"{file}: a single .npy array is needed, not an archive")
    return loaded


def _largest(array: np.ndarray) -> int:
    return max(int(array[start : start + _CHECK_ROWS].max()) for start in range(0, len(array), _CHECK_ROWS))


def _as_bits(array: np.ndarray, file: str, rows: slice) -> np.ndarray:
    if array.dtype == bool:
        return np.asarray(array[rows])
    if array.dtype.kind not in "iuf":
        raise RelstudyError(f"{file}: codes must be bool, 0/1, -1/+1 or packed uint8, this array is {array.dtype}")
    signed = any(bool((array[i : i + _CHECK_ROWS] < 0).any()) for i in range(0, len(array), _CHECK_ROWS))
    low, allowed = (-1, "-1 or +1 is allowed, as elsewhere in this file") if signed else (0, "0 or 1 is allowed")
    first, last, _ = rows.indices(len(array))
    bits = np.empty((last - first, array.shape[1]), dtype=bool)
    faults: list[Fault] = []
    for start in range(first, last, _CHECK_ROWS):
        block = array[start : min(start + _CHECK_ROWS, last)]
        wrong = (block != low) & (block != 1)
        for row, column in np.argwhere(wrong)[: TableError.SHOWN + 1 - len(faults)]:
            faults.append(Fault(file, int(start + row), f"{int(column)} (counted from 0)", block[row, column], allowed))
        bits[start - first : start - first + len(block)] = block > 0
    if faults:
        raise TableError(faults)
    return bits


def _read_hex(file: str) -> Codes:
    lines = text_lines(file)
    if not lines:
        raise RelstudyError(f"{file}: the file is empty; one hexadecimal code a line is needed")
    width = len(lines[0])
    faults = []
    for row, line in enumerate(lines, start=1):
        if len(line) != width:
            allowed = f"{width} hexadecimal digits are allowed, as in row 1"
        elif width % 2 or not all(digit in "0123456789abcdefABCDEF" for digit in line) or not line:
            allowed = "an even number of hexadecimal digits is allowed"
        else:
            continue
        faults.append(Fault(file, row, None, line, allowed))
    if faults:
        raise TableError(faults)
    octets = np.frombuffer(bytes.fromhex("".join(lines)), dtype=np.uint8)
    return Codes.from_packed(octets.reshape(len(lines), width // 2))


def text_lines(file: str) -> list[str]:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except UnicodeDecodeError:
        raise RelstudyError(f"{file}: this is neither .npy nor UTF-8 text") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None
    return [line.strip() for line in text.splitlines()]
