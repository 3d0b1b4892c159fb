"""One renaming of columns for all tables of a call, the same on the command line and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from tests.commands import succeeds

RENAMED = {
    "{judged}:d": "result_id",
    "{scored}:item": "result_id",
    "{judge}:d": "result_id",
    "{judge}:g": "rating",
    "q": "query_id",
    "lab": "rating",
}
"""Three tables of other names; what is called d in one of them is something else in another."""

WITHOUT_JUDGE = {"judgments:d": "result_id", "scores:item": "result_id", "q": "query_id", "lab": "rating"}


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    random = np.random.default_rng(5)
    pairs = pd.DataFrame(
        [(f"q{query}", f"d{result}") for query in range(12) for result in range(5)], columns=["q", "d"]
    )
    truth = random.normal(size=len(pairs))
    grade = np.clip(np.round(1.5 + truth), 0, 3).astype(int)
    pairs.assign(lab=grade, inclusion_probability=0.5).to_csv(tmp_path / "j.csv", index=False)
    pairs.assign(g=grade).to_csv(tmp_path / "m.csv", index=False)
    scores = pairs.rename(columns={"d": "item"}).assign(bm25=truth + random.normal(size=len(pairs)), dense=truth)
    scores.to_csv(tmp_path / "s.csv", index=False)
    return tmp_path


def renamed(**names: str) -> dict[str, str]:
    return {theirs.format(**names): ours for theirs, ours in RENAMED.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        {"judged": "judgments", "scored": "scores", "judge": "judge"},
        {"judged": "j.csv", "scored": "s.csv", "judge": "m.csv"},
    ],
    ids=["by kind", "by file"],
)
def test_one_renaming_reads_every_table_the_same_from_the_terminal_and_in_python(
    tables: Path, names: dict[str, str]
) -> None:
    """A second table's `d=result_id` took the place of the first's, and Python knew no table before a name."""
    columns = renamed(**names)
    entries = ",".join(f"{theirs}={ours}" for theirs, ours in columns.items())
    words = ["score", str(tables / "s.csv"), "-j", str(tables / "j.csv"), "--judge", str(tables / "m.csv")]
    done = succeeds(*words, "--scale", "0-3", "--replicates", "50", "--columns", entries, "--json")
    printed = json.loads(done.stdout)["systems"]
    scored = rs.score(
        tables / "s.csv", tables / "j.csv", judge=tables / "m.csv", columns=columns, scale="0-3", replicates=50
    )
    for system, figures in printed.items():
        assert figures["same_query"] == scored.summary()["systems"][system]["same_query"]


@pytest.mark.slow
def test_frames_are_named_by_their_kind(tables: Path) -> None:
    scores, judged = pd.read_csv(tables / "s.csv"), pd.read_csv(tables / "j.csv")
    scored = rs.score(scores, judged, columns=WITHOUT_JUDGE, scale="0-3", replicates=50)
    assert set(scored) == {"bm25", "dense"}


def test_a_name_of_a_table_that_is_not_there_is_refused(tables: Path) -> None:
    with pytest.raises(rs.RelstudyError, match="names 'x' for result_id, and none of the tables"):
        rs.score(
            tables / "s.csv", tables / "j.csv", columns={**WITHOUT_JUDGE, "labels.csv:x": "result_id"}, scale="0-3"
        )
