"""What is compiled ahead is what scoring needs, and is compiled once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import EXAMPLE, ROOT


def _ran(cache: Path, *command: str) -> set[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-m", *command], check=True, env=environment, capture_output=True, cwd=cache)
    return {path.name for path in cache.rglob("*.nbc")}


@pytest.mark.slow
def test_a_first_score_compiles_nothing_after_compiling_ahead(tmp_path: Path) -> None:
    ahead = _ran(tmp_path, "relstudy.analysis.compiling")
    tables = [str(EXAMPLE / "scores" / "gift.csv"), "--judgments", str(EXAMPLE / "judgments.csv")]
    assert len(ahead) > 8
    assert _ran(tmp_path, "relstudy", "score", *tables, "--json") == ahead


@pytest.mark.slow
def test_a_function_is_kept_once_it_was_compiled(tmp_path: Path) -> None:
    program = (
        "from relstudy.analysis.indices import kernels; from relstudy.common.compiled import is_kept;"
        "import numpy as np;"
        "before = is_kept(kernels.sums); kernels.sums(np.ones((1, 2)), np.ones((2, 1)), 0, 1);"
        "assert (before, is_kept(kernels.sums), is_kept(kernels.spearman)) == (False, True, False)"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
