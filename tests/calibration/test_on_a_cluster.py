"""Calibration on a dask cluster has the figures of one process, to the last digit, also where a worker is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pytest

import relstudy as rs
from relstudy.calibration.method_comparison import beside_others
from relstudy.calibration.pipeline import summary
from relstudy.common.cluster import ClusterOptions, at_work
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import succeeds
from tests.places import ROOT

pytestmark = pytest.mark.slow
RATINGS = ROOT / "data" / "example" / "ratings.csv"
OTHERS = ("none", "zscore", "pooled", "shrunk", "crossed", "dawid-skene")


def test_a_worker_that_is_killed_costs_time_only(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    panel = rs.calibrate(RATINGS)
    alone = panel.against(*OTHERS), summary(panel.calibration)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        at_work(ClusterOptions("dask", cluster.scheduler_address)),
    ):
        victims = [each.pid for each in cluster.workers.values()]

        def kill_after_two(numbers: Iterable[int]) -> Iterator[int]:
            for number in numbers:
                if number == 2:
                    os.kill(victims[0], signal.SIGKILL)
                yield number

        rows = beside_others(panel.calibration, OTHERS, kill_after_two)
        together = summary(panel.calibration)
    pd.testing.assert_frame_equal(pd.DataFrame([vars(each) for each in rows]), alone[0], check_exact=True)
    assert together == alone[1]


def test_the_command_writes_the_same_files_and_says_the_same(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    said = [
        succeeds("calibrate", RATINGS, "-o", tmp_path / who, "--against", "none", "--json", "--engine", who)
        for who in ("here", "dask")
    ]
    assert said[0].stdout == said[1].stdout
    assert f"{os.cpu_count()} dask workers of tcp://127.0.0.1" in said[1].stderr
    for file in ("judgments.csv", "raters.csv", "calibrated.csv"):
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "dask" / file).read_bytes()


def test_within_on_cluster_a_notebook_has_the_same_figures() -> None:
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    alone = rs.calibrate(RATINGS).as_json()
    with rs.on_cluster():
        assert rs.calibrate(RATINGS).as_json() == alone
    with (
        pytest.raises(RelstudyError, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:9"),
        rs.on_cluster("tcp://127.0.0.1:9"),
    ):
        raise AssertionError
