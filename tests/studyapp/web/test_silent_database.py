"""A PostgreSQL server that hangs: it takes connections and statements, and never answers."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database import postgresql
from relstudy.studyapp.database.errors import classify_error
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import joined
from tests.studyapp.cluster import Cluster, installed
from tests.studyapp.serving import Server
from tests.studyapp.studies import write_study
from tests.studyapp.web.test_durability import TOML, Persistent, rater_ids

pytestmark = [pytest.mark.server, pytest.mark.postgresql, pytest.mark.slow]

SECONDS = 15  # for a page that says so: 5 of silence, the rest for a busy machine; thirty was a proxy's patience
RATERS = 4


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """A PostgreSQL server that other tests do not need."""
    binaries = installed()
    assert binaries is not None, "needs PostgreSQL (apt-get install postgresql)"
    cluster = Cluster(binaries)
    yield cluster
    with contextlib.suppress(ProcessLookupError):
        send(cluster, signal.SIGCONT)
    cluster.stop()


def processes(cluster: Cluster) -> list[int]:
    first = int(Path(cluster.data, "postmaster.pid").read_text().split()[0])
    rest = subprocess.run(["pgrep", "-P", str(first)], capture_output=True, text=True, check=False).stdout
    return [first, *map(int, rest.split())]


def send(cluster: Cluster, number: signal.Signals) -> None:
    for process in processes(cluster):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def answer(address: str) -> tuple[int, str, float]:
    """Status, body and seconds."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(address, timeout=120) as given:
            status, body = given.status, given.read().decode()
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read().decode()
    return status, body, time.monotonic() - began


def test_pages_end_in_a_sentence_while_postgresql_hangs_and_nothing_acknowledged_is_lost(
    tmp_path: Path, own_cluster: Cluster
) -> None:
    folder = write_study(tmp_path / "s", TOML, base_queries=0, unique_queries=150, results=16)
    url = own_cluster.new_database()
    store = Store(url)
    prepare(folder, store)
    study = Study.load(folder)
    links = [invitation.path for invitation in invite(store, study, RATERS)]
    server = Server(folder, workers=1, environment={"DATABASE_URL": url})
    end = threading.Event()
    raters = [Persistent(server.port, link, seed, end, patient=True) for seed, link in enumerate(links)]
    try:
        for rater in raters:
            rater.start()
        _served(raters)
        send(own_cluster, signal.SIGSTOP)
        answers: list[tuple[int, str, float]] = []
        asking = [threading.Thread(target=lambda: answers.append(answer(server.address + "/"))) for _ in range(6)]
        for each in asking:
            each.start()
        for each in asking:
            each.join()
        assert {status for status, _, _ in answers} == {503}, answers
        assert all("Please wait a moment and try again" in body for _, body, _ in answers), answers
        assert max(seconds for _, _, seconds in answers) < SECONDS
        assert answer(server.address + "/health")[0] == 503
        send(own_cluster, signal.SIGCONT)
        continued = time.monotonic()
        _served(raters)
        assert time.monotonic() - continued < 2 * SECONDS
        end.set()
        for rater in raters:
            rater.join(60)
    finally:
        end.set()
        send(own_cluster, signal.SIGCONT)
        server.stop()
    assert [rater.trouble for rater in raters] == [""] * RATERS
    table = ratings_table(store, study, history=True)
    ids = rater_ids(store, links)
    store.dispose()
    assert not table.duplicated(["rater_id", "pair_id"]).any() and (table["revision"] == 1).all()
    kept = {
        key: page["rating"].astype(int).astype(str).tolist() for key, page in table.groupby(["rater_id", "position"])
    }
    for link, rater in zip(links, raters, strict=True):
        for position, chosen in rater.acknowledged.items():
            assert kept[(ids[link], position)] == chosen


def test_pages_ask_to_wait_while_a_postgresql_server_on_a_socket_is_stopped_and_go_on_when_it_is_back(
    tmp_path: Path, own_cluster: Cluster
) -> None:
    folder = write_study(tmp_path / "s")
    store = Store(own_cluster.new_database())
    prepare(folder, store)
    rater = joined(create_app(folder, store=store))
    sent = rater.filled("4")
    own_cluster.call("pg_ctl", "-D", own_cluster.data, "-m", "immediate", "-w", "stop")
    try:
        for look in (rater.get, lambda address: rater.post(address, sent)) * 2:
            look("/rate/1")
            assert rater.response is not None
            assert (rater.status, rater.response.headers["Retry-After"]) == (503, "5"), rater.page.text
    finally:
        own_cluster.start()
    assert rater.page.form("/rate/1").fields["rating-1"] == "4", "what was typed is there"
    rater.send(rater.page.form("/rate/1"))
    assert (rater.status, rater.address) == (200, "/rate/2")
    store.dispose()


def _served(raters: list[Persistent]) -> None:
    """Wait until each rater has been answered again."""
    before, deadline = [len(rater.acknowledged) for rater in raters], time.monotonic() + 60
    while any(len(rater.acknowledged) <= count for rater, count in zip(raters, before, strict=True)):
        assert time.monotonic() < deadline, [rater.trouble for rater in raters]
        time.sleep(0.05)


@pytest.mark.parametrize("command", ["status", "serve"])
def test_commands_end_in_a_sentence_where_a_server_takes_connections_and_never_answers(
    command: str, tmp_path: Path
) -> None:
    folder = write_study(tmp_path / "s")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"postgresql://tester@127.0.0.1:{mute.getsockname()[1]}/study"
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "relstudy", command, str(folder)],
            env={**os.environ, "DATABASE_URL": url},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1 and time.monotonic() - began < 3 * SECONDS
    assert re.search(r"^relstudy: the database postgresql\S+ cannot be opened: .*timeout", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_long_statement_is_waited_for_where_the_server_answers_others_and_one_without_end_is_not(
    own_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in {"SILENCE": 0.3, "HOPELESS": 3.0}.items():
        monkeypatch.setattr(postgresql, name, seconds)
    store = Store(own_cluster.new_database())
    try:
        with store.read() as connection:
            assert connection.exec_driver_sql("SELECT 1 FROM pg_sleep(1.5)").scalar_one() == 1
        with pytest.raises(sa.exc.OperationalError, match="does not answer") as failed, store.read() as connection:
            process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            os.kill(process, signal.SIGSTOP)
            began = time.monotonic()
            connection.exec_driver_sql("SELECT 1")
        os.kill(process, signal.SIGCONT)
        assert classify_error(failed.value) == "busy" and time.monotonic() - began < SECONDS
        with store.read() as connection:
            assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1, "by another connection"
    finally:
        store.dispose()
