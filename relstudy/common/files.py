"""Files that are never half-written, and JSON as it is read and written everywhere."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from relstudy.common.damage import NO_JSON
from relstudy.common.errors import RelstudyError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""How the system says that a disk, or a person's part of it, is full."""


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], mode: int = 0o644) -> Iterator[Path]:
    """Yield a path beside `path` to write to; rename it over `path` only when the block ends well.

    Until then, and after that where `mode` says so, nobody but its owner can read the file. A link stays, and what it
    leads to is written; a device, such as /dev/stdout, is refused, since it would be a file afterwards.
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
    beside = Path(name)
    try:
        yield beside
        beside.chmod(mode)
        beside.replace(target)
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise RelstudyError(f"{os.fspath(path)}: cannot be written ({error.strerror})") from None
    finally:
        beside.unlink(missing_ok=True)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text file (UTF-8)."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def write_json(value: Any, path: str | os.PathLike[str]) -> None:
    """Write strict JSON (a NaN is an error, not a number)."""
    write_text(json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False) + "\n", path)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file, or say in one sentence why that can't be done."""
    file = os.fspath(path)
    try:
        with open(file, encoding="utf-8") as handle:
            return _strict_json(handle)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except NO_JSON as error:
        raise RelstudyError(f"{file}: this is not JSON ({error})") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None


def _strict_json(handle: IO[str]) -> Any:
    def refuse(constant: str) -> float:
        raise json.JSONDecodeError(f"{constant} is not a finite number", constant, 0)

    return json.load(handle, parse_constant=refuse)
