"""Who is forgotten is gone from the database's files, or it is said where they can still be read; a backup does not
bring them back."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.forgetting import forget
from relstudy.studyapp.assignment.versions import write_state
from relstudy.studyapp.cli import main
from relstudy.studyapp.database.erasure import finish_deletions, unfinished_deletions
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.database.tombstones import FILE, hash_of
from relstudy.studyapp.monitoring.traces import traces_of
from relstudy.studyapp.web.starting import note_address, take_over
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import Made
from tests.studyapp.web.rater.test_ending import QUESTIONS
from tests.studyapp.web.rater.test_entry import with_entry

PEOPLE = with_entry('rules = ["crowd"]\nid_parameter = "who"\nkeep_parameters = ["batch"]\n') + QUESTIONS
VALUES = (b"Jane-Doe-5f3a", b"secret-batch", b"I am Jane")


def run(*command: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in command])


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


@contextlib.contextmanager
def reader(made: Made) -> Iterator[None]:
    """A program that reads the database for long, as an export or a database browser does."""
    with contextlib.closing(sqlite3.connect(made.folder / "study.db", isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM ratings").fetchone()
        yield


@pytest.mark.slow
@pytest.mark.parametrize("way", ["forget", "all"])
def test_a_person_who_is_still_readable_is_said_to_be_so_and_is_gone_once_the_reader_has_ended(
    make_local: Callable[..., Made], way: str
) -> None:
    made = make_local(PEOPLE)
    jane(made)
    rater = code(made)
    with made.store.write() as connection:
        write_state(connection, "closed")
    command = ["forget", str(made.folder), "--all-people" if way == "all" else rater, "--yes"]
    with reader(made):
        done = run(*command)
        assert done.exit_code == 0 and "study.db-wal" in done.output and "still readable" in done.output
        assert readable(made.folder) == ["study.db-wal"], "the test sees what is readable"
        looked = run("doctor", made.folder)
        assert looked.exit_code == 1 and "study.db-wal" in looked.output
    again = run(*command)
    assert again.exit_code == 0 and "nothing of it is left" in again.output
    assert readable(made.folder) == []
    assert "nothing is left of who was forgotten" in run("doctor", made.folder).output


@pytest.mark.slow
def test_a_withdrawal_is_answered_at_once_while_the_database_is_read_and_the_next_start_finishes_it(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(PEOPLE.replace('id = "test"', 'id = "test"\nwithdrawal = "delete"'))
    browser = joined(made.app, "/join?who=Jane-Doe-5f3a&batch=secret-batch")
    browser.rate()
    with reader(made):
        browser.get("/withdraw")
        browser.send(browser.page.form(), sure="yes")
        assert (browser.status, browser.address) == (200, "/ended")
        assert unfinished_deletions(made.store)
        note_address(made.folder, take_over(made.folder), "http://127.0.0.1:8000")
        assert unfinished_deletions(made.store), "a start does not say it is done while it is not"
    note_address(made.folder, take_over(made.folder), "http://127.0.0.1:8000")
    assert unfinished_deletions(made.store) == "" and readable(made.folder) == []


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
def test_exports_and_backups_that_still_hold_somebody_are_named(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    jane(made)
    rater = code(made)
    assert run("export", made.folder).exit_code == 0
    assert run("backup", made.folder).exit_code == 0
    packed = shutil.make_archive(str(made.folder / "packed"), "zip", made.folder, "ratings.csv")
    done = run("forget", made.folder, rater, "--yes")
    copies = ["ratings.csv", Path(packed).name, next(made.folder.glob("backup-*.db")).name]
    for name in copies:
        assert f"{name} still holds 1 rater of those who were forgotten" in done.output
        (made.folder / name).unlink()
    (made.folder / "people.csv").unlink(missing_ok=True)
    assert traces_of(made.folder, made.store) == []


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
    assert run("backup", made.folder, "-o", tmp_path / "safe.db").exit_code == 0
    leaves.get("/withdraw")
    leaves.send(leaves.page.form(), sure="yes")
    assert run("forget", made.folder, rater, "--yes").exit_code == 0
    assert rater not in (made.folder / FILE).read_text()
    made.store.dispose()
    done = run("restore", made.folder, tmp_path / "safe.db", "--yes", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["again"]["forgotten"] == [rater] and len(told["again"]["withdrew"]) == 1
    assert told["ratings"] == 4, "the ratings that are there, and not those of the backup"
    store = Store.of_study(made.folder)
    with store.read() as connection:
        rows = connection.execute(sa.select(raters.c.identity, raters.c.outcome)).all()
    assert [tuple(row) for row in rows] == [("another", "withdrew")]
    store.dispose()


def test_a_line_of_the_forgotten_that_nobody_wrote_stops_a_restore(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    (made.folder / FILE).write_text(f"forgotten {hash_of('R1')} 2026-01-01\nbroken\n", encoding="ascii")
    with pytest.raises(RelstudyError, match="line 2: 'broken' is not allowed"):
        traces_of(made.folder, made.store)
