"""Qrels as TREC's tracks hand them out: with comments, with probabilities, with grades of pairs that nobody judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from relstudy.calibration.tables.judgments import Judgments, read_judgments
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.common.runtime.errors import TableError
from relstudy.common.tables.meaning.reading import Reading
from relstudy.common.tables.meaning.scales import stated_scale

LINES = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"


def read(folder: Path, text: str) -> Judgments:
    path = folder / "some.qrels"
    path.write_text(text, encoding="utf-8")
    return read_judgments(path)


def test_lines_that_begin_with_a_hash_change_nothing_but_a_note_that_counts_them(tmp_path: Path) -> None:
    plain = read(tmp_path, LINES)
    commented = read(tmp_path, "# pooled to depth 10\n\n" + LINES + "  # end\n")
    assert commented.frame.equals(plain.frame)
    assert commented.qrels and plain.qrels
    assert commented.notes == (*plain.notes, "2 lines beginning with # passed over")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("q1 0 d1 1 0.5\nq1 0 d2 0 0.125\nq2 Q0 d1 2 1.0\n", "sampled qrels"),
        ("q1 d1 1 1 0.5\nq1 d2 0 0 0.125\nq2 d1 2 1 1.0\n", "prels"),
    ],
)
def test_the_fifth_field_is_the_probability_that_a_pair_was_drawn(tmp_path: Path, text: str, kind: str) -> None:
    judgments = read(tmp_path, text)
    columns = ["query_id", "result_id", "judgment", "inclusion_probability"]
    assert judgments.frame[columns].to_numpy().tolist() == [
        ["q1", "d1", 1.0, 0.5],
        ["q1", "d2", 0.0, 0.125],
        ["q2", "d1", 2.0, 1.0],
    ]
    assert any(note.startswith(f"read as {kind}: ") for note in judgments.notes)


@pytest.mark.parametrize("first", ["q1 0 d1 1 1", "q1 0 d1 1 -1", "q1 0 d1 1 2"])
def test_where_the_last_field_is_a_grade_the_fourth_is_a_stratum(tmp_path: Path, first: str) -> None:
    """Whatever the first line has; a grade was once read as the probability and the stratum as the grade."""
    lines = [first, "q1 0 d2 1 0", "q1 0 d3 2 1", "q1 0 d4 2 -1", "q1 0 d5 2 -1", "q1 0 d6 2 0"]
    judgments = read(tmp_path, "\n".join(lines) + "\n")
    assert any(note.startswith("read as stratified qrels: ") for note in judgments.notes)
    found = judgments.frame.set_index("result_id")
    assert found.loc[["d2", "d3", "d6"], "judgment"].tolist() == [0, 1, 0]
    share = 0.5 if first.endswith("-1") else 1.0
    assert found.loc[["d2", "d3"], "inclusion_probability"].tolist() == [share, 0.5]
    assert judgments.unjudged is not None and set(judgments.unjudged["stratum"]) <= {"1", "2"}


def test_a_sample_is_no_whole_collection_and_a_census_with_probabilities_is(tmp_path: Path) -> None:
    sample = read(tmp_path, "q1 0 d1 1 0.5\nq1 0 d2 0 1\n")
    assert not sample.qrels
    assert any("not known to be poor" in note for note in sample.notes)
    assert read(tmp_path, "q1 0 d1 1 1.0\nq1 0 d2 0 1\n").qrels


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# comment\nq1 0 d1 1\nq1 0 d2\n", r"row 3.*a TREC qrels line has four fields"),
        ("q1 0 d1 1 0.5\nq1 0 d2 0 0\n", "row 2, column inclusion_probability"),
        ("q1 0 d1 1 0.5\nq1 0 d2 0\n", r"row 2.*a line of sampled qrels has five fields"),
    ],
)
def test_a_line_with_a_fault_is_refused_by_its_own_number(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(TableError, match=said):
        read(tmp_path, text)


def test_a_stated_scale_from_0_leaves_grades_below_it_unjudged(tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("q 0 a 2\nq 0 b -1\nq 0 c 0\nq 0 d 1\n", encoding="utf-8")
    for scale, judged in (("0-3", ["a", "c", "d"]), ("-1-3", ["a", "b", "c", "d"])):
        judgments = read_judgments(file, Reading(scale=stated_scale(scale)))
        assert judgments.frame["result_id"].tolist() == judged, scale


def test_ratings_of_other_pairs_beside_a_sample_of_qrels_say_nothing_of_its_scale(tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("q 0 a 2 0.5\nq 0 b 0 0.5\nq 0 c 3 0.25\nq 0 d 1 0.5\n", encoding="utf-8")
    alone = read_study_tables(file).judgments.scale
    others = "rater_id,query_id,result_id,rating\nann,z,x,1\nbob,z,x,5\nann,z,y,2\n"
    (tmp_path / "ratings.csv").write_text(others, encoding="utf-8")
    assert read_study_tables(file).judgments.scale == alone
