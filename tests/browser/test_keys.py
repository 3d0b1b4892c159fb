"""What each key does on a rating page, and what the page says of it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.sessions import Seat, one_by_one

PHONE = {"width": 360, "height": 740, "has_touch": True, "is_mobile": True}


def _focus(page: Page) -> str:
    """The number of the result that has the focus, or what else has it."""
    focus = "document.activeElement.closest('.result')?.dataset.result ?? document.activeElement.localName"
    return str(page.evaluate(focus))


def _hints(page: Page) -> list[str]:
    return [" ".join(hint.split()) for hint in page.locator(".keys > span").all_inner_texts()]


def test_arrows_reach_every_result_and_the_button_and_come_back(take_seat: Callable[..., Seat]) -> None:
    page = take_seat().page  # two columns
    way = [
        *[("ArrowDown", "3"), ("ArrowUp", "1"), ("ArrowRight", "2"), ("ArrowDown", "4"), ("ArrowRight", "button")],
        *[("ArrowUp", "4"), ("ArrowRight", "button"), ("ArrowLeft", "4"), ("ArrowUp", "2"), ("ArrowUp", "2")],
        ("ArrowLeft", "1"),
        ("ArrowLeft", "1"),
    ]
    assert _focus(page) == "1"
    found = []
    for key, _ in way:
        page.keyboard.press(key)
        found.append((key, _focus(page)))
    assert found == way
    expect(page.locator("input:checked[type=radio]")).to_have_count(0)


def test_with_one_result_on_the_page_arrows_move_along_its_scale(take_seat: Callable[..., Seat]) -> None:
    page = take_seat(one_by_one("1-9")).page
    page.keyboard.press("ArrowRight")  # to the scale
    expect(page.locator("input:checked[type=radio]")).to_have_count(0)
    page.keyboard.press("ArrowRight")  # along it
    expect(page.locator("input[value='2']")).to_be_checked()
    expect(page.locator("input[value='2']")).to_be_focused()


def test_after_the_last_result_the_focus_goes_to_one_left_out_and_then_to_the_button(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat()
    page = seat.page
    page.keyboard.press("ArrowDown")
    page.keyboard.press("3")
    page.keyboard.press("4")
    assert _focus(page) == "1"
    for key in ("1", "2", "5", "5"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Next")).to_be_focused()
    assert seat.rater.shown() == ["1", "2", "5", "5"]


def test_keys_begin_with_the_first_result_that_lacks_a_rating_with_the_focus_on_nothing_and_on_a_page_loaded_anew(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat()
    page = seat.page
    page.keyboard.press("5")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("4")
    assert seat.rater.shown() == ["5", "4"]
    page.reload()
    assert _focus(page) == "3"
    page.keyboard.press("3")
    page.keyboard.press("2")
    assert seat.rater.shown() == ["5", "4", "3", "2"]
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/2")


def test_keys_never_rate_or_go_back_with_ctrl_nor_while_someone_types_or_looks_at_a_large_picture(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat()
    page = seat.page
    seat.rater.press("1", "2", "3", "4")
    seat.rater.go_on()
    for modifier in ("Control", "Alt", "Meta"):
        page.keyboard.press(f"{modifier}+3")
    picture = page.locator("[data-result='2'] [data-enlarge]")
    picture.click()
    page.keyboard.press("Backspace")
    page.keyboard.press("3")
    page.keyboard.press("Escape")
    expect(picture).to_be_focused()
    # A text field in the form, such as an extension of the browser's may put there.
    page.evaluate("document.querySelector('.result').append(document.createElement('textarea'))")
    field = page.locator("textarea")
    # whoever goes elsewhere the moment the picture closes stays there: the browser says later that it closed
    picture.click()
    page.evaluate("document.querySelector('dialog.large').close(); document.querySelector('textarea').focus()")
    expect(page.locator("dialog.large")).to_have_count(0)
    expect(field).to_be_focused()
    field.press_sequentially("a 34")
    field.press("Backspace")
    expect(field).to_have_value("a 3")
    assert page.url.endswith("/rate/2")
    assert seat.rater.shown() == []


def test_the_keys_are_shown_on_the_page_and_in_the_instructions(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    page = seat.page
    first = ["1–5 rate", "0 U undecided", "← → move", "Enter go on"]
    assert _hints(page) == first
    seat.rater.press("1", "2", "3", "4")
    seat.rater.go_on()
    assert _hints(page) == [*first, "Backspace go back"]
    page.get_by_role("link", name="What to do").click()
    expect(page.get_by_text("press a digit to answer, U for undecided, the arrow keys")).to_be_visible()


def test_on_a_touch_screen_no_key_is_shown_and_each_page_begins_at_its_beginning(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(**PHONE)
    page = seat.page
    expect(page.locator(".keys")).to_be_hidden()
    assert _focus(page) == "body"
    seat.rater.click("1", "2", "3", "4")
    seat.rater.send()
    expect(page.get_by_role("main")).to_be_focused()
    assert page.evaluate("scrollY") == 0
