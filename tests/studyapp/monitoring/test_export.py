"""The export in parts: some rows in memory at a time, and the same files."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from relstudy.common.tables.formats.table_files import write_parts, write_table
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments, raters, ratings
from relstudy.studyapp.monitoring.export import IN_PARTS, people_table, ratings_in_parts, ratings_table
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import TOML, Made


def rated(make: Callable[..., Made], pairs: int = 12) -> Made:
    """A study that two raters have rated whole."""
    made = make(toml(k=2, page=4), base_queries=0, unique_queries=pairs // 4)
    desk = Desk(made)
    for name in ("one", "two"):
        desk.work_through(desk.newcomer(name))
    return made


def copy_raters(made: Made, times: int) -> None:
    """Let others have answered what the two raters have, so many times."""
    with made.store.write() as connection:
        most = {
            table: connection.execute(sa.select(sa.func.max(table.c.id))).scalar_one()
            for table in (raters, assignments, ratings)
        }
        for number in range(1, times):
            new: dict[sa.Table, dict[str, Any]] = {
                raters: {name: raters.c[name] + f"-{most[raters]}-{number}" for name in ("rater_id", "identity")},
                assignments: {"rater": assignments.c.rater + number * most[raters], "slot_id": sa.null()},
                ratings: {"assignment_id": ratings.c.assignment_id + number * most[assignments]},
            }
            for table, changed in new.items():
                changed["id"] = table.c.id + number * most[table]
                rows = sa.select(*(changed.get(column.name, column) for column in table.c))
                names = [column.name for column in table.c]
                connection.execute(sa.insert(table).from_select(names, rows.where(table.c.id <= most[table])))


def test_a_study_that_nobody_has_come_to_has_a_table_of_people_with_its_columns(
    make_local: Callable[..., Made], tmp_path: Path
) -> None:
    made = make_local(TOML + '[[questions]]\nid = "age"\ntext = "Age?"\n')
    write_table(people_table(made.store, Study.load(made.folder)), tmp_path / "people.csv")
    header = (tmp_path / "people.csv").read_text().strip()
    assert header.startswith("rater_id,entry,platform_id,invited_or_joined_at") and header.endswith("question_age")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_the_same_however_many_rows_are_in_memory(
    make_study: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    made = rated(make_study)
    study, whole, parted = Study.load(made.folder), tmp_path / f"whole.{ending}", tmp_path / f"parted.{ending}"
    table, people = ratings_table(made.store, study), people_table(made.store, study)
    write_table(table, whole)
    monkeypatch.setitem(IN_PARTS, "yield_per", 5)
    with ratings_in_parts(made.store, study) as (parts, response):
        write_parts(parts, parted)
    with ratings_in_parts(made.store, study) as (parts, response):
        assert [len(part) for part in parts] == [5, 5, 5, 5, 4]
    assert response is not None and not response.missing
    assert parted.read_bytes() == whole.read_bytes()
    if ending == "parquet":
        table.to_parquet(whole, index=False)
        assert parted.read_bytes() == whole.read_bytes()
    else:
        assert whole.read_text() == table.to_csv(index=False, lineterminator="\n")
    pd.testing.assert_frame_equal(people, people_table(made.store, study))


@pytest.mark.slow
def test_the_memory_of_an_export_does_not_grow_with_the_rows(
    make_study: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rated(make_study)
    study = Study.load(made.folder)
    monkeypatch.setitem(IN_PARTS, "yield_per", 100)
    cursors = set()

    @sa.event.listens_for(made.store.engine, "before_cursor_execute")
    def _note(_connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("SELECT") and "FROM ratings JOIN" in statement:
            cursors.add(type(cursor).__name__)

    peaks, rows = [], []
    for times in (10, 25):
        copy_raters(made, times)
        tracemalloc.start()
        with ratings_in_parts(made.store, study) as (parts, _):
            write_parts(parts, tmp_path / "ratings.csv")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        rows.append((tmp_path / "ratings.csv").read_bytes().count(b"\n") - 1)
    # the same hundred rows, whichever are at hand; a half is for caches of the database's and pandas' own
    assert rows == [240, 6_000] and peaks[1] < 1.5 * peaks[0]
    people_table(made.store, study)
    if not made.store.is_sqlite:  # what the driver holds is in nobody's count
        assert cursors == {"ServerCursor"}
        with made.store.read() as connection:  # else planned for its first tenth, by loops that never end
            assert connection.exec_driver_sql("SHOW cursor_tuple_fraction").scalar() == "1"


@pytest.mark.parametrize("way", ["left", "error", "closed"])
def test_an_export_that_is_broken_off_reads_no_longer(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    made = rated(make_study)
    study = Study.load(made.folder)
    monkeypatch.setitem(IN_PARTS, "yield_per", 5)
    kept = []  # as a traceback keeps it
    with contextlib.suppress(KeyError), ratings_in_parts(made.store, study) as (parts, _):
        kept.append(parts)
        assert len(next(parts)) == 5
        if way == "error":
            raise KeyError
        if way == "closed":
            parts.close()  # type: ignore[attr-defined]
    copy_raters(made, 2)
    assert len(ratings_table(made.store, study)) == 48, "on the same connection"
    if made.store.is_sqlite:
        assert made.store.engine.pool.checkedin() == 1  # type: ignore[attr-defined]
        assert made.store.empty_wal(), "nobody reads what is in the write-ahead log"
    del kept
