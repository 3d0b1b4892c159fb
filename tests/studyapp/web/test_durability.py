"""kill -9 at any moment loses no acknowledged rating and stores none twice."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import ratings_table
from tests.studyapp.browse import Page
from tests.studyapp.serving import Server
from tests.studyapp.studies import write_study

KILLS = 6
WHOLE = 3  # every so many kills take the parent as well, not only the workers
RATERS = 6
TOML = """
[study]
id = "t"
title = "t"
[[blocks]]
name = "unique"
pairs = "unique"
results_per_page = 2
pairs_per_rater = "all"
"""


class Persistent(threading.Thread):
    """A rater who tries again until the server says it is saved, and remembers what was acknowledged."""

    def __init__(self, port: int, path: str, seed: int, end: threading.Event, patient: bool = False) -> None:
        super().__init__(daemon=True)
        self.patient = patient  # asks again also where the server says that it cannot save
        self.port = port
        self.path = path
        self.chance = random.Random(seed)
        self.end = end
        self.cookie = ""
        self.acknowledged: dict[int, list[str]] = {}
        self.broken = 0
        self.trouble = ""

    def request(self, method: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Status, address led to and body; asks again while the server is down."""
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 if self.patient else 10)
            try:
                headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
                connection.request(method, path, urlencode(fields or {}) if fields else None, headers)
                answer = connection.getresponse()
                body = answer.read().decode()
                if self.patient and answer.status == 503:
                    raise OSError(body)
                if cookie := answer.getheader("Set-Cookie"):
                    self.cookie = cookie.split(";")[0]
                return answer.status, answer.getheader("Location") or "", body
            except (OSError, http.client.HTTPException):
                self.broken += 1
                time.sleep(0.05)
            finally:
                connection.close()

    def follow(self, path: str) -> tuple[str, Page]:
        for _ in range(10):
            status, location, body = self.request("GET", path)
            if status == 200:
                return path, Page(body)
            assert status in (302, 303), (path, status, body[:300])
            path = location
        raise AssertionError(f"{path}: redirects without end")

    def run(self) -> None:
        try:
            self.take_part()
        except Exception as error:
            self.trouble = repr(error)

    def take_part(self) -> None:
        path, page = self.follow(self.path)
        if path == "/consent":
            _, location, _ = self.request("POST", path, {**page.form().fields, "agree": "yes"})
            path, page = self.follow(location)
        _, location, _ = self.request("POST", path, page.form().fields)
        while not self.end.is_set():
            path, page = self.follow(location)
            if not path.startswith("/rate/"):
                return
            form = page.form(path)
            chosen = {name: str(self.chance.randint(1, 5)) for name in sorted(form.choices)}
            status, location, body = self.request("POST", path, {**form.fields, **chosen})
            assert status == 303, (status, body[:300])
            self.acknowledged[int(path.rpartition("/")[2])] = list(chosen.values())
            time.sleep(self.chance.uniform(0, 0.04))


def workers_of(parent: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in found.split()]


@pytest.mark.slow
@pytest.mark.server
def test_every_acknowledged_rating_survives_being_killed_at_random_moments_and_none_is_stored_twice(
    tmp_path: Path, database: Callable[[Path], str]
) -> None:
    folder = write_study(tmp_path / "s", TOML, base_queries=0, unique_queries=150, results=16)
    url = database(folder)
    store = Store(url)
    prepare(folder, store)
    study = Study.load(folder)
    links = [invitation.path for invitation in invite(store, study, RATERS)]
    environment = {"DATABASE_URL": url}
    server = Server(folder, workers=2, environment=environment)
    end = threading.Event()
    raters = [Persistent(server.port, link, seed, end) for seed, link in enumerate(links)]
    for rater in raters:
        rater.start()
    chance = random.Random(7)
    try:
        for kill in range(1, KILLS + 1):
            before = sum(len(rater.acknowledged) for rater in raters)
            deadline = time.monotonic() + 30
            while sum(len(rater.acknowledged) for rater in raters) < before + 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert any(rater.is_alive() for rater in raters), [rater.trouble for rater in raters]
            time.sleep(chance.uniform(0, 0.1))
            if kill % WHOLE == 0:
                port = server.port
                server.kill()
                server = Server(folder, workers=2, port=port, environment=environment)
            else:
                for worker in workers_of(server.child.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
        end.set()
        for rater in raters:
            rater.join(30)
    finally:
        end.set()
        server.stop()
    assert [rater.trouble for rater in raters] == [""] * RATERS
    table = ratings_table(store, study, history=True)
    store.dispose()
    acknowledged = sum(2 * len(rater.acknowledged) for rater in raters)
    assert acknowledged >= 2 * 3 * (KILLS - 1)
    assert sum(rater.broken for rater in raters) >= KILLS / 2, "the kills hit requests under way"
    assert not table.duplicated(["rater_id", "pair_id"]).any() and (table["revision"] == 1).all()
    assert not table[table["surplus"] == 0].duplicated("pair_id").any()
    with_ids = dict(zip(links, raters, strict=True))
    kept = {
        (rater_id, position): page["rating"].astype(int).astype(str).tolist()
        for (rater_id, position), page in table.groupby(["rater_id", "position"], sort=False)
    }
    assert len(table) - acknowledged <= 2 * RATERS, "at most the last page of each was saved without an answer"
    ids = rater_ids(store, links)
    for link, rater in with_ids.items():
        for position, chosen in rater.acknowledged.items():
            assert kept[(ids[link], position)] == chosen


def rater_ids(store: Store, links: list[str]) -> dict[str, str]:
    import sqlalchemy as sa

    from relstudy.studyapp.assignment.enrolment import token_identity
    from relstudy.studyapp.database.tables import raters

    with store.read() as connection:
        rows = connection.execute(sa.select(raters.c.identity, raters.c.rater_id)).all()
    known = {row.identity: row.rater_id for row in rows}
    return {link: known[token_identity(link.rpartition("/")[2])] for link in links}
