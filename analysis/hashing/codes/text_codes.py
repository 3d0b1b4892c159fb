"""Codes in text, one a line: hexadecimal, or one digit a bit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Literal

import numpy as np

from relstudy.analysis.hashing.codes.arrays import text_lines
from relstudy.analysis.hashing.codes.code_arrays import Format, check_length, settle_length
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.common.errors import Fault, RelstudyError, TableError

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
    notes : what was decided without being told
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
                "if it is hexadecimal, say --format hex"
            )
            return cls(digits, "digits", len(digits[0]), () if form == "bits" else (note,))
        _check_lines(file, lines, _HEX_DIGITS, "only hexadecimal digits are allowed, one code per line")
        if form == "auto" and len(lines) * len(lines[0]) >= LEAST_DIGITS and "".join(lines).isdecimal():
            raise RelstudyError(
                f"{file}: no line has a letter, so these look like decimal numbers and not like hexadecimal codes; "
                "write them in hexadecimal, or say --format hex if they are"
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
