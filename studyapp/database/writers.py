"""Writers to SQLite wait for their turn here, before SQLite would let them.

SQLite's own busy wait polls with growing sleeps, so that under load some writers starve. This queue only orders:
SQLite's lock still decides.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import IO

import sqlalchemy as sa

from relstudy.common.errors import RelstudyError

try:
    import fcntl
except ImportError:  # Windows: SQLite's own locking and busy timeout must do
    fcntl = None  # type: ignore[assignment]


class WritersTurn:
    """One writer at a time, among the threads of a process and among processes.

    Parameters
    ----------
    database : path of the SQLite file; the lock is a file beside it
    seconds : how long a writer waits before it is refused
    """

    def __init__(self, database: str, seconds: float) -> None:
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
