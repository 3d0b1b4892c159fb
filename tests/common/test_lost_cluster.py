"""A cluster that is not there, or is lost on the way, ends the work within a stated time, in one sentence."""

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
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import relstudy.common.cluster as our_cluster
from relstudy.common.cluster import ClusterOptions, at_work, in_parts
from relstudy.common.runtime.errors import RelstudyError

pytestmark = pytest.mark.slow

WITHOUT_RELSTUDY = "import sys; sys.modules['relstudy'] = None; from distributed.cli.dask_worker import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"
SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"


@pytest.fixture(scope="module")
def distributed() -> ModuleType:
    return pytest.importorskip("distributed", reason="needs the extra `dask`")


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


def outcome(scheduler: str, monkeypatch: pytest.MonkeyPatch, victim: subprocess.Popen[bytes] | None = None) -> str:
    """The sentence that ends the work; a victim is killed on the way, and then patience is short."""
    caught: list[RelstudyError] = []

    def run() -> None:
        try:
            with at_work(ClusterOptions("dask", scheduler)):
                for count, _ in enumerate(in_parts(partial(partial, time.sleep), [], [0.1] * 40)):
                    if count == 2 and victim is not None:
                        os.kill(victim.pid, signal.SIGKILL)
                        monkeypatch.setattr(our_cluster, "PATIENCE", 2)
        except RelstudyError as error:
            caught.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=240)  # it takes seconds; more than minutes would be work that waits for ever
    assert not thread.is_alive()
    return str(caught[0])


def test_all_workers_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, WORKER) as (address, _, worker):
        assert "all dask workers" in outcome(address, monkeypatch, worker)


def test_the_only_worker_is_lost_with_what_it_has_done(
    distributed: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """dask hands the work out again and waits for a worker without end, in some runs of the test above."""
    monkeypatch.setattr(our_cluster, "PATIENCE", 2)
    with cluster(tmp_path, WORKER) as (address, _, worker), distributed.Client(address) as client:
        future = client.submit(time.sleep, 0)
        distributed.wait([future])
        worker.kill()
        worker.wait()
        with pytest.raises(RelstudyError, match="all dask workers"):
            our_cluster._Cluster(client, address)._fetched(future)


def test_the_scheduler_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, WORKER) as (address, scheduler, _):
        assert "was lost" in outcome(address, monkeypatch, scheduler)


def test_a_worker_without_relstudy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, WITHOUT_RELSTUDY) as (address, _, _):
        assert "cannot import relstudy" in outcome(address, monkeypatch)


def test_a_scheduler_that_is_not_there_is_named(distributed: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in outcome("tcp://127.0.0.1:9", monkeypatch)


def test_a_scheduler_without_workers_is_named(distributed: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(our_cluster, "PATIENCE", 0.1)
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as nobody:
        assert "has no worker; start some with `dask worker`" in outcome(nobody.scheduler_address, monkeypatch)


@pytest.mark.parametrize("sent", [1, 2, 3])
def test_a_worker_that_is_lost_while_data_are_sent_to_it_costs_time_only(
    distributed: ModuleType, monkeypatch: pytest.MonkeyPatch, sent: int
) -> None:
    """dask's own sending of data waited for ever for a worker that was gone, in some runs of the tests."""
    monkeypatch.setattr(our_cluster, "PATIENCE", 90)  # of which nothing is spent, on a busy machine neither
    submit, begun = distributed.Client.submit, list[str]()
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        at_work(ClusterOptions("dask", local.scheduler_address)),
    ):
        victim = next(iter(local.workers.values())).pid

        def killing(*args: Any, **options: Any) -> Any:
            begun.append("once")
            if len(begun) == sent:
                os.kill(victim, signal.SIGKILL)
            return submit(*args, **options)

        monkeypatch.setattr(distributed.Client, "submit", killing)
        began = time.monotonic()
        assert list(in_parts(partial(partial, pow, 2), [], [2, 3])) == [4, 8]
        assert len(begun) >= sent and time.monotonic() - began < our_cluster.PATIENCE


def test_a_worker_that_is_stopped_costs_the_time_after_which_the_scheduler_gives_it_up(distributed: ModuleType) -> None:
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "3s"}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        at_work(ClusterOptions("dask", local.scheduler_address)),
    ):
        victim = next(iter(local.workers.values())).pid
        found = []
        for result in in_parts(partial(partial, pow, 2), [], range(40)):
            found.append(result)
            if len(found) == 1:
                os.kill(victim, signal.SIGSTOP)
    assert found == [2**part for part in range(40)]
