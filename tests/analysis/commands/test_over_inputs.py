"""No command writes over a file that it reads: it says so before anything is written."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd
import pytest

from tests.analysis.made import tables
from tests.commands import relstudy


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    judgments, scores = tables(systems=(0.9,), queries=5)
    (tmp_path / "scores").mkdir()
    (tmp_path / "other").mkdir()
    judgments.to_csv("judgments.csv", index=False)
    judgments.to_csv("other/judgments.csv", index=False)
    scores.to_csv("scores.csv", index=False)
    scores.to_csv("scores/a.csv", index=False)
    scores.assign(system="b").to_json("other/b.json", orient="records")
    judgments.to_json("other/b_c.json", orient="records")
    pairs = judgments[["query_id", "result_id"]].merge(pd.DataFrame({"rater_id": ["r", "s", "t"]}), how="cross")
    rated = pairs.assign(rating=1 + pairs.index % 5)
    rated.to_csv("raters.csv", index=False)
    (tmp_path / "1").mkdir()
    rated.to_csv("1/raters.csv", index=False)
    rated.assign(calibrated=rated["rating"]).to_csv("calibrated.csv", index=False)
    return tmp_path


def found(folder: Path) -> dict[Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("score scores.csv -j judgments.csv -o .", "scores.csv"),
        ("score scores.csv -j judgments.csv --report scores/../scores.csv", "scores/../scores.csv"),
        ("score a=scores.csv -j judgments.csv --save scores.csv", "scores.csv"),
        ("score scores.csv -j judgments.csv --save kept.json --qrels judgments.csv", "judgments.csv"),
        ("score . --report scores/a.csv", "scores/a.csv"),
        ("calibrate raters.csv -o .", "raters.csv"),
        ("calibrate calibrated.csv -o .", "calibrated.csv"),
        ("calibrate 1/raters.csv -o . --by rating", "1/raters.csv"),
        ("calibrate calibrated.csv -o . --by rating", "calibrated.csv"),
        ("join a=judgments.csv b=other/judgments.csv -o other", "other/judgments.csv"),
        ("join a=judgments.csv b|c=other/b_c.json -o other", "other/b_c.json"),
        ("fit other/b.json -j judgments.csv -o other", "other/b.json"),
        ("preferences raters.csv -o .", "raters.csv"),
        ("report . --out judgments.csv", "judgments.csv"),
        ("report . --out scores/a.csv", "scores/a.csv"),
    ],
)
def test_an_output_that_is_an_input_is_refused_and_nothing_is_written(study: Path, words: str, named: str) -> None:
    before = found(study)
    done = relstudy(*words.split())
    assert done.exit_code == 1
    assert done.output == f"relstudy: {named}: this is read here and would be written over; name another output\n"
    assert found(study) == before


@pytest.mark.slow
def test_parts_are_calibrated_beside_a_table_whose_name_only_their_folders_take(study: Path) -> None:
    before = (study / "raters.csv").read_bytes()
    assert relstudy("calibrate", "raters.csv", "-o", ".", "--by", "rater_id").exit_code == 0
    assert (study / "raters.csv").read_bytes() == before and (study / "r" / "raters.csv").is_file()
