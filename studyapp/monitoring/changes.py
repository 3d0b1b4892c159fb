"""Changes of a study's ratings, as programs follow them: event by event, from a cursor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.database.feed import after, cursor_of
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, events, pairs, raters, ratings

MOST = 5000  # events in one answer
START = "start"  # the cursor before everything
_NAMED = raters.alias("named")

_EVENTS = (
    sa.select(
        *(
            events.c.xid,
            events.c.id,
            events.c.kind,
            sa.func.coalesce(raters.c.rater_id, events.c.rater_id).label("who"),
        ),
        *(ratings.c.pair_id, pairs.c.query_id, pairs.c.result_id, ratings.c.rating, ratings.c.seconds),
        ratings.c.further,
        *(ratings.c.revision, ratings.c.rated_at, ratings.c.version, assignments.c.surplus),
        *(assignments.c.block, assignments.c.kind.label("page_kind"), pairs.c.block.label("pair_block")),
        _NAMED.c.finished_at,
    )
    .outerjoin(ratings, ratings.c.id == events.c.rating_id)
    .outerjoin(assignments, assignments.c.id == ratings.c.assignment_id)
    .outerjoin(raters, raters.c.id == assignments.c.rater)
    .outerjoin(pairs, pairs.c.pair_id == ratings.c.pair_id)
    .outerjoin(_NAMED, _NAMED.c.rater_id == events.c.rater_id)
)


@dataclass(frozen=True)
class Changes:
    """Events after a cursor, and the cursor after them; `more` where there were too many for one answer."""

    events: list[dict[str, Any]]
    cursor: str
    more: bool


def changes_after(store: Store, text: str, most: int | None = None) -> Changes:
    """The events after a cursor (START: all), in an order in which none can come later before another.

    An event has `event` (one of EVENTS), `cursor` and, but for an answer, `rater_id`, or `rater_sha256` of who was
    forgotten; rated and changed also say the rating that was given then, and finished says when.

    Parameters
    ----------
    text : the cursor
    most : events in the answer; default: MOST

    Raises
    ------
    NoCursorError
        where the text is not a cursor of this study's feed
    """
    most = MOST if most is None else most
    with store.read() as connection:
        cursor = cursor_of(connection, text)
        rows = connection.execute(after(connection, _EVENTS, cursor).limit(most)).all()
    given = [_event(row, f"{cursor.feed}-{row.xid}-{row.id}") for row in rows]
    return Changes(given, given[-1]["cursor"] if given else str(cursor), len(given) == most)


def _event(row: sa.Row[Any], cursor: str) -> dict[str, Any]:
    event = {"event": row.kind, "cursor": cursor}
    if row.kind == "answer":
        return event
    event["rater_sha256" if row.kind == "forgotten" else "rater_id"] = row.who
    if row.kind == "finished" and row.finished_at is not None:
        event["finished_at"] = datetime.fromtimestamp(row.finished_at, UTC).isoformat(timespec="seconds")
    if row.pair_id is None:
        return event
    return {
        **event,
        **{name: getattr(row, name) for name in ("pair_id", "query_id", "result_id", "rating", "seconds", "revision")},
        "block": row.pair_block if row.page_kind == "pair" else row.page_kind,
        "rated_at": datetime.fromtimestamp(row.rated_at, UTC).isoformat(timespec="milliseconds"),
        "study_block": row.block,
        "surplus": int(bool(row.surplus)),
        "version": row.version,
        **({"further": row.further} if row.further else {}),
    }
