"""Files of codes: every form that codes come in reads to the same words, and every fault has its sentence."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from relstudy.analysis.hashing.codes.arrays import is_array_file, load_array
from relstudy.analysis.hashing.codes.code_arrays import CodeArray, Format
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.codes.text_codes import TextCodes
from relstudy.common.arguments import check_arguments


@dataclass(frozen=True)
class CodeFile:
    """A file of codes, and what it holds: settled once, by the whole file, so that its parts can be read alone.

    Parameters
    ----------
    path : the file
    form : as in `CodeArray`; `hex` (text, one code per line) or `digits` (text, one digit a bit)
    codes, bits : how many codes of how many bits
    notes : what was decided without being told, with the way out
    """

    path: str
    form: Literal["0/1", "-1/+1", "packed", "hex", "digits"]
    codes: int
    bits: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str | os.PathLike[str], form: Format = "auto", bits: int | None = None) -> CodeFile:
        """Look into a file; `form` and `bits` as in `read_codes`."""
        file = os.fspath(path)
        if form == "hex" or not is_array_file(file):
            text = TextCodes.of(file, form, bits)
            return cls(file, text.form, len(text.lines), text.bits, text.notes)
        array = CodeArray.of(load_array(file), file, form, bits)
        return cls(file, array.form, array.codes, array.bits, array.notes)

    def read(self, rows: slice = slice(None)) -> Codes:
        """The codes of these rows; of a .npy file nothing else is read."""
        if self.form == "hex" or self.form == "digits":
            text = TextCodes.of(self.path, "hex" if self.form == "hex" else "bits", self.bits)
            return text.read(rows)
        array: np.ndarray = load_array(self.path)
        return CodeArray(self.path, self.form, self.codes, self.bits).read(array, rows)


def read_codes(path: str | os.PathLike[str], form: Format = "auto", bits: int | None = None) -> Codes:
    """Read codes from an array file or from text, one code per line.

    Parameters
    ----------
    path : .npy (or .npz, .mat) holding shape (codes, bits) of bool, 0/1 or -1/+1 numbers, or shape (codes, bytes) of
        uint8 as `numpy.packbits` packs them; any other ending is read as text: one digit 0 or 1 a bit (also with blanks
        or commas between, also -1 and 1), or hexadecimal, four bits a digit
    form : `auto` takes uint8 as packed unless all its values are 0 or 1, and text as one digit a bit where all its
        digits are 0 or 1; say `bits`, `packed` or `hex` to settle it
    bits : code length, where the last byte of packed or hexadecimal codes is not full

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
    return CodeFile.of(path, form, bits).read()
