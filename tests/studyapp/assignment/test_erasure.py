"""Who is forgotten is gone from the database's files, or it is said where they can still be read; a backup does not
bring them back."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.versions import write_state
from relstudy.studyapp.database.secure_delete import finish_deletions, unfinished_deletions
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters, ratings
from relstudy.studyapp.database.tombstones import FILE, hash_of
from relstudy.studyapp.monitoring.traces import left_of_the_forgotten, traces_of
from relstudy.studyapp.web import starting
from relstudy.studyapp.web.starting import keep_deleting, note_address, take_over
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Browser, joined
from tests.studyapp.serving import Server
from tests.studyapp.studies import Made
from tests.studyapp.web.rater.test_ending import QUESTIONS
from tests.studyapp.web.rater.test_entry import with_entry

PEOPLE = with_entry('rules = ["crowd"]\nid_parameter = "who"\nkeep_parameters = ["batch"]\n') + QUESTIONS
PATIENCE = 60.0
"""Seconds that a database held by others is waited for. Who goes waits for no reader, on a busy machine neither."""
VALUES = (b"Jane-Doe-5f3a", b"secret-batch", b"I am Jane")


def jane(made: Made) -> Browser:
    browser = joined(made.app, "/join?who=Jane-Doe-5f3a&batch=secret-batch")
    browser.rate_all()
    browser.send(browser.page.form(), **{"question-eyes": "full", "question-say": "I am Jane"})
    return browser


def code(made: Made) -> str:
    with made.store.read() as connection:
        return str(connection.execute(sa.select(raters.c.rater_id).order_by(raters.c.id)).scalars().first())


def readable(folder: Path) -> list[str]:
    """The files of the folder that hold anything that Jane said or came with."""
    return [path.name for path in folder.iterdir() if path.is_file() and any(v in path.read_bytes() for v in VALUES)]


def in_postgresql(made: Made) -> list[str]:
    """Tables and indexes of which a page holds anything that Jane said or came with, and statistics that do."""
    with made.store.engine.connect() as connection:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pageinspect")
        connection.commit()
        pages = connection.exec_driver_sql(
            "SELECT relname, get_raw_page(relname, n) FROM (SELECT relname, generate_series(0, "
            "pg_relation_size(oid)::int / 8192 - 1) AS n FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = "
            "'public'::regnamespace) AS blocks"
        )
        found = {name for name, page in pages if any(value in bytes(page) for value in VALUES)}
        statistics = str(connection.exec_driver_sql("SELECT tablename, histogram_bounds FROM pg_stats").all())
        connection.rollback()
    return sorted(found | ({"statistics"} if VALUES[0].decode() in statistics else set()))


def left_in_the_database(made: Made) -> list[str]:
    return readable(made.folder) if made.store.is_sqlite else in_postgresql(made)


@contextlib.contextmanager
def reader(made: Made) -> Iterator[None]:
    """A program that reads the database for long, as an export or a database browser does."""
    store = Store(made.store.url.render_as_string(hide_password=False))
    with store.read() as connection:
        connection.execute(sa.select(sa.func.count()).select_from(raters)).scalar_one()
        yield
    store.dispose()


def go(made: Made, browser: Browser, way: str) -> str:
    """Jane is forgotten, or withdraws; what is said of it."""
    if way == "withdraw":
        browser.get("/withdraw")
        began = time.monotonic()
        browser.send(browser.page.form(), sure="yes")
        assert (browser.status, browser.address) == (200, "/ended") and time.monotonic() - began < PATIENCE / 2
        unfinished = unfinished_deletions(made.store)
        assert ("can read it until they end" in browser.page.text) == bool(unfinished), "the rater is told, too"
        return unfinished
    done = succeeds("forget", made.folder, "--all-people" if way == "all" else code(made), "--yes")
    return done.output


@pytest.mark.slow
@pytest.mark.parametrize("way", ["forget", "all", "withdraw"])
def test_who_goes_while_the_database_is_read_is_said_to_be_readable_and_is_gone_after_the_next_start(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    toml = PEOPLE.replace('id = "test"', 'id = "test"\nwithdrawal = "delete"')
    made = make_study(toml, busy_seconds=PATIENCE)
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    browser = jane(made)
    joined(made.app, "/join?who=another&batch=b")
    if not made.store.is_sqlite:
        with made.store.engine.connect() as connection:
            connection.exec_driver_sql("ANALYZE")
            connection.commit()
    with made.store.write() as connection:
        write_state(connection, "closed")
    with reader(made):
        assert "still readable in" in go(made, browser, way)
        assert left_in_the_database(made), "the test sees what is readable"
        made.store.dispose()  # the server ends meanwhile
        looked = relstudy("doctor", made.folder)
        assert looked.exit_code == 1 and "still readable in" in looked.output
        note_address(made.folder, take_over(made.folder), "http://127.0.0.1:8000")
        assert unfinished_deletions(made.store), "a start does not say it is done while it is not"
    assert left_in_the_database(made), "and so does the reader"
    note_address(made.folder, take_over(made.folder), "http://127.0.0.1:8000")
    assert unfinished_deletions(made.store) == "" and left_in_the_database(made) == []
    assert "erased raters: no traces left" in relstudy("doctor", made.folder).output


@pytest.mark.slow
def test_forgetting_somebody_again_finishes_what_a_reader_had_kept(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_study(PEOPLE)
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    jane(made)
    command = ["forget", str(made.folder), code(made), "--yes"]
    with reader(made):
        assert "still readable" in relstudy(*command).output
    again = relstudy(*command)
    assert again.exit_code == 0 and "nothing of it is left" in again.output
    assert left_in_the_database(made) == []


@pytest.mark.slow
def test_a_server_goes_on_deleting_and_searches_the_folder_without_being_asked(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "DELETE_AGAIN", 0.02)
    made = make_study(PEOPLE)
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    jane(made)
    (made.folder / "bonuses.csv").write_text("Jane-Doe-5f3a,1.50\n", encoding="utf-8")
    with reader(made):
        gone = forget(made.store, made.folder, code(made))
        ended = keep_deleting(made.folder, [gone.ids])
        time.sleep(0.3)
        assert unfinished_deletions(made.store)
    deadline = time.monotonic() + 30
    while unfinished_deletions(made.store) and time.monotonic() < deadline:
        time.sleep(0.02)
    left = left_of_the_forgotten(made.folder, made.store)
    assert left.looked and [trace.kind for trace in left.traces] == ["id"], "once a platform's id is known no more"
    (made.folder / "bonuses.csv").write_text("", encoding="utf-8")
    deadline = time.monotonic() + 30
    while left_of_the_forgotten(made.folder, made.store).traces and time.monotonic() < deadline:
        time.sleep(0.02)
    ended.set()
    assert left_of_the_forgotten(made.folder, made.store).traces == [] and left_in_the_database(made) == []


@pytest.mark.parametrize("database", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_dead_rows_of_postgresql_are_removed_or_said_to_be_readable(make_study: Callable[..., Made]) -> None:
    made = make_study(PEOPLE)
    jane(made)
    joined(made.app, "/join?who=another&batch=b")
    with made.store.engine.connect() as connection:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pageinspect")
        connection.commit()
    dead = sa.text("SELECT count(t_data) FROM heap_page_items(get_raw_page('raters', 0))")
    with made.store.read() as snapshot:
        snapshot.execute(sa.select(raters.c.id)).all()
        forget(made.store, made.folder, code(made))
        assert "dead rows" in unfinished_deletions(made.store)
        assert snapshot.execute(dead).scalar_one() > 1, "the test sees dead rows"
    assert finish_deletions(made.store) == "" and unfinished_deletions(made.store) == ""
    with made.store.read() as connection:
        assert connection.execute(dead).scalar_one() == 1, "the row of the other rater"


@pytest.mark.slow
def test_a_backup_does_not_bring_back_who_was_forgotten_or_has_withdrawn_since(
    make_study: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_study(PEOPLE.replace('id = "test"', 'id = "test"\nwithdrawal = "keep"'))
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    jane(made)
    rater = code(made)
    leaves = joined(made.app, "/join?who=another&batch=b")
    leaves.rate()
    succeeds("backup", made.folder, "-o", tmp_path / "safe.db")
    leaves.get("/withdraw")
    leaves.send(leaves.page.form(), sure="yes")
    succeeds("forget", made.folder, rater, "--yes")
    assert rater not in (made.folder / FILE).read_text()
    made.store.dispose()
    done = succeeds("restore", made.folder, tmp_path / "safe.db", "--yes", "--json")
    told = json.loads(done.stdout)
    assert told["again"]["forgotten"] == [rater] and len(told["again"]["withdrew"]) == 1
    assert told["ratings"] == 4, "the ratings that are there, and not those of the backup"
    store = Store.of_study(made.folder)
    with store.read() as connection:
        rows = connection.execute(sa.select(raters.c.identity, raters.c.outcome)).all()
    assert [tuple(row) for row in rows] == [("another", "withdrew")]
    store.dispose()


@pytest.mark.server
@pytest.mark.slow
def test_relstudy_serve_goes_on_deleting_in_its_workers(make_local: Callable[..., Made]) -> None:
    """As the study is served, the command says what is left, and nobody has to do anything for it to go."""
    made = make_local(PEOPLE)
    jane(made)
    with reader(made):
        server = Server(made.folder)
        assert "still readable" in relstudy("forget", made.folder, code(made), "--yes").output
    until = time.monotonic() + 60 + starting.DELETE_AGAIN
    while unfinished_deletions(made.store) and time.monotonic() < until:
        time.sleep(0.1)
    server.stop()
    assert unfinished_deletions(made.store) == "" and readable(made.folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["serve", "host"])
def test_a_server_that_stops_finishes_what_a_reader_had_kept(make_local: Callable[..., Made], command: str) -> None:
    """Between two attempts of the server the log kept the deleted until the next start."""
    made = make_local(PEOPLE)
    jane(made)
    with reader(made):
        server = Server(made.folder, command=command)
        assert "still readable" in relstudy("forget", made.folder, code(made), "--yes").output
    server.stop()
    assert unfinished_deletions(made.store) == "" and readable(made.folder) == []


@pytest.mark.slow
def test_a_server_that_stops_says_what_a_reader_still_keeps(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    jane(made)
    with reader(made):
        server = Server(made.folder)
        relstudy("forget", made.folder, code(made), "--yes")
        server.stop()
    assert "is still readable in" in (made.folder / "serve.err").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("keeps_file", [True, False])
def test_a_backup_does_not_bring_back_who_anybody_is_after_all_people_were_forgotten(
    make_study: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps_file: bool
) -> None:
    """The folder's file says whom it concerns, and where it is lost, the database that the backup replaces."""
    made = make_study(PEOPLE)
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    jane(made)
    joined(made.app, "/join?who=another&batch=b").rate()
    succeeds("backup", made.folder, "-o", tmp_path / "safe.db")
    with made.store.write() as connection:
        write_state(connection, "closed")
    succeeds("forget", made.folder, "--all-people", "--yes")
    file = made.folder / FILE
    assert file.read_text(encoding="ascii").count("unnamed ") == 2
    if not keeps_file:
        file.unlink()
    made.store.dispose()
    done = relstudy("restore", made.folder, tmp_path / "safe.db", "--yes")
    assert done.exit_code == 0 and "were made nameless since that backup, and are so again: R" in done.output
    with made.store.read() as connection:
        rows = connection.execute(sa.select(raters.c.entry, raters.c.parameters, raters.c.answers)).all()
        assert {tuple(map(str, row)) for row in rows} == {("forgotten", "{}", "None")}
        assert connection.execute(sa.select(sa.func.count()).select_from(ratings)).scalar_one() == 20
    assert left_in_the_database(made) == []
    assert file.read_text(encoding="ascii").count("unnamed ") == 2, "so that no later backup brings them back either"
    made.store.dispose()
    again = relstudy("restore", made.folder, tmp_path / "safe.db", "--yes", "--json")
    assert len(json.loads(again.stdout)["again"]["unnamed"]) == 2 and left_in_the_database(made) == []


def test_who_goes_is_gone_although_the_list_of_the_forgotten_cannot_be_written(
    make_local: Callable[..., Made], caplog: pytest.LogCaptureFixture
) -> None:
    made = make_local(PEOPLE.replace('id = "test"', 'id = "test"\nwithdrawal = "delete"'))
    browser = joined(made.app, "/join?who=Jane-Doe-5f3a&batch=secret-batch")
    (made.folder / FILE).mkdir()
    with caplog.at_level("WARNING", "relstudy"):
        logging.getLogger("relstudy").addHandler(caplog.handler)
        go(made, browser, "withdraw")
        logging.getLogger("relstudy").removeHandler(caplog.handler)
    assert "forgotten.txt cannot be written" in caplog.text and "a backup brings back" in caplog.text
    with made.store.read() as connection:
        assert connection.execute(sa.select(raters)).all() == []


def test_a_line_of_the_forgotten_that_nobody_wrote_stops_a_restore(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    (made.folder / FILE).write_text(f"forgotten {hash_of('R1')} 2026-01-01\nbroken\n", encoding="ascii")
    with pytest.raises(RelstudyError, match="line 2: 'broken' is not allowed"):
        traces_of(made.folder, made.store)
