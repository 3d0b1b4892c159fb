"""Traces of people who were forgotten: in the database itself, and in copies that lie in the study's folder.

A copy is found by the rater's code, whose hash is kept, and by the id that a platform gave the rater, which is known
only while somebody is being forgotten. Copies are never changed: a backup or an export is the researcher's own.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.erasure import complete_withdrawals, forgotten_hashes
from relstudy.studyapp.database.secure_delete import finish_deletions, unfinished_deletions
from relstudy.studyapp.database.settings import read_setting, write_setting
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tombstones import FILE, FORGOTTEN, UNNAMED, buried, hash_of
from relstudy.studyapp.monitoring.saved_answer import ANSWER, KEPT, PAGE, RESULTS
from relstudy.studyapp.monitoring.unpacked_bytes import CannotBeReadError, Content, contents_of

_KEY = "traces"
_CODE = re.compile(rb"\bR[0-9A-Z]{7}\b")  # a rater's code in a table
# A row of the table of raters, in a database's page or a dump: the code and the key of who is not nameless.
_ROW = re.compile(rb"(R[2-9A-Z]{7})[^0-9A-Za-z]{0,4}[0-9a-f]{32}")
_ID = re.compile(rb"[\w.@+~-]{6,200}")
_TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".html", ".xml", ".parquet")
_OF_PEOPLE = re.compile(rb"\b(platform_id|(question|screening)_\w+)\b")
"""Columns that say something of a person: of people.csv, and of ratings.csv with answers to the questionnaire."""
_NO_TEXT = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".npy", ".npz", ".mp3", ".mp4", ".woff2")
_OVERLAP = 256  # bytes: a code, a row's beginning or an id may stand across two parts


@dataclass(frozen=True)
class Trace:
    """A place where somebody who was forgotten can still be read.

    Parameters
    ----------
    kind : "unfinished" (what was deleted is not overwritten yet) or "rows" of the database; of a file "people", "id"
        (nothing but the id of a platform has shown it, which nobody knows later), or "closed": it cannot be looked into
    where : the file; of the database the sentence that says until when
    people : how many of erased raters are there
    reason : why a file cannot be looked into
    seen : the file's size and time
    """

    kind: str
    where: str = ""
    people: int = 0
    reason: str = ""
    seen: tuple[int, int] | None = None

    @property
    def is_in_database(self) -> bool:
        return self.kind in ("unfinished", "rows")

    @property
    def is_unchanged(self) -> bool:
        """True if the file is still as it was."""
        with contextlib.suppress(OSError):
            return self.seen == _seen(Path(self.where))
        return False

    @property
    def words(self) -> str:
        """The readable traces with their places and ends, in words."""
        people = f"{count_of(self.people, 'rater', 'raters')} of erased raters"
        return {
            "unfinished": self.where,
            "rows": f"the database still holds {people}",
            "people": f"{self.where} still holds {people}, until it is deleted or made again",
            "id": f"{self.where} still holds the id of an erased rater, until it is deleted or made again",
            "closed": f"{self.where} cannot be looked into ({self.reason})",
        }[self.kind]


@dataclass(frozen=True)
class Left:
    """The traces left of erased raters; `looked` is False while copies made before are still to be
    searched."""

    traces: list[Trace]
    anybody: bool
    looked: bool


@dataclass(frozen=True)
class _Sought:
    """Hashes of codes by what was done to the raters, and ids of platforms."""

    hashes: dict[str, set[str]]
    ids: frozenset[bytes] = field(default=frozenset(), repr=False)


def traces_of(folder: Path, store: Store, ids: Collection[str] = ()) -> list[Trace]:
    """Look for places that still hold people who were forgotten; empty where nobody was, or nothing is left of them.

    Parameters
    ----------
    ids : ids that a platform gave people who are being forgotten now
    """
    unfinished = unfinished_deletions(store)
    traces = [Trace("unfinished", unfinished)] if unfinished else []
    with store.read() as connection:
        hashes = forgotten_hashes(connection, folder)
        people = [(rater.rater_id, rater.session_key, rater.identity) for rater in read_raters(connection)]
        kept = _kept(connection)
    sought = _Sought(hashes, frozenset(ids_given(ids, (identity for _, _, identity in people))))
    if not (hashes[FORGOTTEN] or hashes[UNNAMED] or sought.ids):
        return [*traces, *_still_there(kept, [])]
    still = sum(_is_sought(code.encode(), hashes, is_named=bool(key)) for code, key, _ in people)
    if still:
        traces.append(Trace("rows", people=still))
    found = [trace for path in _files(folder, store, bool(unfinished)) for trace in _in_file(path, sought)]
    return [*traces, *found, *_still_there(kept, found)]


def _still_there(kept: Iterable[Trace], found: Iterable[Trace]) -> Iterator[Trace]:
    """Earlier finds by an id alone, in files that have not changed since and were not found now."""
    now = {trace.where for trace in found}
    return (trace for trace in kept if trace.kind == "id" and trace.where not in now and trace.is_unchanged)


def ids_given(ids: Collection[str], others: Iterable[str]) -> Iterator[bytes]:
    """Ids that are long enough to be nobody else's and that no rater who stays has."""
    stay = set(others)
    return (given.encode() for given in ids if given not in stay and _ID.fullmatch(given.encode()))


def look_for_traces(folder: Path, store: Store, ids: Collection[str] = ()) -> list[Trace]:
    """`traces_of`, and what was found in files is kept for `left_of_the_forgotten`.

    The answer that the server keeps and offers is its own: it is deleted where it holds somebody.
    """
    marked = last_forgotten(folder)
    traces = _without_own(traces_of(folder, store, ids), folder / ANSWER)
    files = [trace for trace in traces if not trace.is_in_database]
    with store.write() as connection:
        every = [*files, *_still_there(_kept(connection), files)]  # another process may have known another id
        value = json.dumps({"marked": marked, "found": [asdict(trace) for trace in every]})
        write_setting(connection, _KEY, value)
    return traces


def _without_own(traces: list[Trace], answer: Path) -> list[Trace]:
    """The traces without those in the files of the saved answer, which are deleted."""
    files = {str(answer / name) for name in (KEPT, PAGE, RESULTS) if not (answer / name).is_symlink()}
    own = [each for each in traces if each.kind in ("people", "id") and each.where in files]
    for each in own:
        Path(each.where).unlink(missing_ok=True)
    return [each for each in traces if each not in own]


def left_of_the_forgotten(folder: Path, store: Store) -> Left:
    """The finds of the last look and those still there, without looking again."""
    unfinished, marked = unfinished_deletions(store), last_forgotten(folder)
    with store.read_one() as connection:
        last, kept = _last_look(connection)
    there = [trace for trace in kept if Path(trace.where).exists()]
    traces = [*([Trace("unfinished", unfinished)] if unfinished else []), *there]
    return Left(traces, anybody=bool(traces) or _anybody(folder), looked=last == marked)


def _anybody(folder: Path) -> bool:
    try:
        hashes = buried(folder)
    except RelstudyError:  # the file is damaged: doctor names it
        return True
    return bool(hashes[FORGOTTEN] or hashes[UNNAMED])


def go_on_deleting(folder: Path, store: Store, gone: list[frozenset[str]]) -> None:
    """Finish what deletions and withdrawals left, and look for copies where something has changed since.

    Parameters
    ----------
    gone : ids of people whom this process has deleted; emptied
    """
    with contextlib.suppress(RelstudyError):
        gone.append(complete_withdrawals(store, folder).ids)
    finish_deletions(store)
    with store.read_one() as connection:
        last, kept = _last_look(connection)
    ids = frozenset[str]().union(*(gone.pop() for _ in range(len(gone))))
    if ids or last_forgotten(folder) != last or not all(trace.is_unchanged for trace in kept):
        with contextlib.suppress(RelstudyError):  # a damaged file of the forgotten: doctor names it
            look_for_traces(folder, store, ids)


def last_forgotten(folder: Path) -> int | None:
    """When the file of the forgotten was last added to; None where nobody was forgotten."""
    with contextlib.suppress(OSError):
        return (folder / FILE).stat().st_mtime_ns
    return None


def _last_look(connection: sa.Connection) -> tuple[int | None, list[Trace]]:
    """When the file of the forgotten had last been added to at the last look, and what was found then."""
    row = read_setting(connection, _KEY)
    if row is None:
        return None, []
    last = json.loads(row)
    found = ({**each, "seen": tuple(each["seen"]) if each["seen"] else None} for each in last["found"])
    return last["marked"], [Trace(**each) for each in found]


def _kept(connection: sa.Connection) -> list[Trace]:
    return _last_look(connection)[1]


def _files(folder: Path, store: Store, unfinished: bool) -> Iterator[Path]:
    """The folder's files but pictures and the database, of which a second opening would break this process's locks.

    Its write-ahead log is said to hold somebody already where a deletion is `unfinished`.
    """
    ends = ("", "-shm", "-wal")[: 2 + unfinished]
    databases = [Path(f"{store.file}{end}") for end in ends] if store.is_sqlite else []
    databases = [path for path in databases if path.exists()]
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix.lower() not in _NO_TEXT):
        with contextlib.suppress(FileNotFoundError):
            if not any(path.samefile(each) for each in databases):
                yield path


def _in_file(path: Path, sought: _Sought) -> Iterator[Trace]:
    """The trace in a file, if there is one, or what keeps it from being looked into."""
    codes: set[str] = set()
    has_id = False
    seen = None
    try:
        seen = _seen(path)
        for content in contents_of(path):
            new, id_is_there = _in_content(content, sought)
            codes |= new
            has_id |= id_is_there
    except FileNotFoundError:  # deleted meanwhile
        return
    except (OSError, CannotBeReadError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        yield Trace("closed", str(path), reason=str(reason), seen=seen)
        return
    if codes:
        yield Trace("people", str(path), len(codes), seen=seen)
    elif has_id:
        yield Trace("id", str(path), seen=seen)


def _seen(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _in_content(content: Content, sought: _Sought) -> tuple[set[str], bool]:
    """Codes of the forgotten that a content holds, and whether it holds an id.

    Who was only made nameless may stand in any table but one of people, and in a database without a key.
    """
    is_table = Path(content.name).suffix.lower() in _TABLES
    codes: set[bytes] = set()
    rows: set[bytes] = set()
    has_id, rest, names_people = False, b"", None
    for part in content.parts:
        if names_people is None:
            names_people = _OF_PEOPLE.search(part.split(b"\n", 1)[0]) is not None
        text = rest + part
        if is_table:
            codes.update(_CODE.findall(text))
        rows.update(_ROW.findall(text))
        has_id = has_id or (bool(sought.ids) and not sought.ids.isdisjoint(_ID.findall(text)))
        rest = text[-_OVERLAP:]
    found = {code for code in codes if _is_sought(code, sought.hashes, is_named=bool(names_people))}
    found |= {code for code in rows if _is_sought(code, sought.hashes, is_named=True)}
    return {code.decode() for code in found}, has_id


def _is_sought(code: bytes, hashes: dict[str, set[str]], *, is_named: bool) -> bool:
    """True if a rater was forgotten, or made nameless and is there by name."""
    hashed = hash_of(code.decode())
    return hashed in hashes[FORGOTTEN] or (is_named and hashed in hashes[UNNAMED])
