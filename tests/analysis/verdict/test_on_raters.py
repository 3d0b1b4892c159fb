"""What the raters say against a verdict stands beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from tests.commands import succeeds


def studied(fall: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores, and ratings of 100 pairs by eight people, which fall so many points from a rater's first to last."""
    random = np.random.default_rng(3)
    worth = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    rows = []
    for rater in range(8):
        order = random.permutation(100)
        answer = worth[order] - fall * np.arange(100) / 99 + random.normal(0, 0.5, 100)
        rows.append(pd.DataFrame({"rater_id": f"r{rater}", "pair": order, "position": range(1, 101), "rating": answer}))
    ratings = pd.concat(rows, ignore_index=True)
    ratings["rating"] = ratings["rating"].round().clip(1, 5)
    pair = ratings.pop("pair")
    ratings = ratings.assign(query_id="q" + (pair // 5).astype(str), result_id="d" + pair.astype(str))
    pairs = np.arange(100)
    scores = [
        pd.DataFrame({"system": name, "query_id": [f"q{k // 5}" for k in pairs], "result_id": [f"d{k}" for k in pairs],
                      "score": worth + random.normal(0, noise, 100)})
        for name, noise in (("near", 0.5), ("far", 2.0))
    ]  # fmt: skip
    return pd.concat(scores, ignore_index=True), ratings


@pytest.mark.slow
@pytest.mark.parametrize("fall", [0.0, 1.0])
def test_drift_over_the_session_is_said_where_the_verdict_is_given(fall: float, tmp_path: Path) -> None:
    """It stood in what calibrate prints and in a section of the report alone."""
    scores, ratings = studied(fall)
    panel = rs.calibrate(ratings, scale="1-5")
    said = [each for each in rs.score(scores, panel, replicates=50).verdict.on_raters if "from a rater's first" in each]
    assert len(said) == (fall > 0)
    if said:
        assert said[0].startswith("As given, ratings fall by ") and " of 4 steps " in said[0]
    scores.to_csv(tmp_path / "scores.csv", index=False)
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    succeeds("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", "--scale", "1-5")
    judgments = tmp_path / "out" / "judgments.csv"
    done = succeeds("score", tmp_path / "scores.csv", "-j", judgments, "--replicates", 50, "--verbose")
    assert ("As given, ratings fall by " in done.output) == (fall > 0)
