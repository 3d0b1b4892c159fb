"""What a connection to PostgreSQL is made with: a rating is on disk once it is acknowledged, and a peer that is gone is
noticed in seconds on both sides, instead of holding a thread here or locks there for hours."""

from __future__ import annotations

import sqlalchemy as sa

GONE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
"""After these seconds of silence the other side is asked whether it is there, every so many, so many times."""
UNANSWERED = 10_000  # milliseconds after which what was sent and not taken ends a connection


def connection_arguments(url: sa.URL, busy_seconds: float) -> dict[str, str | int]:
    """What the driver is told besides the address, whose own parameters have the last word.

    Parameters
    ----------
    url : the database's address
    busy_seconds : how long another's lock is waited for

    Examples
    --------
    >>> given = connection_arguments(sa.make_url("postgresql://h/n?connect_timeout=30&options=-c%20work_mem=8MB"), 5.0)
    >>> "connect_timeout" in given, given["keepalives_idle"], given["options"].split(" -c ")[-2:]
    (False, 5, ['tcp_user_timeout=10000', 'work_mem=8MB'])
    """
    libpq = {"connect_timeout": 5, **GONE, "tcp_user_timeout": UNANSWERED}
    server = {
        "lock_timeout": int(busy_seconds * 1000),
        "statement_timeout": 60_000,
        "synchronous_commit": "on",
        **{f"tcp_{name}": value for name, value in GONE.items()},
        "tcp_user_timeout": UNANSWERED,
    }
    stated = url.query.get("options", ())
    options = [f"-c {name}={value}" for name, value in server.items()] + (
        [stated] if isinstance(stated, str) else [*stated]
    )
    return {name: value for name, value in libpq.items() if name not in url.query} | {"options": " ".join(options)}
