"""Qualification: nothing that counts is handed out before the practice is passed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import change_study
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made

PRACTICE = "".join(
    f'[[practice]]\nblock = "base"\nquery_id = "q{query}"\nresult_id = "q{query}"\nexpected = [5]\n' for query in (0, 1)
)
QUALIFY = TOML + "[qualification]\npass_mark = 1\nattempts = 2\n" + PRACTICE


@pytest.fixture
def made(make_local: Callable[..., Made]) -> Made:
    return make_local(QUALIFY, base_queries=2, unique_queries=2, results=1)


def kinds(made: Made) -> list[str]:
    with made.store.read() as connection:
        return list(connection.execute(sa.select(assignments.c.kind).order_by(assignments.c.position)).scalars())


def practise(browser: Browser, *answers: str) -> None:
    """Answer the practice pages, and read what is said of each."""
    for answer in answers:
        assert browser.address.startswith("/rate/"), browser.address
        browser.rate(lambda name, number, answer=answer: answer)  # type: ignore[misc]
        assert browser.address.startswith("/practice/"), browser.address
        browser.get("/rate")


def begun(made: Made) -> Browser:
    browser = Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form(), agree="yes")
    assert "you need 2 of 2 as expected. Attempts: 2" in browser.page.text
    browser.send(browser.page.form())
    return browser


@pytest.mark.slow
def test_who_passes_the_second_attempt_goes_on_and_both_are_kept(made: Made) -> None:
    browser = begun(made)
    practise(browser, "5", "3")
    assert browser.address == "/again" and "As expected: 1 of 2. Needed to go on: 2." in browser.page.text
    assert kinds(made) == ["practice"] * 2, "nothing else is handed out before"
    browser.send(browser.page.form())
    practise(browser, "5", "5")
    assert browser.address == "/rate/3" and kinds(made)[:4] == ["practice", "practice", "pair", "pair"]
    assert browser.rate_all() == 2 + 2 and browser.address == "/thanks"
    study = Study.load(made.folder)
    history = ratings_table(made.store, study, history=True)
    assert sorted(history.loc[history["block"] == "practice", "rating"]) == [3, 5, 5]
    people = people_table(made.store, study)
    assert people[["practice_attempts", "outcome"]].to_numpy().tolist() == [[2, "completed"]]


@pytest.mark.slow
def test_who_fails_the_last_attempt_is_out_and_nothing_was_handed_out(made: Made) -> None:
    browser = begun(made)
    practise(browser, "1", "1")
    browser.send(browser.page.form())
    practise(browser, "5")
    browser.rate(lambda name, number: "undecided")
    assert browser.address == "/ended" and "fewer of your answers were as expected" in browser.page.text
    for address in ("/", "/again", "/rate", "/rate/1", "/rate/3", "/questions", "/thanks"):
        browser.get(address)
        assert browser.address == "/ended", address
    assert kinds(made) == ["practice"] * 2
    study = Study.load(made.folder)
    people = people_table(made.store, study)
    assert people[["practice_attempts", "outcome"]].to_numpy().tolist() == [[2, "failed_practice"]]


@pytest.mark.slow
def test_an_answer_cannot_be_changed_once_it_was_told_nor_sent_again_into_the_next_attempt(made: Made) -> None:
    browser = begun(made)
    first = browser.filled("1")
    browser.post("/rate/1", first)
    browser.post("/rate/1", {**first, "rating-1": "5"})
    assert browser.status == 409
    browser.get("/again")
    assert browser.address == "/rate/2", "by its address alone the page is not true"
    second = browser.filled("1")
    browser.post("/rate/2", second)
    browser.get("/rate")
    token = browser.page.form().fields["csrf"]
    for _ in range(2):
        browser.post("/again", {"csrf": token})
        assert browser.address == "/rate/1", "sent twice, begun again once"
    browser.post("/rate/2", {**second, "rating-1": "5"})
    assert browser.status == 400 and "Try again" not in browser.page.text
    browser.get("/rate")
    practise(browser, "5", "5")
    assert browser.address == "/rate/3"


@pytest.mark.slow
def test_a_base_pair_that_joins_reaches_who_is_still_practising_after_it(made: Made) -> None:
    browser = begun(made)
    pairs = made.folder / "pairs.csv"
    pairs.write_text(pairs.read_text(encoding="utf-8") + "new,q2,q3,image,a,1,0.5,base\n", encoding="utf-8")
    change_study(made.folder, made.store)
    assert kinds(made) == ["practice"] * 2
    practise(browser, "5", "5")
    assert kinds(made).count("pair") >= 3


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("pass_mark = 1.5", "line 23, qualification.pass_mark: 1.5 is not allowed; a number from 0 to 1"),
        ("pass_mark = 1\nattempts = 0", "line 24, qualification.attempts: 0 is not allowed"),
        ("attempts = 2", "line 22, qualification: a pass_mark is required"),
        ("pass_mark = 1", "line 22, qualification: raters qualify by practice, and the study has none"),
    ],
)
def test_a_qualification_that_cannot_work_is_told_with_its_line(rules: str, told: str) -> None:
    with pytest.raises(RelstudyError, match=told):
        Study.parse(f"{TOML}\n[qualification]\n{rules}\n" + ("" if "none" in told else PRACTICE))
