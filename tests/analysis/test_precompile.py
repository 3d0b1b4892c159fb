"""What is compiled ahead is what scoring needs, and is compiled once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.places import EXAMPLE, ROOT


def _ran(cache: Path, *command: str) -> set[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-m", *command], check=True, env=environment, capture_output=True, cwd=cache)
    return {path.name for path in cache.rglob("*.nbc")}


def _several(folder: Path, times: int) -> Path:
    """The example's tables, each query so many times under other names."""
    for name in ("judgments.csv", "calibrated.csv", "gift.csv"):
        table = pd.read_csv(EXAMPLE / "scores" / name if name == "gift.csv" else EXAMPLE / name)
        renamed = {"query_id", "pair_id"} & set(table)
        copies = [table.assign(**{each: table[each] + f"-{k}" for each in renamed}) for k in range(times)]
        pd.concat(copies).to_csv(folder / name, index=False)
    return folder


@pytest.mark.slow
def test_a_first_score_compiles_nothing_of_few_pairs_nor_after_compiling_ahead(tmp_path: Path) -> None:
    tables = [str(EXAMPLE / "scores" / "gift.csv"), "--judgments", str(EXAMPLE / "judgments.csv")]
    assert _ran(tmp_path, "relstudy", "score", *tables, "--json") == set()
    ahead = _ran(tmp_path, "relstudy.analysis.precompile")
    assert len(ahead) > 8
    many = _several(tmp_path, 4)
    tables = [str(many / "gift.csv"), "--judgments", str(many / "judgments.csv")]
    assert _ran(tmp_path, "relstudy", "score", *tables, "--json") == ahead


@pytest.mark.slow
def test_a_function_is_kept_once_it_was_compiled(tmp_path: Path) -> None:
    program = (
        "from relstudy.analysis.indices import kernels; from relstudy.common.runtime.compiled import is_kept;"
        "import numpy as np;"
        "sums, spearman = kernels.sums.machine(), kernels.spearman.machine();"
        "before = is_kept(sums); sums(np.ones((1, 2)), np.ones((2, 1)), 0, 1);"
        "assert (before, is_kept(sums), is_kept(spearman)) == (False, True, False)"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
