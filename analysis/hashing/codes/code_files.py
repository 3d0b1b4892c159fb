"""Files of codes: every form that codes come in reads to the same words, and every fault has its sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.common.errors import Fault, RelstudyError, TableError

Format = Literal["auto", "bits", "packed", "hex"]

_NPY = b"\x93NUMPY"
BLOCK_ROWS = 1 << 16
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


@dataclass(frozen=True)
class CodeFile:
    """A file of codes, and what it holds: settled once, by the whole file, so that its parts can be read alone.

    Parameters
    ----------
    path : the file
    form : `0/1` (bool too), `-1/+1`, `packed` (uint8 as `numpy.packbits` packs) or `hex` (text, one code a line)
    codes, bits : how many codes of how many bits
    """

    path: str
    form: Literal["0/1", "-1/+1", "packed", "hex"]
    codes: int
    bits: int

    @classmethod
    def of(cls, path: str | os.PathLike[str], form: Format = "auto") -> CodeFile:
        """Look into a file; `form` as in `read_codes`."""
        file = os.fspath(path)
        if form == "hex" or (form == "auto" and not file.endswith(".npy")):
            lines = _hex_lines(file)
            return cls(file, "hex", len(lines), 4 * len(lines[0]))
        array = _code_array(file)
        codes, width = array.shape
        if form == "auto":
            form = (
                "packed"
                if array.dtype == np.uint8 and any(block.max() > 1 for _, block in row_blocks(array))
                else "bits"
            )
        if form == "packed":
            if array.dtype != np.uint8:
                raise RelstudyError(f"{file}: packed codes must be uint8, this array is {array.dtype}")
            return cls(file, "packed", codes, 8 * width)
        signed = array.dtype.kind in "if" and any((block < 0).any() for _, block in row_blocks(array))
        return cls(file, "-1/+1" if signed else "0/1", codes, width)

    def read(self, rows: slice = slice(None)) -> Codes:
        """The codes of these rows; of a .npy file nothing else is read."""
        if self.form == "hex":
            return _from_hex(_hex_lines(self.path)[rows])
        array = _code_array(self.path)
        if self.form == "packed":
            return Codes.from_packed(array[rows])
        return Codes.from_bits(self._bits(array, rows))

    def _bits(self, array: np.ndarray, rows: slice) -> np.ndarray:
        if array.dtype == bool:
            return np.asarray(array[rows])
        low, allowed = (0, "0 or 1 is allowed")
        if self.form == "-1/+1":
            low, allowed = (-1, "-1 or +1 is allowed, as elsewhere in this file")
        first, last, _ = rows.indices(self.codes)
        bits = np.empty((last - first, self.bits), dtype=bool)
        faults: list[Fault] = []
        wrong = 0
        for start, block in row_blocks(array, first, last):
            entries = np.argwhere((block != low) & (block != 1))
            wrong += len(entries)
            for row, column in entries[: TableError.SHOWN - len(faults)]:
                where = f"{int(column)} (counted from 0)"
                faults.append(Fault(self.path, int(start + row), where, block[row, column], allowed))
            bits[start - first : start - first + len(block)] = block > 0
        if faults:
            raise TableError(faults, wrong - len(faults))
        return bits


def read_codes(path: str | os.PathLike[str], form: Format = "auto") -> Codes:
    """Read codes from .npy or from a text file of hexadecimal codes, one a line.

    Parameters
    ----------
    path : .npy holding shape (codes, bits) of bool, 0/1 or -1/+1 numbers, or shape (codes, bytes) of uint8 as
        `numpy.packbits` packs them; any other ending is read as text, four bits a hexadecimal digit
    form : `auto` takes uint8 as packed unless all its values are 0 or 1; say `bits` or `packed` to settle it

    Raises
    ------
    RelstudyError, TableError
        for a pickle, a wrong shape, NaN, a zero among -1/+1 codes, any other value, codes of different lengths
    """
    return CodeFile.of(path, form).read()


def load_array(file: str) -> np.ndarray:
    """Map a .npy file into memory without ever unpickling, or say in one sentence why that can't be done."""
    try:
        with open(file, "rb") as handle:
            start = handle.read(len(_NPY))
        if start != _NPY:
            raise RelstudyError(f"{file}: this is not a .npy array; pickled data is never loaded")
        array: np.ndarray = np.load(file, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror or error})") from None
    except (ValueError, EOFError) as error:
        if "object" in str(error).lower():
            raise RelstudyError(
                f"{file}: this array holds Python objects, and pickled data is never loaded; save plain numbers"
            ) from None
        raise RelstudyError(f"{file}: this .npy array is damaged ({error})") from None
    return array


def text_lines(file: str) -> list[str]:
    """The lines of a UTF-8 text without the blanks around them."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except UnicodeDecodeError:
        raise RelstudyError(f"{file}: this is neither .npy nor UTF-8 text") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None
    return [line.strip() for line in text.splitlines()]


def _code_array(file: str) -> np.ndarray:
    array = load_array(file)
    if array.ndim != 2 or 0 in array.shape:
        raise RelstudyError(f"{file}: codes need the shape (codes, bits), this array has {array.shape}")
    if array.dtype.kind not in "biuf":
        raise RelstudyError(f"{file}: codes must be bool, 0/1, -1/+1 or packed uint8, this array is {array.dtype}")
    return array


def row_blocks(array: np.ndarray, first: int = 0, last: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
    """Rows `first` to `last` of an array larger than memory: blocks, each with the number of its first row."""
    last = len(array) if last is None else last
    for start in range(first, last, BLOCK_ROWS):
        yield start, array[start : min(start + BLOCK_ROWS, last)]


def _hex_lines(file: str) -> list[str]:
    lines = text_lines(file)
    if not lines:
        raise RelstudyError(f"{file}: the file is empty; one hexadecimal code a line is needed")
    width = len(lines[0])
    faults = []
    for row, line in enumerate(lines, start=1):
        if not line or not _HEX_DIGITS.issuperset(line):
            faults.append(Fault(file, row, None, line, "only hexadecimal digits are allowed, one code a line"))
        elif len(line) != width:
            faults.append(Fault(file, row, None, line, f"{width} hexadecimal digits are allowed, as in row 1"))
    if faults:
        raise TableError(faults)
    return lines


def _from_hex(lines: list[str]) -> Codes:
    width = len(lines[0])
    octets = np.frombuffer(bytes.fromhex("".join(line + "0" * (width % 2) for line in lines)), dtype=np.uint8)
    return Codes.from_packed(octets.reshape(len(lines), -1), bits=4 * width)
