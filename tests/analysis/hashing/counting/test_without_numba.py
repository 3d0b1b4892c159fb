"""Where numba cannot be imported the same integers come from numpy, from the codes to the figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands import relstudy
from tests.places import ROOT

WITHOUT_NUMBA = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ImportError("hidden by the test")

sys.meta_path.insert(0, Refuse())
import json
from click.testing import CliRunner
from relstudy.studyapp.cli import main
done = [CliRunner().invoke(main, words) for words in json.loads(sys.argv[1])]
print(json.dumps([[each.exit_code, each.stdout, each.stderr] for each in done]))
"""

Answer = tuple[int, str, str]


def without_numba(*commands: list[str]) -> list[Answer]:
    """Exit code, stdout and stderr of each command, in one process that cannot import numba."""
    words = [sys.executable, "-c", WITHOUT_NUMBA, json.dumps(commands)]
    done = subprocess.run(words, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [tuple(answer) for answer in json.loads(done.stdout)]


def with_numba(*commands: list[str]) -> list[Answer]:
    pytest.importorskip("numba")
    done = [relstudy(*words) for words in commands]
    return [(each.exit_code, each.stdout, each.stderr) for each in done]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("codes")
    rng = np.random.default_rng(3)
    for name, size in (("q", 12), ("db", 300)):
        np.save(path / f"{name}.npy", rng.random((size, 70)) < 0.4)
        np.save(path / f"y{name}.npy", rng.integers(0, 4, size))
    return path


def commands(folder: Path, table: Path) -> tuple[list[str], list[str], list[str]]:
    """Count, evaluate, and mLGAP."""
    q, db, yq, ydb = (str(folder / f"{name}.npy") for name in ("q", "db", "yq", "ydb"))
    labels = ["--query-labels", yq, "--database-labels", ydb]
    return (
        ["hash", "count", "--queries", q, "--database", db, *labels, "-o", str(table)],
        ["hash", "evaluate", str(table), "--k", "10", "--json"],
        ["hash", "health", db, "--queries", q, "--table", str(table), "--json"],
    )


@pytest.mark.slow
def test_without_numba_count_evaluate_and_mlgap_give_what_they_give_with_it(folder: Path) -> None:
    no = folder / "no.npz"
    count, *others = commands(folder, folder / "without.npz")
    by_name = [*commands(folder, no)[0], "--engine", "numba"]
    *answers, refused = without_numba(count, *others, by_name)
    expected = with_numba(*commands(folder, folder / "with.npz"))
    assert [code for code, _, _ in (*answers, *expected)] == [0] * 6, answers
    assert "counting with numpy" in answers[0][2]
    assert "counting with numpy" not in expected[0][2]
    assert [out for _, out, _ in answers[1:]] == [out for _, out, _ in expected[1:]]
    assert 0 < json.loads(answers[1][1])["map"]["expected"] < 1
    assert refused[0] == 1
    assert "numba cannot be imported (hidden by the test); the engine numpy gives the same integers" in refused[2]
    assert not no.exists()
