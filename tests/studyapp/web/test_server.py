"""The server's processes: none outlives its parent, and none is started for ever in vain."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.studyapp.serving import Server
from tests.studyapp.studies import write_study

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


def test_a_server_whose_workers_cannot_start_any_more_ends_and_says_why(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    server = Server(folder, workers=1)
    try:
        until(lambda: healthy(server))
        (folder / "study.toml").write_text("[study]\n", encoding="utf-8")
        worker = next(process for process in in_group(server.child.pid) if process != server.child.pid)
        os.kill(worker, signal.SIGKILL)
        assert server.child.wait(120) == 1
        told = (folder / "serve.err").read_text(encoding="utf-8")
        assert "ended (signal 9); another takes its place" in told
        assert "study.toml" in told and "the workers keep failing at the start" in told
    finally:
        server.stop()
