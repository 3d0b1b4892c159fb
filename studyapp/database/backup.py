"""Backups: a consistent copy of a database that is in use, and a backup put back into its place."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing
from relstudy.studyapp.database.errors import DATABASE_ERRORS, is_full
from relstudy.studyapp.database.feed import begin_feed
from relstudy.studyapp.database.settings import read_setting
from relstudy.studyapp.database.side_files import has_own_wal, mark_as_backup
from relstudy.studyapp.database.store import OtherVersionError, Store
from relstudy.studyapp.database.tables import events, metadata, ratings

T = TypeVar("T")
SIDE_FILES = ("-wal", "-shm")


def copy_database(store: Store, target: Path) -> int:
    """Copy to a SQLite file, check it, and only then give it its name. Returns the number of rating rows.

    SQLite: the online backup. PostgreSQL: every table, read in one snapshot.
    """
    with replacing(target, 0o600) as beside:
        if store.is_sqlite:
            _copy_sqlite(store, beside)
        else:
            _copy_rows(store, beside)
        mark_as_backup(beside)
        count = count_ratings(beside)
        _sync(beside)
    return count


def _copy_sqlite(store: Store, target: Path) -> None:
    try:
        _copy_pages(store.file, target)
    except sqlite3.Error as error:
        raise RelstudyError(f"the database {store.shown} cannot be copied ({error}); nothing was kept") from None


def _copy_pages(database: Path, copy: Path) -> None:
    """SQLite's online backup, all pages in one step: a reader in WAL mode, in nobody's way."""
    with (
        contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as source,
        contextlib.closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)


def _copy_rows(store: Store, target: Path) -> None:
    try:
        with Store(target) as copy:
            copy.migrate()
            with store.read() as source, copy.write() as destination:
                copy_rows(source, destination)
            copy.leave_wal()
    finally:
        _remove(target, (*SIDE_FILES, ".lock"))


def copy_rows(source: sa.Connection, destination: sa.Connection) -> None:
    """Copy every row of every table, tables that others refer to first."""
    for table in metadata.sorted_tables:
        columns = [column for column in table.c if column is not events.c.xid]  # transactions are the database's own
        destination.execute(sa.delete(table))  # the events that copied ratings make, and what a new database holds
        for part in source.execute(sa.select(*columns).order_by(*table.primary_key)).mappings().partitions(5000):
            destination.execute(sa.insert(table), [dict(row) for row in part])


def count_ratings(path: Path) -> int:
    """Number of rating rows of a SQLite file that is whole; RelstudyError where it is damaged."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if answer != "ok":
            raise RelstudyError(f"the copy is damaged ({answer}); nothing was kept")
        return int(connection.execute("SELECT count(*) FROM ratings").fetchone()[0])


def _sync(path: Path) -> None:
    """Have a file, or a folder's names, on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(database: Path, endings: tuple[str, ...] = ("", *SIDE_FILES, ".lock")) -> None:
    """Remove what there is of an SQLite database: the file, and those beside it."""
    for ending in endings:
        Path(f"{database}{ending}").unlink(missing_ok=True)


@dataclass(frozen=True)
class BackupContent:
    """Content of a backup.

    Parameters
    ----------
    study : id of its study
    ratings : number of rating rows, each change counted
    newest : when the last of them was given, in seconds since 1970, or None
    """

    study: str
    ratings: int
    newest: float | None

    @property
    def when(self) -> str:
        """The time of the newest rating, in words."""
        if self.newest is None:
            return "without a rating"
        return f"newest rating {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.newest))}"


@contextlib.contextmanager
def checked_copy(backup: Path, folder: Path) -> Iterator[tuple[Path, BackupContent]]:
    """A copy of a backup beside the study, whole and with today's tables; it is gone when the block ends.

    Parameters
    ----------
    backup : a SQLite file as `relstudy admin backup` writes it; with a -wal beside it, what that holds is taken too

    Raises
    ------
    RelstudyError
        where it is missing, damaged, of another version of relstudy, or no study's database
    """
    if not backup.is_file():
        raise RelstudyError(f"{backup}: file not found")
    copy = folder / ".restoring.db"
    _remove(copy)  # one that a killed restore has left
    try:
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))  # its owner's alone from the first byte
        try:
            _copy_pages(backup, copy)
            count_ratings(copy)
        except sqlite3.DatabaseError as error:
            if is_full(str(error)):
                raise RelstudyError(f"{folder}: there is no room for a copy of the backup ({error})") from None
            raise RelstudyError(f"{backup}: not a complete backup of a study ({error})") from None
        with Store(copy) as store:
            store.migrate()
            content = content_of(store)
            store.leave_wal()
        yield copy, content
    except OtherVersionError:
        raise RelstudyError(f"{backup}: this backup was made by another version of relstudy; use that one") from None
    finally:
        _remove(copy)


def changed_copy(copy: Path, change: Callable[[Store], T]) -> T:
    """Change a copy before it is put back, and begin its feed of changes again; what the change returns."""
    with Store(copy) as store:
        result = change(store)
        with store.write() as connection:
            begin_feed(connection)
        store.leave_wal()
    return result


def content_of(store: Store) -> BackupContent:
    """Content of a study's database."""
    with store.read() as connection:
        study = read_setting(connection, "study")
        count, newest = connection.execute(sa.select(sa.func.count(), sa.func.max(ratings.c.rated_at))).one()
    return BackupContent(study or "", int(count), newest)


def held_study(store: Store) -> str:
    """Id of the study that a database holds; empty where it holds none, or is too damaged to read, or has another's
    write-ahead log."""
    if not store.is_whole:
        return ""
    try:
        return content_of(store).study
    except DATABASE_ERRORS:
        return ""
    finally:
        store.dispose()  # a connection of our own would look like a server's


def put_back(copy: Path, store: Store, folder: Path) -> Path | None:
    """Make the database hold what a copy of a backup holds. Nobody may have it in use (`nobody_serves`).

    Returns
    -------
    The file that what stood there before is kept in; None where there was nothing
    """
    replace = _replace_file if store.is_sqlite else _replace_rows
    return replace(copy, store, _new_name(folder))


def _new_name(folder: Path) -> Path:
    """Path at which the replaced files are kept: a name by the time, which is not taken yet."""
    stem = f"before-restore-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (folder / f"{stem}-{number}.db" for number in itertools.count(2))
    return next(name for name in itertools.chain([folder / f"{stem}.db"], names) if not name.exists())


def _replace_file(copy: Path, store: Store, kept: Path) -> Path | None:
    database = store.file
    there = database.exists()
    if there:
        _require_unused(database)
        for ending in ("", *SIDE_FILES):
            # a damaged database keeps what it had beside it, under the same new name
            if Path(f"{database}{ending}").exists():
                _name_also(Path(f"{database}{ending}"), Path(f"{kept}{ending}"))
    _remove(database, SIDE_FILES)
    os.replace(copy, database)
    _sync(database.parent)
    return kept if there else None


def _name_also(file: Path, name: Path) -> None:
    """Give a file a second name: at no moment is the first without a file, whatever ends this program."""
    try:
        os.link(file, name)
    except OSError:  # this file system knows no second names
        with replacing(name, 0o600) as beside:
            shutil.copyfile(file, beside)


def _require_unused(database: Path) -> None:
    """Refuse where another process has the database open; else empty its -wal into it, if it is its own."""
    if not has_own_wal(database):
        return
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=1)) as connection:
            # only who is alone may leave the write-ahead log
            connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise RelstudyError(f"{database}: another program has it open; stop it first") from None
    except sqlite3.DatabaseError:
        pass  # damaged: that is what the backup is for


def _replace_rows(copy: Path, store: Store, kept: Path) -> Path | None:
    store.migrate()
    there = content_of(store).study != ""
    if there:
        copy_database(store, kept)
    try:
        with Store(copy) as source, source.read() as old, store.write() as new:
            for table in reversed(metadata.sorted_tables):
                new.execute(sa.delete(table))
            copy_rows(old, new)
            for table in metadata.sorted_tables:
                _continue_numbering(new, table)
    except DATABASE_ERRORS as error:
        raise RelstudyError(f"the database {store.shown} refused the backup, and is as it was: {error}") from None
    return kept if there else None


def _continue_numbering(connection: sa.Connection, table: sa.Table) -> None:
    """Rows that are copied bring their numbers; the next row's must be above them."""
    column = table.autoincrement_column
    if column is None:
        return
    sequence = connection.execute(
        sa.text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
    ).scalar_one_or_none()
    if sequence is not None:
        highest = connection.execute(sa.select(sa.func.max(column))).scalar_one()
        connection.execute(
            sa.text("SELECT setval(CAST(:sequence AS regclass), :next, false)"),
            {"sequence": sequence, "next": (highest or 0) + 1},
        )
