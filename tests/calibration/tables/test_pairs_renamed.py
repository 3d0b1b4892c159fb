"""The pairs table of a calibration takes the same renaming as its ratings."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tests.commands import succeeds


def test_columns_of_the_pairs_are_renamed_where_they_stand(tmp_path: Path) -> None:
    rows = [f"{rater},q{n % 5},d{n},{1 + (n * 7 + len(rater)) % 5}" for rater in ("a", "bb", "ccc") for n in range(20)]
    (tmp_path / "r.csv").write_text("\n".join(["worker,topic,doc,stars", *rows]) + "\n")
    drawn = [f"q{n % 5},d{n},{0.5 if n % 2 else 0.25}" for n in range(20)]
    (tmp_path / "p.csv").write_text("\n".join(["topic,doc,chance", *drawn]) + "\n")
    columns = "worker=rater_id,topic=query_id,doc=result_id,stars=rating,p.csv:chance=inclusion_probability"
    base = ["calibrate", str(tmp_path / "r.csv"), "-o", str(tmp_path / "out"), "--pairs", str(tmp_path / "p.csv")]
    succeeds(*base, "--columns", columns)
    judged = pd.read_csv(tmp_path / "out" / "judgments.csv")
    assert sorted(judged["inclusion_probability"].unique()) == [0.25, 0.5]
