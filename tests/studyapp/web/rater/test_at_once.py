"""What the study's own script asks for: the next page as the answer to the ratings, once they are on disk."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from relstudy.studyapp.database.tables import assignments, slots
from relstudy.studyapp.web.rater import rating
from relstudy.studyapp.web.rater.rating import PAGE
from tests.studyapp.browse import Browser, joined
from tests.studyapp.desk import toml
from tests.studyapp.studies import Made


def send(browser: Browser, fields: dict[str, str]) -> TestResponse:
    """As the study's script does, which follows no redirect that it does not see."""
    return browser.client.post(browser.address, data=fields, headers={PAGE: "next"})


def unsigned(html: str) -> str:
    return re.sub(r"[0-9a-f]{8}-1-[0-9a-f]{12}\.[\w-]{6,12}\.[\w-]{43}|(?<=\")[\w-]{43}(?=\")", "*", html)


@pytest.mark.slow
def test_the_answer_is_the_next_page_with_its_address_and_everything_that_goes_with_a_page(
    make_study: Callable[..., Made],
) -> None:
    made = make_study()
    browser = joined(made.app)
    for position in (2, 3, 4):
        sent = browser.filled()
        answer = send(browser, sent)
        assert (answer.status_code, answer.headers[PAGE]) == (200, f"/rate/{position}")
        assert made.rows() == 4 * (position - 1)
        again = send(browser, sent)
        assert (again.status_code, again.headers[PAGE]) == (200, f"/rate/{position}")
        assert made.rows() == 4 * (position - 1), "sent twice, saved once"
        browser.get(f"/rate/{position}")
        assert browser.response is not None
        assert unsigned(answer.text) == unsigned(again.text) == unsigned(browser.response.text)
        usual = {name: value for name, value in browser.response.headers if name != "Date"}
        assert {name: value for name, value in answer.headers if name not in ("Date", PAGE)} == usual
    assert usual["Cache-Control"] == "no-store"


def test_whoever_does_not_ask_for_it_is_redirected_as_before(make_study: Callable[..., Made]) -> None:
    made = make_study()
    browser = joined(made.app)
    answer = browser.client.post("/rate/1", data=browser.filled())
    assert (answer.status_code, answer.headers["Location"]) == (303, "/rate/2")
    assert PAGE not in answer.headers


@pytest.mark.slow
def test_after_practice_and_at_the_end_the_script_is_redirected(make_study: Callable[..., Made]) -> None:
    extra = '[[practice]]\nquery_id = "q0"\nresult_id = "q0"\nexpected = [4]\n[[questions]]\nid = "a"\ntext = "?"\n'
    made = make_study(toml(page=4, per_rater="4", extra=extra), base_queries=0, unique_queries=1)
    browser = joined(made.app)
    for leads_to in ("/practice/1", "/questions"):
        answer = send(browser, browser.filled())
        assert (answer.status_code, answer.headers["Location"], PAGE in answer.headers) == (303, leads_to, False)
        browser.get("/rate")
    assert made.rows() == 1 + 4


def forged(made: Made, browser: Browser) -> dict[str, str]:
    return {**browser.filled(), "form": "x"}


def off_the_scale(made: Made, browser: Browser) -> dict[str, str]:
    return browser.filled("7")


def without_a_session(made: Made, browser: Browser) -> dict[str, str]:
    fields = browser.filled()
    del browser.cookie
    return fields


def after_the_end(made: Made, browser: Browser) -> dict[str, str]:
    fields = browser.filled("2")
    browser.rate_all()
    browser.address = "/rate/1"
    return fields


def at_a_commit_that_fails(made: Made, browser: Browser) -> dict[str, str]:
    write = made.store.write

    @contextlib.contextmanager
    def full() -> Iterator[sa.Connection]:
        with write() as connection:
            yield connection
            raise sa.exc.OperationalError("COMMIT", {}, Exception("database or disk is full"))

    made.store.write = full  # type: ignore[method-assign]
    return browser.filled()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trouble", "status"),
    [
        (forged, 400),
        (off_the_scale, 422),
        (without_a_session, 401),
        (after_the_end, 409),
        (at_a_commit_that_fails, 507),
    ],
)
def test_no_refusal_names_a_next_page(
    make_study: Callable[..., Made], trouble: Callable[[Made, Browser], dict[str, str]], status: int
) -> None:
    made = make_study()
    browser = joined(made.app)
    fields = trouble(made, browser)
    before = made.rows()
    answer = send(browser, fields)
    assert answer.status_code == status
    assert PAGE not in answer.headers and "Location" not in answer.headers
    assert made.rows() == before


@pytest.mark.slow
def test_saved_is_saved_when_the_next_page_cannot_be_shown(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_study()
    browser = joined(made.app)
    fields = browser.filled()

    def fails(*_: object, **__: object) -> None:
        raise FileNotFoundError("a picture that is gone")

    monkeypatch.setattr(rating, "build_rating_page", fails)
    answer = send(browser, fields)
    assert (answer.status_code, answer.headers["Location"], PAGE in answer.headers) == (303, "/rate/2", False)
    assert made.rows() == 4


@pytest.mark.slow
@pytest.mark.parametrize("way", ["as the answer", "at its address"])
def test_the_lease_of_a_page_begins_anew_when_it_is_opened(make_study: Callable[..., Made], way: str) -> None:
    made = make_study(toml(page=4, lease=30), base_queries=0, unique_queries=3)
    browser = joined(made.app)
    browser.rate()  # nobody is given a page ahead who has answered none
    with made.store.write() as connection:
        connection.execute(sa.update(assignments).values(handed_at=assignments.c.handed_at - 20 * 60))
        connection.execute(sa.update(slots).values(leased_until=slots.c.leased_until - 20 * 60))
        third = sa.select(slots.c.leased_until).join(assignments, assignments.c.slot_id == slots.c.id)
        third = third.where(assignments.c.position == 3)
        before = connection.execute(third).scalar_one()
    if way == "as the answer":
        assert send(browser, browser.filled()).headers[PAGE] == "/rate/3"
    else:
        browser.rate()
        assert browser.address == "/rate/3"
    with made.store.read() as connection:
        renewed = connection.execute(third).scalar_one()
    assert renewed - before > 20 * 60 - 0.001  # for the difference of two large numbers
