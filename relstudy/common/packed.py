"""Files as they are, or packed by gzip where their name ends in .gz."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import BinaryIO, TextIO, cast

ENDING = ".gz"
MAGIC = b"\x1f\x8b"
BROKEN = (OSError, EOFError, zlib.error)
"""What reading a packed file that was cut off or changed raises."""


def unpacked_name(path: str | os.PathLike[str]) -> str:
    """The file's name without .gz: its kind shows in what is left.

    Examples
    --------
    >>> unpacked_name("bm25.run.gz"), unpacked_name("bm25.run")
    ('bm25.run', 'bm25.run')
    """
    return os.fspath(path).removesuffix(ENDING)


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """The file's bytes, unpacked."""
    file = os.fspath(path)
    return cast(BinaryIO, gzip.open(file, "rb")) if file.endswith(ENDING) else open(file, "rb")


def open_text(path: str | os.PathLike[str], encoding: str, errors: str = "strict") -> TextIO:
    """The file's text with line ends as they are, unpacked."""
    return io.TextIOWrapper(open_binary(path), encoding=encoding, errors=errors, newline="")
