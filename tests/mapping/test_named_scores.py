"""Score tables under other people's names of columns, and runs that are called something else than their tag."""

from __future__ import annotations

from pathlib import Path

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.reading import Reading
from relstudy.mapping.scores.score_files import read_score_files, read_scores


@pytest.mark.parametrize("stated", ["qid=query_id,docno=result_id", "query_id=qid,result_id=docno"])
def test_columns_of_scores_are_renamed_whichever_side_comes_first(tmp_path: Path, stated: str) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("qid,docno,bm25,price\nq,x,0.5,30\nq,y,0.7,20\n")
    assert read_scores(path, reading=Reading.typed(columns=stated)).systems == ["bm25", "price"]
    chosen = read_scores(path, reading=Reading.typed(columns=f"{stated},score=bm25"))
    assert chosen.frame["score"].tolist() == [0.5, 0.7]
    assert chosen.systems == ["bm25"]


def test_a_long_table_under_other_names_is_long(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("model,q,d,value\na,q,x,1\nb,q,x,2\n")
    table = read_scores(path, reading=Reading.typed(columns="model=system,q=query_id,d=result_id,value=score"))
    assert table.frame.to_numpy().tolist() == [["a", "q", "x", 1.0], ["b", "q", "x", 2.0]]


def test_a_name_before_a_run_is_its_systems_name(tmp_path: Path) -> None:
    """Two runs of one tag, as of one engine with two settings, could not be read together."""
    for name, score in (("old", 0.5), ("new", 0.7)):
        (tmp_path / f"{name}.run").write_text(f"q Q0 x 1 {score} bm25\n")
    runs = [tmp_path / "old.run", tmp_path / "new.run"]
    with pytest.raises(RelstudyError, match=r"systems need different names, which NAME=.*new\.run gives"):
        read_score_files(runs)
    named = read_score_files([f"before={runs[0]}", f"after={runs[1]}"])
    assert named.systems == ["before", "after"]
    assert named.runs == ("before", "after")


def test_one_column_of_each_table_is_meant_by_a_file_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q,d,rel,bm25\nq,x,3,0.5\n")
    reading = Reading.typed(columns="q=query_id,d=result_id,a.csv:bm25=score,labels.csv:rel=rating").among_several()
    assert read_scores(path, reading=reading).systems == ["bm25"]
    with pytest.raises(RelstudyError, match="names 'rel' for rating, and none of the tables has such a column"):
        reading.refuse_unfound()
