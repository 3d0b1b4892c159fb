"""What is compiled ahead is what scoring needs, and is compiled once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.places import EXAMPLE, ROOT

PROGRAM = """
import gc, runpy, sys
from relstudy.common.runtime.compiled import is_kept
from tests.commands import succeeds

def kept():
    from numba.core.dispatcher import Dispatcher
    functions = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {(each, signature) for each in functions if is_kept(each) for signature in each.signatures}

def score(scores, judgments):
    succeeds("score", scores, "--judgments", judgments, "--json")

score(*sys.argv[1:3])
assert kept() == set()
runpy.run_module("relstudy.analysis.precompile", run_name="__main__")
ahead = kept()
assert len(ahead) > 8
score(*sys.argv[3:])
assert kept() == ahead
"""


def _run(program: str, *arguments: Path, **places: Path) -> None:
    environment = {**os.environ, **{name: str(path) for name, path in places.items()}, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, env=environment)


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
    """What a process has called of what is kept is compared, so that other tests' machine code serves here too."""
    many = _several(tmp_path, 4)
    few = [EXAMPLE / "scores" / "gift.csv", EXAMPLE / "judgments.csv"]
    _run(PROGRAM, *few, many / "gift.csv", many / "judgments.csv")


@pytest.mark.slow
def test_a_function_is_kept_once_it_was_compiled(tmp_path: Path) -> None:
    program = (
        "from relstudy.analysis.indices import kernels; from relstudy.common.runtime.compiled import is_kept;"
        "import numpy as np;"
        "sums, spearman = kernels.sums.machine(), kernels.spearman.machine();"
        "before = is_kept(sums); sums(np.ones((1, 2)), np.ones((2, 1)), 0, 1);"
        "read = sum(sums.stats.cache_hits.values());"
        "assert (before, read, is_kept(sums), is_kept(spearman)) == ({0}, {0}, True, False)"
    )
    for kept in (False, True):
        _run(program.format(kept), NUMBA_CACHE_DIR=tmp_path)
