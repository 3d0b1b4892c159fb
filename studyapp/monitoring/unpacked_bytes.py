"""The bytes of a file as somebody reads them who unpacks it: archives, packed files and Parquet, in one another."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from relstudy.common.runtime.compression import BROKEN, MOST_RATIO, SMALL, swells, unpacked_name
from relstudy.common.runtime.damaged_files import DAMAGED_ZIP
from relstudy.common.runtime.errors import RelstudyError

AT_A_TIME = 1 << 20
DEEPEST = 5  # archives within archives
_FOREIGN = {
    b"PGDMP": "a packed dump of PostgreSQL",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "rar",
    b"\x04\x22\x4d\x18": "lz4",
    b"ARROW1": "Arrow",
    b"\x89HDF": "HDF5",
    b"Salted__": "encrypted",
    b"age-encryption": "encrypted",
}
"""Forms that are not unpacked here, by the bytes that a file begins with."""


class CannotBeReadError(RelstudyError):
    """The content of a file cannot be told: it is damaged, encrypted, of a foreign kind, or it swells without end."""


@dataclass(frozen=True)
class Content:
    """A file, or one within it, that is not packed itself: its name, and its bytes in parts, to be read in order.

    Of Parquet these are the columns' names in a first line, and the values that are texts, each in a line of its own.
    """

    name: str
    parts: Iterator[bytes]


def contents_of(path: Path) -> Iterator[Content]:
    """Everything that a file holds; each content is to be read before the next is asked for.

    Raises
    ------
    OSError
        where the file cannot be read
    CannotBeReadError
        where what it holds cannot be said
    """
    with path.open("rb") as file:
        budget = _Budget(path.stat().st_size)
        try:
            yield from _contents(path.name, file, budget, DEEPEST)
        except (CannotBeReadError, FileNotFoundError, PermissionError):
            raise
        except (*BROKEN, *DAMAGED_ZIP, tarfile.TarError) as error:
            raise CannotBeReadError(f"{type(error).__name__}: {error}") from None


@dataclass
class _Budget:
    """Bytes that come out of a file of a size; a file that swells like a bomb is not read to its end."""

    size: int
    given: int = 0

    def spend(self, count: int) -> None:
        self.given += count
        if swells(self.given, self.size):
            raise CannotBeReadError(f"it swells to over {MOST_RATIO} times its size")


def _contents(name: str, file: Any, budget: _Budget, deepest: int) -> Iterator[Content]:
    """The contents of a reader that can peek."""
    start = file.peek(512)
    foreign = next((kind for magic, kind in _FOREIGN.items() if start.startswith(magic)), None)
    if foreign is not None:
        raise CannotBeReadError(f"a file of this kind is not unpacked here: {foreign}")
    unpack = next((unpack for magic, unpack in _UNPACKERS.items() if start.startswith(magic)), None)
    if unpack is None and start[257:262] == b"ustar":
        unpack = _tar
    if unpack is None:
        yield Content(name, _parts(file, budget))
        return
    if not deepest:
        raise CannotBeReadError("it holds archives within archives within archives")
    for inner_name, inner in unpack(name, file, budget):
        if isinstance(inner, Content):
            yield inner
        else:
            yield from _contents(inner_name, inner, budget, deepest - 1)


def _parts(file: Any, budget: _Budget) -> Iterator[bytes]:
    while part := file.read(AT_A_TIME):
        budget.spend(len(part))
        yield part


_Inner = Iterable[tuple[str, Any]]


def _stream(open_packed: Callable[[Any], Any]) -> Callable[[str, Any, _Budget], _Inner]:
    def unpack(name: str, file: Any, _budget: _Budget) -> _Inner:
        yield unpacked_name(name), io.BufferedReader(_Reader(open_packed(file)), AT_A_TIME)

    return unpack


class _Reader(io.RawIOBase):
    """A reader of what only reads."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.content.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def _zstandard(file: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")


def _zip(_name: str, file: Any, budget: _Budget) -> _Inner:
    with zipfile.ZipFile(_seekable(file, budget)) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as content:
                    yield member.filename, io.BufferedReader(content, AT_A_TIME)


def _tar(_name: str, file: Any, _budget: _Budget) -> _Inner:
    with tarfile.open(fileobj=file, mode="r|") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, content


def _parquet(name: str, file: Any, budget: _Budget) -> _Inner:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def parts() -> Iterator[bytes]:
        yield (" ".join(table.schema_arrow.names) + "\n").encode()
        for batch in table.iter_batches(batch_size=10_000):
            for column in batch.columns:
                if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
                    part = "\n".join(str(value) for value in column.to_pylist()).encode(errors="replace") + b"\n"
                    budget.spend(len(part))
                    yield part

    try:
        table = pq.ParquetFile(_seekable(file, budget))
    except pa.ArrowException as error:
        raise CannotBeReadError(str(error)) from None
    yield name, Content(name, parts())


def _seekable(file: Any, budget: _Budget) -> BinaryIO:
    """A file that can be read from anywhere: itself, or a copy of what is being unpacked, gone with the last look."""
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO):
        return cast(BinaryIO, file)
    copy = tempfile.SpooledTemporaryFile(SMALL)  # noqa: SIM115 (closed when nobody holds it any more)
    for part in _parts(file, budget):
        copy.write(part)
    copy.seek(0)
    return cast(BinaryIO, copy)


_UNPACKERS: dict[bytes, Callable[[str, Any, _Budget], _Inner]] = {
    b"\x1f\x8b": _stream(lambda file: gzip.GzipFile(fileobj=file)),
    b"BZh": _stream(bz2.BZ2File),
    b"\xfd7zXZ": _stream(lzma.LZMAFile),
    b"\x28\xb5\x2f\xfd": _stream(_zstandard),
    b"PK\x03\x04": _zip,
    b"PK\x05\x06": _zip,
    b"PAR1": _parquet,
}
