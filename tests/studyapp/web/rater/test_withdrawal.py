"""Who withdraws leaves nothing behind, and their share of the pool is others'."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.erasure import forget_again, forgotten_hashes
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import DONE, OPEN, metadata, raters, slots
from relstudy.studyapp.database.tombstones import FILE
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from relstudy.studyapp.monitoring.traces import go_on_deleting
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made

OFFERED = TOML.replace('id = "test"', 'id = "test"\nwithdrawal = "delete"')


def slot_states(made: Made) -> list[int]:
    with made.store.read() as connection:
        return list(connection.execute(sa.select(slots.c.state).order_by(slots.c.id)).scalars())


@pytest.mark.slow
def test_who_withdraws_at_work_or_at_the_end_leaves_nothing(make_study: Callable[..., Made]) -> None:
    made = make_study(OFFERED, base_queries=0, unique_queries=4)
    stays, goes = Browser(made.app), Browser(made.app)
    for browser in (stays, goes):
        browser.join()
        browser.rate()
    left = goes.filled()
    assert "/withdraw" in goes.page.links
    goes.get("/withdraw")
    form = goes.page.form()
    goes.send(form)
    assert goes.address == "/withdraw" and made.rows() == 8, "only when they are sure"
    goes.send(form, sure="yes")
    assert goes.address == "/ended" and "You have withdrawn" in goes.page.text
    assert made.rows() == 4 and slot_states(made).count(DONE) == 1
    goes.post("/rate/2", left)
    assert goes.status == 401 and made.rows() == 4
    goes.post("/withdraw", {**form.fields, "sure": "yes"})
    assert goes.status != 500 and made.rows() == 4
    stays.rate_all()
    assert stays.address == "/thanks" and "/withdraw" in stays.page.links
    stays.get("/withdraw")
    stays.send(stays.page.form(), sure="yes")
    assert made.rows() == 0 and set(slot_states(made)) == {OPEN}
    with made.store.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(raters)).scalar_one() == 0


def test_where_the_study_keeps_the_ratings_they_are_marked_and_their_places_are_others(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(OFFERED.replace('"delete"', '"keep"'), base_queries=0, unique_queries=2)
    browser = joined(made.app)
    browser.rate()
    browser.get("/withdraw")
    browser.send(browser.page.form(), sure="yes")
    assert browser.address == "/ended" and "You have withdrawn" in browser.page.text
    for address in ("/", "/rate", "/thanks", "/withdraw"):
        browser.get(address)
        assert browser.address == "/ended", address
    study = Study.load(made.folder)
    table = ratings_table(made.store, study)
    assert len(table) == 4 and set(table["set_aside"]) == {1} and set(slot_states(made)) == {OPEN}
    assert people_table(made.store, study)["outcome"].tolist() == ["withdrew"]


@pytest.mark.slow
def test_who_knows_no_more_than_a_raters_id_deletes_nothing_of_theirs(make_local: Callable[..., Made]) -> None:
    made = make_local(OFFERED.replace('"personal", "open"', '"prolific"'), base_queries=0, unique_queries=2)
    rater, stranger, early = (Browser(made.app) for _ in range(3))
    rater.join("/join?PROLIFIC_PID=5f3c")
    rater.rate()
    stranger.join("/join?PROLIFIC_PID=5f3c")
    stranger.get("/withdraw")
    assert "in another browser" in stranger.page.text and "deleted, and cannot" not in stranger.page.text
    stranger.send(stranger.page.form(), sure="yes")
    assert stranger.address == "/ended" and made.rows() == 4, "marked, and not gone"
    assert people_table(made.store, Study.load(made.folder))["outcome"].tolist() == ["withdrew"]
    early.get("/join?PROLIFIC_PID=9a01")
    early.send(early.page.form(), agree="yes")
    early.get("/withdraw")
    early.send(early.page.form(), sure="yes")
    assert len(people_table(made.store, Study.load(made.folder))) == 1, "what is their own goes"


def test_it_is_there_for_raters_alone_and_in_whatever_state_the_study_is(make_local: Callable[..., Made]) -> None:
    made = make_local(OFFERED)
    browser = Browser(made.app)
    browser.get("/withdraw")
    assert browser.address == "/consent" and "/withdraw" not in browser.page.links
    browser.consent()
    made.app.extensions["relstudy"].set_state("closed")
    browser.get("/withdraw")
    token = browser.page.form().fields["csrf"]
    browser.post("/withdraw", {"sure": "yes", "csrf": "forged"})
    assert browser.status == 400 and len(people_table(made.store, Study.load(made.folder))) == 1
    browser.post("/withdraw", {"sure": "yes", "csrf": token})
    assert browser.address == "/ended" and len(people_table(made.store, Study.load(made.folder))) == 0


def test_where_it_is_not_offered_there_is_no_such_page(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = joined(made.app)
    assert "/withdraw" not in browser.page.links
    browser.get("/withdraw")
    assert browser.status == 404
    browser.post("/withdraw", {"sure": "yes"})
    assert browser.status == 404 and len(ratings_table(made.store, Study.load(made.folder))) == 0


@contextlib.contextmanager
def somebody_else_writes(made: Made, locked: str) -> Iterator[None]:
    """Another program holds what a withdrawal needs: SQLite's write lock, the raters' rows, or every table."""
    other = Store(made.store.url.render_as_string(hide_password=False))
    with other.write() as connection:
        if not other.is_sqlite and locked == "rows":
            connection.execute(sa.select(raters.c.id).with_for_update()).all()
        elif not other.is_sqlite:
            connection.exec_driver_sql(f"LOCK TABLE {', '.join(metadata.tables)} IN ACCESS EXCLUSIVE MODE")
        yield
    other.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["delete", "keep"])
def test_a_withdrawal_is_taken_while_the_database_cannot_be_written_and_done_as_soon_as_it_can(
    make_study: Callable[..., Made], way: str
) -> None:
    _is_taken(make_study, way, "rows")


@pytest.mark.slow
@pytest.mark.parametrize("database", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_a_withdrawal_is_taken_while_the_database_cannot_even_be_read(make_study: Callable[..., Made]) -> None:
    _is_taken(make_study, "delete", "tables")


def _is_taken(make_study: Callable[..., Made], way: str, locked: str) -> None:
    made = make_study(OFFERED.replace('"delete"', f'"{way}"'), base_queries=0, unique_queries=4, busy_seconds=0.3)
    stays, goes = Browser(made.app), Browser(made.app)
    for browser in (stays, goes):
        browser.join()
        browser.rate()
    goes.get("/withdraw")
    form = goes.page.form()
    with somebody_else_writes(made, locked):
        began = time.monotonic()
        goes.get("/withdraw")
        assert goes.status == 200 and goes.page.form().fields == form.fields
        goes.send(form)
        assert (goes.status, goes.address) == (200, "/withdraw") and "noted" not in goes.page.text, "not sure yet"
        goes.post("/withdraw", {**form.fields, "csrf": "forged", "sure": "yes"})
        assert goes.status == 400 and not (made.folder / FILE).exists(), "by nobody else's form"
        goes.send(form, sure="yes")
        assert goes.status == 200 and time.monotonic() - began < 30
        done_later = "deletes everything" if way == "delete" else "marks what you gave"
        assert "You have withdrawn" in goes.page.text and f"the server {done_later}" in goes.page.text
        assert locked == "tables" or made.rows() == 8
    assert goes.post("/withdraw", {**form.fields, "sure": "yes"}) and goes.address == "/ended"
    go_on_deleting(made.folder, made.store, [])
    if way == "delete":
        assert made.rows() == 4 and slot_states(made).count(DONE) == 1
    else:
        table = ratings_table(made.store, Study.load(made.folder))
        assert sorted(table["set_aside"]) == [0] * 4 + [1] * 4
    stays.rate_all()
    assert stays.address == "/thanks", "who stays is nobody else"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["delete", "keep"])
def test_a_withdrawal_that_waits_is_done_by_the_next_command_and_in_a_backup_that_is_put_back(
    make_local: Callable[..., Made], way: str
) -> None:
    made = make_local(OFFERED.replace('"delete"', f'"{way}"'), base_queries=0, unique_queries=4, busy_seconds=0.3)
    goes = joined(made.app)
    goes.rate()
    succeeds("backup", made.folder, "-o", made.folder / "before.db")
    goes.get("/withdraw")
    with somebody_else_writes(made, "rows"):
        goes.send(goes.page.form(), sure="yes")
        assert "somebody has withdrawn who is still in the database" in relstudy("admin", "status", made.folder).stderr
    backup = Store(f"sqlite:///{made.folder / 'before.db'}")
    with made.store.read() as connection:
        hashes = forgotten_hashes(connection, made.folder)
    done = forget_again(backup, made.folder, hashes)
    backup.dispose()
    assert [len(codes) for codes in done.values()] == ([1, 0, 0] if way == "delete" else [0, 0, 1])
    done = relstudy("export", made.folder, "-o", made.folder / "out")
    assert done.exit_code == 0 and "somebody has withdrawn" not in done.stderr
    people = people_table(made.store, Study.load(made.folder))
    assert len(people) == 0 if way == "delete" else people["outcome"].tolist() == ["withdrew"]


def test_where_not_even_the_wish_to_withdraw_can_be_kept_the_page_says_that_nothing_was(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(OFFERED, busy_seconds=0.3)
    goes = joined(made.app)
    goes.get("/withdraw")
    (made.folder / FILE).mkdir()
    with somebody_else_writes(made, "rows"):
        goes.send(goes.page.form(), sure="yes")
    assert goes.status == 503 and goes.page.form().fields["sure"] == "yes", "the form is there to be sent again"
