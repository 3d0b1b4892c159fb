"""The SQL statements that requests send, counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.database import prepared
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.rater.rating import PAGE
from tests.studyapp.browse import Browser


@contextlib.contextmanager
def statements_of(store: Store) -> Iterator[list[str]]:
    """The statements sent to the database inside the block, in their order."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(" ".join(statement.split()))

    def hear(engine: sa.Engine, statement: str) -> None:
        if engine is store.engine:
            note(None, None, statement)

    sa.event.listen(store.engine, "before_cursor_execute", note)
    prepared.heard.append(hear)
    try:
        yield sent
    finally:
        sa.event.remove(store.engine, "before_cursor_execute", note)
        prepared.heard.remove(hear)


def statements_of_a_page(browser: Browser, store: Store, value: str = "3") -> tuple[list[str], list[str]]:
    """The statements of a page's ratings whose answer holds the next page, and of ratings and next page by themselves.

    Parameters
    ----------
    browser : stands at a page to rate; both ways rate a page and look at the next
    value : of every answer
    """
    with statements_of(store) as at_once:
        answer = browser.client.post(browser.address, data=browser.filled(value), headers={PAGE: "next"})
        assert answer.status_code == 200, answer.status_code
    browser.get(answer.headers[PAGE])
    with statements_of(store) as apart:
        browser.post(browser.address, browser.filled(value))
        assert browser.status == 200, browser.status
    return at_once, apart
