"""Traces of people who were forgotten: in the database itself, and in copies that lie in the study's folder.

Copies are never changed: a backup or an export is the researcher's own. Packed files (.zip, .gz, .parquet) are looked
into as far as they are zip archives of tables.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from relstudy.common.wording import count_of
from relstudy.studyapp.assignment.raters import read_raters
from relstudy.studyapp.database.erasure import unfinished_deletions
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tombstones import FORGOTTEN, UNNAMED, buried, hash_of

_CODE = re.compile(rb"\bR[0-9A-Z]{7}\b")  # a rater's code
_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
_NAMES_PEOPLE = b"platform_id"  # a column of people.csv
_AT_A_TIME = 2**20


@dataclass(frozen=True)
class Trace:
    """A place where somebody who was forgotten can still be read, and what is there."""

    where: str
    words: str


def traces_of(folder: Path, store: Store) -> list[Trace]:
    """Places that still hold people who were forgotten; empty where nobody was, or nothing is left of them."""
    hashes = buried(folder)
    traces = []
    unfinished = unfinished_deletions(store)
    if unfinished:
        traces.append(Trace("database", unfinished))
    if hashes[FORGOTTEN] or hashes[UNNAMED]:
        with store.read() as connection:
            people = ((rater.rater_id, rater.session_key) for rater in read_raters(connection))
            traces += _trace("database", _still_known(people, hashes))
        own = Path(str(store.url.database)).resolve() if store.is_sqlite else None
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.resolve() != own):
            traces += _trace(str(path), _in_file(path, hashes))
    return traces


def _trace(where: str, count: int) -> Iterator[Trace]:
    if count:
        yield Trace(where, f"{where} still holds {count_of(count, 'rater', 'raters')} of those who were forgotten")


def _still_known(people: Iterable[tuple[str, str]], hashes: dict[str, set[str]]) -> int:
    """Number of raters who are there, or by name, although they were forgotten."""
    known = ((hash_of(rater_id), bool(session_key)) for rater_id, session_key in people)
    return sum(code in hashes[FORGOTTEN] or (named and code in hashes[UNNAMED]) for code, named in known)


def _in_file(path: Path, hashes: dict[str, set[str]]) -> int:
    if path.suffix == ".db":
        return _in_database(path, hashes)
    if path.suffix.lower() in _TABLES:
        with path.open("rb") as file:
            return _in_text(iter(lambda: file.read(_AT_A_TIME), b""), hashes)
    if path.suffix.lower() == ".zip":
        with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            return sum(_in_member(archive, member, hashes) for member in archive.infolist())
    return 0


def _in_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, hashes: dict[str, set[str]]) -> int:
    if Path(member.filename).suffix.lower() not in _TABLES:
        return 0
    with archive.open(member) as file:
        return _in_text(iter(lambda: file.read(_AT_A_TIME), b""), hashes)


def _in_database(path: Path, hashes: dict[str, set[str]]) -> int:
    """The same for a backup, or what was kept before one was put back."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return _still_known(connection.execute("SELECT rater_id, session_key FROM raters"), hashes)
    except sqlite3.Error:  # no database of a study
        return 0


def _in_text(parts: Iterator[bytes], hashes: dict[str, set[str]]) -> int:
    """The same for a table: who was only made nameless may stand in any but a table of people."""
    codes: set[bytes] = set()
    rest, names_people = b"", None
    for part in parts:
        if names_people is None:
            names_people = _NAMES_PEOPLE in part.split(b"\n", 1)[0]
        codes.update(_CODE.findall(rest + part))
        rest = part[-16:]  # a code may stand across two parts
    return _still_known(((code.decode(), "named" if names_people else "") for code in codes), hashes)
