"""After the demo: the app and the report, served until Ctrl-C."""

from __future__ import annotations

import contextlib
import functools
import http.server
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from relstudy.common.console import say
from relstudy.studyapp.demo.in_process import without_database_url
from relstudy.studyapp.demo.server import serving


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
