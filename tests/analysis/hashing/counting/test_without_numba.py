"""Where numba cannot be imported the same integers come from numpy, from the codes to the figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.places import ROOT

WITHOUT_NUMBA = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ImportError("hidden by the test")

sys.meta_path.insert(0, Refuse())
from relstudy.studyapp.cli import main
from tests.places import ROOT
main(sys.argv[1:])
"""


def run(*arguments: object, numba: bool = False) -> subprocess.CompletedProcess[str]:
    start = ["-m", "relstudy"] if numba else ["-c", WITHOUT_NUMBA]
    words = [sys.executable, *start, *map(str, arguments)]
    return subprocess.run(words, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("codes")
    rng = np.random.default_rng(3)
    for name, size in (("q", 12), ("db", 300)):
        np.save(path / f"{name}.npy", rng.random((size, 70)) < 0.4)
        np.save(path / f"y{name}.npy", rng.integers(0, 4, size))
    return path


def files(folder: Path) -> list[object]:
    return [
        *("--queries", folder / "q.npy", "--database", folder / "db.npy"),
        *("--query-labels", folder / "yq.npy", "--database-labels", folder / "ydb.npy"),
    ]


@pytest.mark.slow
def test_count_evaluate_and_mlgap_without_numba_give_what_they_give_with_it(folder: Path) -> None:
    answers = []
    for numba in (True, False):
        table = folder / f"{numba}.npz"
        counted = run("hash", "count", *files(folder), "-o", table, numba=numba)
        assert counted.returncode == 0, counted.stderr
        assert ("counting with numpy" in counted.stderr) is not numba
        evaluated = run("hash", "evaluate", table, "--k", 10, "--json", numba=numba)
        health = run(
            *("hash", "health", folder / "db.npy", "--queries", folder / "q.npy", "--table", table, "--json"),
            numba=numba,
        )
        assert evaluated.returncode == health.returncode == 0, evaluated.stderr + health.stderr
        answers.append([json.loads(evaluated.stdout), json.loads(health.stdout)])
    assert answers[0] == answers[1]
    assert 0 < answers[0][0]["map"]["expected"] < 1


@pytest.mark.slow
def test_numba_by_name_is_refused_in_one_sentence_where_it_cannot_be_imported(folder: Path) -> None:
    counted = run("hash", "count", *files(folder), "--engine", "numba", "-o", folder / "no.npz")
    assert counted.returncode == 1
    assert "numba cannot be imported (hidden by the test); the engine numpy gives the same integers" in counted.stderr
    assert not (folder / "no.npz").exists()
