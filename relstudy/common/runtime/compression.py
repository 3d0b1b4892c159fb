"""Files as they are, or packed where their name ends in .gz, .bz2, .xz or .zst; a pipe, read only once, is refused."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from relstudy.common.runtime.errors import RelstudyError


def _zstandard(file: str) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(file), "zstd")


UNPACKERS: dict[str, Callable[[str], Any]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _zstandard,
}
"""What unpacks a file, by its name's ending."""
ENDINGS = tuple(UNPACKERS)
MAGIC = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"BZh": ("bzip2", ".bz2"),
    b"\xfd7zXZ": ("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": ("Zstandard", ".zst"),
}
"""What a file was packed by and how its name should end, by the bytes that it begins with."""
MOST_UNPACKED = 1 << 30
"""Bytes that are unpacked: a file of a few megabytes may hold more than any memory."""
MOST_RATIO = 200
"""Bytes unpacked from one, beyond SMALL: tables shrink to a tenth or a fiftieth, a bomb far more."""
SMALL = 16 << 20
"""Bytes that any packed file may hold."""
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading a packed file that was cut off or changed raises."""


def unpacked_name(path: str | os.PathLike[str]) -> str:
    """The file's name without .gz and its like: its kind shows in what is left.

    Examples
    --------
    >>> unpacked_name("bm25.run.gz"), unpacked_name("bm25.run.zst"), unpacked_name("bm25.run")
    ('bm25.run', 'bm25.run', 'bm25.run')
    """
    file = os.fspath(path)
    ending = next((ending for ending in ENDINGS if file.lower().endswith(ending)), "")
    return file[: len(file) - len(ending)]


def is_packed(path: str | os.PathLike[str]) -> bool:
    """True where a file is packed, by its name."""
    return os.fspath(path).lower().endswith(ENDINGS)


def refuse_devices(path: str | os.PathLike[str]) -> None:
    """Refuse a pipe, of which nobody may ever write the end, or a device, which may have none.

    Raises
    ------
    RelstudyError
        where the path names one

    Examples
    --------
    >>> refuse_devices("scores.csv")
    """
    file = os.fspath(path)
    if file == "-" or (Path(file).exists() and not Path(file).is_file() and not Path(file).is_dir()):
        raise RelstudyError(f"{file}: this is a pipe or a device; write the table to a file first")


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """The file's bytes, unpacked; RelstudyError where it is a pipe or a device."""
    file = os.fspath(path)
    refuse_devices(file)
    if not is_packed(file):
        return open(file, "rb")
    unpack = next(each for ending, each in UNPACKERS.items() if file.lower().endswith(ending))
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, unpack(file)), 1 << 20))


class _Unpacked(io.RawIOBase):
    """The content of a packed file, up to MOST_UNPACKED."""

    def __init__(self, file: str, content: Any) -> None:
        self.file, self.content, self.given = file, content, 0
        self.size = os.path.getsize(file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self.content.readinto(buffer))
        self.given += count
        if self.given > MOST_UNPACKED:
            raise RelstudyError(f"{self.file}: this holds over {MOST_UNPACKED >> 30} GiB; unpack it first")
        if swells(self.given, self.size):
            raise RelstudyError(
                f"{self.file}: this swells to over {MOST_RATIO} times its size, as no table does; unpack it first"
            )
        return count

    def close(self) -> None:
        self.content.close()
        super().close()


def swells(unpacked: int, packed: int, small: int | None = None) -> bool:
    """True where so many bytes are more than a packed table of that size holds; never up to `small` bytes (SMALL).

    Examples
    --------
    >>> swells(100 << 20, 1 << 20), swells(300 << 20, 1 << 20), swells(15 << 20, 1)
    (False, True, False)
    """
    return unpacked > max(SMALL if small is None else small, MOST_RATIO * packed)


def is_swollen(file: str, unpacked: int) -> bool:
    """True where so many bytes are more than are read of a file of arrays or columns: over MOST_RATIO times its size.

    Up to MOST_UNPACKED bytes are read whatever the ratio: labels may be nearly all zero.
    """
    return swells(unpacked, os.path.getsize(file), MOST_UNPACKED)


def refuse_swelling(file: str, unpacked: int) -> None:
    """Refuse a file of arrays or columns by the size that its own directory says, before anything of it is read.

    Raises
    ------
    RelstudyError
        where it holds more than is read of such a file (`is_swollen`)
    """
    if is_swollen(file, unpacked):
        raise RelstudyError(
            f"{file}: this swells to {unpacked / (1 << 30):.1f} GiB, over {MOST_RATIO} times its size; unpack it first"
        )


def refuse_swelling_zip(file: str) -> None:
    """`refuse_swelling` of a zip, such as numpy's .npz, by the sizes in its directory.

    Raises
    ------
    RelstudyError
        where it holds more than is read of such a file; damage is left to whoever reads it
    """
    with contextlib.suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
        refuse_swelling(file, unpacked)


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
        raise RelstudyError(f"{file}: file not found") from None
    except IsADirectoryError:
        raise RelstudyError(f"{file}: this is a folder; a file is needed") from None
    except BROKEN as error:
        raise RelstudyError(f"{file}: cannot be read ({error})") from None
