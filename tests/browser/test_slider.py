"""A slider by keyboard, pointer and touch, and without script; never set before somebody sets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.sessions import PLAIN, Rater, Seat, Served, one_by_one
from tests.browser.test_accessible import Tour

SCALE = """
[scales.slider]
values = [0, 100]
continuous = true
labels = { 0 = "poor match", 50 = "fair", 100 = "good match" }
"""
SINGLE = one_by_one("slider", SCALE)
FOUR = PLAIN.replace('paradigm = "image"\n', 'paradigm = "image"\nscale = "slider"\n') + SCALE
LOOKS: list[Any] = [("light", (1280, 900), "en"), ("dark", (360, 740), "en"), ("light", (360, 740), "ar")]


def number(page: Page, place: int) -> str:
    return page.locator(f"[data-result='{place}'] input[type=number]").input_value()


def test_keys_alone_set_sliders_and_send_them(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(FOUR)
    page = seat.page
    assert [number(page, place) for place in range(1, 5)] == [""] * 4
    page.keyboard.press("Enter")  # nothing is chosen, though every handle stands in the middle
    expect(seat.alert).to_contain_text("Please rate every result")
    page.keyboard.press("ArrowRight")
    assert number(page, 1) == "51"
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")  # the middle is a place, too
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("u")
    assert [number(page, place) for place in range(1, 5)] == ["100", "0", "50", ""]
    assert page.locator("[data-result='3'] input[type=range]").get_attribute("aria-valuetext") == "50 fair"
    seat.rater.go_on()
    table = seat.served.export().sort_values("place")
    assert table["rating"].fillna(-1).tolist() == [100, 0, 50, -1]


def test_a_tap_and_a_drag_set_it_and_undecided_takes_it_back(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(SINGLE, width=360, height=740, has_touch=True, is_mobile=True)
    page = seat.page
    slider = page.locator("input[type=range]")
    expect(slider).to_have_class("needs-script unset")
    box = slider.bounding_box()
    assert box is not None and box["height"] >= 44

    def tap(share: float) -> None:
        slider.tap(position={"x": box["width"] * share, "y": box["height"] / 2})

    tap(0.5)
    assert abs(float(number(page, 1)) - 50) <= 1  # where the hidden handle stood
    expect(slider).to_have_class("needs-script")
    tap(0.8)
    assert 75 < float(number(page, 1)) < 90
    page.locator("label.none").first.tap()
    assert number(page, 1) == ""
    expect(slider).to_have_class("needs-script unset")
    tap(0.2)
    chosen = number(page, 1)
    assert 10 < float(chosen) < 25
    page.reload()  # what was chosen is kept as a draft
    assert number(page, 1) == chosen
    seat.rater.send()
    assert seat.served.export()["rating"].tolist() == [float(chosen)]


def test_without_script_it_is_a_field_for_a_number(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(SINGLE, javascript=False)
    page = seat.page
    expect(page.locator("input[type=range]")).to_be_hidden()
    expect(page.get_by_text("A number from 0 to 100")).to_be_visible()
    expect(page.get_by_text("fair", exact=False).first).to_be_visible()
    page.locator("input[type=number]").fill("37.5")
    seat.rater.send()
    page.locator("input[value=undecided]").check(force=True)
    seat.rater.send()
    assert seat.served.export()["rating"].fillna(-1).tolist() == [37.5, -1]


@pytest.mark.parametrize(("scheme", "size", "code"), LOOKS, ids=str)
@pytest.mark.parametrize("toml", [SINGLE, FOUR], ids=["one", "four"])
def test_a_slider_is_no_barrier(
    serve_study: Callable[..., Served],
    new_page: Callable[..., Page],
    toml: str,
    scheme: str,
    size: tuple[int, int],
    code: str,
) -> None:
    served = serve_study(toml.replace('id = "', f'language = "{code}"\nid = "', 1))
    page = new_page(*size, color_scheme=scheme)
    tour, rater = Tour(page), Rater(page, served.names)
    page.goto(served.link())
    page.get_by_role("checkbox").check()
    rater.send()
    tour.look("instructions")
    rater.send()
    tour.look("unset")
    page.locator("input[type=range]").first.press("Home")
    low = page.locator("input[type=range]").first.input_value()
    assert number(page, 1) == low == "0"
    tour.look("set")
    assert tour.found == []
