"""Counting on a cluster gives the same bits as counting here, also when a worker dies on the way."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from analysis.hashing.shards import Job, count_files
from calibration.errors import RelstudyError

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("codes")
    rng = np.random.default_rng(2)
    np.save(folder / "q.npy", rng.integers(0, 256, (64, 8), dtype=np.uint8))
    np.save(folder / "db.npy", rng.integers(0, 256, (300_000, 8), dtype=np.uint8))
    np.save(folder / "yq.npy", rng.integers(0, 9, 64))
    np.save(folder / "y.npy", rng.integers(0, 9, 300_000))
    paths = {name: str(folder / f"{name}.npy") for name in ("q", "db", "yq", "y")}
    return Job(paths["q"], (paths["db"],), paths["yq"], (paths["y"],), None)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_counts_the_same_bits(job: Job) -> None:
    alone = count_files(job)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        done = []

        def watch(items, total):
            for item in items:
                done.append(item)
                if len(done) == 2:
                    os.kill(victim, signal.SIGKILL)
                yield item

        together = count_files(job, engine="dask", scheduler=cluster.scheduler_address, watch=watch, size=5_000)
    assert len(done) >= 60
    assert (together.total == alone.total).all()
    assert (together.relevant == alone.relevant).all()


def test_a_scheduler_that_is_not_there_is_named(job: Job) -> None:
    with pytest.raises(RelstudyError, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:9"):
        count_files(job, engine="dask", scheduler="tcp://127.0.0.1:9")
