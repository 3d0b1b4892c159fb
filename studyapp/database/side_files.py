"""SQLite's write-ahead log beside a database: whether it is this database's own.

SQLite writes whatever study.db-wal holds into the study.db beside it, and cannot see that the one was copied there from
elsewhere: a backup put there by hand was undone without a word, or became a mixture of two studies.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import quoted

BACKUP = 0x52535442
"""SQLite's application_id of a backup, which is not a database at work until it is opened as one."""
_HEADER = 100  # bytes; a write-ahead log of 32 is empty
_FEED = "SELECT value FROM settings WHERE key = 'feed'"


def mark_as_backup(path: Path) -> None:
    """Mark a copy, whose write-ahead log is empty, as a backup."""
    _set_application(path, BACKUP)


def require_own_wal(database: Path) -> None:
    """Refuse a database with a write-ahead log of another one; a backup without one becomes a database at work.

    Raises
    ------
    RelstudyError
        where study.db is a backup, or has another feed of changes than with its log
    """
    if not database.is_file():
        return
    if not _has_wal(database):
        if _application(database) == BACKUP:
            try:
                _set_application(database, 0)
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    raise RelstudyError(
                        f"{database}: another program has this backup open; close it there first"
                    ) from None
                # on a read-only disk nothing is written beside it either
    elif not has_own_wal(database):
        raise RelstudyError(
            f"{database}-wal is not of the {database.name} beside it, which was copied there by hand, and would undo "
            f"or spoil it: `relstudy admin restore {quoted(database.parent)} BACKUP` puts a backup in its place; or "
            f"move {database.name}-wal away, and {database.name} is used as it is"
        )


def has_own_wal(database: Path) -> bool:
    """False if there is a write-ahead log of another database."""
    return not _has_wal(database) or not (_application(database) == BACKUP or _is_foreign(database))


def require_sound(database: Path) -> None:
    """Refuse a database that is damaged by the write-ahead log that a server which fell has left, or seems to have."""
    if not database.is_file() or not _has_wal(database):
        return
    require_own_wal(database)
    try:
        with _opened(database, "mode=ro") as connection:
            answer = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        answer = str(error)
    if answer != "ok":
        raise RelstudyError(
            f"{database} is damaged, or {database.name}-wal is not of it ({' '.join(answer.split())}): if one of them "
            f"was copied there by hand, put the other back beside it; else `relstudy admin restore "
            f"{quoted(database.parent)} BACKUP`"
        )


def _has_wal(database: Path) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"{database}-wal").stat().st_size > _HEADER
    return False


def _application(database: Path) -> int:
    """SQLite's application_id of the file alone, without its log; 0 where it is none of SQLite's.

    By SQLite: a file that this process opened and closed itself would take the locks of its connections away, and
    another program, which then thinks itself the last, would delete the log with the ratings in it.
    """
    with contextlib.suppress(sqlite3.Error), _opened(database, "immutable=1") as connection:
        return int(connection.execute("PRAGMA application_id").fetchone()[0])
    return 0


def _set_application(database: Path, number: int) -> None:
    """Write the mark into the file itself: in a write-ahead log it would be there only with the log."""
    with contextlib.closing(sqlite3.connect(database, timeout=1, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
        connection.execute(f"PRAGMA application_id={number}")


def _is_foreign(database: Path) -> bool:
    """True if the feed of changes, which stays as it is as long as a database is, is another one with the log.

    It is seen where the log holds the page of settings, which each start of a server writes.
    """
    return len({_feed(database, how) for how in ("immutable=1", "mode=ro")} - {""}) > 1


def _feed(database: Path, how: str) -> str:
    """Feed of the file alone (immutable) or with its log; empty if there is none, or it cannot be read."""
    try:
        with _opened(database, how) as connection:
            found = connection.execute(_FEED).fetchone()
    except sqlite3.Error:
        return ""
    return str(found[0]) if found else ""


def _opened(database: Path, how: str) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?{how}", uri=True, timeout=1))
