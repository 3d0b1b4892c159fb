"""Calls that a type checker takes; test_typed_calls.py runs mypy on it, nothing else."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import relstudy as rs

if TYPE_CHECKING:  # nothing runs
    frame = pd.DataFrame()
    panel = rs.calibrate("ratings.csv", method="zscore", handed_out="random", clip=True, base_column=None)
    again = rs.calibrate(frame, options=rs.CalibrationOptions(force=True), weigh_raters=None, scale="1-5")
    read = rs.read_ratings(frame, columns={"worker": "rater_id", "item": ("query_id", "result_id")}, missing="NA")
    same = rs.read_ratings("wide.csv", items=frame, values={"no": 0}, missing=["-", 99], where="Finished==1")
    parts: rs.CalibratedParts = rs.calibrate_by(frame, "scale", method="mean", trust_raters=True)
    graded = rs.score("a.run", "j.csv", gains={"exact": 1, "partly": 0.1}, columns={"q": "query_id"}, scale=None)
    vectors = rs.score(np.ones((2, 3)), "j.csv", ids=["a", "b"], similarity="dot", query_vectors="queries.npy")
    mappings = rs.fit({"new": "new.run"}, panel, method="steps", folds=5, direction="higher", only=["new"])
    groups = rs.fit_by(frame, panel, "paradigm", direction={"new": "lower"}, weights="design")
    scores: rs.Scores = rs.score(
        {"new": "new.run", "old": frame},
        panel,
        mappings=mappings,
        options=rs.ScoringOptions(replicates=100, directions={"*": "higher"}),
        method="best",
        direction={"old": "auto"},
        measures=["nDCG@5"],
        threshold=3,
        level=None,
        by="paradigm",
    )
    plan: rs.Plan = rs.plan(panel, correlations=(0.5, 0.4), index="nDCG@10", studies=20)
    joined = rs.join({"a": panel, "b": "b.csv"}, folds=5, seed=1)
    checked = rs.judge("judge.csv", panel, replicates=10)
    drawn: rs.Sample = rs.sample("study", ["keywords"], queries=3, floor=0, good=0.01, given=["q1"])
    counts = rs.hashing.CountTable.load("counts.npz")
    rs.hashing.evaluate(counts, k=[10, 100], denominator="hits", beta=2.0, preset="moran")
