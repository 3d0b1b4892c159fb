"""A draw that ends: whether anyone has rated in it, and what the database holds of it."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from relstudy.studyapp.assignment.versions import forget_taken_over
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, events, pages, pairs, raters, ratings, slots


def has_ratings(connection: sa.Connection) -> bool:
    """True if anyone has rated; practice does not count."""
    rated = sa.select(ratings.c.id).join(assignments, assignments.c.id == ratings.c.assignment_id)
    return connection.execute(rated.where(assignments.c.kind != "practice").limit(1)).first() is not None


def study_has_ratings(folder: Path) -> bool:
    """True if anyone has rated in the study of this folder; False where it has no database yet."""
    with Store.of_study(folder) as store:
        if store.is_missing or not sa.inspect(store.engine).has_table("ratings"):
            return False
        with store.read() as connection:
            return has_ratings(connection)


def clear_draw(connection: sa.Connection) -> None:
    """Forget pairs, pages, who was given what, and ratings with their events; raters keep their links and begin
    again."""
    # The raters first, as whoever sets one aside or forgets one: in another order each would wait for the other.
    begun = dict.fromkeys(("started_at", "finished_at", "answers", "answered_at"))
    connection.execute(sa.update(raters).values(**begun, locked_to=0, extra_pages=0, practice_retries=0))
    failed = raters.c.outcome == "failed_practice"
    connection.execute(sa.update(raters).where(failed).values(outcome=None))
    connection.execute(sa.delete(events).where(events.c.rating_id.is_not(None) | (events.c.kind == "finished")))
    for table in (ratings, assignments, slots, pages, pairs):
        connection.execute(sa.delete(table))
    forget_taken_over(connection)  # the new draw may be the same
