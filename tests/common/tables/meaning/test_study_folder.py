"""What is taken for a score table in a study's folder: the same for every command, and the rest is named."""

from __future__ import annotations

from pathlib import Path

from relstudy.common.tables.meaning.study_folder import is_side_by_side, notes_on_scores, score_files
from relstudy.studyapp.sampling.sources import foreign_tables


def test_every_command_takes_the_same_files_of_scores_and_names_the_others(tmp_path: Path) -> None:
    (tmp_path / "scores").mkdir()
    tables = ["a.csv", "b.tsv", "c.run", "d.txt", "e.csv.gz", "f.parquet", "g.run.gz"]
    for name in (*tables, "input.bm25", "sheet.xlsx", ".DS_Store", "v.npy", "v.ids.txt", "w.npy", "w.txt"):
        (tmp_path / "scores" / name).write_text("")
    assert [path.name for path in score_files(tmp_path)] == tables
    assert [path.name for path in foreign_tables(tmp_path)] == tables
    (note,) = notes_on_scores(tmp_path)
    assert note.endswith(": input.bm25, sheet.xlsx, v.ids.txt, v.npy, w.npy, w.txt")


def test_a_folder_of_nothing_else_has_nothing_to_say(tmp_path: Path) -> None:
    assert notes_on_scores(tmp_path) == []


def test_a_study_is_side_by_side_where_all_its_pairs_are_couples(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("pair_id,query_id,result_id,other_id\nc1,q,a,b\n")
    assert not is_side_by_side(tmp_path)  # not made of a table of results
    (tmp_path / "answers.csv").write_text("system,query_id,result_id,place\nx,q,a,1\n")
    assert is_side_by_side(tmp_path)
    (tmp_path / "pairs.csv").write_text("pair_id,query_id,result_id,other_id\nc1,q,a,b\np1,q,a,\n")
    assert not is_side_by_side(tmp_path)
