"""Small studies to test with, each on a database of its own: SQLite, and PostgreSQL where it is installed."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import pytest

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.app import create_app
from tests.studyapp.cluster import Cluster, installed
from tests.studyapp.listener import Listener, listening
from tests.studyapp.studies import TOML, Made, write_study


@pytest.fixture(autouse=True)
def same_pages_every_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raters' seeds are the test's own, so that every run of it hands out the same pages."""
    monkeypatch.setattr("secrets.randbits", random.Random(request.node.nodeid).getrandbits)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running PostgreSQL server; absent, the test is skipped (in CI: fails)."""
    binaries = installed()
    if binaries is None:
        message = "needs PostgreSQL (apt-get install postgresql), which is not here"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    running = Cluster(binaries)
    yield running
    running.stop()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request: pytest.FixtureRequest, empty_tables: Path) -> Iterator[Callable[..., str]]:
    """The address of a fresh database for a folder, `with_tables` or without; the same test runs on both."""
    if request.param == "sqlite":
        yield partial(_file, empty_tables)
        return
    running: Cluster = request.getfixturevalue("cluster")
    yield lambda folder, with_tables=False: running.copy_of_tables() if with_tables else running.new_database()
    running.take_back()


def _file(empty_tables: Path, folder: Path, with_tables: bool = False) -> str:
    if with_tables:
        shutil.copy(empty_tables, folder / "study.db")
    return f"sqlite:///{folder / 'study.db'}"


@pytest.fixture(scope="session")
def empty_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with every migration behind it, to begin from: running ten of them is half of making a study."""
    path = tmp_path_factory.mktemp("tables") / "study.db"
    store = Store(f"sqlite:///{path}")
    store.migrate()
    store.leave_wal()
    store.dispose()
    return path


@pytest.fixture(scope="session")
def prepared(empty_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A prepared study on SQLite to be copied, made once for each `(toml, **sizes)`: preparing is most of the work.

    Its copies have one secret, by which their items and raters are named in their databases.
    """

    @cache
    def make(toml: str, **sizes: int) -> Path:
        folder = write_study(tmp_path_factory.mktemp("prepared") / "study", toml, **sizes)
        store = Store(_file(empty_tables, folder, with_tables=True))
        prepare(folder, store)
        store.dispose()
        return folder

    return make


def _maker(
    tmp_path: Path, prepared: Callable[..., Path], database: Callable[..., str] | None = None
) -> Iterator[Callable[..., Made]]:
    made: list[Made] = []

    def make(toml: str = TOML, *, busy_seconds: float = 5.0, **sizes: int) -> Made:
        folder = tmp_path / f"study{len(made)}"
        if database is None:
            shutil.copytree(prepared(toml, **sizes), folder)
            store = Store(f"sqlite:///{folder / 'study.db'}", busy_seconds)
        else:
            store = Store(database(write_study(folder, toml, **sizes), with_tables=True), busy_seconds)
            prepare(folder, store)
        app = create_app(folder, store=store)
        app.testing = True
        made.append(Made(folder, store, app))
        return made[-1]

    yield make
    for study in made:
        study.store.dispose()


@pytest.fixture
def make_study(
    tmp_path: Path, prepared: Callable[..., Path], database: Callable[..., str], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Made]]:
    """Make a study with an app, on each database: `make_study(toml, base_queries=..., unique_queries=...)`."""
    on_sqlite = request.node.callspec.params["database"] == "sqlite"
    yield from _maker(tmp_path, prepared, None if on_sqlite else database)


@pytest.fixture
def make_local(tmp_path: Path, prepared: Callable[..., Path]) -> Iterator[Callable[..., Made]]:
    """Make a study with an app on SQLite, for what has nothing to do with the database."""
    yield from _maker(tmp_path, prepared)


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A program that a study's webhook is sent to."""
    with listening() as here:
        yield here
