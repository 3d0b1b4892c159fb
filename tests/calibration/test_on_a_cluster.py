"""Calibration on a dask cluster has the figures of one process, to the last digit."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import succeeds
from tests.places import ROOT

pytestmark = pytest.mark.slow
RATINGS = ROOT / "data" / "example" / "ratings.csv"
OTHERS = ("none", "zscore", "pooled", "shrunk", "crossed", "dawid-skene")


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
    panel = rs.calibrate(RATINGS)
    beside = panel.against(*OTHERS)
    with rs.on_cluster():
        assert rs.calibrate(RATINGS).as_json() == panel.as_json()
        pd.testing.assert_frame_equal(panel.against(*OTHERS), beside, check_exact=True)
    with (
        pytest.raises(RelstudyError, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:9"),
        rs.on_cluster("tcp://127.0.0.1:9"),
    ):
        raise AssertionError
