"""Files that somebody uploads: bounded, unpacked like archives, and taken for what they hold."""

from __future__ import annotations

import contextlib
import lzma
import shutil
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from werkzeug.datastructures import FileStorage

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.studyapp.collection.from_folder import TEXTS
from relstudy.studyapp.collection.kinds import can_be_shown, shown_kind

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".xls", ".ods", ".run", ".trec", ".txt")
ARRAY = ".npy"
UPLOAD = 128 << 20
"""Bytes that are taken at once, packed."""
UNPACKED, FILES = 512 << 20, 5_000
"""Bytes and files that archives may hold together."""


DEEPEST = 20
"""Folders in one another."""
UNREADABLE = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error, lzma.LZMAError, UnicodeError,
)  # fmt: skip
"""Errors of zip files that are damaged, encrypted or packed in a way that is not known."""


def taken_in(files: Sequence[FileStorage], place: Path, *, arrays: bool = False) -> None:
    """Write files as they are, those of a chosen folder below it, and what archives hold in a folder for each, into an
    empty folder.

    Raises
    ------
    RelstudyError
        for another type of file, a name that comes twice, and an archive that leads out or holds too much
    """
    left = [UNPACKED, FILES]
    tables = (*TABLES, ARRAY) if arrays else TABLES
    for each in files:
        parts = PurePosixPath((each.filename or "").replace("\\", "/")).parts
        if parts and parts[0].endswith(("/", ":")):
            parts = parts[-1:]  # the whole path on somebody's machine
        if len(parts) > 1 and any(part.startswith(".") for part in parts):
            continue  # hidden in a chosen folder; a way out (..) begins with a dot, too
        name = parts[-1] if parts else ""
        if not name or len(parts) > DEEPEST or any(":" in part or "\0" in part for part in parts):
            raise RelstudyError(f"{(each.filename or '')[:80]!r} cannot be the name of a file here; rename it")
        target = place.joinpath(*parts)
        try:
            if target.exists():
                raise RelstudyError(f"{name} comes twice")
            if name.lower().endswith(".zip"):
                _unpack(each, target, name, left)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            each.save(target)
        except OSError as error:
            raise RelstudyError(f"{name[:80]} cannot be stored ({error.strerror}); rename it") from None
        if not (name.lower().endswith((*tables, *TEXTS)) or shown_kind(target) or can_be_shown(target)):
            target.unlink()
            if len(parts) == 1:
                raise RelstudyError(f"{name}: choose a table ({', '.join(tables)}), pictures, texts or a zip")
    if not sources_in(place) and not (arrays and any(place.rglob(f"*{ARRAY}"))):
        raise RelstudyError("nothing was found in the zip: folders of pictures, films or sounds, or tables, are needed")


def sources_in(place: Path) -> list[Path]:
    """The tables, and the folders of pictures, films or sounds, among what was taken in."""
    files = [path for path in sorted(place.rglob("*")) if path.is_file()]
    return list(
        dict.fromkeys(
            path if path.suffix.lower() in TABLES else path.parent
            for path in files
            if path.suffix.lower() in TABLES or shown_kind(path)
        )
    )


def without_named(sources: Sequence[Path], place: Path) -> tuple[list[Path], Path]:
    """The sources without folders whose files a table among them names, and the folder from which it names them.

    Raises
    ------
    RelstudyError
        for files that lie beside no table that names them, and in no folder of a system
    """
    folders = [each for each in sources if not each.is_file()]
    below: dict[Path, dict[str, Path]] = {}  # folders of files by what the files are called from a root
    for file in (each for folder in folders for each in folder.iterdir()):
        inside = file.relative_to(place).parts
        # without the folder's name where there is one: files of one name in several are of several systems
        for root in (place, place / inside[0], *(folders if len(folders) == 1 else ())):
            if root in file.parents:
                below.setdefault(root, {})[file.relative_to(root).as_posix()] = file.parent
    for table in (each for each in sources if folders and each.is_file()):
        with contextlib.suppress(RelstudyError):  # whoever makes the study says what is wrong with it
            frame = read_table(table).frame
            cells = {str(cell).strip() for column in frame for cell in frame[column].unique()}
            if table.parent not in below:
                near = f"{table.parent.relative_to(place).as_posix()}/"
                names = {name.removeprefix(near): at for name, at in below[place].items() if name.startswith(near)}
                below[table.parent] = names
            for root in dict.fromkeys((table.parent, place, *below)):
                named = {below[root][name] for name in cells & below[root].keys()}
                if named:
                    return [each for each in sources if each not in named], root
    if place in sources:
        raise RelstudyError("no table names the files: give one that does, or a folder of files for each system")
    return list(sources), place


def items_in(place: Path) -> list[Path]:
    """The pictures and texts themselves."""
    return [
        path
        for path in sorted(place.rglob("*"))
        if path.is_file() and (path.suffix.lower() in TEXTS or can_be_shown(path))
    ]


def _unpack(file: FileStorage, target: Path, name: str, left: list[int]) -> None:
    """Write what an archive holds below a folder; nothing lands outside, and no links."""
    try:
        with zipfile.ZipFile(file.stream) as archive:
            for entry in archive.infolist():
                parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
                hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
                if entry.is_dir() or hidden or stat.S_ISLNK(entry.external_attr >> 16):
                    continue  # a way out (..) begins with a dot
                if not parts or parts[0].startswith("/") or len(parts) > DEEPEST or any(":" in part for part in parts):
                    raise RelstudyError(f"{name}: {entry.filename[:80]!r} leads out of the archive")
                left[0], left[1] = left[0] - entry.file_size, left[1] - 1
                if min(left) < 0:
                    raise RelstudyError(f"{name} unpacks to more than {UNPACKED >> 20} MB or {FILES:,} files")
                path = target.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as packed, path.open("wb") as out:
                    shutil.copyfileobj(packed, out)
    except UNREADABLE as error:
        raise RelstudyError(f"{name} cannot be unpacked ({error})") from None
