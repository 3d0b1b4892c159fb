"""Files of codes: every form that codes come in reads to the same words, and every fault has its sentence."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import Literal

import numpy as np

from relstudy.analysis.hashing.codes.code_arrays import CodeArray, check_length, settle_length
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.options import Format
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.option_wording import either
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.tables.formats.array_files import file_stamp, load_array, text_lines
from relstudy.common.tables.formats.file_kind import is_array_name

_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_BETWEEN = re.compile(r"[\s,;]+")
_DIGITS = re.compile(r"[01]+")

LEAST_DIGITS = 64
"""So many hexadecimal digits without a letter are no accident: (10/16)^64, in codes of even bits, is below 1e-13."""


@dataclass(frozen=True)
class TextCodes:
    """A text of codes.

    Parameters
    ----------
    lines : one code each, hexadecimal or 0/1 without anything between
    form : `hex` or `digits`
    bits : code length
    notes : on what was assumed
    """

    lines: list[str]
    form: Literal["hex", "digits"]
    bits: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, file: str, form: Format = "auto", bits: int | None = None) -> TextCodes:
        """Read a text; `form` and `bits` as in `read_codes`."""
        if form == "packed":
            raise RelstudyError(f"{file}: packed codes come in .npy, this is text")
        lines = text_lines(file)
        if not lines:
            raise RelstudyError(f"{file}: the file is empty; one code per line is needed")
        digits = [_as_digits(line) for line in lines]
        if form == "bits" or (form == "auto" and all(map(_DIGITS.fullmatch, digits))):
            _check_lines(file, digits, frozenset("01"), "only 0 and 1 are allowed, one digit a bit")
            check_length(file, len(digits[0]), bits)
            note = (
                f"{file}: all digits are 0 or 1, so it is read as one digit a bit, {len(digits[0])} bits; "
                f"if it is hexadecimal, say {_as_hexadecimal()}"
            )
            return cls(digits, "digits", len(digits[0]), () if form == "bits" else (note,))
        _check_lines(file, lines, _HEX_DIGITS, "only hexadecimal digits are allowed, one code per line")
        if form == "auto" and len(lines) * len(lines[0]) >= LEAST_DIGITS and "".join(lines).isdecimal():
            raise RelstudyError(
                f"{file}: no line has a letter, so these look like decimal numbers and not like hexadecimal codes; "
                f"write them in hexadecimal, or say {_as_hexadecimal()} if they are"
            )
        width = 4 * len(lines[0])
        used = reduce(or_, (int(line, 16) for line in lines))
        table = np.array([int(bit) for bit in f"{used:0{width}b}"])
        settled, notes = settle_length(table, width, file, bits)
        return cls(lines, "hex", settled, notes)

    def read(self, rows: slice) -> Codes:
        """The codes of these rows."""
        lines = self.lines[rows]
        if self.form == "digits":
            table = np.frombuffer("".join(lines).encode("ascii"), dtype=np.uint8).reshape(len(lines), self.bits)
            return Codes.from_bits(table == ord("1"))
        odd = len(self.lines[0]) % 2
        octets = np.frombuffer(bytes.fromhex("".join(line + "0" * odd for line in lines)), dtype=np.uint8)
        return Codes.from_packed(octets.reshape(len(lines), -1), bits=self.bits)


def _as_digits(line: str) -> str:
    # "-1 1 1" and "0, 1, 1" as written by numpy.savetxt; anything else stays as it is and is refused later.
    parts = _BETWEEN.split(line)
    if len(parts) == 1:
        return line
    if all(part in ("-1", "1", "+1") for part in parts):
        return "".join("0" if part == "-1" else "1" for part in parts)
    return "".join(parts) if all(part in ("0", "1") for part in parts) else line


def _check_lines(file: str, lines: list[str], allowed: frozenset[str], rule: str) -> None:
    width = len(lines[0])
    faults = []
    for row, line in enumerate(lines, start=1):
        if not line or not allowed.issuperset(line):
            faults.append(Fault(file, row, None, line, rule))
        elif len(line) != width:
            kind = "digits 0 or 1" if len(allowed) == 2 else "hexadecimal digits"
            faults.append(Fault(file, row, None, line, f"{width} {kind} are allowed, as in row 1"))
    if faults:
        raise TableError(faults)


@dataclass(frozen=True)
class CodeFile:
    """A file of codes. Its form is settled once, by the whole file, so that its parts can be read alone.

    Parameters
    ----------
    path : the file
    form : as in `CodeArray`; `hex` (text, one code per line) or `digits` (text, one digit a bit)
    codes, bits : how many codes of how many bits
    notes : on what was assumed, with the option that says otherwise
    asked : form and length as they were stated
    """

    path: str
    form: Literal["0/1", "-1/+1", "packed", "hex", "digits"]
    codes: int
    bits: int
    notes: tuple[str, ...] = ()
    asked: tuple[Format, int | None] = ("auto", None)

    @classmethod
    def of(cls, path: str | os.PathLike[str], form: Format = "auto", bits: int | None = None) -> CodeFile:
        """Look into a file; `form` and `bits` as in `read_codes`."""
        file = os.fspath(path)
        if form == "hex" or not is_array_name(file):
            text = _text(file, form, bits, file_stamp(file))
            return cls(file, text.form, len(text.lines), text.bits, text.notes, (form, bits))
        array = CodeArray.of(load_array(file), file, form, bits)
        return cls(file, array.form, array.codes, array.bits, array.notes)

    def read(self, rows: slice = slice(None)) -> Codes:
        """The codes of these rows; of a .npy file nothing else is read."""
        if self.form == "hex" or self.form == "digits":
            return _text(self.path, *self.asked, file_stamp(self.path)).read(rows)
        array: np.ndarray = load_array(self.path)
        return CodeArray(self.path, self.form, self.codes, self.bits).read(array, rows)


# Read whole, so kept for the parts that follow one another; a file that has changed since is read again.
@lru_cache(maxsize=4)
def _text(file: str, form: Format, bits: int | None, stamp: tuple[int, int]) -> TextCodes:
    return TextCodes.of(file, form, bits)


def _as_hexadecimal() -> str:
    return either("--format hex", "form='hex'")


def read_codes(
    path: str | os.PathLike[str], form: Format = "auto", code_bits: int | None = None, notes: list[str] | None = None
) -> Codes:
    """Read codes from an array file or from text, one code per line.

    Parameters
    ----------
    path : .npy (or .npz, .mat) holding shape (codes, bits) of bool, 0/1 or -1/+1 numbers, or shape (codes, bytes) of
        uint8 as `numpy.packbits` packs them; any other ending is read as text: one digit 0 or 1 a bit (also with blanks
        or commas between, also -1 and 1), or hexadecimal, four bits a digit
    form : `auto` takes uint8 as packed unless all its values are 0 or 1, and text as one digit a bit where all its
        digits are 0 or 1; say `bits`, `packed` or `hex` to settle it
    code_bits : code length, where the last byte of packed or hexadecimal codes is not full
    notes : a list to which what was assumed is appended, with the argument that says otherwise

    Raises
    ------
    RelstudyError, TableError
        for a pickle, a wrong shape, NaN, a zero among -1/+1 codes, any other value, codes of different lengths

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("0011\\n0101\\n"), file.flush()
    ...     read_codes(file.name)
    Codes(2 codes of 4 bits)
    """
    check_arguments(read_codes, locals())
    file = CodeFile.of(path, form, code_bits)
    if notes is not None:
        notes += file.notes
    return file.read()
