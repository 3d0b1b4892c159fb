"""Compile what scoring needs ahead of it, in a process of its own, while something else is done.

A fresh installation compiles for some eight seconds when it scores many pairs for the first time (few need no machine
code). `python -m relstudy.analysis.precompile` does that once; the demo starts it before its first stage.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd


def compile_scoring() -> None:
    """Score a made table of many pairs, in both ways of drawing, so that every loop is compiled and kept.

    Examples
    --------
    >>> compile_scoring()
    """
    from relstudy.analysis.scoring.judged_pairs import JudgedPairs
    from relstudy.analysis.scoring.options import ScoringOptions
    from relstudy.analysis.scoring.run import score_candidates
    from relstudy.analysis.scoring.systems import candidates_of
    from relstudy.calibration.options import CalibrationOptions
    from relstudy.calibration.pipeline import calibrate
    from relstudy.calibration.tables.ratings import check_ratings
    from relstudy.common.runtime.compiled import FEW
    from relstudy.common.tables.checked_table import Checked

    queries, results = [[f"{kind}{each}" for each in range(number)] for kind, number in (("q", 6), ("r", -(-FEW // 6)))]
    pairs = pd.DataFrame({"query_id": np.repeat(queries, len(results)), "result_id": results * len(queries)})
    worth = np.arange(len(pairs)) * 7 % 5 + 1
    ratings = pd.concat(
        [pairs.assign(rater_id=f"r{each}", rating=np.clip(worth + each % 2, 1, 5)) for each in range(4)],
        ignore_index=True,
    )
    options = CalibrationOptions("mean", careless="keep")
    judged = calibrate(check_ratings(Checked(ratings, "ratings")), options).judgments
    noise = np.arange(len(pairs)) * 11 % 7
    scores = pd.concat(
        [pairs.assign(system=name, score=worth + noise * share) for name, share in (("one", 0.3), ("two", 0.9))],
        ignore_index=True,
    )
    choices = ScoringOptions(replicates=200)
    for probability in ({}, {"inclusion_probability": 0.2, "query_probability": 0.5}):
        drawn = JudgedPairs.of(replace(judged, frame=judged.frame.assign(**probability)))
        candidates, _ = candidates_of([("scores", scores)], drawn, choices)
        score_candidates(drawn, candidates, choices)


@contextlib.contextmanager
def compiling_meanwhile() -> Iterator[None]:
    """Compile in another process while the block runs, where that was not done before; what it says is not shown, since
    what cannot be compiled ahead is compiled when it is needed."""
    from relstudy.analysis.indices import kernels
    from relstudy.common.runtime.compiled import is_kept

    if is_kept(kernels.spearman.machine()):  # type: ignore[attr-defined]
        yield
        return
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    quiet = subprocess.DEVNULL
    other = subprocess.Popen(
        [sys.executable, "-m", "relstudy.analysis.precompile"], stdin=quiet, stdout=quiet, stderr=quiet, env=environment
    )
    try:
        yield
    finally:
        other.wait()


if __name__ == "__main__":
    compile_scoring()
