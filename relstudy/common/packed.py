"""Files as they are, or packed by gzip where their name ends in .gz; a pipe, which is read only once, is refused."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from relstudy.common.errors import RelstudyError

ENDING = ".gz"
MAGIC = b"\x1f\x8b"
MOST_UNPACKED = 1 << 30
"""Bytes that are unpacked: a file of a few megabytes may hold more than any memory."""
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
    """The file's bytes, unpacked; RelstudyError where it is a pipe or a device."""
    file = os.fspath(path)
    if file == "-" or (Path(file).exists() and not Path(file).is_file() and not Path(file).is_dir()):
        raise RelstudyError(f"{file}: this is a pipe or a device; write the table to a file first")
    if not file.endswith(ENDING):
        return open(file, "rb")
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, gzip.GzipFile(file, "rb")), 1 << 20))


class _Unpacked(io.RawIOBase):
    """What a packed file holds, up to MOST_UNPACKED."""

    def __init__(self, file: str, content: gzip.GzipFile) -> None:
        self.file, self.content, self.given = file, content, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self.content.readinto(buffer)
        self.given += count
        if self.given > MOST_UNPACKED:
            raise RelstudyError(f"{self.file}: this holds over {MOST_UNPACKED >> 30} GiB; unpack it first")
        return count

    def close(self) -> None:
        self.content.close()
        super().close()


def open_text(path: str | os.PathLike[str], encoding: str, errors: str = "strict") -> TextIO:
    """The file's text with line ends as they are, unpacked."""
    return io.TextIOWrapper(open_binary(path), encoding=encoding, errors=errors, newline="")


def read_bytes(path: str | os.PathLike[str], most: int = -1) -> bytes:
    """The file, unpacked, or its first `most` bytes; RelstudyError where it cannot be read."""
    file = os.fspath(path)
    try:
        with open_binary(file) as content:
            return content.read(most)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except IsADirectoryError:
        raise RelstudyError(f"{file}: this is a folder; a file is needed") from None
    except BROKEN as error:
        raise RelstudyError(f"{file}: cannot be read ({error})") from None
