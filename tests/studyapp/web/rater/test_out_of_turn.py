"""Forms sent out of turn: nothing is handed out, finished or shown before its time, and the way on stays open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments
from relstudy.studyapp.monitoring.export import people_table
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made
from tests.studyapp.web.rater.test_ending import QUESTIONS


def consented(made: Made) -> Browser:
    """A rater who is reading the instructions."""
    browser = Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form(), agree="yes")
    assert browser.address == "/instructions"
    return browser


def handed_out(made: Made) -> int:
    with made.store.read() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(assignments)).scalar_one())


def code_of(made: Made) -> str:
    return str(people_table(made.store, Study.load(made.folder))["completion_code"][0])


@pytest.mark.slow
def test_more_pages_before_the_start_are_none_and_the_way_on_is_as_before(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = consented(made)
    form = browser.page.form()
    browser.post("/more", {"csrf": form.fields["csrf"]})
    assert (browser.status, browser.address, handed_out(made)) == (200, "/instructions", 0)
    browser.send(form)
    assert browser.address == "/rate/1"
    assert browser.rate_all() == 2 + 2


@pytest.mark.slow
def test_more_pages_before_the_end_are_none(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = consented(made)
    token = browser.page.form().fields["csrf"]
    browser.send(browser.page.form())
    before = handed_out(made)
    for _ in range(3):
        browser.post("/more", {"csrf": token})
        assert browser.address == "/rate/1" and handed_out(made) == before
    assert browser.rate_all() == 2 + 2


@pytest.mark.slow
def test_exit_questions_before_the_end_are_not_answered(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML + QUESTIONS)
    browser = consented(made)
    token = browser.page.form().fields["csrf"]
    answers = {"csrf": token, "question-eyes": "full"}
    browser.get("/questions")
    assert browser.address == "/instructions"
    browser.post("/questions", answers)
    assert browser.address == "/instructions" and handed_out(made) == 0
    browser.send(browser.page.form())
    browser.post("/questions", answers)
    assert browser.address == "/rate/1"
    assert browser.rate_all() == 2 + 2
    assert browser.address == "/questions", "asked in their turn all the same"
    browser.send(browser.page.form(), **{"question-eyes": "full"})
    assert browser.address == "/thanks" and code_of(made) in browser.page.text
