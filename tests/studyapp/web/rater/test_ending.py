"""The end of a session: exit questions, the completion code, some more pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import people_table
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made

QUESTIONS = """
[[questions]]
id = "age"
text = "Age?"
kind = "number"
[[questions]]
id = "eyes"
text = "Colour vision?"
kind = "choice"
choices = ["full", "partial"]
required = true
[[questions]]
id = "say"
text = "Anything else?"
kind = "long"
"""


@pytest.mark.slow
def test_who_knows_no_more_than_a_raters_id_neither_sees_nor_changes_their_answers(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(
        TOML.replace('"personal", "open"', '"prolific"') + QUESTIONS + PRACTICE,
        base_queries=1,
        unique_queries=0,
        results=2,
    )
    rater, stranger = Browser(made.app), Browser(made.app)
    rater.join("/join?PROLIFIC_PID=5f3c")
    rater.rate_all()
    assert rater.address == "/questions"
    questions = rater.page.form()
    rater.send(questions, **{"question-eyes": "partial", "question-say": "my diagnosis"})
    assert "my diagnosis" in rater.get("/questions").text, "in their own browser"
    assert rater.get("/practice/1").text and rater.address == "/practice/1"
    stranger.get("/join?PROLIFIC_PID=5f3c")
    stranger.send(stranger.page.form(), agree="yes")
    assert "my diagnosis" not in stranger.get("/questions").text and stranger.address == "/thanks"
    assert stranger.get("/practice/1").text and stranger.address == "/thanks"
    token = stranger.get("/instructions").form().fields["csrf"]
    stranger.post("/questions", {"csrf": token, "question-eyes": "full", "question-say": "mine"})
    assert stranger.address == "/thanks"
    assert people_table(made.store, Study.load(made.folder))["question_say"].tolist() == ["my diagnosis"]


PRACTICE = '[[practice]]\nquery_id = "q0"\nresult_id = "q0"\nexpected = [4]\n'


@pytest.fixture
def made(make_local: Callable[..., Made]) -> Made:
    return make_local(TOML + QUESTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["8", '"all"'])
def test_more_is_offered_only_while_there_is_more(make_local: Callable[..., Made], wanted: str) -> None:
    made = make_local(TOML.replace("pairs_per_rater = 8", f"pairs_per_rater = {wanted}"))
    browser = joined(made.app)
    browser.rate_all()
    assert browser.address == "/thanks"
    assert ("Rate some more" in browser.page.text) == (wanted == "8")
    if wanted == "8":
        for _ in range(20):
            if "Rate some more" not in browser.page.text:
                break
            browser.send(browser.page.form("/more"))
            browser.rate_all()
        assert browser.address == "/thanks" and "Rate some more" not in browser.page.text


def at_questions(made: Made) -> Browser:
    browser = joined(made.app)
    browser.rate_all()
    assert browser.address == "/questions"
    return browser


def answers(made: Made) -> list[str]:
    table = people_table(made.store, Study.load(made.folder))
    return [str(table[f"question_{name}"][0]) for name in ("age", "eyes", "say")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"age": "40"}, "Please answer"),
        ({"eyes": "three"}, "choose one"),
        ({"age": "forty", "eyes": "full"}, "number"),
        ({"age": "1e400", "eyes": "full"}, "number"),
        ({"age": "nan", "eyes": "full"}, "number"),
    ],
)
def test_an_answer_that_will_not_do_is_told_and_the_others_are_kept_on_the_page(
    made: Made, given: dict[str, str], told: str
) -> None:
    browser = at_questions(made)
    fields = {f"question-{name}": value for name, value in given.items()}
    browser.send(browser.page.form(), **fields, **{"question-say": "a word"})
    assert browser.status == 422 and told.lower() in browser.page.text.lower()
    assert "a word" in browser.page.text and answers(made) == ["", "", ""]


@pytest.mark.slow
def test_answers_are_kept_up_to_their_longest_and_can_be_changed(made: Made) -> None:
    browser = at_questions(made)
    browser.send(browser.page.form(), **{"question-age": "40,5", "question-eyes": "full", "question-say": "x" * 5000})
    assert browser.address == "/thanks"
    assert answers(made) == ["40,5", "full", "x" * 4000]
    browser.get("/questions")
    browser.send(browser.page.form(), **{"question-eyes": "partial", "question-say": "less"})
    assert answers(made)[1:] == ["partial", "less"]


CHOICES = """
[[questions]]
id = "uses"
text = "What do you use?"
kind = "several"
choices = ["phone", "tablet", "computer"]
required = true
[[questions]]
id = "easy"
text = "The task was easy."
kind = "likert"
choices = ["disagree", "neither", "agree"]
"""


@pytest.mark.slow
def test_several_choices_and_steps_of_agreement_are_asked_kept_and_shown_again(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(TOML + CHOICES)
    browser = at_questions(made)
    token = browser.page.form().fields["csrf"]
    browser.post("/questions", {"csrf": token, "question-easy": "agree"})
    assert browser.status == 422 and "Please answer" in browser.page.text
    browser.post("/questions", {"csrf": token, "question-uses": ["phone", "=1+1"]})
    assert browser.status == 422
    given = {"csrf": token, "question-uses": ["computer", "phone"], "question-easy": "agree"}
    browser.post("/questions", given)
    assert browser.address == "/thanks"
    table = people_table(made.store, Study.load(made.folder))
    assert (table["question_uses"][0], table["question_easy"][0]) == ("phone; computer", "agree")
    browser.get("/questions")
    assert browser.response is not None
    shown = browser.response.text
    assert shown.count("checked") == 3 and shown.count('type="checkbox"') == 3


@pytest.mark.slow
def test_the_completion_code_is_shown_to_nobody_before_the_end(made: Made) -> None:
    browser = joined(made.app)
    code = people_table(made.store, Study.load(made.folder))["completion_code"][0]
    for _ in range(4):
        browser.get("/thanks")
        assert browser.address.startswith("/rate/") and code not in browser.page.text
        browser.rate()
    browser.get("/thanks")
    assert browser.address == "/questions" and code not in browser.page.text
    browser.send(browser.page.form(), **{"question-eyes": "full"})
    assert browser.address == "/thanks" and code in browser.page.text


@pytest.mark.slow
def test_asking_for_more_twice_adds_pages_once(make_local: Callable[..., Made]) -> None:
    browser = joined(make_local().app)
    browser.rate_all()
    form = browser.page.form("/more")
    for _ in range(3):
        browser.send(form)
        assert browser.address == "/rate/5"
    assert browser.rate_all() == 1
