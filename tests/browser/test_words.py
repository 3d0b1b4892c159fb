"""Every word of the interface can be replaced in study.toml."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from relstudy.studyapp.config.texts import ENGLISH
from tests.browser.sessions import MIXED, Rater, log_in, rate_by_http

GERMAN = (Path(__file__).parent / "german.toml").read_text(encoding="utf-8")

# What the marked pages may show besides texts: the study's own words, values, names, commands and key caps.
OWN = re.compile(
    r"«[^»]*»|Pictures and words|lab@example\.org|Is this about the query\?|How well does (each result|this) match "
    r"the query\?|It is the same picture\.|How was it\?|easy|hard|Anything else\?|(poor|average|good) match|boats, on "
    r"a lake|Birds|birds that fly at night|Sailing at dawn|The harbour was quiet when the first boats left\.|"
    r"By noon it rained\.|yes or no|one to nine|more pictures|pictures|binary|keywords|colour|Enter|Backspace|\bU\b|"
    r"https?://\S+|"
    r"\bR[0-9A-Z]{7}\b|\b[0-9A-Z]{8}\b|relstudy .*|links\.csv|[^A-Za-z]"
)


def _marked() -> str:
    """A study in which every text is its own name in guillemets."""
    lines = [f'"{key}" = "«{key}»"' for key in ENGLISH]
    return MIXED + "\n[texts]\n" + "\n".join(lines) + "\n"


def _strange(page: Page) -> str:
    """Words on the page, its title and its labels that come from nowhere a study author can reach."""
    words = page.evaluate(
        """() => {
            const labels = ['aria-label', 'alt', 'title', 'placeholder'].flatMap(
                name => [...document.querySelectorAll(`[${name}]`)].map(e => e.getAttribute(name)));
            document.querySelectorAll('details').forEach(e => { e.open = true; });
            return [document.title, document.body.textContent, ...labels].join('\\n');
        }"""
    )
    return OWN.sub(" ", words).strip()


def test_no_page_has_a_word_that_study_toml_cannot_replace(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(_marked())
    for shift in range(3):
        rate_by_http(served, 99, lambda number, values, lean=shift: values[(number + lean) % len(values)])
    page = new_page()
    strange: dict[str, str] = {}

    def look() -> None:
        if found := _strange(page):
            strange[page.url] = found

    page.goto(served.base)
    look()
    page.goto(f"{served.base}/nowhere")
    look()
    rater = Rater(page, served.names)
    page.goto(served.link())
    look()
    page.get_by_role("checkbox").check()
    rater.send()
    look()
    rater.send()
    while not page.url.endswith("/questions"):
        look()
        if "/practice/" in page.url:
            page.locator("[data-go]").click()
            page.wait_for_url("**/rate/*")
            continue
        rater.click(*["1"] * len(rater.pairs()))
        rater.send()
    look()
    page.get_by_text("easy").click()
    rater.send()
    look()
    log_in(page, served.base)
    for name in ("", "raters", "handout", "invite", "export"):
        page.goto(f"{served.base}/admin/{name}")
        look()
    assert not strange


def test_a_german_study_speaks_german_from_link_to_code(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(GERMAN)
    rater = Rater(new_page(360, 740), served.names)
    page = rater.page
    page.goto(served.link())
    assert page.locator("html").get_attribute("lang") == "de"
    expect(page.get_by_role("heading", level=1)).to_have_text("Teilnahme")
    page.get_by_label("Ich nehme teil").check()
    rater.send()
    page.get_by_role("button", name="Anfangen").click()
    page.wait_for_url("**/rate/1")
    while not page.url.endswith("/questions"):
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, page.url
        if "/practice/" in page.url:
            expect(page.get_by_text("Die meisten antworten hier anders.")).to_be_visible()
            page.get_by_role("link", name="Weiter").click()
            page.wait_for_url("**/rate/*")
            continue
        rater.click(*["undecided", "1", "1", "1"][: len(rater.pairs())])
        rater.send()
    page.get_by_label("leicht").check()
    page.get_by_role("button", name="Abschließen").click()
    expect(page.get_by_role("heading", name="Vielen Dank")).to_be_visible()
    expect(page.get_by_role("link", name="Abschließen und zurück")).to_be_visible()
    english = {text for text in ENGLISH.values() if len(text) > 12 and "{" not in text}
    body = page.locator("body").inner_text()
    assert not {text for text in english if text in body}
