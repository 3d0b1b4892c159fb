"""A cluster that is lost on the way ends the job within a stated time, in one sentence."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import relstudy.analysis.hashing.counting.distributed as our_distributed
from relstudy.analysis.hashing.counting.files import count_files
from relstudy.analysis.hashing.counting.shards import Job
from relstudy.common.errors import RelstudyError

pytest.importorskip("distributed", reason="needs the extra `dask`")
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
        time.sleep(0.5)
        yield json.loads(address.read_text())["address"], running[0], running[1]
    finally:
        for process in running:
            process.kill()
            process.wait()


def outcome(job: Job, scheduler: str, victim: subprocess.Popen[bytes] | None = None) -> tuple[str, float]:
    """The sentence that ended the job, and the seconds from the loss to it."""
    began = [time.monotonic()]

    def watch(items, total):
        for count, item in enumerate(items):
            if count == 2 and victim is not None:
                os.kill(victim.pid, signal.SIGKILL)
                began[0] = time.monotonic()
            yield item

    with pytest.raises(RelstudyError) as caught:
        count_files(job, engine="dask", scheduler=scheduler, watch=watch, size=5)
    return str(caught.value), time.monotonic() - began[0]


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(our_distributed, "PATIENCE", 15)


# Dask notices a lost process within seconds; the rest is for a machine that does other things as well.
LONGEST = 60


def test_all_workers_lost(job: Job, tmp_path: Path) -> None:
    with cluster(tmp_path, WORKER) as (address, _, worker):
        sentence, seconds = outcome(job, address, worker)
    assert "all dask workers were lost" in sentence
    assert seconds < LONGEST


def test_the_scheduler_lost(job: Job, tmp_path: Path) -> None:
    with cluster(tmp_path, WORKER) as (address, scheduler, _):
        sentence, seconds = outcome(job, address, scheduler)
    assert "was lost" in sentence
    assert seconds < LONGEST


def test_a_worker_without_relstudy(job: Job, tmp_path: Path) -> None:
    with cluster(tmp_path, WITHOUT_RELSTUDY) as (address, _, _):
        sentence, seconds = outcome(job, address)
    assert "cannot import relstudy" in sentence
    assert seconds < LONGEST
