"""Screening: who does not fit gets nothing to rate, and no second try in the same way in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments
from relstudy.studyapp.monitoring.export import people_table
from relstudy.studyapp.monitoring.status import study_status
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made
from tests.studyapp.web.rater.test_entry import with_entry

SCREENING = """
[[screening]]
id = "age"
text = "How old are you?"
kind = "number"
least = 18
most = 99
[[screening]]
id = "eyes"
text = "How do you see colours?"
kind = "choice"
choices = ["all", "not red from green", "none"]
accepted = ["all", "none"]
"""
FITS = {"question-age": "18", "question-eyes": "all"}
YOUNG = {**FITS, "question-age": "17"}
PEOPLE = with_entry('rules = ["open", "personal", "crowd"]\nid_parameter = "who"') + SCREENING


def arrive(made: Made, way: str = "/") -> Browser:
    browser = Browser(made.app)
    browser.get(way)
    browser.send(browser.page.form(), agree="yes")
    return browser


def handed_out(made: Made) -> int:
    with made.store.read() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(assignments)).scalar_one())


def test_who_fits_goes_on_to_the_instructions_and_is_not_asked_again(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    browser = arrive(made)
    assert browser.address == "/screening" and "not kept if you cannot" in browser.page.text
    browser.send(browser.page.form(), **FITS)
    assert browser.address == "/instructions"
    browser.get("/screening")
    assert browser.address == "/instructions"
    browser.send(browser.page.form())
    assert browser.address == "/rate/1"
    row = people_table(made.store, Study.load(made.folder)).iloc[0]
    assert (row["screening_age"], row["screening_eyes"], row["outcome"]) == ("18", "all", "")


def test_no_page_comes_before_the_questions_are_answered(make_local: Callable[..., Made]) -> None:
    made = make_local(PEOPLE)
    browser = arrive(made)
    token = browser.page.form().fields["csrf"]
    for address in ("/instructions", "/rate", "/rate/1", "/questions", "/thanks", "/wait"):
        browser.get(address)
        assert browser.address == "/screening", address
    for address in ("/instructions", "/questions", "/more", "/finish"):
        browser.post(address, {"csrf": token})
        assert browser.address == "/screening", address
    assert handed_out(made) == 0


def test_an_answer_that_is_none_screens_nobody_out(make_local: Callable[..., Made]) -> None:
    browser = arrive(make_local(PEOPLE))
    for name, value in (("age", "old"), ("age", ""), ("eyes", "some"), ("eyes", "")):
        browser.send(browser.page.form(), **{**FITS, f"question-{name}": value})
        assert browser.status == 422 and browser.address == "/screening"
    browser.send(browser.page.form(), **FITS)
    assert browser.address == "/instructions"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["open", "personal", "crowd"])
def test_who_does_not_fit_gets_nothing_and_cannot_come_back_with_other_answers(
    make_local: Callable[..., Made], way: str
) -> None:
    made = make_local(PEOPLE)
    link = {"open": "/", "crowd": "/join?who=p"}.get(way) or invite(made.store, Study.load(made.folder), 1)[0].path
    browser = arrive(made, link)
    form = browser.page.form()
    browser.send(form, **YOUNG)
    assert browser.address == "/ended" and "This study needs people who" in browser.page.text
    browsers = [browser] if way == "open" else [browser, Browser(made.app)]
    for again in browsers:
        again.get(link)
        if again.address == "/consent":
            again.send(again.page.form(), agree="yes")
        assert again.address == "/ended"
    browser.post("/screening", {**form.fields, **FITS})
    browser.post("/leave", {"csrf": form.fields["csrf"]})
    for address in ("/", "/screening", "/instructions", "/rate", "/rate/1", "/thanks", "/consent", "/questions"):
        browser.get(address)
        assert browser.address == "/ended", address
    assert handed_out(made) == 0
    study = Study.load(made.folder)
    people = people_table(made.store, study)
    assert people[["screening_age", "screening_eyes", "outcome"]].to_numpy().tolist() == [["", "", "screened_out"]]
    status = study_status(made.store, study)
    assert (status.ended, status.outcomes) == (1, {"screened_out": 1})


def test_two_answers_sent_together_count_as_the_first(make_study: Callable[..., Made]) -> None:
    made = make_study(PEOPLE)
    browser, twin = arrive(made), Browser(made.app)
    twin.cookie = browser.cookie
    form = browser.page.form()
    browser.send(form, **YOUNG)
    twin.post("/screening", {**form.fields, **FITS})
    assert browser.address == twin.address == "/ended"


@pytest.mark.parametrize(
    ("kind", "rule", "told"),
    [
        ("text", "least = 3", "line 25, screening.least: 3 is not allowed; only a question of kind"),
        ("number", "least = 3\nmost = 2", "line 25, screening.least: 3 is not allowed; no more than most"),
        ("number", 'accepted = ["3"]', "line 25, screening.accepted: .* least and most say"),
        ("text", "required = true", "line 25, screening.required: unknown setting"),
        (
            "choice",
            'choices = ["a"]\naccepted = ["b"]',
            "line 26, screening.accepted: 'b' is not allowed; one of .* a ",
        ),
    ],
)
def test_a_rule_that_nobody_can_meet_is_told_with_its_line(kind: str, rule: str, told: str) -> None:
    with pytest.raises(RelstudyError, match=told):
        Study.parse(f'{TOML}[[screening]]\nid = "q"\ntext = "?"\nkind = "{kind}"\n{rule}\n')
