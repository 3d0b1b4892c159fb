"""A rater's way from the link to the completion code, and what the export holds afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import ratings_table
from tests.studyapp.browse import joined
from tests.studyapp.studies import TOML, Made


@pytest.mark.slow
def test_a_rater_goes_from_consent_to_the_completion_code_and_the_export_holds_exactly_what_was_chosen(
    make_study: Callable[..., Made],
) -> None:
    made = make_study()
    browser = joined(made.app)
    assert browser.address == "/rate/1"
    assert "How well does each result match the query?" in browser.page.text
    chosen = {1: "1", 2: "5", 3: "undecided", 4: "4"}
    assert browser.rate_all(lambda name, number: chosen[number]) == 2 + 2
    assert browser.address == "/thanks"
    with made.store.read() as connection:
        code = connection.exec_driver_sql("SELECT completion_code FROM raters").scalar_one()
    assert code in browser.page.text
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table) == 16
    assert sorted(table["block"].unique()) == ["base", "unique"]
    assert set(table[table["block"] == "base"]["query_id"]) == {"q0", "q1"}
    by_page = table.groupby("position")["rating"].apply(lambda page: page.fillna(-1).tolist())
    assert by_page.tolist() == [[1.0, 5.0, -1.0, 4.0]] * 4


@pytest.mark.slow
def test_a_page_ahead_is_shown_only_when_the_ones_before_it_are_answered(make_study: Callable[..., Made]) -> None:
    browser = joined(make_study().app)
    for ahead in (2, 3, 9):
        browser.get(f"/rate/{ahead}")
        assert browser.address == "/rate/1"
    browser.rate()
    assert browser.address == "/rate/2"
    browser.get("/rate/1")
    assert browser.address == "/rate/1", "earlier pages can be opened"
    assert "/rate" in browser.page.links, "and lead back to where the rater was"


@pytest.mark.slow
def test_a_page_opened_again_shows_what_counts_now(make_study: Callable[..., Made]) -> None:
    browser = joined(make_study().app)
    for answer in ("2", "5", "undecided"):
        browser.get("/rate/1")
        browser.rate(lambda name, number, answer=answer: answer)  # type: ignore[misc]
        browser.get("/rate/1")
        fields = browser.page.form("/rate/1").fields
        assert [fields[f"rating-{number}"] for number in range(1, 5)] == [answer] * 4


@pytest.mark.slow
def test_what_is_finished_cannot_be_gone_back_to(make_study: Callable[..., Made]) -> None:
    browser = joined(make_study().app)
    browser.rate()
    assert "/rate/1" in browser.page.links
    browser.rate_all()
    browser.send(browser.page.form("/more"))
    assert browser.address == "/rate/5" and "/rate/4" not in browser.page.links


@pytest.mark.slow
def test_feedback_on_practice_comes_after_the_answer(make_local: Callable[..., Made]) -> None:
    practice = '[[practice]]\nquery_id = "q0"\nresult_id = "q0"\nexpected = [4]\nfeedback = "A hill."\n'
    browser = joined(make_local(TOML + practice).app)
    browser.get("/practice/1")
    assert browser.status == 200 and browser.address == "/rate/1" and "A hill." not in browser.page.text
    browser.rate()
    assert browser.address == "/practice/1" and "A hill." in browser.page.text
