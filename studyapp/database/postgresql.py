"""Connections to PostgreSQL: what they ask of the server, and how long they wait for one that is silent.

A server that hangs takes connections and statements and answers nothing; its own limits on statements and locks hang
with it. So whoever waits looks at the clock, asks after SILENCE whether the server answers anybody, and gives up where
it does not. A statement that takes long on a server that answers is waited for.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

SILENCE = 3.0  # seconds without a byte, after which the server is asked
REPLY = 2  # seconds that it has for that; libpq takes no less
REMEMBERED = 1.0  # seconds in which nobody asks a silent server again
STATEMENT = 60.0  # seconds that the server gives a statement
RESTED = 1.0  # seconds after which a connection is asked before it is used
HOPELESS = STATEMENT + 15.0
"""Seconds after which a connection is given up though the server answers others: its own process there hangs."""

GONE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
"""After these seconds of silence the other side is asked whether it is there, every so many, so many times."""
UNANSWERED = 10_000  # milliseconds after which what was sent and not taken ends a connection


def connection_arguments(url: sa.URL, busy_seconds: float) -> dict[str, str | int]:
    """Arguments of the driver besides the address, whose own parameters have the last word.

    A rating is on disk once it is acknowledged, and a peer that is gone is noticed in seconds on both sides, instead of
    holding a thread here or locks there for hours.

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
        "statement_timeout": int(1000 * STATEMENT),
        "synchronous_commit": "on",
        "cursor_tuple_fraction": 1,  # what is read in parts is read whole, so it is planned for its end
        **{f"tcp_{name}": value for name, value in GONE.items()},
        "tcp_user_timeout": UNANSWERED,
    }
    stated = url.query.get("options", ())
    options = [f"-c {name}={value}" for name, value in server.items()] + (
        [stated] if isinstance(stated, str) else [*stated]
    )
    return {name: value for name, value in libpq.items() if name not in url.query} | {"options": " ".join(options)}


def postgresql_engine(url: sa.URL, busy_seconds: float, **options: Any) -> sa.Engine:
    """An engine whose connections do not wait for a server that hangs.

    Parameters
    ----------
    url : the database's address
    busy_seconds : how long another's lock is waited for
    options : of `sqlalchemy.create_engine`
    """
    engine = sa.create_engine(url, connect_args=connection_arguments(url, busy_seconds), **options)
    _ask_after_rest(engine)
    server = _Server(HOPELESS if "statement_timeout" not in str(url.query.get("options", "")) else float("inf"))

    @sa.event.listens_for(engine, "do_connect")
    def _connect(_dialect: object, _record: object, arguments: Any, parameters: Any) -> Any:
        server.require_present()
        connection = _watched_connection().connect(*arguments, **parameters)
        connection.server, connection.how = server, functools.partial(_knock, arguments, parameters)
        return connection

    return engine


def _ask_after_rest(engine: sa.Engine) -> None:
    """Before a connection is used that nobody has used for RESTED seconds, ask whether it still leads to a server.

    One that was used just now is not asked, which saves a page one of about ten ways to the server; should the server
    have gone in that moment, the request fails as one does in whose middle it goes.
    """

    @sa.event.listens_for(engine, "checkin")
    def _note(_connection: Any, record: Any) -> None:
        record.info["used"] = time.monotonic()

    @sa.event.listens_for(engine, "checkout")
    def _ask(connection: Any, record: Any, _proxy: object) -> None:
        used = record.info.get("used")
        if used is None or time.monotonic() - used < RESTED:  # None: it was made just now
            return
        record.info.pop("used")
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise sa.exc.InvalidatePoolError from error


def _knock(arguments: Any, parameters: Any) -> bool:
    """True where the server answers a newcomer; a refusal is an answer too."""
    import psycopg

    try:
        psycopg.connect(*arguments, **{**parameters, "connect_timeout": REPLY}).close()
    except psycopg.errors.ConnectionTimeout:
        return False
    except psycopg.OperationalError:
        return True
    return True


@dataclass
class _Server:
    """The state of a server, as the connections of an engine have seen it."""

    hopeless: float
    silent_until: float = 0.0

    def require_present(self) -> None:
        """Raise psycopg's OperationalError where it was silent just now."""
        if time.monotonic() < self.silent_until:
            raise _silent()

    def is_there(self, knock: Callable[[], bool]) -> bool:
        """True where it answers somebody."""
        if time.monotonic() < self.silent_until:
            return False
        if knock():
            return True
        self.silent_until = time.monotonic() + REMEMBERED
        return False


def _silent() -> Exception:
    import psycopg

    return psycopg.OperationalError("the server does not answer (connection timeout expired)")


@functools.cache
def _watched_connection() -> Any:
    """psycopg's connection (imported only where PostgreSQL is used) that gives up a silent server."""
    import psycopg

    class Watched(psycopg.Connection[Any]):
        server: _Server | None = None
        how: Callable[[], bool]

        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            return super().wait(self._watch(gen) if self.server else gen, *arguments, **options)

        def _watch(self, gen: Any) -> Generator[Any, Any, Any]:
            """The same steps, which psycopg takes as the socket is ready or, every tenth of a second, is not."""
            assert self.server is not None
            began = asked = 0.0
            try:
                step = next(gen)
                while True:
                    ready = yield step
                    if ready:
                        began = 0.0
                    elif not began:
                        began = asked = time.monotonic()
                    elif time.monotonic() - asked > SILENCE:
                        if time.monotonic() - began > self.server.hopeless or not self.server.is_there(self.how):
                            self.close()
                            raise _silent()
                        asked = time.monotonic()
                    step = gen.send(ready)
            except StopIteration as end:
                return end.value

    return Watched
