"""Which tables in scores/ relstudy computed itself, so that it may replace them; any other is somebody's own.

They are known by their bytes, kept in scores/.index/computed.json. A study that was drawn before this was kept, or
copied without it, has tables of relstudy's own under the names of its built-in systems.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.common.files import read_json, write_json
from relstudy.studyapp.systems import SYSTEMS

ENDINGS = (".csv", ".parquet")


def is_computed(path: Path) -> bool:
    """Whether relstudy wrote this table of scores, and nobody has changed it since."""
    named = path.stem in SYSTEMS or path.stem.startswith("vectors-")
    if path.suffix not in ENDINGS or not named:
        return False
    record = _record(path.parent)
    if not record.is_file():
        return (path.parent.parent / "design.json").is_file()
    return bool(read_json(record).get(path.name) == _hash(path))


def require_computed(paths: Iterable[Path]) -> None:
    """Refuse to write over a table that is not relstudy's own."""
    for path in paths:
        if path.is_file() and not is_computed(path):
            raise RelstudyError(
                f"{path}: this table is not one that relstudy computed, and the scores of the built-in system "
                f"{path.stem!r} would replace it; rename the file, and the system in it"
            )


def note_computed(paths: Iterable[Path]) -> None:
    """Remember that relstudy wrote these tables."""
    for path in paths:
        record = _record(path.parent)
        earlier = read_json(record) if record.is_file() else _found_beside(path)
        write_json({**earlier, path.name: _hash(path)}, record)


def _found_beside(path: Path) -> dict[str, str]:
    tables = [table for ending in ENDINGS for table in path.parent.glob(f"*{ending}")]
    return {table.name: _hash(table) for table in tables if table != path and is_computed(table)}


def _record(scores: Path) -> Path:
    return scores / ".index" / "computed.json"


def _hash(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
