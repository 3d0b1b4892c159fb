"""Codes in an array: what its numbers mean, settled once by the whole array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.options import Format
from relstudy.common.options.option_wording import either, option
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.tables.formats.array_files import row_blocks

LEAST_BYTES = 32
"""So many bytes of two values alone are no accident: two given ones of 256 would have a chance below 1e-67."""


@dataclass(frozen=True)
class CodeArray:
    """Form, number and length of the codes in an array.

    Parameters
    ----------
    name : the file, or what the person calls the array
    form : `0/1` (bool too), `-1/+1`, or `packed` (uint8 as `numpy.packbits` packs)
    codes, bits : how many codes of how many bits
    notes : on what was assumed, with the option that says otherwise
    """

    name: str
    form: Literal["0/1", "-1/+1", "packed"]
    codes: int
    bits: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, array: np.ndarray, name: str, form: Format = "auto", bits: int | None = None) -> CodeArray:
        """Look at an array; `form` and `bits` as in `read_codes`."""
        if array.ndim != 2 or 0 in array.shape:
            raise RelstudyError(f"{name}: codes need the shape (codes, bits), this array has {array.shape}")
        if array.dtype.kind not in "biuf":
            raise RelstudyError(f"{name}: codes must be bool, 0/1, -1/+1 or packed uint8, this array is {array.dtype}")
        codes, width = array.shape
        _refuse_words(array, name)
        if form == "auto":
            octets = array.dtype == np.uint8 and any(block.max() > 1 for _, block in row_blocks(array))
            form = "packed" if octets else "bits"
            if octets:
                _refuse_bits_as_bytes(array, name)
        if form == "packed":
            if array.dtype != np.uint8:
                raise RelstudyError(f"{name}: packed codes must be uint8, this array is {array.dtype}")
            used = np.bitwise_or.reduce([np.bitwise_or.reduce(block, axis=0) for _, block in row_blocks(array)])
            settled, notes = settle_length(np.unpackbits(used), 8 * width, name, bits)
            return cls(name, "packed", codes, settled, notes)
        check_length(name, width, bits)
        if array.dtype.kind == "f":
            _refuse_features(array, name)
        signed = array.dtype.kind in "if" and any((block < 0).any() for _, block in row_blocks(array))
        return cls(name, "-1/+1" if signed else "0/1", codes, width)

    def read(self, array: np.ndarray, rows: slice = slice(None)) -> Codes:
        """The codes of these rows of the array."""
        if self.form == "packed":
            return Codes.from_packed(array[rows], self.bits)
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
                faults.append(Fault(self.name, int(start + row), where, block[row, column], allowed))
            bits[start - first : start - first + len(block)] = block > 0
        if faults:
            raise TableError(faults, wrong - len(faults))
        return bits


def codes_of(
    array: np.ndarray, name: str, form: Format = "auto", bits: int | None = None, notes: list[str] | None = None
) -> Codes:
    """The codes in an array, as `read_codes` takes them from a .npy file."""
    found = CodeArray.of(array, name, form, bits)
    if notes is not None:
        notes += found.notes
    return found.read(array)


def settle_length(used: np.ndarray, width: int, name: str, bits: int | None) -> tuple[int, tuple[str, ...]]:
    """The length of codes that come in whole bytes or digits, and notes on it.

    Parameters
    ----------
    used : 0/1 (width,), which bits are set in any code
    width : bits that the bytes or digits hold
    bits : the length as stated, or None
    """
    last = int(np.flatnonzero(used)[-1]) + 1 if used.any() else 0
    if bits is None:
        spare = width - last
        if not 0 < spare < 8 or last == 0:
            return width, ()
        return width, (
            f"{name}: read as codes of {width} bits; the last {spare} bits are 0 in every code: if they only fill the "
            f"last byte, say {option('code_bits', last)} (or how many bits there are)",
        )
    if not width - 8 < bits <= width:
        raise RelstudyError(f"{name}: {option('code_bits', bits)} does not fit codes that fill {width} bits")
    if last > bits:
        raise RelstudyError(f"{name}: a bit beyond {option('code_bits', bits)} is set in rows of this file")
    return bits, ()


def _refuse_features(array: np.ndarray, name: str) -> None:
    """Refuse numbers that are features before they were cut into bits, where most of a row is neither 0, 1 nor -1."""
    first = np.asarray(array[0], dtype=float)
    others = first[~np.isin(first, (-1, 0, 1))]
    if 2 * len(others) > len(first):
        raise RelstudyError(
            f"{name}: these are numbers (such as {others[0]:g}) and no codes; take the sign with "
            "numpy.save('codes.npy', numpy.load(FILE) > 0)"
        )


def _refuse_words(array: np.ndarray, name: str) -> None:
    """Refuse unsigned words of several bytes, which packed codes are often kept in; their order is free."""
    words = array.dtype.kind == "u" and array.dtype.itemsize > 1
    if words and any(block.max() > 1 for _, block in row_blocks(array)):
        raise RelstudyError(
            f"{name}: these are {array.dtype} words of {8 * array.dtype.itemsize} bits each; make bytes of them with "
            "numpy.save('codes.npy', numpy.ascontiguousarray(numpy.load(FILE)).view('uint8'))"
        )


def _refuse_bits_as_bytes(array: np.ndarray, name: str) -> None:
    """Refuse uint8 of nothing but 0 and 255, or 1 and 255 (which -1 becomes): a byte for each bit, and not packed."""
    counts = np.sum([np.bincount(block.ravel(), minlength=256) for _, block in row_blocks(array)], axis=0)
    values = np.flatnonzero(counts)
    if array.size >= LEAST_BYTES and values.tolist() in ([0, 255], [1, 255]):
        bits = "array > 0" if values[0] == 0 else "array == 1"
        packed = either("--format packed", "form='packed'")
        raise RelstudyError(
            f"{name}: all bytes are {values[0]} or 255, so each looks like one bit, and packed codes would not: save "
            f"{bits}, or say {packed}"
        )


def check_length(name: str, width: int, bits: int | None) -> None:
    """Refuse a stated length that is not the number of columns."""
    if bits is not None and bits != width:
        raise RelstudyError(f"{name} has codes of {width} bits, not of the {bits} of {option('code_bits')}")
