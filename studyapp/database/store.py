"""The study's database: its engine, and the two ways in, `read` and `write`.

SQLite (WAL, synchronous=FULL) beside study.toml, or PostgreSQL where DATABASE_URL says so. A write is on disk when
`write()` ends; nothing is acknowledged before that.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Self

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import quoted
from relstudy.studyapp.database.errors import Trouble
from relstudy.studyapp.database.postgresql import postgresql_engine
from relstudy.studyapp.database.prepared import send
from relstudy.studyapp.database.settings import write_setting
from relstudy.studyapp.database.side_files import has_own_wal, require_own_wal

try:
    import fcntl
except ImportError:  # Windows: SQLite's own locking and busy timeout must do
    fcntl = None  # type: ignore[assignment]

BUSY_SECONDS = 5.0
HEALTH_SECONDS = 5.0
CHECKPOINT_SECONDS = 0.2
Transaction = sa.Connection  # for rooms that hand one on and send no SQL of their own
MIGRATIONS = Path(__file__).with_name("migrations")
_MIGRATING = threading.Lock()  # Alembic keeps its state in module globals


class OtherVersionError(RelstudyError):
    """The tables of a database are of another version of relstudy."""


class Store:
    """A study's database; in a `with` block, its connections are closed when the block ends.

    Parameters
    ----------
    url : SQLAlchemy address, or the path of an SQLite file
    busy_seconds : how long a write waits for another to end before it is refused
    kept : how many connections to PostgreSQL stay open when nobody needs them
    """

    def __init__(self, url: str | Path, busy_seconds: float = BUSY_SECONDS, kept: int = 10) -> None:
        try:
            # a path is not part of an address: a question mark in it would begin the address' query
            is_file = isinstance(url, Path)
            self.url = sa.URL.create("sqlite", database=str(url)) if is_file else sa.make_url(_with_driver(str(url)))
            in_memory = self.url.get_backend_name() == "sqlite" and self.url.database in (None, "", ":memory:")
            if in_memory or self.url.get_backend_name() not in ("sqlite", "postgresql"):
                raise sa.exc.ArgumentError
            self.url.get_dialect().import_dbapi()
        except (sa.exc.ArgumentError, ValueError):
            raise RelstudyError(
                "DATABASE_URL is not an address of a database; use postgresql://USER:PASSWORD@HOST/NAME or "
                "sqlite:////PATH/study.db"
            ) from None
        except ImportError:
            raise RelstudyError('PostgreSQL needs a further package: pip install "relstudy[postgresql]"') from None
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.made_when_missing = False  # whether `migrate` may make the PostgreSQL database itself
        self.busy_seconds = busy_seconds
        self._answered = (-HEALTH_SECONDS, False)
        self._writing, self._reading = Trouble(busy_seconds / 2), Trouble(busy_seconds / 2)
        if self.is_sqlite:
            self._turn = WritersTurn(self.file, busy_seconds)
            self.engine = sa.create_engine(
                self.url,
                pool_size=16,
                pool_use_lifo=True,  # the connection used last has the pages at hand that it wrote
                max_overflow=16,
                hide_parameters=True,
                connect_args={"timeout": busy_seconds, "factory": SQLiteConnection},
            )
            sa.event.listen(self.engine, "connect", _prepare_sqlite)
            sa.event.listen(self.engine, "checkin", _end_reading)
        else:
            self.engine = postgresql_engine(
                self.url,
                busy_seconds,
                pool_size=kept,
                max_overflow=20 - kept,
                pool_timeout=busy_seconds,
                isolation_level="READ COMMITTED",
                hide_parameters=True,  # a log of what went wrong holds no rater's id and no answers
            )

        # SQLite's connections are in this state anyway, outside `read` and `write`.
        self._single = self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @classmethod
    def of_study(cls, folder: str | Path, busy_seconds: float = BUSY_SECONDS, kept: int = 10) -> Store:
        """The database of a study folder: DATABASE_URL where it is set, else study.db.

        `{name}` in DATABASE_URL stands for the folder's name, so that several studies have a database each.
        """
        url = os.environ.get("DATABASE_URL")
        if not url:
            return cls(Path(folder).resolve() / "study.db", busy_seconds, kept)
        store = cls(url.replace("{name}", Path(folder).resolve().name), busy_seconds, kept)
        store.made_when_missing = "{name}" in url and not store.is_sqlite
        return store

    @classmethod
    def of_host(cls, folder: str | Path) -> Store:
        """The database of a host itself: of its tables, the log and the count of attempts are used."""
        return cls(Path(folder).resolve() / "host.db")

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One consistent view of the data; never waits for a writer and never holds one up."""
        with self._reading.spared(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            try:
                yield connection
            finally:
                connection.rollback()
                if self.is_sqlite and connection.connection.in_transaction:
                    connection.exec_driver_sql("ROLLBACK")

    @contextlib.contextmanager
    def read_one(self) -> Iterator[sa.Connection]:
        """For a single SELECT, which is consistent by itself and needs no transaction around it."""
        with self._reading.spared(), self._single.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """One transaction, on disk when the block ends; undone when it raises."""
        if not self.is_sqlite:
            with self._writing.spared(), self.engine.begin() as connection:
                yield connection
            return
        with self._writing.spared(), self._turn.taken(), self.engine.connect() as connection:
            connection.begin()
            send(connection, "BEGIN IMMEDIATE")
            try:
                yield connection
                send(connection, "COMMIT")
            finally:
                connection.rollback()
                if connection.connection.in_transaction:
                    connection.exec_driver_sql("ROLLBACK")

    def migrate(self) -> None:
        """Bring the tables up to date (Alembic); takes no lock where they are."""
        from alembic import command
        from alembic.config import Config
        from alembic.migration import MigrationContext
        from alembic.util.exc import CommandError

        self._require_own_wal()
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["store"] = self
        if self.is_sqlite and self.file.exists():
            try:
                with self.engine.connect() as connection:
                    if MigrationContext.configure(connection).get_current_heads() == newest_revision():
                        return
            except sa.exc.DBAPIError as error:
                raise self._unopened(error) from None
        if self.is_sqlite:
            # Made here so that nobody but the owner can read it; SQLite gives its -wal and -shm the same mode.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            with _MIGRATING:
                if self.made_when_missing:
                    self._make_database()
                command.upgrade(config, "head")
        except sa.exc.DBAPIError as error:
            raise self._unopened(error) from None
        except CommandError:
            raise OtherVersionError(
                f"the database {self.shown} was made by another version of relstudy; use that one, or a backup"
            ) from None

    def _make_database(self) -> None:
        """Make the PostgreSQL database where the server has none of that name."""
        server = postgresql_engine(
            self.url.set(database="postgres"), self.busy_seconds, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
        )
        with server.connect() as connection:
            there = sa.text("SELECT 1 FROM pg_database WHERE datname = :name")
            if connection.execute(there, {"name": self.url.database}).first() is None:
                name = server.dialect.identifier_preparer.quote_identifier(str(self.url.database))
                connection.exec_driver_sql(f"CREATE DATABASE {name}")

    def answers(self) -> bool:
        """True if the database can be reached and written to, some seconds ago at most."""
        looked_at, answered = self._answered
        if time.monotonic() - looked_at > HEALTH_SECONDS:
            try:
                with self.write() as connection:
                    write_setting(connection, "health", str(time.time()))
                answered = True
            except (sa.exc.SQLAlchemyError, OSError):
                answered = False
            self._answered = (time.monotonic(), answered)
        return answered

    def require_study(self, folder: Path) -> None:
        """Refuse a database in which no study has been set up yet.

        Raises
        ------
        RelstudyError
            when there is no database, or one without a study's tables, or it cannot be opened
        """
        if self.is_missing:
            raise RelstudyError(
                f"{folder}: nothing has been rated here yet; `relstudy serve {quoted(folder)}` makes the database"
            )
        self._require_own_wal()
        try:
            if not self.has_tables:
                raise RelstudyError(
                    f"the database {self.shown} holds no study yet; `relstudy serve {quoted(folder)}` makes one"
                )
        except sa.exc.DBAPIError as error:
            raise self._unopened(error) from None

    @property
    def has_tables(self) -> bool:
        """True where a study's tables are there: nobody has served a study from an empty database."""
        return sa.inspect(self.engine).has_table("ratings")

    @property
    def file(self) -> Path:
        """Path of the SQLite file."""
        return Path(str(self.url.database))

    @property
    def is_missing(self) -> bool:
        """True if there is no SQLite file yet."""
        return self.is_sqlite and not self.file.exists()

    @property
    def is_whole(self) -> bool:
        """False where SQLite's file is missing, or the write-ahead log beside it is another database's."""
        return not self.is_sqlite or (self.file.exists() and has_own_wal(self.file))

    def _require_own_wal(self) -> None:
        if self.is_sqlite:
            require_own_wal(self.file)

    def _unopened(self, error: sa.exc.DBAPIError) -> RelstudyError:
        """Sentence on what keeps the database from being opened."""
        read_only = self.is_sqlite and not os.access(self.file.parent, os.W_OK)
        hint = (
            "; its folder cannot be written to, as SQLite needs: copy the folder to where it can" if read_only else ""
        )
        return RelstudyError(f"the database {self.shown} cannot be opened: {error.orig}{hint}")

    def leave_wal(self) -> None:
        """Empty SQLite's write-ahead log into the file, so that the file alone is the database."""
        with self.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=DELETE")

    def empty_wal(self) -> bool:
        """Write SQLite's write-ahead log into the file and empty it; False where a reader still needs what is in it.

        Writers are kept waiting for `CHECKPOINT_SECONDS` at most.
        """
        try:
            with (
                self._turn.taken(),
                contextlib.closing(sqlite3.connect(self.file, timeout=CHECKPOINT_SECONDS)) as connection,
            ):
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise sa.exc.OperationalError("PRAGMA wal_checkpoint", {}, error) from error
        return not busy

    @property
    def shown(self) -> str:
        """The address, without a password."""
        return self.url.render_as_string(hide_password=True)

    def dispose(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()


@functools.cache
def newest_revision() -> tuple[str, ...]:
    """The revision that this version's tables have; read once, as migrations do not change while a process runs."""
    from alembic.script import ScriptDirectory

    return tuple(ScriptDirectory(str(MIGRATIONS)).get_heads())


class SQLiteConnection(sqlite3.Connection):
    """A connection that knows its cursors."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.cursors: weakref.WeakSet[sqlite3.Cursor] = weakref.WeakSet()

    def cursor(self, *arguments: Any, **options: Any) -> sqlite3.Cursor:  # type: ignore[override]
        """A new cursor."""
        cursor: sqlite3.Cursor = super().cursor(*arguments, **options)
        self.cursors.add(cursor)
        return cursor


def _end_reading(connection: SQLiteConnection | None, _record: object) -> None:
    """Close what somebody has begun to read and not read to its end.

    SQLite's view of the data lasts as long as any statement on the connection does, whatever becomes of the
    transaction: whoever came next to this connection read old data, and the write-ahead log grew without end.
    """
    for cursor in list(connection.cursors) if connection is not None else ():
        cursor.close()


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `read` and `write` say so, not where sqlite3 guesses
    cursor = connection.cursor()
    _enter_wal(cursor)
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")  # what `forget` removes is overwritten
    cursor.close()


def _enter_wal(cursor: sqlite3.Cursor) -> None:
    """Take up the write-ahead log; of a new file, whoever comes second is refused without a busy wait."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _with_driver(url: str) -> str:
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url[len(prefix) :]
    return url


class WritersTurn:
    """One writer to SQLite at a time, among the threads of a process and among processes.

    SQLite's own busy wait polls with growing sleeps, so that under load some writers starve. This queue only orders:
    SQLite's lock still decides.

    Parameters
    ----------
    database : path of the SQLite file; the lock is a file beside it
    seconds : how long a writer waits before it is refused
    """

    def __init__(self, database: Path, seconds: float) -> None:
        self._database = database
        self._seconds = seconds
        self._thread = threading.Lock()
        self._file: IO[str] | None = None

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the turn for as long as the block lasts."""
        if not self._thread.acquire(timeout=self._seconds):
            raise _locked()
        try:
            if fcntl is not None and self._file is None:
                self._file = self._opened()
            if self._file is not None:
                self._wait_for_other_processes(self._file)
            try:
                yield
            finally:
                if self._file is not None:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
        finally:
            self._thread.release()

    def _opened(self) -> IO[str]:
        """The lock's file, kept open for the process; that it cannot be opened is the database's trouble."""
        try:
            return open(f"{self._database}.lock", "a")
        except OSError as error:
            raise sa.exc.OperationalError("BEGIN IMMEDIATE", {}, error) from error

    def _wait_for_other_processes(self, lock_file: IO[str]) -> None:
        # Asked for every half millisecond rather than waited for: a process that hangs must not hang all others.
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise _locked() from None
                time.sleep(0.0005)
            except OSError as error:
                raise RelstudyError(
                    f"{self._database}: this file system knows no file locks ({error.strerror}), without which "
                    "several processes would spoil the database; keep the study elsewhere, or set DATABASE_URL to a "
                    "PostgreSQL server"
                ) from None


def _locked() -> sa.exc.OperationalError:
    return sa.exc.OperationalError("BEGIN IMMEDIATE", {}, Exception("database is locked"))
