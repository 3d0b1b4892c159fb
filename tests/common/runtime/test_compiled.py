"""Compiled functions start where nothing may be written, and keep their code where somebody says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

USERS = [
    "relstudy.analysis.hashing.counting.kernels",
    "relstudy.analysis.hashing.counting.nibbles",
    "relstudy.analysis.indices.kernels",
    "relstudy.mapping.changepoint.recursion",
]
"""Modules that compile functions."""

COUNT = """
import importlib, sys
import numpy as np
for name in sys.argv[1:]:
    importlib.import_module(name)
from relstudy.analysis.hashing.counting.kernels import _add_distance
distances = np.ones(2, np.uint16)
_add_distance(np.array([3, 7], np.uint64), np.uint64(4), distances)
print(distances.tolist())
"""


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation in which no cache can be kept, not even by root: a file is where each cache folder would be."""
    folder = tmp_path_factory.mktemp("locked")
    package = folder / "relstudy"
    shutil.copytree(ROOT / "relstudy", package, ignore=shutil.ignore_patterns("__pycache__", "static", "templates"))
    for directory in [package, *package.rglob("*/")]:
        if directory.is_dir():
            (directory / "__pycache__").touch()
    return folder


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "PYTHON"))}
    # /dev/null is not a folder, so that no cache can be kept at home either.
    clean |= {"HOME": "/dev/null", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    words = [sys.executable, "-P", "-c", COUNT, *USERS]
    return subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_every_kernel_starts_where_no_folder_may_be_written(locked: Path) -> None:
    outcome = run(locked)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "[4, 3]\n"


@pytest.mark.slow
def test_the_folder_that_numba_is_told_keeps_the_compiled_code(locked: Path, tmp_path: Path) -> None:
    outcome = run(locked, NUMBA_CACHE_DIR=str(tmp_path))
    assert outcome.returncode == 0, outcome.stderr
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*.nbi")] == ["kernels._add_distance"]


def test_nobody_else_compiles() -> None:
    """One owner of the decision what to do without a cache."""
    rooms = ("relstudy/common", "studyapp", "analysis", "mapping", "calibration")
    sources = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    assert {path.name for path in sources if "njit" in path.read_text(encoding="utf-8")} == {"compiled.py"}
