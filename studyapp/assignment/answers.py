"""What becomes of an answer: each change is a row of its own, the last one counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.sequence import Assignment
from relstudy.studyapp.assignment.slots import settle
from relstudy.studyapp.database.store import assignments, ratings

# Built once: building a statement costs more than running it.
_REVISIONS = (
    sa.select(ratings).where(ratings.c.assignment_id == sa.bindparam("assignment")).order_by(ratings.c.revision)
)
_INSERT_RATINGS = sa.insert(ratings)
_ANSWERED = (
    sa.update(assignments)
    .where(assignments.c.id == sa.bindparam("assignment"))
    .values(answered_at=sa.bindparam("now"), surplus=sa.bindparam("is_surplus"))
)


class LockedError(Exception):
    """The rater has finished; this page can no longer be changed."""


def submit(
    connection: sa.Connection,
    rater: Any,
    assignment: Assignment,
    answers: Mapping[str, float | None],
    seconds: float,
    form: str,
    now: float,
) -> None:
    """Keep a page's ratings.

    Resubmission of the same form changes nothing. A changed rating becomes a new revision; the last one counts.

    Raises
    ------
    LockedError
        when the rater has finished and an answer differs from the one that counts
    """
    latest: dict[str, Any] = {}
    processed: set[tuple[str, str, float | None]] = set()
    if assignment.answered_at is not None:
        for row in connection.execute(_REVISIONS, {"assignment": assignment.id}):
            latest[row.pair_id] = row
            processed.add((row.pair_id, row.form, row.rating))
    rows = []
    for pair_id, rating in answers.items():
        last = latest.get(pair_id)
        if last is not None:
            if last.rating == rating:
                continue
            if last.form != form and (pair_id, form, rating) in processed:
                continue  # an old form sent again after a later change: it had its say
            if assignment.position <= rater.locked_to:
                raise LockedError
        rows.append(
            {
                "assignment_id": assignment.id,
                "pair_id": pair_id,
                "revision": 1 if last is None else last.revision + 1,
                "rating": rating,
                "seconds": seconds,
                "rated_at": now,
                "form": form,
            }
        )
    if rows:
        connection.execute(_INSERT_RATINGS, rows)
    if assignment.answered_at is None:
        surplus = assignment.slot_id is not None and not settle(connection, assignment)
        connection.execute(_ANSWERED, {"assignment": assignment.id, "now": now, "is_surplus": surplus})
