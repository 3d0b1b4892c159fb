"""A study that is drawn anew: what its database holds of the old draw goes, once it is kept elsewhere or worth
nothing."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import sqlalchemy as sa

from relstudy.studyapp.assignment.versions import forget_taken_over, hold_versions
from relstudy.studyapp.database.backup import copy_database
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, events, pages, pairs, raters, ratings, slots

DRAWN_FILES = (
    *("pairs.csv", "design.json", "pool.csv", "pool.parquet"),
    *("ratings.csv", "ratings.json", "judgments.csv", "judgments-careless.csv", "raters.csv", "calibrated.csv"),
    "comparison.json",
)


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


def keep_earlier_draw(folder: Path) -> Path:
    """Keep the study as it is in FOLDER/earlier-N, then clear its draw; where it is kept."""
    number = 1
    while (kept := folder / f"earlier-{number}").exists():
        number += 1
    kept.mkdir()
    names = [name for name in DRAWN_FILES if (folder / name).is_file()]
    # All of it is in both places before any of it goes: a command that is stopped in between takes nothing along.
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, kept, ignore_errors=True)
        for name in names:
            shutil.copy2(folder / name, kept / name)
        if (folder / "rounds").is_dir():
            shutil.copytree(folder / "rounds", kept / "rounds")
        if study_has_ratings(folder):
            with Store.of_study(folder) as store, store.write() as connection:
                hold_versions(connection)  # an answer that came between the two would be in neither
                copy_database(store, kept / "study.db")
                undo.pop_all()
                clear_draw(connection)
        undo.pop_all()
    for name in names:
        (folder / name).unlink()
    shutil.rmtree(folder / "rounds", ignore_errors=True)
    return kept
