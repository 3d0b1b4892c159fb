"""A rating page suggests no answer: until a person acts, no value looks other than the rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.sessions import Seat, one_by_one

PHONE: dict[str, Any] = {"width": 360, "height": 740, "has_touch": True, "is_mobile": True}
TABLET: dict[str, Any] = {"width": 820, "height": 1100, "has_touch": True}
LOOKS = """() => [...document.querySelectorAll('.steps .step .face')].map((face) => {
  const style = getComputedStyle(face);
  return [style.outlineStyle, style.boxShadow, style.backgroundColor, style.borderColor, style.color].join();
})"""


def looks(page: Page, name: str) -> set[str]:
    """The different looks of the values on a page; `LOOK_AT` names a folder for screenshots of what was looked at."""
    if "LOOK_AT" in os.environ:
        page.screenshot(path=Path(os.environ["LOOK_AT"]) / f"{name}.png")
    return set(page.evaluate(LOOKS))


@pytest.mark.parametrize("options", [{}, {"width": 640}, PHONE, TABLET], ids=["desk", "narrow", "phone", "tablet"])
def test_no_value_stands_out_before_a_person_acts(
    take_seat: Callable[..., Seat], options: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    seat = take_seat(**options)
    page, name = seat.page, request.node.callspec.id
    assert len(looks(page, f"{name}-first")) == 1
    if name in ("phone", "tablet"):
        for result in range(1, 5):
            page.locator(f"[data-result='{result}'] .step", has=page.locator("input[value='3']")).tap()
        page.get_by_role("button", name="Next").tap()
    else:
        seat.rater.click("3", "3", "3", "3")
        seat.rater.send()
    expect(page).to_have_title("Page 2 of 3 – Pictures")
    assert len(looks(page, f"{name}-by-pointer")) == 1


def test_no_value_stands_out_when_the_page_before_was_answered_by_keys(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    seat.page.keyboard.press("5")
    first = "[...document.querySelectorAll('[data-result=\"2\"] .step .face')]"
    rings = f"{first}.filter((face) => getComputedStyle(face).outlineStyle !== 'none').length"
    assert seat.page.evaluate(rings) == 0  # the next result has the focus, none of its values
    for _ in range(3):
        seat.page.keyboard.press("5")
    seat.rater.go_on()
    assert len(looks(seat.page, "by-keys")) == 1


def test_one_result_a_page_suggests_nothing_either(take_seat: Callable[..., Seat]) -> None:
    page = take_seat(one_by_one("1-9")).page
    assert len(looks(page, "one-by-one")) == 1


def test_next_is_on_the_side_of_the_last_answer_and_the_time_left_is_told(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    page = seat.page
    expect(page.locator(".progress")).to_have_text("Page 1 of 3")
    button, last = (
        page.get_by_role("button", name="Next").bounding_box(),
        page.locator("[data-result='4']").bounding_box(),
    )
    assert button is not None and last is not None
    assert button["x"] + button["width"] == pytest.approx(last["x"] + last["width"], abs=2)
    own = "`pace:${document.documentElement.dataset.root}`"
    page.evaluate(f"sessionStorage.setItem({own}, JSON.stringify({{ sum: 360, pages: 3 }}))")
    page.reload()
    expect(page.locator(".progress")).to_have_text("Page 1 of 3 · about 6 min left")
