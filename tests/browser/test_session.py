"""People in front of the study, from the link to the completion code."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from relstudy.studyapp.assignment import invitations
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.store import Store
from tests.browser.sessions import PLAIN, Rater, Seat, exported, item_names, write_study


@contextmanager
def _relstudy_serve(folder: Path) -> Iterator[str]:
    """`relstudy serve` as a person starts it."""
    command = [sys.executable, "-m", "relstudy", "serve", str(folder), "--port", "0", "--workers", "2", "--quiet"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line.startswith("listening on "), line
        yield "http://" + line.removeprefix("listening on ").strip()
    finally:
        server.terminate()
        server.wait(60)


def test_a_base_block_rated_by_keyboard_goes_on_where_it_was_after_the_browser_was_closed_and_is_exported_as_typed(
    tmp_path: Path, launch_at: Callable[[Path], Any]
) -> None:
    folder = write_study(tmp_path / "study", PLAIN)
    study = prepare(folder)
    store = Store.of_study(folder)
    invitation = invitations.invite(store, study, 1)[0]
    names = item_names(folder)
    with _relstudy_serve(folder) as base:
        first = launch_at(tmp_path / "browser")
        rater = Rater(first.pages[0], names)
        rater.page.goto(base + invitation.path)
        rater.page.get_by_role("checkbox").press("Space")
        rater.go_on()
        rater.page.get_by_role("button", name="Start").press("Enter")
        rater.page.wait_for_url("**/rate/1")
        rater.press("1", "5", "3", "u")
        rater.go_on()
        left_at, left_pairs = rater.page.url, rater.pairs()
        rater.page.keyboard.press("4")
        first.close()

        second = launch_at(tmp_path / "browser")
        again = Rater(second.pages[0], names)
        again.typed = rater.typed
        again.page.goto(base)
        assert again.page.url == left_at
        assert again.pairs() == left_pairs
        again.press("2", "0", "4", "5")
        again.go_on()
        again.press("1", "1", "2", "U")
        again.go_on()
        expect(again.page.locator("#code")).to_have_text(invitation.completion_code)
        second.close()
    again.check_export(exported(folder))
    store.dispose()


def test_a_whole_mixed_session_needs_no_mouse(serve_study: Callable[..., Any], new_page: Callable[..., Page]) -> None:
    served = serve_study()
    rater = Rater(new_page(), served.names)
    page, press = rater.page, rater.page.keyboard.press
    page.goto(served.link())
    press("Tab")  # the skip link
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport(ratio=1)
    press("Tab")
    press("Space")
    rater.go_on()
    while not page.evaluate("document.activeElement.matches('button.primary')"):
        press("Tab")
    press("Enter")
    page.wait_for_url("**/rate/1")
    expect(page.locator(".badge")).to_have_text("Practice")
    rater.press("5")
    rater.go_on()
    expect(page.get_by_text("It is the same picture.")).to_be_visible()
    rater.go_on()

    for _ in range(2):
        rater.press("1", "2", "3", "4")
        rater.go_on()
    press("Backspace")  # back, to change one rating
    page.wait_for_url("**/rate/3")
    expect(page.locator("[data-result='1'] input[value='1']")).to_be_checked()
    changed = rater.pairs()[2]
    first = rater.page.locator("[data-result='1'] input[value='1']")
    expect(first).to_be_focused()
    press("ArrowRight")
    press("ArrowDown")  # from the second result to the fourth, below it
    expect(page.locator("[data-result='4']")).to_contain_class("result")
    assert page.evaluate("document.activeElement.closest('.result').dataset.result") == "4"
    press("ArrowLeft")
    press("5")
    rater.note(changed, "5")
    rater.go_on()
    for _ in range(4):  # binary: 0 is a value, U is undecided
        rater.press("0" if len(rater.typed) % 2 else "1")
        rater.go_on()
    for key in ("9", "7", "0", "u"):
        rater.press(key)
        rater.go_on()
    for _ in range(2):
        rater.press("5", "0", "u", "2")
        rater.go_on()

    expect(page.locator("h1")).to_have_text("A few questions at the end")
    while not page.evaluate("document.activeElement.matches('input[type=radio]')"):
        press("Tab")
    press("Space")
    press("Tab")
    page.keyboard.type("The boats were nice.")
    press("Tab")
    rater.go_on()
    expect(page.locator("#code")).to_be_visible()
    expect(page.get_by_role("link", name="Finish and return")).to_have_attribute(
        "href", re.compile(r"https://platform\.example/done\?code=[A-Z0-9]+")
    )
    rater.check_export(served.export())

    while not page.evaluate("document.activeElement.textContent === 'Rate some more'"):
        press("Tab")
    rater.go_on()
    rater.press("3", "3", "3", "3")
    rater.go_on()
    expect(page.locator("#code")).to_be_visible()
    rater.check_export(served.export())


def test_a_whole_session_on_a_phone_fits_its_width(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study()
    rater = Rater(new_page(360, 740, has_touch=True, is_mobile=True), served.names)
    page = rater.page

    def fits() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, page.url
        small = page.evaluate(
            """[...document.querySelectorAll('.step, button, .button, label.choice')]
               .map(e => e.getBoundingClientRect())
               .filter(r => r.width && (r.width < 24 || r.height < 24)).length"""
        )
        assert small == 0, page.url

    page.goto(served.link())
    fits()
    page.get_by_text("I agree").tap()
    rater.send()
    fits()
    rater.send()
    answers = {1: ["4"], 4: ["5", "1", "undecided", "2"]}
    while not page.url.endswith("/questions"):
        if "/practice/" in page.url:
            fits()
            page.get_by_role("link", name="Go on").tap()
            page.wait_for_url("**/rate/*")
            continue
        fits()
        top = rater.pairs()[0][2]
        count = len(rater.pairs())
        rater.click(*({"1": ["1"], "9": ["8"]}.get(top) or answers[count]))
        rater.send()
    fits()
    page.get_by_text("hard").tap()
    rater.send()
    fits()
    expect(page.locator("#code")).to_be_visible()
    rater.check_export(served.export())


def test_a_whole_session_works_without_javascript(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study()
    rater = Rater(new_page(javascript=False), served.names)
    page = rater.page
    rater.enter(served.link())
    while not page.url.endswith("/questions"):
        if "/practice/" in page.url:
            page.get_by_role("link", name="Go on").click()
            page.wait_for_url("**/rate/*")
            continue
        expect(page.locator(".keys")).to_be_hidden()
        top = rater.pairs()[0][2]
        rater.click(*[{"1": "0", "9": "5", "5": "undecided"}[top]] * len(rater.pairs()))
        if page.url.endswith("/rate/3"):
            page.get_by_role("link", name="Back").click()
            page.wait_for_url("**/rate/2")
            rater.click("5", "4", "3", "2")
            rater.send()
            rater.click("undecided", "1", "1", "1")
        rater.send()
    page.get_by_text("easy").click()
    rater.send()
    expect(page.locator("#code")).to_be_visible()
    rater.check_export(served.export())


def test_a_picture_opens_large_beside_its_query_and_focus_returns(take_seat: Callable[..., Seat]) -> None:
    page = take_seat().page
    link = page.locator("[data-result='2'] [data-enlarge]")
    link.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Result 2")
    expect(dialog).to_be_visible()
    assert dialog.bounding_box() == {"x": 0, "y": 0, "width": 1280, "height": 900}
    for name in ("Query", "Result 2"):
        expect(dialog.get_by_role("img", name=name)).to_be_visible()
        expect(dialog.locator("figcaption").filter(has_text=re.compile(f"^{name}$", re.IGNORECASE))).to_be_visible()
    expect(dialog.locator("img")).to_have_count(2)
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("3")  # goes nowhere while the picture is open
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(link).to_be_focused()
    expect(page.locator("input:checked[type=radio]")).to_have_count(0)


def test_a_picture_opens_and_closes_by_mouse_and_with_ctrl_in_a_tab_of_its_own(take_seat: Callable[..., Seat]) -> None:
    page = take_seat().page
    query = page.get_by_role("link", name="Query (enlarge)")
    query.click()
    dialog = page.get_by_role("dialog", name="Query")
    expect(dialog.locator("img")).to_have_count(1)
    dialog.get_by_role("button", name="Close").click()
    expect(page.locator("dialog")).to_have_count(0)
    expect(query).to_be_focused()
    with page.context.expect_page() as tab:
        query.click(modifiers=["ControlOrMeta"])
    expect(tab.value).to_have_url(re.compile(r"/item/\w+$"))
    expect(page.locator("dialog")).to_have_count(0)


def test_on_a_phone_the_query_that_stays_in_sight_never_covers_what_has_the_focus(
    take_seat: Callable[..., Seat],
) -> None:
    page = take_seat(width=360, height=740).page
    covered = """() => {
        const face = document.activeElement.closest('.step, .scale').getBoundingClientRect();
        const result = document.activeElement.closest('.result').getBoundingClientRect();
        const query = document.querySelector('.query').getBoundingClientRect();
        return result.top < query.bottom || face.bottom > innerHeight;
    }"""
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
        assert not page.evaluate(covered)
        assert page.evaluate("document.querySelector('.query').getBoundingClientRect().top") >= 0


def test_instructions_can_be_read_again_and_what_was_typed_is_still_there(take_seat: Callable[..., Seat]) -> None:
    page = take_seat().page
    page.keyboard.press("2")
    page.get_by_role("link", name="What to do").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/rate/1")
    expect(page.locator("[data-result='1'] input[value='2']")).to_be_checked()


def test_whoever_leaves_on_a_shared_device_leaves_nothing_to_the_next(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    for _ in range(3):
        seat.rater.press("1", "2", "3", "4")
        seat.rater.go_on()
    page = seat.page
    page.get_by_role("button", name="Sign out on this device").click()
    expect(page.get_by_text("open by personal link only")).to_be_visible()
    page.goto(f"{seat.served.base}/thanks")
    expect(page.locator("#code")).to_have_count(0)


def test_digits_that_need_shift_on_a_french_keyboard_rate_without_it(take_seat: Callable[..., Seat]) -> None:
    page = take_seat().page
    page.evaluate(
        """document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key: "'", code: "Digit4", bubbles: true, cancelable: true }))"""
    )
    expect(page.locator("[data-result='1'] input[value='4']")).to_be_checked()


def test_the_browsers_own_way_back_shows_the_earlier_page(take_seat: Callable[..., Seat]) -> None:
    rater = take_seat().rater
    first = rater.pairs()
    rater.press("1", "2", "3", "4")
    rater.go_on()
    rater.page.go_back()
    expect(rater.page.locator("input:checked[type=radio]")).to_have_count(4)
    assert rater.pairs() == first


def test_going_back_shows_what_was_saved_last_not_what_was_typed_before(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    page = seat.page
    seat.rater.press("1", "2", "3", "4")
    seat.rater.go_on()
    other = Rater(page.context.new_page(), seat.served.names)
    other.page.goto(f"{seat.served.base}/rate/1")
    other.click("5", "5", "5", "5")
    other.send()
    page.keyboard.press("Backspace")
    page.wait_for_url("**/rate/1")
    assert seat.rater.shown() == ["5", "5", "5", "5"]
    expect(page.locator("[data-result='1'] input[value='5']")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-result='2'] input[value='5']")).to_be_focused()


def test_the_skip_link_leads_to_the_content_of_the_page_as_it_is(take_seat: Callable[..., Seat]) -> None:
    page = take_seat().page
    page.evaluate("window.still = true")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("3")
    expect(page.locator("[data-result='1'] input[value='3']")).to_be_checked()
    assert page.evaluate("window.still"), "the page was loaded again"


def test_the_next_pages_pictures_are_loaded_ahead(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    page = seat.page
    ahead = (page.locator("form[data-rating]").get_attribute("data-preload") or "").split()
    page.wait_for_function(
        "all => all.every(one => performance.getEntriesByName(new URL(one, location).href).length)", arg=ahead
    )
    seat.rater.press("1", "1", "1", "1")
    seat.rater.go_on()
    assert [image.get_attribute("src") for image in page.locator("img").all()] == ahead


def test_single_keys_can_be_switched_off_and_stay_off(take_seat: Callable[..., Seat]) -> None:
    page = take_seat().page
    page.get_by_label("single keys on").uncheck()
    page.locator("[data-result='1'] input").first.focus()
    page.keyboard.press("3")
    expect(page.locator("input:checked[type=radio]")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("single keys on")).not_to_be_checked()


def test_a_page_left_half_rated_keeps_it_over_a_reload_but_never_for_another_rater(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat()
    page = seat.page
    page.keyboard.press("3")
    page.reload()
    expect(page.locator("[data-result='1'] input[value='3']")).to_be_checked()
    page.goto(seat.served.link())
    page.get_by_role("button", name="Go on with this link").click()
    seat.rater.begin()
    expect(page.locator("input:checked[type=radio]")).to_have_count(0)


def test_a_page_is_light(serve_study: Callable[..., Any], new_page: Callable[..., Page]) -> None:
    """Without its pictures: under 30 kB as sent, one stylesheet and one script."""
    served = serve_study()
    page = new_page()
    rater = Rater(page, served.names)
    rater.enter(served.link())
    rater.press("5")
    rater.go_on()
    rater.go_on()
    page.reload(wait_until="networkidle")
    sizes = page.evaluate(
        """[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
           .filter(e => !e.name.includes('/item/')).map(e => [e.name, e.encodedBodySize])"""
    )
    assert sum(size for _, size in sizes) < 30_000, sizes
    assert len([name for name, _ in sizes if ".css" in name]) == 1
    assert len([name for name, _ in sizes if ".js" in name]) == 1
    assert all(name.startswith(served.base) for name, _ in sizes)


def test_a_key_that_is_held_down_is_one_answer(take_seat: Callable[..., Seat]) -> None:
    """Its repeats rated every result of the page."""
    page = take_seat().page
    page.keyboard.down("3")
    for _ in range(6):
        page.keyboard.down("3")  # Playwright sends repeats, as a keyboard does
    page.keyboard.up("3")
    assert page.locator("fieldset.scale input:checked").count() == 1
