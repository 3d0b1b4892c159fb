"""A judge's table in shapes of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.judges.table import read_judge
from relstudy.common.tables.meaning.reading import Reading

PAIRS = pd.DataFrame({"query_id": list("aabb"), "result_id": list("wxyz")})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("grades.csv", "query_id,result_id,gpt\na,w,2\na,x,\nb,y,0\nb,z,1\n"),
        ("grades.csv", "query_id,result_id,score,status\na,w,2,ok\na,x,,refused\nb,y,0,ok\nb,z,1,ok\n"),
    ],
)
def test_the_only_column_beside_the_ids_is_the_rating_and_empty_is_no_answer(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_judge(tmp_path / name).as_json()["answered"] == 3


def test_qrels_are_a_judge(tmp_path: Path) -> None:
    (tmp_path / "model.qrels").write_text("a 0 w 2\na 0 x 1\nb 0 y 0\nb 0 z 3\n", encoding="utf-8")
    judge = read_judge(tmp_path / "model.qrels")
    assert judge.name == "model" and judge.rating.tolist() == [2, 1, 0, 3]


def test_a_judge_may_say_yes_or_no_as_true_or_false() -> None:
    assert read_judge(PAIRS.assign(rating=[True, False, True, True])).rating.tolist() == [1, 0, 1, 1]


def test_pairs_are_found_wherever_they_stand_in_the_judges_table() -> None:
    judge = read_judge(PAIRS.assign(rating=[2, 1, 0, 3]))
    rows = [judge.rows_of(*np.array(list(zip(*pairs, strict=True)), dtype=object)).tolist() for pairs in (
        ["aw", "ax", "by", "bz"], ["ax", "aw", "by", "bz"], ["bz", "aw"], ["aw", "ax", "by", "cz"]
    )]  # fmt: skip
    assert rows == [[0, 1, 2, 3], [1, 0, 2, 3], [3, 0], [0, 1, 2, -1]]


def test_a_fault_names_the_column_as_the_file_has_it(tmp_path: Path) -> None:
    PAIRS.assign(gpt=["3", "high", "1", "2"]).to_csv(tmp_path / "grades.csv", index=False)
    with pytest.raises(rs.RelstudyError, match="row 3, column gpt: 'high' is not allowed"):
        read_judge(tmp_path / "grades.csv")


def test_what_is_no_table_is_one_sentence() -> None:
    with pytest.raises(rs.RelstudyError, match="a path or a pandas DataFrame is needed, not a dict"):
        rs.score(PAIRS.assign(score=1.0), PAIRS.assign(judgment=1), judge={"a": 1})  # type: ignore[arg-type]


def test_a_judges_table_in_other_columns_and_words_is_read_as_stated(tmp_path: Path) -> None:
    path = tmp_path / "llm.csv"
    path.write_text("topic,docno,verdict,model\nq,x,relevant,m\nq,y,not relevant,m\nq,z,,m\n")
    reading = Reading.typed(
        columns="topic=query_id,docno=result_id,judge:verdict=rating", values="relevant=1,not relevant=0"
    )
    table = read_judge(path, reading=reading.among_several())
    assert table.rating[:2].tolist() == [1, 0]
    assert table.as_json()["status"] == {"ok": 2, "error": 1}
