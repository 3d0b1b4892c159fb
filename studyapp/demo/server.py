"""The production server as a child process, for as long as the panel or the reader needs it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from relstudy.common.errors import RelstudyError

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
