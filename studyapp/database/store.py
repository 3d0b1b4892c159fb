"""The study's database: its tables, its engine, and the two ways in, `read` and `write`.

SQLite (WAL, synchronous=FULL) beside study.toml, or PostgreSQL where DATABASE_URL says so. A write is on disk when
`write()` ends; nothing is acknowledged before that.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa

from relstudy.common.errors import RelstudyError

try:
    import fcntl
except ImportError:  # Windows: SQLite's own locking and busy timeout must do
    fcntl = None  # type: ignore[assignment]

BUSY_SECONDS = 5.0
HEALTH_SECONDS = 5.0
# States of a slot. UNDECIDED: answered by nothing but undecided, and handed out again in a slot of its own.
OPEN, LEASED, DONE, UNDECIDED = 0, 1, 2, 3
Transaction = sa.Connection  # for rooms that hand one on and send no SQL of their own
_MIGRATING = threading.Lock()  # Alembic keeps its state in module globals

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

settings = sa.Table(
    "settings",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

# What can be rated. `block` is base, unique, practice or check (an attention check, or a filler beside one).
pairs = sa.Table(
    "pairs",
    metadata,
    sa.Column("pair_id", sa.Text, primary_key=True),
    sa.Column("query_id", sa.Text, nullable=False),
    sa.Column("result_id", sa.Text, nullable=False),
    sa.Column("paradigm", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("inclusion_probability", sa.Float),
    sa.Column("query_probability", sa.Float),
    sa.Column("rank", sa.Integer),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
)

# A page shows one query with some of its results; the same for every rater, in an order of the rater's own.
pages = sa.Table(
    "pages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("query_id", sa.Text, nullable=False),
    sa.Column("pair_ids", sa.JSON, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Index(None, "block", "kind"),
)

# One of the k ratings that a page of unique pairs is to get. `order_key` is random: taking the smallest one that is
# open is a random draw over the whole pool, and stays one index look-up however large the pool.
slots = sa.Table(
    "slots",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("page_id", sa.Integer, sa.ForeignKey("pages.id"), nullable=False, index=True),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("order_key", sa.BigInteger, nullable=False),
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("leased_until", sa.Float, nullable=False),
    sa.Column("assignment_id", sa.Integer),
    sa.Index(None, "block", "state", "order_key"),
)

raters = sa.Table(
    "raters",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater_id", sa.Text, nullable=False, unique=True),
    sa.Column("session_key", sa.Text, nullable=False),
    sa.Column("entry", sa.Text, nullable=False),
    sa.Column("identity", sa.Text, nullable=False),
    sa.Column("parameters", sa.JSON, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("completion_code", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("consented_at", sa.Float),
    sa.Column("started_at", sa.Float),
    sa.Column("finished_at", sa.Float),
    sa.Column("locked_to", sa.Integer, nullable=False, default=0),
    sa.Column("extra_pages", sa.Integer, nullable=False, default=0),
    sa.Column("answers", sa.JSON),
    sa.Column("answered_at", sa.Float),
    sa.UniqueConstraint("entry", "identity"),
)

# A page given to a rater, at a place in that rater's own sequence.
assignments = sa.Table(
    "assignments",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("page_id", sa.Integer, sa.ForeignKey("pages.id"), nullable=False),
    sa.Column("pair_ids", sa.JSON, nullable=False),
    sa.Column("slot_id", sa.Integer),
    sa.Column("handed_at", sa.Float),
    sa.Column("answered_at", sa.Float),
    sa.Column("surplus", sa.Boolean, nullable=False, default=False),
    sa.UniqueConstraint("rater", "position"),
    sa.UniqueConstraint("rater", "page_id", "kind"),
    sa.Index(None, "page_id"),
)

# One row per revision; the last one counts. A rating of NULL is "undecided".
ratings = sa.Table(
    "ratings",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("assignment_id", sa.Integer, sa.ForeignKey("assignments.id"), nullable=False),
    sa.Column("pair_id", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("rating", sa.Float),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("rated_at", sa.Float, nullable=False),
    sa.Column("form", sa.Text, nullable=False),
    sa.Column("version", sa.Integer),
    sa.UniqueConstraint("assignment_id", "pair_id", "revision"),
)

# The study as it is served, by all servers alike; the newest one counts. `study` is the text of study.toml,
# `shown_items` what every pair that was ever handed out shows. A rating has the number of the version that asked it.
versions = sa.Table(
    "versions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("made_at", sa.Float, nullable=False),
    sa.Column("study", sa.Text, nullable=False),
    sa.Column("shown_items", sa.JSON, nullable=False),
)

# Guesses of passwords, links and the like, kept for as long as they count; `client` is a keyed hash.
attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("client", sa.Text, nullable=False),
    sa.Column("made_at", sa.Float, nullable=False),
    sa.Index(None, "what", "client"),
)


class Store:
    """A study's database.

    Parameters
    ----------
    url : SQLAlchemy address
    busy_seconds : how long a write waits for another to end before it is refused
    """

    def __init__(self, url: str, busy_seconds: float = BUSY_SECONDS) -> None:
        try:
            self.url = sa.make_url(_with_driver(url))
            in_memory = self.url.get_backend_name() == "sqlite" and self.url.database in (None, "", ":memory:")
            if in_memory or self.url.get_backend_name() not in ("sqlite", "postgresql"):
                raise sa.exc.ArgumentError
            self.url.get_dialect().import_dbapi()
        except (sa.exc.ArgumentError, ValueError):
            raise RelstudyError(
                "DATABASE_URL is no address of a database that can be used; postgresql://USER:PASSWORD@HOST/NAME and "
                "sqlite:////PATH/study.db are"
            ) from None
        except ImportError:
            raise RelstudyError('PostgreSQL needs a further package: pip install "relstudy[postgresql]"') from None
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.busy_seconds = busy_seconds
        self._turn = threading.Lock()
        self._lock_file: IO[str] | None = None
        self._answered = (-HEALTH_SECONDS, False)
        if self.is_sqlite:
            self.engine = sa.create_engine(
                self.url, pool_size=16, max_overflow=16, connect_args={"timeout": busy_seconds}
            )
            sa.event.listen(self.engine, "connect", _prepare_sqlite)
        else:
            self.engine = sa.create_engine(
                self.url,
                pool_size=10,
                max_overflow=10,
                pool_timeout=busy_seconds,
                pool_pre_ping=True,
                isolation_level="READ COMMITTED",
                connect_args={
                    "connect_timeout": 5,
                    "options": f"-c lock_timeout={int(busy_seconds * 1000)} -c statement_timeout=60000",
                },
            )

        # SQLite's connections are in this state anyway, outside `read` and `write`.
        self._single = self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @classmethod
    def of_study(cls, folder: str | Path, busy_seconds: float = BUSY_SECONDS) -> Store:
        """The database of a study folder: DATABASE_URL where it is set, else study.db."""
        url = os.environ.get("DATABASE_URL") or f"sqlite:///{Path(folder).resolve() / 'study.db'}"
        return cls(url, busy_seconds)

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One consistent view of the data; never waits for a writer and never holds one up."""
        with self.engine.connect() as connection:
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
        with self._single.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """One transaction, on disk when the block ends; undone when it raises."""
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._writers_turn(), self.engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.exec_driver_sql("COMMIT")
            finally:
                connection.rollback()
                if connection.connection.in_transaction:
                    connection.exec_driver_sql("ROLLBACK")

    @contextlib.contextmanager
    def _writers_turn(self) -> Iterator[None]:
        """Queue writers before SQLite does.

        SQLite's own busy wait polls with growing sleeps, so that under load some writers starve. This lock only
        orders: SQLite's lock still decides.
        """
        if not self._turn.acquire(timeout=self.busy_seconds):
            raise sa.exc.OperationalError("BEGIN IMMEDIATE", {}, Exception("database is locked"))
        try:
            if fcntl is not None and self._lock_file is None:
                self._lock_file = open(f"{self.url.database}.lock", "a")  # noqa: SIM115 (kept open for the process)
            if self._lock_file is not None:
                self._queue_behind_other_processes(self._lock_file)
            try:
                yield
            finally:
                if self._lock_file is not None:
                    fcntl.flock(self._lock_file, fcntl.LOCK_UN)
        finally:
            self._turn.release()

    def _queue_behind_other_processes(self, lock_file: IO[str]) -> None:
        # Asked for every half millisecond rather than waited for: a process that hangs must not hang all others.
        deadline = time.monotonic() + self.busy_seconds
        while True:
            try:
                fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise sa.exc.OperationalError("BEGIN IMMEDIATE", {}, Exception("database is locked")) from None
                time.sleep(0.0005)
            except OSError as error:
                raise RelstudyError(
                    f"{self.url.database}: this file system knows no file locks ({error.strerror}), without which "
                    "several processes would spoil the database; keep the study elsewhere, or set DATABASE_URL to a "
                    "PostgreSQL server"
                ) from None

    def migrate(self, revision: str = "head") -> None:
        """Bring the tables up to date (Alembic); takes no lock where they are."""
        from alembic import command
        from alembic.config import Config
        from alembic.migration import MigrationContext
        from alembic.script import ScriptDirectory
        from alembic.util.exc import CommandError

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        config.attributes["store"] = self
        script = ScriptDirectory.from_config(config)
        if self.is_sqlite and self.url.database and Path(self.url.database).exists() and revision == "head":
            try:
                with self.engine.connect() as connection:
                    if MigrationContext.configure(connection).get_current_heads() == tuple(script.get_heads()):
                        return
            except sa.exc.DBAPIError as error:
                raise RelstudyError(f"the database {self.shown} cannot be opened: {error.orig}") from None
        if self.is_sqlite and self.url.database:
            # Made here so that nobody but the owner can read it; SQLite gives its -wal and -shm the same mode.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.url.database, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            with _MIGRATING:
                command.upgrade(config, revision)
        except sa.exc.DBAPIError as error:
            raise RelstudyError(f"the database {self.shown} cannot be opened: {error.orig}") from None
        except CommandError:
            raise RelstudyError(
                f"the database {self.shown} was made by a newer relstudy; install that version, or take a backup"
            ) from None

    def answers(self) -> bool:
        """Whether the database can be reached and written to, some seconds ago at most."""
        looked_at, answered = self._answered
        if time.monotonic() - looked_at > HEALTH_SECONDS:
            try:
                with self.write() as connection:
                    connection.execute(sa.delete(settings).where(settings.c.key == "health"))
                    connection.execute(sa.insert(settings).values(key="health", value=str(time.time())))
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
        if self.is_sqlite and not Path(str(self.url.database)).exists():
            raise RelstudyError(
                f"{folder}: nothing has been rated here yet; `relstudy serve {folder}` makes the database"
            )
        try:
            if not sa.inspect(self.engine).has_table("ratings"):
                raise RelstudyError(
                    f"the database {self.shown} holds no study yet; `relstudy serve {folder}` makes one"
                )
        except sa.exc.DBAPIError as error:
            raise RelstudyError(f"the database {self.shown} cannot be opened: {error.orig}") from None

    def leave_wal(self) -> None:
        """Empty SQLite's write-ahead log into the file, so that the file alone is the database."""
        with self.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=DELETE")

    @property
    def shown(self) -> str:
        """The address, without a password."""
        return self.url.render_as_string(hide_password=True)

    def dispose(self) -> None:
        """Close every connection."""
        self.engine.dispose()


_AWAY = (
    *("connection refused", "connection failed", "could not connect", "server closed the connection"),
    *("connection is closed", "connection is lost", "connection timeout expired", "terminating connection"),
    *("starting up", "shutting down"),
)

# What `read`, `read_one` and `write` raise when the database does not do what it is asked.
DATABASE_ERRORS = (sa.exc.DBAPIError, sa.exc.TimeoutError)


def classify_error(error: Exception) -> str:
    """What kept the database from working (one of DATABASE_ERRORS): "full", "busy" or "broken"."""
    if not isinstance(error, sa.exc.DBAPIError):
        return "busy"  # no connection became free in time
    text = str(error.orig).lower()
    code = getattr(error.orig, "sqlstate", None) or ""
    if "disk is full" in text or "no space left" in text or "disk i/o error" in text or code.startswith("53"):
        return "full"
    if code[:2] == "08" or code[:4] == "57P0" or any(words in text for words in _AWAY):
        return "busy"  # it is being started again, or cannot be reached; soon it may be
    if "locked" in text or "busy" in text or code in {"55P03", "40001", "40P01", "57014"}:
        return "busy"
    return "broken"


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `read` and `write` say so, not where sqlite3 guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")  # what `forget` removes is overwritten
    cursor.close()


def _with_driver(url: str) -> str:
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url[len(prefix) :]
    return url
