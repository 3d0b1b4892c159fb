"""A study's tables in one zip file, as `relstudy admin archive` and `relstudy calibrate -o x.study.zip` write them.

A zip is unpacked with care; a folder is what it is.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from relstudy.common.runtime.compression import swells
from relstudy.common.runtime.damaged_files import DAMAGED_ZIP
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing

TABLES = (
    "judgments.csv",
    "judgments-careless.csv",
    "calibrated.csv",
    "pairs.csv",
    "pool.csv",
    "pool.parquet",
    "comparison.json",
    "provenance.json",
)
"""Files that are unpacked; no name in a zip file becomes a path, and everything else in it is passed over."""
MOST_BYTES = 2 << 30
"""Of a file that is unpacked: a small zip may hold a great deal of nothing."""
_CHUNK = 1 << 20
_kept: list[tempfile.TemporaryDirectory[str]] = []


def in_archive(path: str | os.PathLike[str], name: str) -> str:
    """The file `name` of an archive; any other path as it is.

    Parameters
    ----------
    path : a zip file or folder that `relstudy admin archive` wrote, or a file of another kind
    name : one of TABLES

    Raises
    ------
    RelstudyError
        where the archive is damaged, too large, or does not hold the file
    """
    given = Path(path)
    if not given.is_dir() and not _is_zip(given):
        return os.fspath(path)
    folder = given if given.is_dir() else _unpacked(given.resolve(), given.stat().st_mtime_ns, given.stat().st_size)
    if not (folder / name).is_file():
        made_by = "relstudy calibrate" if name == "judgments.csv" else "relstudy admin archive"
        raise RelstudyError(f"{given}: there is no {name} in it; `{made_by}` writes it")
    return str(folder / name)


@contextlib.contextmanager
def packing(path: Path) -> Iterator[Path]:
    """A folder to write to, whose files become a zip file when the block ends well; the same files give the same bytes.

    Raises
    ------
    RelstudyError
        where the zip file cannot be written
    """
    with tempfile.TemporaryDirectory(prefix="relstudy-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        yield folder
        with replacing(path) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(each for each in folder.rglob("*") if each.is_file()):
                entry = zipfile.ZipInfo(file.relative_to(folder).as_posix())
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())


def is_zip_name(path: Path) -> bool:
    """True where a path names a zip file, there or not."""
    return path.suffix.lower() == ".zip"


def _is_zip(path: Path) -> bool:
    return is_zip_name(path) and path.is_file()


@functools.lru_cache(maxsize=8)
def _unpacked(path: Path, changed: int, size: int) -> Path:
    """A folder, gone when the program ends, with the known files of a zip."""
    holder = tempfile.TemporaryDirectory(prefix="relstudy-", ignore_cleanup_errors=True)
    _kept.append(holder)
    folder = Path(holder.name) / path.name  # so that messages name the archive
    folder.mkdir()
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename in TABLES]
            names = [entry.filename for entry in entries]
            if len(set(names)) < len(names):
                raise RelstudyError(
                    f"{path}: a file appears in it twice; it is not an archive of `relstudy admin archive`"
                )
            for entry in entries:
                _copy(archive, entry, folder / entry.filename)
    except (OSError, *DAMAGED_ZIP) as error:
        raise RelstudyError(f"{path}: this zip file cannot be read ({error})") from None
    return folder


def _copy(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    written = 0
    with archive.open(entry) as source, target.open("wb") as out:
        while chunk := source.read(_CHUNK):
            written += len(chunk)
            if written > MOST_BYTES:
                target.unlink()
                raise RelstudyError(f"{archive.filename}: {entry.filename} is over {MOST_BYTES >> 30} GiB unpacked")
            if swells(written, entry.compress_size):
                target.unlink()
                raise RelstudyError(f"{archive.filename}: {entry.filename} swells as no table does; unpack it first")
            out.write(chunk)
