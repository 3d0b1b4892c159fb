"""When a save fails: nothing typed is lost, the page says what to do, and trying again works."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from flask import Response
from flask.typing import ResponseReturnValue
from playwright.sync_api import expect
from sqlalchemy.exc import OperationalError

from relstudy.studyapp.web.rater import rating
from tests.browser.sessions import PLAIN, Seat, Served, rate_by_http


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


def test_a_busy_database_is_told_on_the_page_which_keeps_what_was_typed_and_saves_it_later(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(busy_seconds=0.2, still=True)
    seat.rater.press("1", "2", "u", "4")
    with _locked(seat.served):
        seat.refused(503)
        expect(seat.alert).to_contain_text("database is busy")
        expect(seat.alert).to_contain_text("Your answers are kept on this page.")
    assert seat.rater.shown() == ["1", "2", "undecided", "4"]
    assert seat.served.export().empty
    seat.save_after_all()


def test_without_javascript_a_busy_database_gives_a_page_that_can_send_the_same_again(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(busy_seconds=0.2, javascript=False)
    seat.rater.click("5", "4", "undecided", "2")
    with _locked(seat.served):
        with seat.page.expect_response(lambda response: response.request.method == "POST") as refusal:
            seat.page.locator("form button.primary").click()
        assert refusal.value.status == 503
        expect(seat.alert).to_contain_text("database is busy")
    seat.save_after_all()


def test_a_connection_that_breaks_is_tried_again_by_the_page_itself_less_and_less_often(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(still=True)
    count = seat.alert.locator("[aria-hidden=true]")  # a screen reader would be told every second
    seat.rater.press("3", "3", "2", "1")
    with seat.answered_by(lambda position: Response(iter(["half"]), headers={"Content-Length": "99"}), "rating.save"):
        seat.page.keyboard.press("Enter")
        expect(seat.alert).to_contain_text("cannot be reached")
        expect(seat.alert).to_contain_text("Your answers are kept on this page.")
        expect(count).to_have_text("Trying again in 5 seconds.")
        assert seat.rater.shown() == ["3", "3", "2", "1"]
        seat.page.clock.run_for(2_000)
        expect(count).to_have_text("Trying again in 3 seconds.")
        seat.page.clock.run_for(3_000)
        expect(count).to_have_text("Trying again in 10 seconds.")
    seat.page.clock.run_for(11_000)
    seat.saved()


def test_a_busy_database_is_tried_again_by_the_page_itself(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(busy_seconds=0.2, still=True)
    seat.rater.press("3", "3", "2", "1")
    with _locked(seat.served):
        seat.refused(503)
    seat.page.clock.run_for(6_000)
    seat.saved()


def test_a_dropped_session_is_no_success_and_the_ratings_are_saved_after_the_link_was_opened_again(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat()
    seat.rater.press("5", "4", "3", "2")
    seat.page.context.clear_cookies()
    seat.refused(401)
    expect(seat.alert).to_contain_text("Your session has ended")
    elsewhere = seat.page.context.new_page()
    elsewhere.goto(seat.link)
    elsewhere.close()
    seat.save_after_all()


def test_a_page_sent_with_a_gap_says_so_and_goes_to_the_gap(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    page = seat.page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.locator("[data-result='1'] label:has(input[value='4'])").click()
    page.get_by_role("button", name="Next").click()
    expect(seat.alert).to_contain_text("Please rate every result")
    assert sent == []
    assert page.evaluate("document.activeElement.closest('.result').dataset.result") == "2"
    assert page.url.endswith("/rate/1")
    assert seat.served.export().empty
    lacking = page.locator(".result.lacking")
    expect(lacking).to_have_count(3)
    expect(lacking.last).not_to_have_css("outline-color", "rgba(0, 0, 0, 0)")
    expect(page.locator(".result").first).to_have_css("outline-color", "rgba(0, 0, 0, 0)")
    page.keyboard.press("3")
    expect(lacking).to_have_count(2)


def test_a_complaint_of_the_studys_stands_beside_its_result_until_it_is_answered(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat()
    page = seat.page
    seat.rater.press("1", "2", "3", "4")
    page.locator("[data-result='3'] input:checked").evaluate(
        "input => { input.value = '77'; input.dispatchEvent(new Event('change', { bubbles: true })); }"
    )
    page.keyboard.press("Enter")
    expect(seat.alert).to_contain_text("This is not a value of the scale.")
    problem = page.locator("[data-result='3'] .problem")
    expect(problem).to_have_text("This is not a value of the scale.")
    assert seat.rater.shown() == ["1", "2", "4"]
    page.keyboard.press("3")
    expect(problem).to_have_count(0)
    page.keyboard.press("Enter")
    seat.saved()


def test_the_seconds_of_a_page_are_those_in_sight_and_begin_anew_with_each_page(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(still=True)
    page = seat.page

    def rate(further: str) -> None:
        seat.rater.press("1", "2", "3", "4")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/{further}")

    def turn(hidden: bool) -> None:
        page.evaluate(
            """hidden => {
                Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
                document.dispatchEvent(new Event("visibilitychange"));
            }""",
            hidden,
        )

    rate("rate/2")
    page.clock.run_for(240)
    turn(hidden=True)
    page.clock.run_for(300)
    turn(hidden=False)
    page.clock.run_for(160)
    rate("rate/3")
    second = seat.served.export().tail(4)
    assert second["seconds"].tolist() == [0.1] * 4, "0.4 seconds for four results"


def test_what_is_under_way_is_not_sent_twice_and_the_old_complaint_is_gone(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    sent: list[str] = []
    seat.page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    seat.page.get_by_role("button", name="Next").click()
    expect(seat.alert).to_contain_text("Please rate every result")
    seat.page.locator("[data-result='1'] input").first.focus()
    seat.rater.press("1", "2", "3", "4")
    go, own = threading.Event(), seat.served.app.view_functions["rating.save"]

    def slow(position: int) -> ResponseReturnValue:
        go.wait(60)
        return own(position)  # type: ignore[no-any-return]

    with seat.answered_by(slow, "rating.save"):
        form = seat.page.locator("form[data-rating]")
        form.evaluate("form => { for (let i = 0; i < 3; i++) form.requestSubmit(); }")
        expect(form).to_have_attribute("aria-busy", "true")
        expect(form.locator("[data-alerts]")).to_be_empty()
        go.set()
        seat.saved()
    assert len(sent) == 1


def test_a_full_disk_is_told_and_nothing_is_lost(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat(height=500)
    seat.rater.press("2", "2", "4", "5")
    seat.page.locator("[data-result='1'] input:checked").focus()
    write = seat.served.store.write

    @contextmanager
    def full() -> Iterator[None]:
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))
        yield

    seat.served.store.write = full  # type: ignore[method-assign, assignment]
    seat.refused(507)
    expect(seat.alert).to_contain_text("disk is full or failing. Please tell the people who run the study")
    expect(seat.alert).to_contain_text("Your answers are kept on this page.")
    expect(seat.alert).to_be_in_viewport(ratio=0.9)
    expect(seat.page.get_by_role("button", name="Next")).to_be_focused()
    seat.served.store.write = write  # type: ignore[method-assign]
    seat.save_after_all()


def test_saving_a_page_and_showing_the_next_is_one_request(take_seat: Callable[..., Seat]) -> None:
    seat = take_seat()
    asked: list[str] = []
    seat.page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    seat.rater.press("1", "2", "3", "4")
    seat.page.keyboard.press("Enter")
    seat.saved()
    second = seat.rater.pairs()
    assert [address for address in asked if "/rate/" in address] == [f"POST {seat.served.base}/rate/1"]
    seat.page.reload()
    assert seat.rater.pairs() == second, "the address is the page's own"


def test_a_page_that_was_saved_is_never_called_unsaved_because_the_next_one_failed(
    take_seat: Callable[..., Seat], monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = take_seat()
    seat.rater.press("1", "2", "3", "4")

    def fails(*_: object) -> None:
        raise FileNotFoundError("a picture that is gone")

    with monkeypatch.context() as patch, seat.answered_by(lambda position: ("<h1>Later</h1>", 503), "rating.rate"):
        patch.setattr(rating, "build_rating_page", fails)
        seat.page.keyboard.press("Enter")
        seat.saved()
        expect(seat.page.locator("h1")).to_have_text("Later")
    seat.page.reload()
    expect(seat.page.locator("[data-result='1']")).to_be_visible()


@pytest.mark.parametrize(
    "page", ["<h1>Log in</h1>", "<form data-rating action='/rate/2'><input name='csrf'></form>"], ids=["log-in", "copy"]
)
def test_a_strangers_page_in_between_is_no_success(take_seat: Callable[..., Seat], page: str) -> None:
    """As a network's log-in page answers for every address, or a store of old pages for a few."""
    seat = take_seat()
    seat.rater.press("1", "2", "3", "4")
    with seat.answered_by(lambda position: page, "rating.save"):
        seat.refused(200)
    seat.save_after_all()


def test_under_a_path_of_a_host_pages_follow_each_other_without_being_loaded_anew(
    take_seat: Callable[..., Seat],
) -> None:
    seat = take_seat(PLAIN.replace('title = "Pictures"', 'title = "Pictures"\nurl = "https://lab.example.org/a/b"'))
    seat.page.evaluate("window.stillThere = true")
    for number in (1, 2):
        assert seat.page.url.endswith(f"/a/b/rate/{number}")
        seat.rater.press("1", "2", "u", "4")
        seat.rater.go_on()
    assert seat.page.evaluate("window.stillThere")
    assert len(seat.served.export()) == 8


def test_what_was_chosen_for_one_page_is_not_shown_on_another_that_took_its_place(
    take_seat: Callable[..., Seat],
) -> None:
    """The lease of a half-filled page ran out and others took its pairs: after a reload the old choices stood on the
    new results, and one press stored ratings that nobody gave."""
    seat = take_seat(PLAIN + "\n[handout]\nlease_minutes = 0.01\n")
    for _ in range(2):  # the base pages
        seat.rater.press("3", "3", "3", "3")
        seat.rater.go_on()
    before = seat.rater.pairs()
    seat.rater.press("1", "1", "1", "1")
    seat.page.reload()
    assert seat.rater.pairs() == before and seat.rater.shown() == ["1"] * 4  # a page of its own keeps its draft
    first = before[0][0]
    for _ in range(8):
        seat.page.wait_for_timeout(1_000)  # the lease is .6 seconds
        rate_by_http(seat.served, 3, lambda number, values: values[0])
        if first in set(seat.served.export()["query_id"]):
            break
    assert first in set(seat.served.export()["query_id"])
    seat.page.reload()
    assert seat.rater.pairs() != before and seat.rater.shown() == []
    there, saved = seat.page.url, len(seat.served.export())
    seat.page.keyboard.press("Enter")  # nothing is chosen
    expect(seat.alert).to_be_visible()
    assert seat.page.url == there and len(seat.served.export()) == saved
