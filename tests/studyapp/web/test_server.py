"""The server's processes: none outlives its parent, and none is started for ever in vain."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import waitress

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.accounts import make_token
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web import connections
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.connections import Connection, Shares
from relstudy.studyapp.web.options import ServerOptions
from relstudy.studyapp.web.single_sign_on import PROXIED
from tests.places import ROOT
from tests.studyapp.browse import joined
from tests.studyapp.monitoring.test_export import copy_raters
from tests.studyapp.serving import Server, serving
from tests.studyapp.studies import Made, write_study

pytestmark = pytest.mark.server


def in_group(leader: int) -> list[int]:
    """The processes of a server that are still there."""
    found = subprocess.run(["pgrep", "-g", str(leader)], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in found.split()]


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def healthy(server: Server) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{server.address}/health", timeout=60) as answer:
        return bool(answer.status == 200)
    return False


def test_workers_end_with_their_parent_however_it_went(tmp_path: Path) -> None:
    server = Server(write_study(tmp_path / "s"), workers=2)
    try:
        until(lambda: len(in_group(server.child.pid)) == 3)
        server.child.kill()
        server.child.wait(30)
        until(lambda: not in_group(server.child.pid))
    finally:
        server.stop()


def supervised(kind: str, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.studyapp.web.supervised", kind, str(workers)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def test_a_server_whose_workers_cannot_start_ends_and_says_why() -> None:
    parent = supervised("all fail", 2)
    _, errors = parent.communicate(timeout=60)
    assert parent.returncode == 1
    assert "this worker cannot start" in errors and "the workers keep failing at the start" in errors


def test_workers_that_cannot_start_do_not_stop_those_that_work() -> None:
    parent = supervised("first works, others fail", 2)
    try:
        assert parent.stdout is not None and parent.stdout.readline() == "working\n"
        time.sleep(8)  # five starts that fail took the old parent 4.7 seconds to give up
        assert parent.poll() is None and len(in_group(parent.pid)) >= 2
    finally:
        parent.terminate()
        parent.communicate(timeout=30)
    assert parent.returncode == 0 and not in_group(parent.pid)


def test_sigterm_ends_the_parent_and_all_workers_whenever_it_comes() -> None:
    """Workers are being started all the time, so that the signal comes while one is half there."""
    chance = random.Random(1)
    for _ in range(4):
        parent = supervised("all fall at once", 3)
        try:
            assert parent.stderr is not None and "ended" in parent.stderr.readline()
            time.sleep(chance.uniform(0, 0.3))
            parent.terminate()
            parent.communicate(timeout=60)
            assert parent.returncode == 0 and not in_group(parent.pid)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)


@contextlib.contextmanager
def terminal_closing(how: signal.Handlers) -> Iterator[None]:
    """What processes that are started meanwhile do where their terminal closes, whatever these tests themselves do."""
    before = signal.signal(signal.SIGHUP, how)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_worker_may_end_what_it_does_before_the_server_stops(number: signal.Signals) -> None:
    """A closed terminal sends SIGHUP, also to the workers; it ended all at once, and left what a server clears up."""
    with terminal_closing(signal.SIG_DFL):
        parent = supervised("ends slowly", 1)
    try:
        assert parent.stdout is not None and parent.stdout.readline() == "working\n"
    finally:
        os.killpg(parent.pid, number) if number == signal.SIGHUP else parent.terminate()
        told, errors = parent.communicate(timeout=30)
    assert told == "ended\n" and parent.returncode == 0, errors


def test_nohup_keeps_a_server_that_outlives_its_terminal() -> None:
    with terminal_closing(signal.SIG_IGN):
        parent = supervised("ends slowly", 1)
    try:
        assert parent.stdout is not None and parent.stdout.readline() == "working\n"
        os.killpg(parent.pid, signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            parent.wait(0.3)
    finally:
        parent.terminate()
        told, errors = parent.communicate(timeout=30)
    assert told == "ended\n" and parent.returncode == 0, errors


def test_a_worker_that_falls_is_replaced_by_one_that_serves_the_same_study(tmp_path: Path) -> None:
    """While study.toml is half saved, says something else, or the disk is full, and the other worker goes on."""
    folder = write_study(tmp_path / "s")
    server = Server(folder, workers=2)
    try:
        until(lambda: healthy(server))
        (folder / "study.toml").write_text("[study]\n", encoding="utf-8")
        (folder / "secret.key").unlink()
        (folder / "collection.csv").unlink()
        for _ in range(3):
            workers = [process for process in in_group(server.child.pid) if process != server.child.pid]
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            until(lambda workers=workers: len(set(in_group(server.child.pid)) - set(workers)) == 3)  # type: ignore[misc]
            until(lambda: healthy(server))
            with urllib.request.urlopen(f"{server.address}/", timeout=60) as answer:
                assert "A test study" in answer.read().decode()
        assert server.child.poll() is None
        assert "ended (signal 9); another takes its place" in (folder / "serve.err").read_text(encoding="utf-8")
    finally:
        server.stop()


def test_half_open_connections_in_numbers_hold_up_nobody(tmp_path: Path) -> None:
    """More than one worker took, and more than select() can look at."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        with serving(write_study(tmp_path / "s"), workers=1) as address, contextlib.ExitStack() as stack:
            host, port = address.removeprefix("http://").split(":")
            for _ in range(1300):
                half_open = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
                half_open.sendall(b"GET / HT")
            with urllib.request.urlopen(f"{address}/health", timeout=60) as answer:
                assert answer.status == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


HOLDS = {
    "half a request line": b"GET / HT",
    "half a body": b"POST /consent HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + bytes(20_000),
    "an answered request, kept alive": b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "an answer that is not read": b"GET /static/study.js HTTP/1.1\r\nHost: x\r\n\r\n" * 20,
}


@pytest.mark.parametrize("source", ["127.0.0.2", "127.0.0.1"])
def test_a_client_that_holds_all_connections_of_a_worker_holds_up_no_rater(source: str, tmp_path: Path) -> None:
    """From an address of its own, and from the raters' own. A worker may have 100 connections here."""
    folder = write_study(tmp_path / "s")
    server = Server(folder, workers=1, descriptors=280)
    try:
        until(lambda: healthy(server))
        with contextlib.ExitStack() as stack:
            for _ in range(150):
                for sent in HOLDS.values():
                    each = socket.create_connection(("127.0.0.1", server.port), 20, (source, 0))
                    stack.callback(each.close)
                    with contextlib.suppress(OSError):
                        each.sendall(sent)
            for _ in range(20):
                # 30 seconds where nobody makes room
                with urllib.request.urlopen(f"{server.address}/consent", timeout=25) as answer:
                    assert answer.status == 200
    finally:
        server.stop()


def test_a_request_has_a_deadline_however_often_a_byte_of_it_comes() -> None:
    def app(environ: dict[str, object], start_response: Callable[..., object]) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    server = waitress.create_server(app, listen="127.0.0.1:0", channel_timeout=2, cleanup_interval=1)
    server.channel_class = functools.partial(Connection, shares=Shares(100))
    threading.Thread(target=server.run, daemon=True).start()
    with socket.create_connection(("127.0.0.1", server.effective_port), timeout=20) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in slow.recv(4096), "a whole request is answered"
        began = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - began < 30:
                slow.sendall(b"G")
                time.sleep(0.2)
        assert time.monotonic() - began < 30
    server.close()


def test_who_takes_no_answers_holds_no_thread_however_much_waits_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "_most_connections", lambda: 100)  # which would change the limits of the tests

    def app(environ: dict[str, object], start_response: Callable[..., object]) -> list[bytes]:
        start_response("200 OK", [])
        return [bytes(40 << 20 if environ["PATH_INFO"] == "/much" else 2)]  # at 16 MiB Waitress lets a thread wait

    listener = connections.listen("127.0.0.1", 0)
    address = listener.getsockname()
    server = connections.make_worker(app, listener, ServerOptions(threads=1))
    threading.Thread(target=server.run, daemon=True).start()
    with socket.create_connection(address) as deaf, socket.create_connection(address, timeout=60) as other:
        deaf.sendall(2 * b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
        assert deaf.recv(4) == b"HTTP", "the first is being answered"
        other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert other.recv(4) == b"HTTP"
    server.task_dispatcher.shutdown()
    server.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::"])
def test_one_address_has_so_many_connections_as_it_may_and_a_proxy_any_number(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    if host == "::" and not (socket.has_ipv6 and os.path.exists("/proc/net/if_inet6")):
        pytest.skip("this machine has no IPv6")
    monkeypatch.setattr(connections, "_most_connections", lambda: 100)
    came: set[object] = set()

    def app(environ: dict[str, object], start_response: Callable[..., object]) -> list[bytes]:
        came.add((environ["REMOTE_ADDR"], environ.get(PROXIED)))
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    listener = connections.listen(host, 0)
    address = ("127.0.0.1", listener.getsockname()[1])
    server = connections.make_worker(app, listener, ServerOptions(threads=1, trusted_proxy="127.0.0.3", per_address=3))
    threading.Thread(target=server.run, daemon=True).start()

    def answered(source: str) -> socket.socket | None:
        """A connection from an address of this machine, kept open; None where it is closed at once."""
        connection = stack.enter_context(socket.create_connection(address, 20, (source, 0)))
        with contextlib.suppress(OSError):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            return connection if connection.recv(4) == b"HTTP" else None
        return None

    with contextlib.ExitStack() as stack:
        held = [answered("127.0.0.1") for _ in range(5)]
        assert [each is not None for each in held] == [True, True, True, False, False]
        assert answered("127.0.0.2"), "another address"
        assert held[0] is not None
        held[0].close()
        until(lambda: answered("127.0.0.1"))
    with contextlib.ExitStack() as stack:
        assert all(answered("127.0.0.3") for _ in range(4)), "the proxy, which speaks for many"
    assert came == {("127.0.0.1", None), ("127.0.0.2", None), ("127.0.0.3", True)}
    server.task_dispatcher.shutdown()
    server.close()


@contextlib.contextmanager
def sending(file: Path, monkeypatch: pytest.MonkeyPatch, places: int = 80) -> Iterator[tuple[str, int]]:
    """A worker that answers /film by a file and all else in two bytes; where it listens."""
    monkeypatch.setattr(connections, "_most_connections", lambda: places + connections.SPARE)

    def app(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/film":
            start_response("200 OK", [("Content-Length", "2")])
            return [b"ok"]
        start_response("200 OK", [("Content-Length", str(file.stat().st_size))])
        whole: Iterable[bytes] = environ["wsgi.file_wrapper"](file.open("rb"))
        return whole

    listener = connections.listen("127.0.0.1", 0)
    server = connections.make_worker(app, listener, ServerOptions(threads=2))
    threading.Thread(target=server.run, daemon=True).start()
    yield listener.getsockname()
    server.task_dispatcher.shutdown()
    server.close()


def deaf(address: tuple[str, int], asked: bytes) -> socket.socket:
    """A connection that asks and takes next to nothing of the answer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.settimeout(20)
    connection.connect(address)
    connection.sendall(asked)
    return connection


def times_open(file: Path) -> int:
    """How often this process has a file open."""
    held = [link for link in Path("/proc/self/fd").iterdir() if os.path.lexists(link)]
    return sum(os.path.realpath(link) == str(file) for link in held)


FILM = b"GET /film HTTP/1.1\r\nHost: x\r\n\r\n"


def a_film(folder: Path) -> Path:
    file = folder / "film"
    file.write_bytes(bytes(16 << 20))
    return file


def test_who_asks_for_much_at_once_and_takes_nothing_has_one_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = a_film(tmp_path)
    with sending(file, monkeypatch) as address, deaf(address, 40 * FILM), deaf(address, FILM) as other:
        assert other.recv(4) == b"HTTP"
        until(lambda: times_open(file) >= 2)
        time.sleep(0.5)  # in which all forty were opened
        assert times_open(file) == 2


def test_who_takes_nothing_makes_room_and_is_gone_after_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 1)
    file = a_film(tmp_path)
    with sending(file, monkeypatch, places=3) as address, contextlib.ExitStack() as stack:
        for _ in range(6):
            assert stack.enter_context(deaf(address, FILM)).recv(4) == b"HTTP"
        assert times_open(file) <= 5
        until(lambda: times_open(file) == 0)


def test_a_file_that_gets_shorter_while_it_is_sent_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = a_film(tmp_path)
    with sending(file, monkeypatch) as address, deaf(address, FILM) as client:
        assert client.recv(4) == b"HTTP"
        os.truncate(file, 1000)
        began = time.monotonic()
        while client.recv(1 << 16):
            pass
        assert time.monotonic() - began < 25  # 30 s, and a processor's time, where nobody looks


def test_a_worker_that_may_open_no_more_files_listens_again_a_second_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full, tried = threading.Event(), []
    accept = socket.socket.accept

    def refusing(self: socket.socket) -> Any:
        if full.is_set():
            tried.append(self)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", refusing)
    with sending(a_film(tmp_path), monkeypatch) as address:
        full.set()
        began = time.monotonic()
        with socket.create_connection(address, timeout=60) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            until(lambda: tried)
            time.sleep(1.5)
            full.clear()
            most = time.monotonic() - began + 2  # once a second
            assert client.recv(4) == b"HTTP"
    assert len(tried) <= most
    assert 1 <= len([each for each in caplog.records if "may be open" in each.getMessage()]) <= most


@pytest.mark.slow
def test_tables_that_nobody_takes_are_no_more_than_an_account_may_have_and_end_with_their_connection_or_worker(
    tmp_path: Path,
) -> None:
    folder = write_study(tmp_path / "s")
    prepare(folder)
    store = Store.of_study(folder)
    rater = joined(create_app(folder, store=store))
    rater.rate()
    made = Made(folder, store, rater.client.application)
    for _ in range(13):
        copy_raters(made, 2)
    store.dispose()
    tokens = [make_token(folder, name, "viewer") for name in ("hostile", "other")]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    server = Server(folder, environment={"TMPDIR": str(temporary)})

    def ask(token: str) -> tuple[socket.socket, int]:
        """A connection whose client takes no more than the head of the answer."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(f"GET /api/ratings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        return connection, int(connection.recv(12).split()[1])

    def held() -> int:
        [worker] = [process for process in in_group(server.child.pid) if process != server.child.pid]
        files = [os.readlink(each) for each in Path(f"/proc/{worker}/fd").iterdir() if each.is_symlink()]
        return sum(name.startswith(str(temporary)) for name in files)

    try:
        until(lambda: healthy(server))
        hostile = [ask(tokens[0]) for _ in range(4)]
        assert [status for _, status in hostile] == [200, 200, 429, 429] and held() == 2
        other, status = ask(tokens[1])
        assert status == 200 and held() == 3
        hostile[0][0].close()
        until(lambda: held() == 2)
        again, status = ask(tokens[0])
        assert status == 200
        [worker] = [process for process in in_group(server.child.pid) if process != server.child.pid]
        os.kill(worker, signal.SIGKILL)
        until(lambda: healthy(server))
        assert held() == 0 and not list(temporary.iterdir())
        for connection in (other, again, *(each for each, _ in hostile)):
            connection.close()
        whole = urllib.request.Request(
            f"{server.address}/api/ratings", headers={"Authorization": f"Bearer {tokens[0]}"}
        )
        with urllib.request.urlopen(whole, timeout=60) as answer:
            assert answer.read().count(b"\n") == 4 << 13
    finally:
        server.stop()
