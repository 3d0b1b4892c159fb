"""A consistent copy of a database that is in use."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.errors import RelstudyError
from relstudy.common.files import replacing
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import metadata


def copy_database(store: Store, target: Path) -> int:
    """Copy to a SQLite file, check it, and only then give it its name. Returns the number of rating rows.

    SQLite: the online backup. PostgreSQL: every table, read in one snapshot.
    """
    with replacing(target) as beside:
        if store.is_sqlite:
            _copy_sqlite(store, beside)
        else:
            _copy_rows(store, beside)
        count = _check(beside)
        beside.chmod(0o600)
    target.chmod(0o600)
    return count


def _copy_sqlite(store: Store, target: Path) -> None:
    source = sqlite3.connect(f"file:{store.url.database}?mode=ro", uri=True)
    copy = sqlite3.connect(target)
    try:
        source.backup(copy)  # all pages in one step: a reader in WAL mode, in nobody's way
    except sqlite3.Error as error:
        raise RelstudyError(f"the database {store.shown} cannot be copied ({error}); nothing was kept") from None
    finally:
        copy.close()
        source.close()


def _copy_rows(store: Store, target: Path) -> None:
    copy = Store(f"sqlite:///{target}")
    try:
        copy.migrate()
        with store.read() as source, copy.write() as destination:
            copy_rows(source, destination)
        copy.leave_wal()
    finally:
        copy.dispose()
        for ending in ("-wal", "-shm", ".lock"):
            Path(f"{target}{ending}").unlink(missing_ok=True)


def copy_rows(source: sa.Connection, destination: sa.Connection) -> None:
    """Copy every row of every table, tables that others refer to first."""
    for table in metadata.sorted_tables:
        for part in source.execute(sa.select(table)).mappings().partitions(5000):
            destination.execute(sa.insert(table), [dict(row) for row in part])


def _check(path: Path) -> int:
    count = count_ratings(path)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return count


def count_ratings(path: Path) -> int:
    """Number of rating rows of a SQLite file that is whole; RelstudyError where it is damaged."""
    connection = sqlite3.connect(path)
    try:
        answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if answer != "ok":
            raise RelstudyError(f"the copy is damaged ({answer}); nothing was kept")
        return int(connection.execute("SELECT count(*) FROM ratings").fetchone()[0])
    finally:
        connection.close()
