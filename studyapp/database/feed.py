"""The feed of changes: a cursor that skips no event, however transactions overlap.

On PostgreSQL transactions commit in another order than they number their rows. So events are read in the order of their
transactions, and only those older than every transaction that is still open: nothing can come before them any more.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.database.tables import events, settings

_FEED = sa.select(settings.c.value).where(settings.c.key == "feed")
_CURSOR = re.compile(r"([0-9a-f]{8})-([0-9]{1,18})-([0-9]{1,18})")
_OLDEST_OPEN: sa.ColumnElement[int] = sa.literal_column(
    "CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"
)


class NoCursorError(ValueError):
    """A text is not a cursor of this feed: it is of no feed, or of one that a restored backup has ended."""


@dataclass(frozen=True)
class Cursor:
    """A place in the feed, before which everything was read."""

    feed: str
    xid: int = 0
    id: int = 0

    def __str__(self) -> str:
        return f"{self.feed}-{self.xid}-{self.id}"


def tell(connection: sa.Connection, kind: str) -> None:
    """Add an event that is of no rating and no rater."""
    connection.execute(sa.insert(events).values(kind=kind))


def begin_feed(connection: sa.Connection) -> None:
    """Begin the feed again: cursors of the one before are refused."""
    connection.execute(sa.update(settings).where(settings.c.key == "feed").values(value=secrets.token_hex(4)))


def cursor_of(connection: sa.Connection, text: str) -> Cursor:
    """The cursor that a text says; the feed's beginning where it is "start".

    Raises
    ------
    NoCursorError
        where it is not a cursor of this feed
    """
    feed = connection.execute(_FEED).scalar_one()
    if text == "start":
        return Cursor(feed)
    found = _CURSOR.fullmatch(text)
    if found is None:
        raise NoCursorError(f"after is {text[:40]!r}; a cursor as an answer gave it is needed, or start")
    if found[1] != feed:
        raise NoCursorError("after is of a feed that has ended, since a backup was put back; begin again with start")
    return Cursor(feed, int(found[2]), int(found[3]))


def after(connection: sa.Connection, query: sa.Select[Any], cursor: Cursor) -> sa.Select[Any]:
    """A query of events, limited to those after the cursor that nothing can precede any more, in their order."""
    if connection.dialect.name == "sqlite":
        return query.where(events.c.id > cursor.id).order_by(events.c.id)
    beyond = sa.tuple_(events.c.xid, events.c.id) > sa.tuple_(sa.literal(cursor.xid), sa.literal(cursor.id))
    return query.where(beyond, events.c.xid < _OLDEST_OPEN).order_by(events.c.xid, events.c.id)
