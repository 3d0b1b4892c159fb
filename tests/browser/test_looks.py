"""What must be seen: the focus, the choice, dark and light, and what a system setting asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.sessions import Seat


def _brightness(page: Page, selector: str) -> float:
    """Of an element's background, from 0 (black) to 255 (white)."""
    colour = page.locator(selector).first.evaluate("e => getComputedStyle(e).backgroundColor")
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return (red + green + blue) / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_is_as_light_or_dark_as_the_system(take_seat: Callable[..., Seat], scheme: str) -> None:
    page = take_seat(color_scheme=scheme).page
    for selector in ("html", "header", ".query", ".result", ".face"):
        found = _brightness(page, selector)
        assert found > 200 if scheme == "light" else found < 60, selector
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").evaluate("e => { e.style.all = 'revert'; }")
    assert (_brightness(page, "textarea") > 128) == (scheme == "light"), "a field as the browser draws it"


def test_whatever_has_the_focus_shows_it(take_seat: Callable[..., Seat]) -> None:
    """A ring around the element, or around the button that stands for a radio, in another colour than what is there."""
    seat = take_seat()
    page = seat.page
    page.locator(".skip").focus()
    expect(page.locator(".skip")).to_be_in_viewport(ratio=1)
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        what, style, width, colour, behind = page.evaluate(
            """() => {
                const active = document.activeElement;
                const drawn = active.type === "radio" ? active.nextElementSibling : active;
                const ring = getComputedStyle(drawn);
                const behind = getComputedStyle(active.closest(".result, .query, header, body")).backgroundColor;
                return [active.className || active.type || active.localName, ring.outlineStyle,
                        parseFloat(ring.outlineWidth), ring.outlineColor, behind];
            }"""
        )
        assert (style, width >= 2) == ("solid", True), what
        assert colour != behind, what
        seen.add(what)
    assert {"picture", "radio", "primary", "checkbox"} <= seen


def test_the_result_in_hand_and_the_chosen_value_stand_out(take_seat: Callable[..., Seat]) -> None:
    page = take_seat(reduced_motion="reduce").page
    outline = "e => getComputedStyle(e).outlineColor"
    first, second = page.locator(".result").nth(0), page.locator(".result").nth(1)
    assert first.evaluate(outline) != second.evaluate(outline)
    page.keyboard.press("3")
    face = "input[value='{}'] + .face"
    assert _brightness(page, face.format(3)) != _brightness(page, face.format(4))
    assert first.evaluate("e => getComputedStyle(e).transitionDuration") == "0s"


def test_the_chosen_value_stands_out_in_colours_of_the_systems_own(take_seat: Callable[..., Seat]) -> None:
    page = take_seat(forced_colors="active").page
    page.keyboard.press("3")
    colours = page.locator("[data-result='1'] .face").evaluate_all(
        "all => all.map(e => getComputedStyle(e).backgroundColor)"
    )
    assert colours[2] != colours[1] == colours[3]
