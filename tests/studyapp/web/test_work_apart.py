"""Work in a process of its own: what it returns, what it raises, and its end before that."""

from __future__ import annotations

import os
import signal
import sqlite3

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import Fault, RelstudyError, SeveralErrors, TableError
from relstudy.studyapp.database.errors import classify_error
from relstudy.studyapp.web.processes import work_apart


def test_work_apart_is_done_by_another_process_and_gives_what_it_returns() -> None:
    here = os.getpid()
    assert work_apart(lambda: (os.getpid() != here, "x" * 1_000_000)) == (True, "x" * 1_000_000)


@pytest.mark.parametrize(
    "error",
    [
        RelstudyError("not this way"),
        SeveralErrors("one", "two"),
        TableError([Fault("pairs.csv", 2, "rank", "x", "a number")], more=3),
    ],
)
def test_an_error_of_work_apart_is_raised_with_all_its_lines(error: RelstudyError) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        work_apart(fail)
    assert raised.value.lines == error.lines
    assert "in fail" in raised.value.__notes__[0]  # where it came about, for a traceback


def test_a_databases_error_of_work_apart_is_told_for_what_it_is() -> None:
    with pytest.raises(sa.exc.OperationalError) as raised:
        work_apart(lambda: sa.create_engine("sqlite:////nowhere/at/all.db").connect())
    assert isinstance(raised.value.orig, sqlite3.OperationalError)
    assert classify_error(raised.value) == classify_error(_here())


def _here() -> sa.exc.OperationalError:
    with pytest.raises(sa.exc.OperationalError) as raised:
        sa.create_engine("sqlite:////nowhere/at/all.db").connect()
    return raised.value


@pytest.mark.parametrize(
    ("end", "said"), [(lambda: os.kill(os.getpid(), signal.SIGKILL), "signal 9"), (lambda: os._exit(3), "exit code 3")]
)
def test_a_process_that_ends_before_its_work_is_done_is_a_sentence(end: object, said: str) -> None:
    with pytest.raises(RelstudyError, match=f"ended before its work was done .{said}"):
        work_apart(end)  # type: ignore[arg-type]
