"""Pages in German and Arabic: chosen by the browser or the rater, without barriers, right to left, by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from relstudy.studyapp.config.language import shipped_language
from tests.browser.sessions import MIXED, PLAIN, Rater, Served
from tests.browser.test_accessible import Tour

LANGUAGES = '\nlanguages = ["de", "ar"]\n'
THREE = MIXED.replace('title = "Pictures and words"\n', f'title = "Pictures and words"{LANGUAGES}')
PICTURES = PLAIN.replace('title = "Pictures"\n', f'title = "Pictures"{LANGUAGES}')


@pytest.mark.parametrize("code", ["de", "ar"])
@pytest.mark.parametrize(("scheme", "size"), [("light", (1280, 900)), ("dark", (360, 740))], ids=str)
def test_every_page_of_a_rater_is_in_the_browsers_language_without_barriers(
    serve_study: Callable[..., Served],
    new_page: Callable[..., Page],
    code: str,
    scheme: str,
    size: tuple[int, int],
) -> None:
    served = serve_study(THREE, unique_queries=1)
    language = shipped_language(code)
    assert language is not None
    text = language.texts
    page = new_page(*size, color_scheme=scheme, locale=code, reduced_motion="reduce")
    tour, rater = Tour(page), Rater(page, served.names)

    def look(name: str, words: str) -> None:
        expect(page.locator("html")).to_have_attribute("lang", code)
        assert page.evaluate("getComputedStyle(document.body).direction") == language.direction
        expect(page.locator("main")).to_contain_text(text[words].split("{")[0].strip())
        tour.look(name)

    page.goto(served.link())
    look("consent", "consent.agree")
    page.get_by_role("checkbox").check()
    rater.send()
    look("instructions", "instructions.scale")
    rater.send()
    look("practice", "rate.undecided")
    rater.click("1")
    rater.send()
    look("feedback", "practice.other")
    page.locator("[data-go]").click()
    page.wait_for_url("**/rate/*")
    seen = set()
    while not page.url.endswith("/questions"):
        scale = len(page.locator("[data-result='1'] input[type=radio]").all())
        if scale not in seen:
            look(f"scale of {scale - 1}", "rate.undecided")
            seen.add(scale)
        rater.click(*["1"] * len(rater.pairs()))
        rater.send()
    look("questions", "questions.send")
    page.get_by_text("easy").click()
    rater.send()
    look("thanks", "thanks.code")
    assert tour.found == []
    assert len(seen) == 3


def test_in_arabic_arrows_move_as_the_page_is_read(
    serve_study: Callable[..., Served], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PICTURES)
    page = new_page(locale="ar")
    rater = Rater(page, served.names)
    rater.enter(served.link())
    boxes = [box for place in range(1, 5) if (box := page.locator(f"[data-result='{place}']").bounding_box())]
    assert boxes[0]["x"] > boxes[1]["x"]  # the first stands on the right
    here = "document.activeElement.closest('.result').dataset.result"
    assert page.evaluate(here) == "1"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(here) == "2"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(here) == "1"
    rater.press("1", "2", "3", "4")
    rater.go_on()
    expect(page.locator(".progress")).to_contain_text("2")
    table = served.export()
    assert sorted(table["rating"]) == [1, 2, 3, 4]
    assert table.set_index("place")["rating"].to_dict() == {1: 1, 2: 2, 3: 3, 4: 4}


def test_a_rater_chooses_a_language_on_a_page_and_loses_nothing_that_was_chosen(
    serve_study: Callable[..., Served], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PICTURES)
    page = new_page()
    rater = Rater(page, served.names)
    rater.enter(served.link())
    rater.press("1", "2", "3", "u")
    page.get_by_role("link", name="Deutsch").click()
    expect(page.get_by_role("button", name="Weiter")).to_be_visible()
    assert rater.shown() == ["1", "2", "3", "undecided"]
    expect(page.get_by_role("link", name="Deutsch")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="العربية").click()
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    rater.go_on()
    assert len(served.export()) == 4
