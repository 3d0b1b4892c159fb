"""The demo's servers: the study's as a child process, for the panel or the reader, and the report's until Ctrl-C."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.demo.show import without_database_url

START_PATIENCE = 30.0
STOP_PATIENCE = 10.0


@contextlib.contextmanager
def serving(folder: Path, *, port: int = 0, workers: int = 2) -> Iterator[str]:
    """Run `relstudy serve` on a study folder; yields the app's address, and stops the server at the end.

    Parameters
    ----------
    folder : the study
    port : 0 lets the system choose a free one
    workers : server processes

    Raises
    ------
    RelstudyError
        with the server's last words, when it ends before it listens
    """
    command = [sys.executable, "-m", "relstudy", "serve", str(folder)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", str(workers), "--quiet"]
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    # A session of its own: Ctrl-C reaches this process first, which then stops the server in order.
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    words: list[str] = []
    listening: list[str] = []
    ready = threading.Event()

    def read_errors() -> None:
        assert child.stderr is not None
        words.extend(iter(child.stderr.readline, ""))

    def read_output() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("listening on "):
                listening.append(line.removeprefix("listening on ").strip())
                ready.set()
        ready.set()

    readers = [threading.Thread(target=work, daemon=True) for work in (read_errors, read_output)]
    for reader in readers:
        reader.start()
    try:
        if not ready.wait(START_PATIENCE) or not listening:
            child.terminate()
            readers[0].join(1)
            raise RelstudyError(f"the app did not start: {''.join(words[-5:]).strip() or 'no word from the server'}")
        yield f"http://{listening[0]}"
    finally:
        _stop(child)


def _stop(child: subprocess.Popen[str]) -> None:
    child.terminate()
    deadline = time.monotonic() + STOP_PATIENCE
    while child.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.2)
    if child.poll() is None:
        child.kill()
        child.wait()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of the report folder, nothing else, and no line for every request."""

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def list_directory(self, path: Any) -> None:
        self.send_error(404)


@contextlib.contextmanager
def report_at(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a report folder on this machine only; yields the address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def free_or(port: int) -> int:
    """The port where it is free, else 0: any free one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port


def look_around(folder: Path, port: int) -> None:
    """Serve the app and the report until Ctrl-C (or SIGTERM), and end both in order."""
    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {which: signal.signal(which, end) for which in (signal.SIGINT, signal.SIGTERM)}
    try:
        with without_database_url(), serving(folder, port=free_or(port)) as app, report_at(folder / "report") as report:
            say("")
            say(f"The app, to rate a few pages yourself:  {app}/")
            say(f"The admin pages:                        {app}/admin/")
            say(f"The report:                             {report}")
            say("Ctrl-C stops both.")
            stop.wait()
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
    say("Stopped.")
