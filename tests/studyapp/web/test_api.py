"""What programs may ask of a study by a token, over HTTP and in Python."""

from __future__ import annotations

import errno
import json
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from werkzeug.serving import make_server
from werkzeug.test import create_environ, run_wsgi_app
from werkzeug.wsgi import FileWrapper

import relstudy as rs
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.audit_log import read_entries
from relstudy.studyapp.monitoring.export import IN_PARTS, ratings_table
from relstudy.studyapp.web import slow_answers
from relstudy.studyapp.web.admin import figures
from relstudy.studyapp.web.mount import mounted
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import joined
from tests.studyapp.studies import Made


@pytest.fixture(autouse=True)
def _nothing_on_its_way() -> None:
    """Close the tables of tests before: a server closes each answer, and a test's client leaves it to the collector."""
    for table in list(slow_answers._ON_THEIR_WAY):
        table.close()


@pytest.fixture
def made(make_local: Callable[..., Made]) -> Made:
    return make_local(base_queries=1, unique_queries=1, results=2)


def token_of(made: Made, name: str, role: str = "viewer") -> str:
    done = succeeds("token", made.folder, name, "--make", "--role", role)
    return done.stdout.strip()


def ask(made: Made, path: str, token: str = "", **given: object) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    client = made.app.test_client()
    answer = client.post(path, json=given, headers=headers) if given else client.get(path, headers=headers)
    return answer.status_code, answer.text


def test_a_token_is_told_once_kept_as_a_hash_and_ended(made: Made) -> None:
    token = token_of(made, "nightly")
    assert ask(made, "/api/status", token)[0] == 200
    assert token not in (made.folder / "accounts.json").read_text()
    shown = relstudy("token", made.folder, "--json").stdout
    assert json.loads(shown) == [{"token": "nightly", "role": "viewer"}]
    again = token_of(made, "nightly")
    assert [ask(made, "/api/status", given)[0] for given in (token, again)] == [401, 200]
    succeeds("token", made.folder, "nightly", "--remove")
    assert ask(made, "/api/status", again)[0] == 401
    assert [entry.did for entry in read_entries(made.store)] == ["remove token", "make token", "make token"]


def test_without_a_token_or_with_too_small_a_role_nothing_is_told(made: Made) -> None:
    viewer = token_of(made, "viewer")
    for path in ("/api/status", "/api/ratings"):
        status, body = ask(made, path)
        assert status == 401 and list(json.loads(body)) == ["error"]
    status, body = ask(made, "/api/invites", viewer, count=1)
    assert status == 403 and "needs role editor" in body
    assert ask(made, "/admin/", viewer)[0] == 302, "a token opens no page"
    guesses = [ask(made, "/api/status", f"guess{number}")[0] for number in range(31)]
    assert guesses == [401] * 30 + [429]
    assert ask(made, "/api/status", viewer)[0] == 200, "a right one is let in, whatever others at this address tried"


@pytest.mark.parametrize("given", [{"count": 0}, {"count": 501}, {"count": "3"}, {"count": True}, {"number": 3}])
def test_a_wrong_number_of_invitations_is_told(made: Made, given: dict[str, object]) -> None:
    status, body = ask(made, "/api/invites", token_of(made, "maker", "editor"), **given)
    assert status == 400 and '"count", 1 to 500' in json.loads(body)["error"]


def test_what_is_nested_without_end_is_no_number_of_invitations(made: Made) -> None:
    headers = {"Authorization": f"Bearer {token_of(made, 'maker', 'editor')}", "Content-Type": "application/json"}
    answer = made.app.test_client().post("/api/invites", data="[" * 60_000, headers=headers)
    assert answer.status_code == 400 and '"count", 1 to 500' in answer.get_json()["error"]


@contextmanager
def served(made: Made, path: str) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, mounted(made.app, path))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}{path}"
    finally:
        server.shutdown()
        thread.join(30)
        server.server_close()


@pytest.mark.slow
def test_python_reads_what_the_export_holds_and_invites(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(IN_PARTS, "yield_per", 3)  # so that the stream has several parts
    rater = joined(made.app)
    rater.rate(lambda name, number: "undecided" if number == 1 else "4")
    middle = ratings_table(made.store, Study.load(made.folder))["rated_at"].max()
    rater.rate()
    expected = ratings_table(made.store, Study.load(made.folder))
    with served(made, "/studies/mine") as address:
        study = rs.study(address, token_of(made, "maker", "editor"))
        assert study.status()["ratings"] == len(expected) == 4
        ratings = study.ratings()
        pd.testing.assert_frame_equal(
            ratings.astype(object).where(ratings.notna(), None),
            expected.astype(object).where(expected.notna(), None),
            check_dtype=False,
        )
        assert list(study.ratings(since=middle)["pair_id"]) == list(expected["pair_id"])[2:]
        assert list(study.changes()["event"]) == ["rated"] * 4 + ["finished"]
        last = study.changes()["cursor"].iloc[-1]
        assert study.changes(after=last).empty
        with pytest.raises(rs.RelstudyError, match="refuses: after is 'yesterday'"):
            study.changes(after="yesterday")
        links = study.invite(2)
        assert list(links) == ["rater_id", "link", "completion_code"]
        assert links["link"].str.startswith(f"{address}/enter/").all()
        with pytest.raises(rs.RelstudyError, match=r"refuses: since is 'yesterday or so'"):
            study.ratings(since="yesterday or so")
        with pytest.raises(rs.RelstudyError, match="refuses: since is 'NaT'"):
            study.ratings(since="NaT")
        with pytest.raises(rs.RelstudyError, match="refuses: this needs a valid token"):
            rs.study(address, "rst_wrong").status()
    with pytest.raises(rs.RelstudyError, match="cannot be reached"):
        study.status()


def test_since_is_a_time_with_an_offset_and_nothing_else(made: Made) -> None:
    token = token_of(made, "reader")
    wrong = (
        "-1",
        "now",
        "13:00",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-02-30T12:00:00Z",
        "20260131T120000Z",
        "٢٠٢٦",
    )
    for since in wrong:
        status, text = ask(made, f"/api/ratings?since={since}", token)
        assert status == 400 and "a time with its offset" in text, since
    for said, answer in (("+02:00", 400), ("%2B02:00", 200), ("Z", 200), (".250-11:30", 200)):
        assert ask(made, f"/api/ratings?since=2026-01-31T12:00:00{said}", token)[0] == answer, said
    assert ask(made, "/api/ratings?since=2026-01-31T12:00:00Z&after=start", token)[0] == 400


def test_a_token_is_never_sent_where_it_could_be_read() -> None:
    wrong = ("lab.example.org", "https://[::1", "https://me:secret@lab.example.org", "https://lab.example.org:99999")
    for address, reason in (
        ("http://lab.example.org", "not encrypted"),
        *((url, "not a study's address") for url in wrong),
    ):
        with pytest.raises(rs.RelstudyError, match=reason) as raised:
            rs.study(address, "rst_x")
        assert "secret" not in str(raised.value)
    for token in ("rst_x\r\nHost: elsewhere", "rst x", ""):
        with pytest.raises(rs.RelstudyError, match="this is not a token"):
            rs.study("https://lab.example.org", token)


@contextmanager
def saying(answer: bytes) -> Iterator[str]:
    """A server that says these bytes to whoever asks first."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)
                # Closed while something is unread, such as a body sent after its headers, it would be reset.
                connection.shutdown(socket.SHUT_WR)
                with suppress(OSError):
                    while connection.recv(4096):
                        pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(30)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<html>...", "answers what no study does"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "answers what no study does"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", "broke off its answer: IncompleteRead"),
        (b"SSH-2.0-server\r\n", "broke off its answer: BadStatusLine"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nab", "broke off its answer"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n", "refuses: 302 Found"),
        (b"HTTP/1.1 401 No\r\nContent-Length: 99\r\n\r\n{}", "refuses: 401 No"),
        (b"HTTP/1.1 503 Busy\r\n\r\n", "refuses: 503 Busy"),
        (b"HTTP/1.1 429 Later\r\nRetry-After: 0\r\n\r\n", "refuses: 429 Later"),
        (b"HTTP/1.1 400 No\r\n\r\n" + b"[" * 60_000, "refuses: 400 No"),
        (b'HTTP/1.1 400 No\r\n\r\n{"error": "\\u001b[2Jgone\\u202e"}', r"refuses: \\x1b\[2Jgone\\u202e$"),
        (b"HTTP/1.1 400 \x1b[2Jgone\r\n\r\n", r"refuses: 400 \\x1b\[2Jgone$"),
    ],
)
def test_what_no_study_answers_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, sentence: str
) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):  # this machine is asked without it
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with saying(answer) as address, pytest.raises(rs.RelstudyError, match=sentence):
        rs.study(address, "rst_x").status()


@pytest.mark.parametrize("invites", [b"5", b"[1]", b'{"link": "https://elsewhere.org"}', b"null"])
def test_invitations_that_are_none_are_told_in_a_sentence(invites: bytes) -> None:
    said = b'HTTP/1.1 201 Created\r\n\r\n{"invites": %b}' % invites
    with saying(said) as address, pytest.raises(rs.RelstudyError, match="answers what no study does"):
        rs.study(address, "rst_x").invite(1)


@pytest.mark.slow
def test_a_redirection_does_not_take_the_token_along(made: Made) -> None:
    asked: list[str] = []

    @made.app.before_request
    def _elsewhere() -> object:
        from flask import redirect, request

        asked.append(request.path)
        return redirect("http://127.0.0.1:9/elsewhere")

    with served(made, "") as address, pytest.raises(rs.RelstudyError, match="302"):
        rs.study(address, "rst_x").status()
    assert asked == ["/api/status"]


def test_one_large_table_is_made_at_a_time_and_no_thread_waits_for_its_reader(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_answers, "PATIENCE", 0.0)
    token = token_of(made, "nightly")
    with made.app.app_context(), slow_answers.one_at_a_time():
        for path in ("/api/ratings", "/api/status"):
            status, body = ask(made, path, token)
            assert status == 503 and json.loads(body)["error"] == slow_answers.BUSY
        assert made.app.test_client().get("/consent").status_code == 200
    given: list[Any] = []
    environ = create_environ("/api/ratings", headers={"Authorization": f"Bearer {token}"})
    environ["wsgi.file_wrapper"] = lambda file, *size: given.append(file) or FileWrapper(file)
    _, _, headers = run_wsgi_app(made.app, environ)
    assert len(given) == 1, "the server sends a file by itself"
    assert headers["Cache-Control"] == "no-store" and "Expires" not in headers


def test_one_waits_for_a_large_table_and_whoever_comes_then_is_told_at_once_when_to_ask_again(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Authorization": f"Bearer {token_of(made, 'nightly')}"}
    told: list[tuple[int, str | None]] = []

    def come() -> None:
        answer = made.app.test_client().get("/api/status", headers=headers)
        told.append((answer.status_code, answer.headers.get("Retry-After")))

    class Held:
        """The turn of somebody who keeps it; while one waits for it, another comes."""

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            if blocking and len(told) < 3:
                come()
            return False

    monkeypatch.setattr(slow_answers, "_TURN", Held())
    come()
    assert told == [(503, str(slow_answers.RETRY))] * 2


def test_who_asks_in_a_way_that_there_is_none_is_told_the_ways_there_are(made: Made) -> None:
    for path in ("/consent", "/api/status"):
        answer = made.app.test_client().delete(path)
        assert answer.status_code == 405 and "GET" in answer.headers["Allow"]


@pytest.mark.slow
def test_a_table_that_has_no_room_is_refused_in_a_sentence(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    rater = joined(made.app)
    rater.rate()
    token = token_of(made, "nightly")
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert ask(made, "/api/ratings", token)[0] == 200, "what is small needs no file"
    monkeypatch.setattr(slow_answers, "IN_MEMORY", 1)
    assert ask(made, "/api/ratings", token) == (507, slow_answers.NO_ROOM)


def kept(made: Made, path: str, headers: dict[str, str]) -> tuple[Any, str, Any]:
    """An answer whose receiver takes none of it: what is left to send, the status and the headers."""
    return run_wsgi_app(made.app, create_environ(path, headers=headers))


def close(answer: tuple[Any, str, Any]) -> None:
    answer[0].close()


def test_an_account_has_two_tables_on_their_way_at_once_and_others_theirs(made: Made) -> None:
    one, two = ({"Authorization": f"Bearer {token_of(made, name)}"} for name in ("one", "two"))
    waiting = [kept(made, "/api/ratings", one) for _ in range(slow_answers.EACH)]
    assert [answer[1] for answer in waiting] == ["200 OK"] * slow_answers.EACH
    status, body = ask(made, "/api/ratings", one["Authorization"].partition(" ")[2])
    assert status == 429 and json.loads(body)["error"] == slow_answers.SENDING
    assert kept(made, "/api/ratings", one)[2]["Retry-After"] == str(slow_answers.RETRY)
    assert kept(made, "/api/status", one)[1] == "200 OK", "which is not a file"
    other = kept(made, "/api/ratings", two)
    assert other[1] == "200 OK"
    close(waiting.pop())
    again = kept(made, "/api/ratings", one)
    assert again[1] == "200 OK", "one has arrived"
    close(again)
    assert kept(made, "/api/ratings", one)[1] == "200 OK"


def test_a_worker_has_so_many_tables_on_their_way_and_no_more(made: Made) -> None:
    accounts = [{"Authorization": f"Bearer {token_of(made, f'a{number}')}"} for number in range(slow_answers.MOST)]
    waiting = [kept(made, "/api/ratings", account) for account in accounts]
    assert {answer[1] for answer in waiting} == {"200 OK"}
    late = token_of(made, "late")
    status, body = ask(made, "/api/ratings", late)
    assert status == 503 and json.loads(body)["error"] == slow_answers.SENDING_ALL
    close(waiting[0])
    assert ask(made, "/api/ratings", late)[0] == 200


def test_a_table_leaves_room_on_the_disk_for_what_raters_answer(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    joined(made.app).rate()
    token = token_of(made, "nightly")
    monkeypatch.setattr(slow_answers, "IN_MEMORY", 1)
    usage = shutil.disk_usage(tempfile.gettempdir())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(total=1 << 40, free=slow_answers.RESERVE - 1))
    assert ask(made, "/api/ratings", token) == (507, slow_answers.NO_ROOM)


@pytest.mark.slow
def test_the_status_of_many_ratings_is_the_last_one_counted_and_no_request_waits_for_the_next(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_of(made, "nightly")
    joined(made.app).rate_all()
    few = json.loads(ask(made, "/api/status", token)[1])
    go_on, work_out = threading.Event(), figures.study_statistics
    monkeypatch.setattr(figures, "FEW", 0)
    monkeypatch.setattr(figures, "study_statistics", lambda *given: go_on.wait(30) and work_out(*given))
    headers = {"Authorization": f"Bearer {token}"}
    answer = made.app.test_client().get("/api/status", headers=headers)
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "2"
    assert "being counted" in answer.json["error"]
    go_on.set()
    with served(made, "") as address:
        told = rs.study(address, token).status()  # which asks again
    assert told.pop("counted_at") > few.pop("counted_at") and told == few
    cache = made.app.extensions["relstudy-figures"]
    cache["figures"] = replace(cache["figures"], seconds=figures.WAITED_FOR + 1, until=time.monotonic())
    go_on.clear()
    joined(made.app)
    assert json.loads(ask(made, "/api/status", token)[1])["raters"] == few["raters"]
    go_on.set()
    deadline = time.monotonic() + 30
    while json.loads(ask(made, "/api/status", token)[1])["raters"] == few["raters"] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert json.loads(ask(made, "/api/status", token)[1])["raters"] == few["raters"] + 1


def settled(made: Made, token: str) -> tuple[int, str]:
    """The status of many ratings once it is no longer being counted."""
    deadline = time.monotonic() + 30
    while "being counted" in (answer := ask(made, "/api/status", token))[1] and time.monotonic() < deadline:
        time.sleep(0.02)
    return answer


@pytest.mark.slow
def test_a_status_that_was_counted_yesterday_is_counted_anew_before_it_is_told(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_of(made, "nightly")
    monkeypatch.setattr(figures, "FEW", -1)  # none are few
    before = json.loads(settled(made, token)[1])
    cache = made.app.extensions["relstudy-figures"]
    yesterday = time.monotonic() - 86_400
    cache["figures"] = replace(cache["figures"], seconds=figures.WAITED_FOR + 1, until=yesterday)
    joined(made.app)
    assert json.loads(settled(made, token)[1])["raters"] == before["raters"] + 1


@pytest.mark.slow
def test_a_status_that_cannot_be_counted_is_told_as_an_error_and_is_counted_once_it_can_be(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, tried = token_of(made, "nightly"), []

    def fail(*given: object) -> None:
        tried.append(given)
        raise ValueError("no figures")

    monkeypatch.setattr(figures, "FEW", -1)  # none are few
    made.app.testing = False  # the answer of a server, and not the error itself
    with monkeypatch.context() as failing:
        failing.setattr(figures, "study_statistics", fail)
        assert settled(made, token)[0] == 500
        assert [ask(made, "/api/status", token)[0] for _ in range(20)] == [500] * 20 and len(tried) == 1
    cache = made.app.extensions["relstudy-figures"]
    cache["failure"] = replace(cache["failure"], until=time.monotonic())
    assert settled(made, token)[0] == 200
