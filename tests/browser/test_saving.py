"""When a save fails: nothing typed is lost, the page says what to do, and trying again works."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, expect
from sqlalchemy.exc import OperationalError

from tests.browser.sessions import Rater, Served
from tests.browser.test_session import PLAIN, _at_first_rating


@contextmanager
def _locked(served: Served) -> Iterator[None]:
    """Somebody else holds the database."""
    other = sqlite3.connect(served.folder / "study.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def _typed(page: Page) -> list[str]:
    return [radio.get_attribute("value") or "" for radio in page.locator("input:checked[type=radio]").all()]


def test_a_busy_database_is_told_on_the_page_which_keeps_what_was_typed_and_saves_it_later(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PLAIN, busy_seconds=0.2)
    rater = Rater(_at_first_rating(new_page(), served), served.names)
    page = rater.page
    rater.press("1", "2", "u", "4")
    with _locked(served):
        page.keyboard.press("Enter")
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("Not saved yet")
        expect(alert).to_contain_text("database is busy")
        expect(alert).to_contain_text("Your answers are kept on this page.")
        assert _typed(page) == ["1", "2", "undecided", "4"]
    assert served.export().empty
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/rate/2")
    rater.check_export(served.export())


def test_without_javascript_a_busy_database_gives_a_page_that_can_send_the_same_again(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PLAIN, busy_seconds=0.2)
    rater = Rater(_at_first_rating(new_page(javascript=False), served), served.names)
    page = rater.page
    rater.click("5", "4", "undecided", "2")
    with _locked(served):
        with page.expect_response(lambda response: response.request.method == "POST") as refusal:
            page.locator("form button.primary").click()
        assert refusal.value.status == 503
        expect(page.get_by_role("alert")).to_contain_text("database is busy")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/rate/2")
    rater.check_export(served.export())


def test_a_lost_connection_is_tried_again_by_the_page_itself(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PLAIN)
    page = new_page()
    page.clock.install()
    rater = Rater(_at_first_rating(page, served), served.names)
    rater.press("3", "3", "2", "1")
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    assert _typed(page) == ["3", "3", "2", "1"]
    page.context.set_offline(False)
    page.clock.run_for(6_000)
    page.wait_for_url("**/rate/2")
    rater.check_export(served.export())


def test_a_dropped_session_is_no_success_and_the_ratings_are_saved_after_the_link_was_opened_again(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PLAIN)
    page = new_page()
    link = served.link()
    served.link = lambda: link
    rater = Rater(_at_first_rating(page, served), served.names)
    rater.press("5", "4", "3", "2")
    page.context.clear_cookies()
    with page.expect_response(lambda response: response.request.method == "POST") as refusal:
        page.keyboard.press("Enter")
    assert refusal.value.status == 401
    expect(page.get_by_role("alert")).to_contain_text("Your session has ended")
    assert _typed(page) == ["5", "4", "3", "2"]
    elsewhere = page.context.new_page()
    elsewhere.goto(link)
    elsewhere.close()
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/rate/2")
    rater.check_export(served.export())


def test_a_page_sent_with_a_gap_says_so_and_goes_to_the_gap(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PLAIN)
    page = _at_first_rating(new_page(), served)
    page.locator("[data-result='1'] label:has(input[value='4'])").click()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("alert")).to_contain_text("Please rate every result")
    assert page.evaluate("document.activeElement.closest('.result').dataset.result") == "2"
    assert page.url.endswith("/rate/1")
    assert served.export().empty


def test_pressing_next_twice_saves_once(serve_study: Callable[..., Any], new_page: Callable[..., Page]) -> None:
    served = serve_study(PLAIN)
    rater = Rater(_at_first_rating(new_page(), served), served.names)
    rater.press("1", "2", "3", "4")
    rater.page.evaluate("for (let i = 0; i < 3; i++) document.querySelector('form[data-rating]').requestSubmit()")
    rater.page.wait_for_url("**/rate/2")
    table = served.export()
    rater.check_export(table)
    assert set(table["revisions"]) == {1}


def test_a_full_disk_is_told_and_nothing_is_lost(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PLAIN)
    rater = Rater(_at_first_rating(new_page(), served), served.names)
    page = rater.page
    rater.press("2", "2", "4", "5")
    write = served.store.write

    @contextmanager
    def full() -> Iterator[None]:
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))
        yield

    served.store.write = full
    with page.expect_response(lambda response: response.request.method == "POST") as refusal:
        page.keyboard.press("Enter")
    assert refusal.value.status == 507
    expect(page.get_by_role("alert")).to_contain_text("disk is full. Please tell the people who run the study")
    assert _typed(page) == ["2", "2", "4", "5"]
    served.store.write = write
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/rate/2")
    rater.check_export(served.export())


def test_a_page_that_was_saved_is_never_called_unsaved_because_the_next_one_failed(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study(PLAIN)
    rater = Rater(_at_first_rating(new_page(), served), served.names)
    page = rater.page
    rater.press("1", "2", "3", "4")
    rate = served.app.view_functions["rating.rate"]
    served.app.view_functions["rating.rate"] = lambda position: ("<h1>Later</h1>", 503)
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/2")
    expect(page.locator("body")).not_to_contain_text("Not saved")
    rater.check_export(served.export())
    served.app.view_functions["rating.rate"] = rate
    page.reload()
    expect(page.locator("[data-result='1']")).to_be_visible()


def test_a_strangers_page_in_between_is_no_success(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    """As a network's log-in page answers for every address."""
    served = serve_study(PLAIN)
    rater = Rater(_at_first_rating(new_page(), served), served.names)
    page = rater.page
    rater.press("1", "2", "3", "4")
    save = served.app.view_functions["rating.save"]
    served.app.view_functions["rating.save"] = lambda position: "<h1>Log in</h1>"
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not saved yet")
    assert _typed(page) == ["1", "2", "3", "4"]
    served.app.view_functions["rating.save"] = save
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/rate/2")
    rater.check_export(served.export())
