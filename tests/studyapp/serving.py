"""The real server, started and stopped by a test."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path


class Server:
    """`relstudy serve` (or `host`) as a child process, in a session of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        workers: int = 1,
        threads: int = 4,
        port: int = 0,
        environment: dict[str, str] | None = None,
        extra: tuple[str, ...] = (),
        command: str = "serve",
        descriptors: int = 0,
    ) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        self.errors = open(folder / "serve.err", "ab")  # noqa: SIM115 (kept as long as the child)
        call = [sys.executable, "-m", "relstudy", command, str(folder), "--port", str(port), "--quiet"]
        self.child = subprocess.Popen(
            [*call, "--workers", str(workers), "--threads", str(threads), *extra],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, **(environment or {})},
            text=True,
            start_new_session=True,
            preexec_fn=limit if descriptors else None,
        )
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line.startswith("listening on "), (folder / "serve.err").read_text()
        self.address = "http://" + line.split()[-1]
        self.port = int(self.address.rpartition(":")[2])

    def kill(self) -> None:
        """SIGKILL to the server and all its workers at once."""
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self._close()

    def stop(self) -> None:
        """As a person would end it."""
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
        self._close()

    def _close(self) -> None:
        assert self.child.stdout is not None
        self.child.stdout.close()
        self.errors.close()


@contextlib.contextmanager
def serving(folder: Path, **options: int) -> Iterator[str]:
    """The address of a running server."""
    import urllib.request

    server = Server(folder, **options)
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"{server.address}/health", timeout=60) as answer:
                    assert answer.status == 200
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield server.address
    finally:
        server.stop()
