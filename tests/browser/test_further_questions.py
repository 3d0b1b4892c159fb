"""Several questions about each result, by keyboard, as a draft, and where something is left out."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from relstudy.studyapp.monitoring.export import ratings_table
from tests.browser.sessions import PLAIN, Seat, one_by_one

QUESTIONS = """
not_shown = true

[[blocks.questions]]
id = "trust"
text = "Would you trust it?"
scale = "binary"

[[blocks.questions]]
id = "why"
text = "Why?"
"""
SEVERAL = PLAIN.replace('paradigm = "image"\n', f'paradigm = "image"\n{QUESTIONS}')
SINGLE = one_by_one("1-9") + QUESTIONS


FIELD = """() => {
  const here = document.activeElement, ask = here.closest("[data-ask]");
  return (ask && (ask.name || ask.querySelector("input").name)) || here.localName;
}"""


def _field(page: Page) -> str:
    return str(page.evaluate(FIELD))


def test_keys_answer_question_after_question_and_x_says_that_nothing_was_to_be_seen(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(SEVERAL)
    page = seat.page
    page.keyboard.press("4")
    assert _field(page) == "rating-1-trust"
    page.keyboard.press("1")
    assert _field(page) == "rating-2"  # words are optional, and left aside
    page.keyboard.press("x")
    assert _field(page) == "rating-3"  # of what was not shown nothing more is asked
    expect(page.locator("[data-result='2'] .further").first).to_be_hidden()
    page.keyboard.press("ArrowDown")
    assert _field(page) == "rating-3-trust"
    page.keyboard.press("ArrowRight")
    assert _field(page) == "rating-4"
    for key in "51":
        page.keyboard.press(key)
    page.keyboard.press("Enter")  # the third lacks both
    expect(seat.alert).to_contain_text("Please rate every result")
    assert _field(page) == "rating-3"
    page.keyboard.press("2")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(seat.alert).to_contain_text("Please answer every question")
    assert _field(page) == "rating-3-trust"
    page.keyboard.press("u")
    page.keyboard.press("Tab")
    page.locator("textarea[name='rating-4-why']").focus()
    page.keyboard.type("boats, 4 of them")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/rate/2")
    table = ratings_table(seat.served.store, seat.served.study)
    assert sorted(table["not_shown"]) == [0, 0, 0, 1] and table["rating"].notna().sum() == 3
    trust = ratings_table(seat.served.store, seat.served.study, question=seat.served.study.result_questions["trust"])
    assert trust["rating"].notna().sum() == 2 and (trust["not_shown"] == 0).sum() == 3
    words = ratings_table(seat.served.store, seat.served.study, question=seat.served.study.result_questions["why"])
    assert words["words"].tolist() == ["boats, 4 of them"]


def test_what_was_typed_is_there_again_when_the_page_is_loaded_anew(take_seat: Callable[..., Seat]) -> None:
    page = take_seat(SEVERAL).page
    page.keyboard.press("4")
    page.keyboard.press("0")
    page.locator("textarea[name='rating-2-why']").fill("a draft")
    page.reload()
    expect(page.locator("textarea[name='rating-2-why']")).to_have_value("a draft")
    expect(page.locator("input[name='rating-1'][value='4']")).to_be_checked()
    expect(page.locator("input[name='rating-1-trust'][value='0']")).to_be_checked()


def test_what_was_erased_stays_away_when_the_page_is_loaded_anew(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(SINGLE)
    page = seat.page
    page.keyboard.press("7")
    page.keyboard.press("1")
    page.locator("textarea").fill("on second thoughts not")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/rate/2")
    page.goto(f"{seat.served.base}/rate/1")
    expect(page.locator("textarea")).to_have_value("on second thoughts not")
    page.locator("textarea").fill("")
    page.reload()
    expect(page.locator("textarea")).to_have_value("")


def test_without_script_a_page_that_lacks_an_answer_comes_back_with_all_that_was_typed(
    take_seat: Callable[..., Seat],
) -> None:
    page = take_seat(SINGLE, javascript=False).page
    page.locator("label:has(input[name='rating-1'][value='7'])").click()
    page.locator("textarea").fill("two\nlines")
    page.locator("form button.primary").click()
    expect(page.get_by_text("Please answer every question").first).to_be_visible()
    expect(page.locator("textarea")).to_have_value("two\nlines")
    expect(page.locator("input[name='rating-1'][value='7']")).to_be_checked()
    page.locator("label:has(input[name='rating-1-trust'][value='1'])").click()
    page.locator("form button.primary").click()
    page.wait_for_url("**/rate/2")


def test_with_one_result_up_and_down_go_over_its_questions(take_seat: Callable[..., Seat]) -> None:
    page = take_seat(SINGLE).page
    page.keyboard.press("7")
    assert _field(page) == "rating-1-trust"
    page.keyboard.press("ArrowUp")
    assert _field(page) == "rating-1"
    page.keyboard.press("ArrowRight")  # along the scale, as ever
    expect(page.locator("input[name='rating-1'][value='8']")).to_be_checked()
