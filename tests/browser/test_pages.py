"""What a rater sees and hears on each page, with the script and without."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.sessions import MIXED, PLAIN, Rater, Seat, one_by_one

ASKING = (
    PLAIN.replace('[[blocks]]\nname = "base"\npairs = "base"\nparadigm = "image"\n', "")
    + """
[[questions]]
id = "ease"
text = "How was it?"
kind = "choice"
choices = ["easy", "hard"]
required = true

[[questions]]
id = "place"
text = "Where are you?"
required = true

[[questions]]
id = "remark"
text = "Anything else?"
kind = "long"

[[questions]]
id = "hours"
text = "How many hours?"
kind = "number"
"""
)
WORDS = "[scales.verdict]\nvalues = [0, 1]\nundecided = false\nlabels = { 0 = 'no', 1 = 'yes' }\n"
LIST = "[scales.fit]\nvalues = [1, 2, 3]\nlabels = { 1 = 'off', 2 = 'near', 3 = 'exact' }\n"
MANY = "[scales.many]\nvalues = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]\n"


def _posts(page: Page) -> list[str]:
    """What the page sends from now on."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    return sent


def _texts(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


def test_consent_instructions_and_practice_say_what_the_rater_must_know(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(MIXED)
    page = new_page()
    page.goto(served.link())
    expect(page.locator("header")).to_contain_text("Pictures and words")
    expect(page.get_by_role("contentinfo")).to_have_text("Questions? lab@example.org")
    expect(page.get_by_text("Taking part is voluntary")).to_be_visible()
    sent = _posts(page)
    page.get_by_role("button", name="Continue").click()
    assert sent == [], "nobody goes on without having agreed"
    page.get_by_role("checkbox").check()
    rater = Rater(page, served.names)
    rater.send()
    expect(page.get_by_text("Answer the question on each page")).to_be_visible()
    expect(page.get_by_text("A few practice pages come first.")).to_be_visible()
    scales = page.get_by_role("group", name="The scale")
    expect(scales).to_have_count(3)
    assert _texts(page, ".ends span") == ["poor match", "good match", "poor match", "average match", "good match"]
    expect(page.locator("main input:enabled:not([type=hidden])")).to_have_count(0)
    rater.send()
    rater.press("2")
    rater.go_on()
    told = page.get_by_role("listitem")
    assert _texts(page, ".told .note") == ["We would have answered differently: It is the same picture."]
    assert _texts(page, "dd") == ["2", "4, 5 – good match"]
    pictures = told.get_by_role("img")
    expect(pictures).to_have_count(2)
    pictures.last.click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Close")).to_be_focused()


def test_practice_tells_the_answer_in_the_words_of_its_button(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(MIXED + '\n[texts]\n"rate.undecided" = "no idea"\n')
    rater = Rater(new_page(), served.names)
    page = rater.page
    page.goto(served.link())
    page.get_by_role("checkbox").check()
    rater.send()
    rater.send()
    rater.press("u")
    rater.go_on()
    assert _texts(page, "dd") == ["no idea", "4, 5 – good match"]


def test_a_page_says_where_one_is_what_is_asked_and_what_each_button_means(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    page = seat.page
    question = "How well does each result match the query?"
    bar = page.get_by_role("progressbar")
    assert bar.get_attribute("value") == "0"
    seat.rater.press("1", "2", "3", "4")
    seat.rater.go_on()
    expect(page).to_have_title("Page 2 of 3 – Pictures")
    expect(page.locator(".progress")).to_have_text("Page 2 of 3")
    expect(bar).to_have_accessible_name("1 of 3 pages answered")
    assert (bar.get_attribute("value"), bar.get_attribute("max")) == ("1", "3")
    expect(page.get_by_role("heading", level=1)).to_have_text(question)
    second = page.get_by_role("group", name=f"Result 2: {question}")
    names = ["1 ?, poor match", "2", "3", "4", "5 ?, good match", "undecided"]
    for name, radio in zip(names, second.get_by_role("radio").all(), strict=True):
        expect(radio).to_have_accessible_name(re.compile(f"^{name}$"))
    assert _texts(page, "[data-result='2'] .ends span") == ["poor match", "good match"]
    expect(page.get_by_role("group", name=f"Result 1: {question}")).to_be_focused()


def test_an_earlier_page_says_that_it_saves_a_change_and_leads_on_to_where_one_was(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat()
    page = seat.page
    expect(page.get_by_role("link", name="Back")).to_have_count(0)
    seat.rater.press("1", "2", "3", "4")
    seat.rater.go_on()
    page.get_by_role("link", name="Back").click()
    page.wait_for_url("**/rate/1")
    expect(page.get_by_role("button", name="Save the change")).to_be_visible()
    page.get_by_role("link", name="Continue where you were").click()
    page.wait_for_url("**/rate/2")
    expect(page.get_by_role("button", name="Next")).to_be_visible()
    expect(page.get_by_role("link", name="Continue where you were")).to_have_count(0)


def test_text_queries_and_documents_are_shown_whole(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(one_by_one("1-9"))
    page = seat.page
    assert _texts(page, ".ends span") == ["poor match", "average match", "good match"]
    queries, documents = set(), set()
    for number in range(1, 5):
        expect(page.get_by_role("heading", level=1)).to_have_text("Does this match?")
        queries.add(page.locator(".query [data-item]").inner_text())
        documents |= set(page.locator(".document").all_inner_texts())
        page.keyboard.press("5")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/rate/{number + 1}" if number < 4 else "**/thanks")
    assert queries == {"boats, on a lake", "Birds\n\nbirds that fly at night"}
    essay = "Sailing at dawn\n\nThe harbour was quiet when the first boats left.\n\nBy noon it rained."
    assert documents == {essay}


@pytest.mark.parametrize(
    ("scale", "name", "faces", "hints", "idle", "key", "value"),
    [
        pytest.param(WORDS, "verdict", ["0 no", "1 yes"], ["0–1 rate"], "u2", "0", "0", id="words, never undecided"),
        pytest.param(
            LIST,
            "fit",
            ["1 off", "2 near", "3 exact", "U undecided"],
            ["1–3 rate", "0 U undecided"],
            "4",
            "2",
            "2",
            id="list",
        ),
        pytest.param(
            MANY, "many", [*map(str, range(15)), "U undecided"], ["U undecided"], "01", "u", "undecided", id="many"
        ),
    ],
)
def test_a_scale_of_ones_own_has_its_labels_its_keys_and_fits_a_phone(
    take_seat: Callable[..., Seat],
    scale: str,
    name: str,
    faces: list[str],
    hints: list[str],
    idle: str,
    key: str,
    value: str,
) -> None:
    seat = take_seat(one_by_one(name, scale), width=360, height=740)
    page = seat.page
    assert _texts(page, ".face") == faces
    assert _texts(page, ".keys > span") == [*hints, "Enter go on"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    narrow = "[...document.querySelectorAll('.step')].filter(e => e.getBoundingClientRect().width < 24).length"
    assert page.evaluate(narrow) == 0
    for no_value in idle:
        page.keyboard.press(no_value)
    assert seat.rater.shown() == []
    page.keyboard.press(key)
    assert seat.rater.shown() == [value]


def test_without_javascript_a_gap_is_held_back_by_the_browser_and_told_by_the_study_which_keeps_the_rest(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(javascript=False)
    page = seat.page
    sent = _posts(page)
    seat.rater.click("5", "4", "undecided", "2")
    second = seat.rater.pairs()[1]
    page.evaluate("document.querySelectorAll('[data-result=\"2\"] input').forEach(e => { e.checked = false; })")
    page.get_by_role("button", name="Next").click()
    assert sent == []
    page.evaluate("document.querySelector('form[data-rating]').noValidate = true")  # as an old browser
    page.get_by_role("button", name="Next").click()
    expect(seat.alert).to_contain_text("Please rate every result")
    expect(page.locator("[data-result='2'] .problem")).to_be_visible()
    expect(page.locator(".problem")).to_have_count(1)
    assert seat.rater.shown() == ["5", "undecided", "2"]
    page.locator("[data-result='2'] label:has(input[value='3'])").click()
    seat.rater.note(second, "3")
    seat.rater.send()
    seat.saved()


def test_without_javascript_a_picture_is_a_link_to_itself(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(javascript=False)
    link = seat.page.get_by_role("link", name="Result 1 (enlarge)")
    picture = seat.page.request.get(f"{seat.served.base}{link.get_attribute('href')}")
    assert picture.headers["content-type"].startswith("image/")


def test_exit_questions_say_what_is_wrong_with_each_and_keep_what_was_typed(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(ASKING, unique_queries=1)
    rater = Rater(new_page(), served.names)
    page = rater.page
    rater.enter(served.link())
    rater.press("1", "2", "3", "4")
    rater.go_on()
    expect(page.get_by_role("main")).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_have_text("A few questions at the end")
    assert _texts(page, "label:not(.choice) .quiet, legend .quiet") == ["(optional)", "(optional)"]
    place, remark = page.get_by_label("Where are you?"), page.get_by_label("Anything else?")
    remark.fill("The boats were nice.")
    page.get_by_label("How many hours?").fill("1.5")
    sent = _posts(page)
    page.get_by_role("button", name="Finish").click()
    assert sent == []

    def send_unchecked() -> None:
        page.evaluate("document.querySelector('main form').noValidate = true")  # as an old browser
        page.get_by_role("button", name="Finish").click()
        page.locator(".problem").first.wait_for()

    send_unchecked()
    expect(page.get_by_role("group").filter(has_text="How was it?")).to_contain_text("Please answer this question.")
    expect(page.get_by_role("radio").first).to_have_accessible_description("Please answer this question.")
    expect(place).to_have_accessible_description("Please answer this question.")
    expect(place).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".problem")).to_have_count(2)
    expect(remark).to_have_value("The boats were nice.")
    expect(page.get_by_label("How many hours?")).to_have_value("1.5")
    page.get_by_label("easy").check()
    send_unchecked()
    expect(page.get_by_label("easy")).to_be_checked()
    expect(page.locator(".problem")).to_have_count(1)
    place.fill("at home")
    rater.send()
    expect(page.get_by_text("Your ratings are saved.")).to_be_visible()
    expect(page.locator("form[action='/more']")).to_have_count(0)  # nothing is left, so no more is offered


def test_the_code_can_be_copied_or_where_that_is_refused_is_marked_to_be_copied(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(permissions=["clipboard-read", "clipboard-write"])
    page = seat.page
    for _ in range(3):
        seat.rater.press("1", "2", "3", "4")
        seat.rater.go_on()
    code = page.locator("#code").inner_text()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == code
    page.reload()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy").click()
    page.wait_for_function("code => getSelection().toString() === code", arg=code)
