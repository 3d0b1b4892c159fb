"""Who withdraws leaves nothing behind, and their share of the pool is others'."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import DONE, OPEN, raters, slots
from relstudy.studyapp.monitoring.export import people_table, ratings_table
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
