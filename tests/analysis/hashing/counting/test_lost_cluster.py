"""A cluster that is lost on the way ends the job within a stated time, in one sentence."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import relstudy.analysis.hashing.counting.distributed as our_distributed
from relstudy.analysis.hashing.counting.distributed import count_files
from relstudy.analysis.hashing.counting.shards import Job
from relstudy.common.errors import RelstudyError

pytestmark = pytest.mark.slow

WITHOUT_RELSTUDY = "import sys; sys.modules['relstudy'] = None; from distributed.cli.dask_worker import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"
SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("codes")
    rng = np.random.default_rng(2)
    for name, size in (("q", 16), ("db", 4_000)):
        np.save(folder / f"{name}.npy", rng.random((size, 32)) < 0.5)
        np.save(folder / f"y{name}.npy", rng.integers(0, 3, size))
    q, db, yq, ydb = (str(folder / f"{name}.npy") for name in ("q", "db", "yq", "ydb"))
    return Job(q, (db,), yq, (ydb,), None)


@contextlib.contextmanager
def cluster(folder: Path, worker: str) -> Iterator[tuple[str, subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    client_of = pytest.importorskip("distributed", reason="needs the extra `dask`").Client
    address = folder / "scheduler.json"

    def start(code: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", code, "--scheduler-file", str(address), *words]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    running = [start(SCHEDULER, "--no-dashboard", "--port", "0", "--host", "127.0.0.1")]
    try:
        until = time.monotonic() + 60
        while not address.exists() and time.monotonic() < until:
            time.sleep(0.1)
        running.append(start(worker, "--no-nanny", "--nthreads", "1", "--no-dashboard"))
        where = json.loads(address.read_text())["address"]
        with client_of(where) as client:
            client.wait_for_workers(1, timeout=120)  # a busy machine starts it slowly
        yield where, running[0], running[1]
    finally:
        for process in running:
            process.kill()
            process.wait()


def outcome(
    job: Job, scheduler: str, monkeypatch: pytest.MonkeyPatch, victim: subprocess.Popen[bytes] | None = None
) -> str:
    """The sentence that ends the job; a victim is killed on the way, and then patience is short."""

    def watch(items, total):
        for count, item in enumerate(items):
            if count == 2 and victim is not None:
                os.kill(victim.pid, signal.SIGKILL)
                monkeypatch.setattr(our_distributed, "PATIENCE", 2)
            yield item

    caught: list[RelstudyError] = []

    def run() -> None:
        try:
            count_files(job, engine="dask", scheduler=scheduler, watch=watch, size=200)
        except RelstudyError as error:
            caught.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=240)  # it takes seconds; more than minutes would be a job that waits for ever
    assert not thread.is_alive()
    return str(caught[0])


def test_all_workers_lost(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, WORKER) as (address, _, worker):
        assert "all dask workers were lost" in outcome(job, address, monkeypatch, worker)


def test_the_scheduler_lost(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, WORKER) as (address, scheduler, _):
        assert "was lost" in outcome(job, address, monkeypatch, scheduler)


def test_a_worker_without_relstudy(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, WITHOUT_RELSTUDY) as (address, _, _):
        assert "cannot import relstudy" in outcome(job, address, monkeypatch)
