"""Scoring on a dask cluster has the figures of one process, to the last digit, also where a worker is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_candidates
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.common.cluster import ClusterOptions, at_work
from tests.commands import succeeds
from tests.places import ROOT

pytestmark = pytest.mark.slow
EXAMPLE = ROOT / "data" / "example"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments of the example with the ratings behind them, of queries that are a known share of a collection's."""
    folder = tmp_path_factory.mktemp("judged")
    succeeds("calibrate", EXAMPLE / "ratings.csv", "--pairs", EXAMPLE / "pairs.csv", "-o", folder)
    return folder


def made_systems(pairs: JudgedPairs, number: int) -> list[Candidate]:
    random = np.random.default_rng(8)
    options = ScoringOptions(replicates=300)
    frame = pd.DataFrame({"query_id": pairs.query_id, "result_id": pairs.result_id})
    tables = [frame.assign(score=pairs.judgment + random.normal(size=len(pairs))) for _ in range(number)]
    return [candidate_of(pairs, f"s{k}", table, options) for k, table in enumerate(tables)]


def test_a_worker_that_is_killed_costs_time_only(judged: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    pairs, options = (
        JudgedPairs.of(read_study_tables(judged / "judgments.csv").judgments),
        ScoringOptions(replicates=300),
    )
    candidates = made_systems(pairs, 8)
    alone = score_candidates(pairs, candidates, options)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        at_work(ClusterOptions("dask", cluster.scheduler_address)),
    ):
        victim = next(iter(cluster.workers.values())).pid

        def kill_after_two(systems: Sequence[Candidate], what: str) -> Iterator[Candidate]:
            for number, system in enumerate(systems):
                if number == 2:
                    os.kill(victim, signal.SIGKILL)
                yield system

        together = score_candidates(pairs, candidates, options, kill_after_two)
    assert alone.raters.raters is not None, "raters are drawn too"
    assert together.as_json() == alone.as_json()
    for one, other in zip(alone.systems, together.systems, strict=True):
        assert one.figures.keys() == other.figures.keys()
        for name, figure in one.figures.items():
            np.testing.assert_array_equal(figure.replicates, other.figures[name].replicates)


def test_the_command_writes_the_same_files_and_says_the_same(judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    tables = [EXAMPLE / "scores" / f"{name}.csv" for name in ("gift", "keywords", "simplicity")]
    words = ["score", *tables, "-j", judged / "judgments.csv", "--replicates", "200", "--json"]
    said = [succeeds(*words, "-o", tmp_path / who, "--engine", who) for who in ("here", "dask")]
    assert said[0].stdout == said[1].stdout
    files = sorted(each.name for each in (tmp_path / "here").iterdir())
    assert len(files) > 3
    assert files == sorted(each.name for each in (tmp_path / "dask").iterdir())
    for file in files:
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "dask" / file).read_bytes()


def test_within_on_cluster_a_notebook_has_the_same_figures(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # the command's test has a worker for each processor
    systems = {name: str(EXAMPLE / "scores" / f"{name}.csv") for name in ("gift", "keywords")}
    alone = rs.score(systems, judged / "judgments.csv", replicates=100)
    with rs.on_cluster():
        together = rs.score(systems, judged / "judgments.csv", replicates=100)
    assert together.as_json() == alone.as_json()
