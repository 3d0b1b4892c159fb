"""Failures of the database: which kind they are, and how a database that lets people wait in vain is spared."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import sqlalchemy as sa

_AWAY = (
    *("connection refused", "connection failed", "connection is bad", "could not connect", "failed to resolve host"),
    *("server closed the connection", "connection is closed", "connection is lost", "connection has been closed"),
    *("connection timeout expired", "terminating connection", "starting up", "shutting down", "too many open files"),
)

# What `read`, `read_one` and `write` raise when the database does not do what it is asked.
DATABASE_ERRORS = (sa.exc.DBAPIError, sa.exc.TimeoutError)


def classify_error(error: Exception) -> str:
    """Kind of a database failure (one of DATABASE_ERRORS): "full", "busy" or "broken"."""
    if not isinstance(error, sa.exc.DBAPIError):
        return "busy"  # no connection became free in time
    text = str(error.orig).lower()
    code = getattr(error.orig, "sqlstate", None) or ""
    if is_full(text) or code in {"53100", "58030"}:  # no room, or reading or writing failed
        return "full"
    is_lost = error.connection_invalidated or code[:2] == "08" or code[:4] == "57P0"
    if is_lost or any(words in text for words in _AWAY):
        return "busy"  # it is being started again, or cannot be reached; soon it may be
    if "locked" in text or "busy" in text or code in {"55P03", "40001", "40P01", "57014"}:
        return "busy"
    if code.startswith("53"):  # no connection, or memory, is left
        return "busy"
    return "broken"


def is_full(text: str) -> bool:
    """True if a database's message says that the disk has no room, or fails."""
    return any(words in text.lower() for words in ("disk is full", "no space left", "disk i/o error"))


LASTS = 5.0  # seconds after a wait in vain


class Trouble:
    """State of a database that lets people wait in vain, which lasts until a success or for `LASTS` seconds.

    Meanwhile one request at a time tries the database, and the others fail at once, as when it is busy.

    Parameters
    ----------
    seconds : a failure after so long was a wait in vain
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self._turn = threading.RLock()  # a request may read while it reads

    @contextlib.contextmanager
    def spared(self) -> Iterator[None]:
        """Use the database inside the block.

        Raises
        ------
        sqlalchemy.exc.OperationalError
            where somebody else is trying already
        """
        alone = time.monotonic() < self._until
        if alone and not self._turn.acquire(blocking=False):
            raise sa.exc.OperationalError("BEGIN", {}, Exception("database is busy"))
        began = time.monotonic()
        try:
            yield
            self._until = 0.0
        except DATABASE_ERRORS as error:
            if time.monotonic() - began >= self._seconds and classify_error(error) == "busy":
                self._until = time.monotonic() + LASTS
            raise
        finally:
            if alone:
                self._turn.release()
