"""A server that starts again with the same files: nothing is made again, and any other file is seen."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment import redrawn_study, synchronisation
from relstudy.studyapp.assignment.draw_state import clear_draw
from relstudy.studyapp.assignment.enrolment import lock_rater
from relstudy.studyapp.assignment.exclusion import give_back
from relstudy.studyapp.assignment.redrawn_study import keep_earlier_draw
from relstudy.studyapp.assignment.synchronisation import change_study
from relstudy.studyapp.assignment.versions import forget_taken_over
from relstudy.studyapp.database.backup import copy_database
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters
from tests.studyapp.browse import joined
from tests.studyapp.studies import Made


@pytest.mark.slow
def test_the_same_files_are_not_gone_through_again_and_others_are(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, looks = make_local(), []
    change_study(made.folder, made.store)
    change = synchronisation._change
    monkeypatch.setattr(synchronisation, "_change", lambda *given: looks.append(1) or change(*given))
    change_study(made.folder, made.store)
    assert not looks, "made from these files when it was first served"
    pairs = made.folder / "pairs.csv"
    whole = pairs.read_text(encoding="utf-8")
    pairs.write_text("\n".join(whole.splitlines()[:-1]) + "\n", encoding="utf-8")
    assert len(change_study(made.folder, made.store)[1].removed) == 1 and len(looks) == 1
    study = made.folder / "study.toml"
    study.write_text(study.read_text(encoding="utf-8").replace('title = "', 'title = "Another '), encoding="utf-8")
    assert change_study(made.folder, made.store)[1].settings == ("title",)
    pairs.write_text(whole, encoding="utf-8")
    assert change_study(made.folder, made.store)[1].added and len(looks) == 3
    change_study(made.folder, made.store)
    assert len(looks) == 3
    with made.store.write() as connection:
        forget_taken_over(connection)
    assert not change_study(made.folder, made.store)[1].any and len(looks) == 4


def test_a_study_that_was_rated_and_is_drawn_into_the_same_pairs_has_its_pages_again(
    make_local: Callable[..., Made],
) -> None:
    made = make_local()
    change_study(made.folder, made.store)
    joined(made.app).rate()
    drawn = shutil.copy(made.folder / "pairs.csv", made.folder / "drawn.csv")
    keep_earlier_draw(made.folder, drawn)
    drawn.rename(made.folder / "pairs.csv")
    change_study(made.folder, made.store)
    assert joined(made.app).rate_all() == 2 + 2


def test_no_answer_is_saved_between_the_copy_of_a_draw_and_its_end(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be in neither, and whoever gave it was told that it is saved."""
    made = make_local()
    rater = joined(made.app)
    rater.rate()
    rater.get("/rate")
    late = threading.Thread(target=rater.post, args=(rater.address, rater.filled("3")))
    saved = []

    def copied(store: Store, target: Path) -> int:
        count = copy_database(store, target)
        late.start()
        late.join(1)
        saved.append((count, made.rows()))
        return count

    monkeypatch.setattr(redrawn_study, "copy_database", copied)
    keep_earlier_draw(made.folder, made.folder / "pairs.csv")
    late.join()
    assert saved == [(4, 4)] and made.rows() == 0


def test_a_draw_is_kept_whole_before_any_of_it_goes(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a command that was stopped right after clearing, the ratings stayed without the probabilities of their pairs:
    the next draw was written over these."""
    made = make_local()
    joined(made.app).rate()
    (made.folder / "rounds").mkdir()
    (made.folder / "rounds" / "sizes.csv").write_text("query_id\n", encoding="utf-8")
    names, clear, seen = ("study.db", "pairs.csv", "rounds/sizes.csv"), redrawn_study.clear_draw, []

    def cleared(connection: sa.Connection) -> None:
        seen.extend((folder / name).exists() for folder in (made.folder, made.folder / "earlier-1") for name in names)
        clear(connection)

    monkeypatch.setattr(redrawn_study, "clear_draw", cleared)
    kept = keep_earlier_draw(made.folder, made.folder / "pairs.csv")
    assert seen == [True] * 6
    assert [(made.folder / name).exists() for name in names] == [True, False, False]
    assert all((kept / name).exists() for name in names)


def test_of_a_draw_that_could_not_be_kept_nothing_is_gone_and_nothing_is_left_behind(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    joined(made.app).rate()
    before, pairs = made.rows(), (made.folder / "pairs.csv").read_bytes()

    def full(store: Store, target: Path) -> int:
        raise RelstudyError("no room")

    monkeypatch.setattr(redrawn_study, "copy_database", full)
    with pytest.raises(RelstudyError, match="no room"):
        keep_earlier_draw(made.folder, made.folder / "pairs.csv")
    assert made.rows() == before and (made.folder / "pairs.csv").read_bytes() == pairs
    assert not list(made.folder.glob("earlier-*"))


def test_a_draw_is_cleared_while_a_rater_is_set_aside(make_study: Callable[..., Made]) -> None:
    """PostgreSQL: one of the two was refused, as each held what the other waited for."""
    made = make_study()
    joined(made.app).rate()

    def clear() -> None:
        with made.store.write() as connection:
            clear_draw(connection)

    clearing = threading.Thread(target=clear)
    with made.store.write() as connection:
        number = connection.execute(sa.select(raters.c.id)).scalar_one()
        lock_rater(connection, number)
        clearing.start()
        clearing.join(0.5)
        give_back(connection, number)
    clearing.join()
    assert made.rows() == 0


def test_more_pairs_may_leave_at_once_than_a_statement_takes_values(make_local: Callable[..., Made]) -> None:
    made = make_local(unique_queries=20)
    joined(made.app).rate_all()
    pairs = made.folder / "pairs.csv"
    lines = pairs.read_text(encoding="utf-8").splitlines(keepends=True)
    pairs.write_text("".join(lines[:9]), encoding="utf-8")
    with made.store.read() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 50)  # as many as PostgreSQL takes are 65,535
    changes = change_study(made.folder, made.store)[1]
    assert (len(changes.removed), changes.removed_ratings) == (80, 8)
