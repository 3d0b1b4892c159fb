"""Two servers that are started at the same moment on a study that was never served."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment import synchronisation
from relstudy.studyapp.database.serving_lock import one_prepares
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import pairs, slots, versions
from relstudy.studyapp.web import server, starting
from relstudy.studyapp.web.options import ServerOptions
from tests.studyapp.studies import write_study

PREPARING, BUSY = 1.5, 0.3
"""Seconds: a first start takes longer than anyone waits for another's turn to write, as that of 50,000 pairs does."""


class _Impatient(Store):
    @classmethod
    def of_study(cls, folder: str | Path, busy_seconds: float = BUSY, kept: int = 10) -> Store:
        return Store.of_study(folder, busy_seconds, kept)


def _start(folder: Path, together: Barrier) -> None:
    add_version: Callable[..., int] = synchronisation.add_version

    def slowly(*given: Any) -> int:
        time.sleep(PREPARING)
        return add_version(*given)

    synchronisation.add_version = slowly
    starting.Store = _Impatient  # type: ignore[misc]
    server.run_workers = lambda *given: None
    together.wait()
    server.run(folder, ServerOptions(port=0))


@pytest.mark.server
def test_servers_that_start_at_the_same_moment_serve_both(
    tmp_path: Path, database: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_study(tmp_path / "study")
    url = database(folder)
    monkeypatch.setenv("DATABASE_URL", url)
    context = multiprocessing.get_context("fork")
    together = context.Barrier(2)
    servers = [context.Process(target=_start, args=(folder, together)) for _ in range(2)]
    for process in servers:
        process.start()
    for process in servers:
        process.join(60)
    assert [process.exitcode for process in servers] == [0, 0]
    store = Store(url)
    with store.read() as connection:
        counts = [
            connection.execute(sa.select(sa.func.count()).select_from(t)).scalar_one() for t in (pairs, slots, versions)
        ]
    store.dispose()
    assert counts == [32, 6, 1]


def test_the_one_that_waits_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def wait() -> None:
        with one_prepares(tmp_path):
            pass

    second = threading.Thread(target=wait)
    with one_prepares(tmp_path):
        assert capsys.readouterr().err == ""
        second.start()
        said, until = "", time.monotonic() + 30
        while not said and time.monotonic() < until:
            time.sleep(0.01)
            said = capsys.readouterr().err
    second.join(30)
    assert said == "Another process makes this study ready to be served; waiting until it has.\n"
    assert not second.is_alive()
