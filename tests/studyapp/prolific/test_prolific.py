"""Prolific's API, played by a stub on this machine: what differs is said, places are freed, nothing is given away."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import Result

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.enrolment import Rater, Visit, enrol, find_rater
from relstudy.studyapp.assignment.sequence import start
from relstudy.studyapp.database.tables import LEASED, OPEN, slots
from relstudy.studyapp.prolific import client as client_module
from relstudy.studyapp.prolific.client import LONGEST_WAIT, ProlificClient, Submission
from relstudy.studyapp.prolific.comparison import Person, compare
from relstudy.studyapp.prolific.study import SECONDS, signature_holds
from tests.commands import relstudy
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made

TOKEN = "tok-3nX7-secret"
STUDY = toml(page=4, per_rater="4").replace('rules = ["open"]', 'rules = ["prolific"]')


@dataclass
class Stub:
    """The submissions, what to say before they are told, and what was asked."""

    submissions: list[dict[str, str]] = field(default_factory=list)
    first: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""

    def reply(self, path: str, token: str | None) -> tuple[int, dict[str, str], bytes]:
        self.asked.append((path, token))
        if self.first:
            return self.first.pop(0)
        if token != f"Token {TOKEN}":
            return 401, {}, b"{}"
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
        page, size = int(query["page"][0]), 2
        rows = self.submissions[(page - 1) * size : page * size]
        following = {"href": f"{self.url}/elsewhere"} if page * size < len(self.submissions) else {"href": None}
        return 200, {}, json.dumps({"results": rows, "_links": {"next": following}}).encode()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    played = Stub()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = played.reply(self.path, self.headers.get("Authorization"))
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    played.url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
    yield played
    server.shutdown()
    server.server_close()


def submission(person: str, status: str, number: int = 1) -> dict[str, str]:
    return {
        "id": f"S-{person}-{number}",
        "participant_id": person,
        "status": status,
        "started_at": "2026-11-22T10:00:00Z",
    }


def come(desk: Desk, person: str) -> Rater:
    """Somebody comes by Prolific's link and opens a page."""
    given = {"STUDY_ID": "STUDY-1", "SESSION_ID": f"S-{person}-1"}
    with desk.store.write() as connection:
        rater = enrol(connection, desk.study, "prolific", person, given, 0.0)
        start(Visit(connection, desk.study, desk.catalogue, rater, 0.0))
    desk.next(rater.id)
    return rater


def run(stub: Stub, made: Made, *arguments: str) -> Result:
    name, *rest = arguments
    return relstudy("prolific", name, made.folder, "--server", stub.url, *rest)


@pytest.fixture
def met(make_local: Callable[..., Made], stub: Stub) -> Made:
    """done has completed; lost, late and still are at work; gone has no submission, ghost no rater; one came with a
    personal link, and has no part in it."""
    made = make_local(STUDY, base_queries=0, unique_queries=5)
    desk = Desk(made)
    with made.store.write() as connection:
        enrol(connection, desk.study, "personal", "ghost", {}, 0.0)
    for person in ("lost", "late", "still", "gone"):
        come(desk, person)
    desk.work_through(come(desk, "done").id)
    stub.submissions = [
        submission("done", "AWAITING REVIEW"),
        submission("lost", "RETURNED"),
        submission("late", "TIMED-OUT"),
        submission("still", "RETURNED", 2),
        submission("still", "ACTIVE"),
        submission("ghost", "APPROVED"),
    ]
    return made


@pytest.mark.slow
def test_what_differs_is_listed_and_all_pages_are_read_from_one_server(met: Made, stub: Stub) -> None:
    printed = json.loads(run(stub, met, "status", "--json").stdout)
    assert printed["statuses"] == {"ACTIVE": 1, "APPROVED": 1, "AWAITING REVIEW": 1, "RETURNED": 2, "TIMED OUT": 1}
    lists = {name: people for name, people in printed.items() if isinstance(people, list) and people}
    assert lists == {
        "not_here": ["ghost"],
        "not_there": ["gone"],
        "to_approve": ["done"],
        "double": ["still"],
        "to_free": ["late", "lost"],
    }
    assert [path.split("?")[0] for path, _ in stub.asked] == ["/api/v1/submissions/"] * 3
    assert all("study=STUDY-1" in path for path, _ in stub.asked)
    told = run(stub, met, "status").stdout
    assert "1 taking part there, and never came here: ghost" in told and TOKEN not in told


@pytest.mark.slow
def test_places_of_those_who_returned_or_timed_out_are_free_after_sync(met: Made, stub: Stub) -> None:
    def leased() -> int:
        with met.store.read() as connection:
            return connection.execute(sa.select(sa.func.count()).where(slots.c.state == LEASED)).scalar_one()

    before = leased()
    printed = json.loads(run(stub, met, "sync", "--json").stdout)
    assert len(printed["freed"]) == 2 and leased() == before - 2
    with met.store.read() as connection:
        ended = {name: find_rater(connection, "prolific", name) for name in ("lost", "late", "still", "done")}
    assert {name: rater and rater.outcome for name, rater in ended.items()} == {
        **dict.fromkeys(("lost", "late"), "set_aside"),
        **dict.fromkeys(("still", "done")),
    }
    again = run(stub, met, "sync")
    assert "their places are free: nobody" in again.stdout
    stub.submissions[1]["status"] = "AWAITING REVIEW"
    assert "excluded here, though approved or waiting there" in run(stub, met, "status").stdout


@pytest.mark.slow
def test_bonuses_are_for_who_completed_and_would_be_paid(met: Made, stub: Stub) -> None:
    done = run(stub, met, "bonus", "--each", "0.5", "--per-rating", "0.1")
    target = met.folder / "bonuses.csv"
    assert done.exit_code == 0 and target.stat().st_mode & 0o777 == 0o600
    person, amount = target.read_text().strip().split(",")
    assert person == "done" and float(amount) == 0.5 + 0.1 * 4  # one page of four was left to them
    stub.submissions[0]["status"] = "REJECTED"
    assert "0 people" in run(stub, met, "bonus", "--each", "1").stdout
    assert run(stub, met, "bonus").exit_code == 2


@pytest.mark.parametrize(
    ("there", "outcome", "named"),
    [
        ("TIMED OUT", "completed", "unpaid"),
        ("REJECTED", "completed", "unpaid"),
        ("APPROVED", "undecided", "paid_without"),
        ("APPROVED", "set_aside", "to_take_back"),
        ("RETURNED", "", "to_free"),
    ],
)
def test_each_difference_has_a_name(there: str, outcome: str, named: str) -> None:
    found = compare([Submission("s", "p", there)], [Person("p", "", outcome, 0)])
    assert getattr(found, named) == ("p",)


def test_a_server_that_wants_to_be_left_alone_is_and_not_for_long(stub: Stub) -> None:
    waited: list[float] = []
    asking = ProlificClient(TOKEN, stub.url, wait=waited.append)
    stub.submissions = [submission("a", "ACTIVE")]
    stub.first = [(429, {"Retry-After": "7"}, b""), (503, {"Retry-After": "9999999"}, b""), (500, {}, b"")]
    assert [each.participant for each in asking.submissions("S")] == ["a"]
    assert waited == [7.0, LONGEST_WAIT, 4.0]
    stub.first = [(503, {}, b"")] * 4
    with pytest.raises(RelstudyError, match="answers 503; tried 4 times"):
        asking.submissions("S")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {}, b""), "refuses the token"),
        ((404, {}, b""), "check the study's id"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "answers 302"),
        ((200, {}, b"<html>"), "not JSON"),
        ((200, {}, b"[]"), "not a JSON object"),
        ((200, {}, b"{}"), "no list of results"),
        ((200, {}, b'{"results": [{"id": "x"}]}'), "without id, participant_id or status"),
        ((200, {}, b'{"results": "' + b"x" * 3000 + b'"}'), "longer than"),
    ],
)
def test_answers_that_are_none_are_told_in_a_sentence_without_the_token(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, dict[str, str], bytes], words: str
) -> None:
    monkeypatch.setattr(client_module, "LARGEST_REPLY", 2000)
    stub.first = [answer]
    with pytest.raises(RelstudyError, match=words) as told:
        ProlificClient(TOKEN, stub.url, wait=lambda _: None).submissions("S")
    assert TOKEN not in str(told.value) and TOKEN not in repr(ProlificClient(TOKEN, stub.url))


@pytest.mark.parametrize("server", ["http://api.prolific.com", "ftp://x.org", "https://", "https://me:pw@x.org", "x"])
def test_the_token_goes_by_https_only(server: str) -> None:
    with pytest.raises(RelstudyError, match="https only"):
        ProlificClient(TOKEN, server)


def test_without_a_token_it_is_said_where_it_is_looked_for(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    told = relstudy("prolific", "status", make_local().folder)
    assert told.exit_code == 1 and "PROLIFIC_TOKEN is not set" in told.output


SECRET = "whsec 1"


def signed(body: bytes, *, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
    timestamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return {
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
    }


def test_a_signature_is_that_of_timestamp_and_body() -> None:
    good = signed(b"{}", at=1000.0)
    stamp, signature = good.values()
    assert signature_holds(SECRET, stamp, b"{}", signature, 1000.0 + SECONDS)
    assert not signature_holds(SECRET, stamp, b"{}", signature, 1001.0 + SECONDS)
    for altered in ((SECRET + "x", stamp, b"{}", signature), (SECRET, "1001", b"{}", signature)):
        assert not signature_holds(*altered, 1000.0)
    for wrong in ((stamp, b"{ }", signature), ("nan", b"{}", signature), ("", b"{}", ""), (stamp, b"{}", "é")):
        assert not signature_holds(SECRET, *wrong, 1000.0)


def test_the_webhook_frees_the_place_of_that_very_submission_and_believes_only_its_signature(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local(STUDY, base_queries=0, unique_queries=2)
    desk = Desk(made)
    come(desk, "p")
    client = made.app.test_client()

    def send(event: object, **headers: str) -> Any:
        body = json.dumps(event).encode()
        return client.post("/prolific/events", data=body, headers={**signed(body), **headers})

    event = {
        "event_type": "submission.status.change",
        "participant_id": "p",
        "resource_id": "S-p-1",
        "status": "RETURNED",
    }
    monkeypatch.delenv("PROLIFIC_WEBHOOK_SECRET", raising=False)
    assert send(event).status_code == 404
    monkeypatch.setenv("PROLIFIC_WEBHOOK_SECRET", SECRET)
    assert send(event, **{"X-Prolific-Request-Signature": "AAAA"}).status_code == 401
    assert client.post("/prolific/events", data=json.dumps(event)).status_code == 401
    ignored = [
        {**event, "resource_id": "S-of-another-study"},
        {**event, "status": "ACTIVE"},
        {**event, "participant_id": "stranger"},
        {"event_type": "study.status.change", "resource_id": "x"},
    ]
    assert [send(each).json for each in ignored] == [{"freed": False}] * 4
    assert [send(each).status_code for each in ([], {"event_type": "submission.status.change"})] == [400, 400]
    with made.store.read() as connection:
        assert dict(connection.execute(sa.select(slots.c.state, sa.func.count()).group_by(slots.c.state)).all())[LEASED]  # type: ignore[arg-type]
    assert send(event).json == {"freed": True} and send(event).json == {"freed": False}
    with made.store.read() as connection:
        assert set(connection.execute(sa.select(slots.c.state)).scalars()) == {OPEN}
