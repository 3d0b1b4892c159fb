"""The SQL statements that requests send, counted."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.database.store import SQLiteConnection, Store
from relstudy.studyapp.web.rater.rating import PAGE
from tests.studyapp.browse import Browser


@contextlib.contextmanager
def statements_of(store: Store) -> Iterator[list[str]]:
    """The statements that the database's driver is given inside the block, in their order; without those of a new
    connection, and the question whether it is still there."""
    sent: list[str] = []

    def note(statement: Any) -> None:
        words = " ".join(str(statement).split())
        if not words.startswith("PRAGMA") and words != "SELECT 1":
            sent.append(words)

    listener = ("do_connect", _sqlite_noting(note)) if store.is_sqlite else ("checkout", _postgresql_noting(note))
    store.dispose()
    sa.event.listen(store.engine, *listener)
    try:
        yield sent
    finally:
        sa.event.remove(store.engine, *listener)
        store.dispose()


def _sqlite_noting(note: Callable[[Any], None]) -> Callable[..., None]:
    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *values: Any) -> Any:
            note(sql)
            return super().execute(sql, *values)

        def executemany(self, sql: str, *values: Any) -> Any:
            note(sql)
            return super().executemany(sql, *values)

    class Connection(SQLiteConnection):
        def cursor(self, factory: Any = Cursor) -> Any:  # type: ignore[override]
            return super().cursor(factory)

        def execute(self, sql: str, *values: Any) -> Any:  # by no cursor of `cursor`
            note(sql)
            return super().execute(sql, *values)

    def connect(_dialect: Any, _record: Any, _arguments: Any, parameters: dict[str, Any]) -> None:
        parameters["factory"] = Connection

    return connect


def _postgresql_noting(note: Callable[[Any], None]) -> Callable[..., None]:
    import psycopg

    class Cursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, *values: Any, **options: Any) -> Any:
            note(query)
            return super().execute(query, *values, **options)

        def executemany(self, query: Any, *values: Any, **options: Any) -> None:
            note(query)
            super().executemany(query, *values, **options)

    def take(connection: Any, _record: Any, _proxy: Any) -> None:
        connection.cursor_factory = Cursor

    return take


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
