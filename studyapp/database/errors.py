"""What keeps a database from doing what it is asked."""

from __future__ import annotations

import sqlalchemy as sa

_AWAY = (
    *("connection refused", "connection failed", "could not connect", "server closed the connection"),
    *("connection is closed", "connection is lost", "connection timeout expired", "terminating connection"),
    *("starting up", "shutting down", "too many open files"),
)

# What `read`, `read_one` and `write` raise when the database does not do what it is asked.
DATABASE_ERRORS = (sa.exc.DBAPIError, sa.exc.TimeoutError)


def classify_error(error: Exception) -> str:
    """What kept the database from working (one of DATABASE_ERRORS): "full", "busy" or "broken"."""
    if not isinstance(error, sa.exc.DBAPIError):
        return "busy"  # no connection became free in time
    text = str(error.orig).lower()
    code = getattr(error.orig, "sqlstate", None) or ""
    if is_full(text) or code.startswith("53"):
        return "full"
    if code[:2] == "08" or code[:4] == "57P0" or any(words in text for words in _AWAY):
        return "busy"  # it is being started again, or cannot be reached; soon it may be
    if "locked" in text or "busy" in text or code in {"55P03", "40001", "40P01", "57014"}:
        return "busy"
    return "broken"


def is_full(text: str) -> bool:
    """Whether a database's message says that the disk has no room."""
    return any(words in text.lower() for words in ("disk is full", "no space left", "disk i/o error"))
