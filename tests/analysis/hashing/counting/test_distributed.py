"""Counting on a cluster gives the same bits as counting here, also when a worker dies on the way."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from relstudy.analysis.hashing.counting.distributed import count_files
from relstudy.analysis.hashing.counting.shards import Job
from relstudy.common.runtime.errors import RelstudyError


@pytest.fixture(scope="module")
def distributed() -> ModuleType:
    return pytest.importorskip("distributed", reason="needs the extra `dask`")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("codes")
    rng = np.random.default_rng(2)
    np.save(folder / "q.npy", rng.integers(0, 256, (64, 8), dtype=np.uint8))
    np.save(folder / "db.npy", rng.integers(0, 256, (60_000, 8), dtype=np.uint8))
    np.save(folder / "yq.npy", rng.integers(0, 9, 64))
    np.save(folder / "y.npy", rng.integers(0, 9, 60_000))
    paths = {name: str(folder / f"{name}.npy") for name in ("q", "db", "yq", "y")}
    return Job(paths["q"], (paths["db"],), paths["yq"], (paths["y"],), None)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_counts_the_same_bits(distributed: ModuleType, job: Job) -> None:
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
    assert len(done) >= 12
    assert (together.total == alone.total).all()
    assert (together.relevant == alone.relevant).all()


@pytest.mark.slow
def test_a_fault_that_a_worker_finds_ends_with_its_sentence(distributed: ModuleType, job: Job, tmp_path: Path) -> None:
    signs = np.ones((500, 64))
    signs[::2] = -1
    signs[377, 2] = np.nan
    np.save(tmp_path / "db.npy", signs)
    np.save(tmp_path / "y.npy", np.zeros(500, dtype=int))
    wrong = replace(job, database=(str(tmp_path / "db.npy"),), database_labels=(str(tmp_path / "y.npy"),))
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        pytest.raises(RelstudyError, match=r"db\.npy, row 377, column 2 \(counted from 0\): 'nan' is not allowed"),
    ):
        count_files(wrong, engine="dask", scheduler=cluster.scheduler_address, size=100)


def test_workers_are_told_files_by_names_that_hold_everywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    here = Job("q.npy", ("a.npy", "b.npy"), "yq.npy", ("ya.npy", "yb.npy"), None, "packed").absolute()
    names = [here.queries, *here.database, str(here.query_labels), *here.database_labels]
    assert names == [str(tmp_path / f"{name}.npy") for name in ("q", "a", "b", "yq", "ya", "yb")]
    assert (here.truth_file, here.form) == (None, "packed")
    assert Job("q.npy", ("a.npy",), None, (), "t.npz").absolute().truth_file == str(tmp_path / "t.npz")
