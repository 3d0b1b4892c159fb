"""Files that are never half-written, JSON as it is read and written everywhere, text as UTF-8, and safe names."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from relstudy.common.runtime.compression import refuse_devices
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import quoted

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's errors for a disk, or a user's part of it, that is full."""
_WAITING: ContextVar[dict[Path, Path] | None] = ContextVar("_WAITING", default=None)


def _umask() -> int:
    mask = os.umask(0o077)  # the system can only tell it by setting it
    os.umask(mask)
    return mask


UMASK = _umask()
"""The process's umask, read once: setting it later would reach files that other threads make."""


def _mode_of(target: Path) -> int:
    """Who may read a new file: the same people as before, or whom the umask lets."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o666 & ~UMASK


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], mode: int | None = None) -> Iterator[Path]:
    """Yield a path beside `path` to write to; rename it over `path` only when the block ends well.

    Until then only its owner can read the file; then `mode` says who can, else the mode of the file before it, else the
    umask. A link stays, and what it leads to is written. A device, such as /dev/stdout, is refused: it would be a file
    afterwards. Within `together` it is renamed at that block's end.
    """
    target = Path(path)
    if target.is_dir():
        raise RelstudyError(f"{target}: this is a folder; a file cannot be written over it")
    if target.exists() and not target.is_file():
        raise RelstudyError(f"{target}: this is a pipe or a device; a file's name is needed")
    ending, target = target.suffix, Path(os.path.realpath(target))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=ending)
    except OSError as error:
        raise RelstudyError(f"{os.fspath(path)}: cannot be written ({error.strerror})") from None
    os.close(descriptor)
    beside, waiting = Path(name), _WAITING.get()
    try:
        yield beside
        beside.chmod(_mode_of(target) if mode is None else mode)
        if waiting is None:
            beside.replace(target)
        else:
            waiting[beside] = target
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise RelstudyError(f"{os.fspath(path)}: cannot be written ({error.strerror})") from None
    finally:
        if waiting is None or beside not in waiting:
            beside.unlink(missing_ok=True)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Within, files that are written wait beside their places; all are put there when the block ends well, else none.

    So tables that belong together are of one run also where the disk is full on the way. What the block reads is what
    was there before.
    """
    if _WAITING.get() is not None:
        yield
        return
    waiting: dict[Path, Path] = {}
    before = _WAITING.set(waiting)
    try:
        yield
        for target in waiting.values():
            if target.is_dir():
                raise RelstudyError(f"{target}: this is a folder; a file cannot be written over it")
        for beside, target in waiting.items():
            beside.replace(target)
    finally:
        _WAITING.reset(before)
        for beside in waiting:
            beside.unlink(missing_ok=True)


def refuse_over_inputs(
    written: Iterable[str | os.PathLike[str] | None], read: Iterable[str | os.PathLike[str] | None]
) -> None:
    """Refuse to write over a file that the same command reads, before anything is written; None is not a file.

    Raises
    ------
    RelstudyError
        naming the first such file

    Examples
    --------
    >>> refuse_over_inputs(["page.html", None], ["scores.csv"])
    """
    inputs = {os.path.realpath(path) for path in read if path is not None}
    for path in written:
        if path is not None and os.path.realpath(path) in inputs:
            raise RelstudyError(f"{os.fspath(path)}: this is read here and would be written over; name another output")


def whole_files(folder: Path, pattern: str) -> list[Path]:
    """Files in a folder by a pattern of their names, in order; none where it is absent. Hidden ones are left out: what
    `replacing` had begun is one where the program was killed."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text file (UTF-8)."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises
    ------
    RelstudyError
        where it cannot be read, or is no TOML
    """
    refuse_devices(path)
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise RelstudyError(f"{os.fspath(path)}: this cannot be read ({error})") from None


def write_json(value: Any, path: str | os.PathLike[str]) -> None:
    """Write strict JSON (a NaN is an error, not a number)."""
    write_text(json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False) + "\n", path)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file, or say in one sentence why that can't be done."""
    file = os.fspath(path)
    refuse_devices(file)
    try:
        with open(file, encoding="utf-8") as handle:
            return _strict_json(handle)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: file not found") from None
    except NO_JSON as error:
        raise RelstudyError(f"{file}: this is not JSON ({error})") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None


def _strict_json(handle: IO[str]) -> Any:
    def refuse(constant: str) -> float:
        raise json.JSONDecodeError(f"{constant} is not a finite number", constant, 0)

    return json.load(handle, parse_constant=refuse)


def decoded(content: bytes, file: str, what: str) -> str:
    """The text of a file, without the mark that some editors write before it.

    Parameters
    ----------
    content : all of it
    file : its name, for the message
    what : what to call it there: run, table

    Raises
    ------
    RelstudyError
        naming the first line that is not UTF-8, or if there is a zero byte, which no text has
    """
    if b"\0" in content:
        raise RelstudyError(f"{file}: byte {content.index(0)} is 0, so this is not text; save the {what} as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        begin = content.rfind(b"\n", 0, error.start) + 1
        shown = content[begin : error.end + 10].splitlines()[0].decode("cp1252", errors="replace")
        raise RelstudyError(
            f"{file}, line {line}: not UTF-8 (...{shown[-30:]!r}); save the {what} as UTF-8 (in Excel: CSV UTF-8), or "
            f"run: iconv -f windows-1252 -t utf-8 {quoted(file)} > NEW"
        ) from None


def file_names(systems: list[str]) -> dict[str, str]:
    """A file name per system, safe on every file system; numbered where two would be the same.

    Examples
    --------
    >>> file_names(["bm25", "dsg|pali 17b", "dsg:pali 17b"])
    {'bm25': 'bm25', 'dsg|pali 17b': 'dsg_pali_17b', 'dsg:pali 17b': 'dsg_pali_17b-2'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for system in systems:
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", system).strip("._")[:100] or "system"
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        names[system] = name
    return names
