"""A later system of a study that a table was made into, by the ids of that table."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

import relstudy as rs
from relstudy.calibration.tables.own_ids import OwnIds
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from tests.commands import succeeds

ANSWERS = pd.DataFrame(
    [("q1", "r1", "31", "D4"), ("q1", "r2", "31", "D5"), ("q2", "r3", "32", "D4"), ("q2", "r4", "32", "D7")],
    columns=["query_id", "result_id", "own_query", "own_result"],
)


def test_results_are_named_within_their_query_and_unknown_ones_stay():
    own = OwnIds.of(Checked(ANSWERS, "answers.csv"))
    assert own is not None
    later = pd.DataFrame({"query_id": ["32", "32", "31", "9"], "result_id": ["D4", "D8", "D4", "D4"], "score": 1.0})
    found = own.of_study(later)
    assert found is not None
    assert found[["query_id", "result_id"]].values.tolist() == [["q2", "r3"], ["q2", "D8"], ["q1", "r1"], ["9", "D4"]]
    assert own.of_study(ANSWERS) is None, "these are the study's already"
    assert own.of_study(later.assign(query_id="other")) is None
    assert OwnIds.of(Checked(ANSWERS.assign(own_query=""), "answers.csv")) is None


def test_ids_that_look_like_the_studys_are_told_by_their_pairs():
    """The table called its queries and results as the study does, in another order."""
    alike = ANSWERS.assign(own_query=["q2", "q2", "q1", "q1"], own_result=["r3", "r4", "r1", "r9"])
    own = OwnIds.of(Checked(alike, "answers.csv"))
    assert own is not None
    later = pd.DataFrame({"query_id": ["q1", "q1", "q2", "q2"], "result_id": ["r1", "r9", "r4", "r2"]})
    found = own.of_study(later)
    assert found is not None
    named = [["q2", "r3"], ["q2", "r4"], ["q1", "r2"], ["q1", "own r2"]]
    assert found[["query_id", "result_id"]].values.tolist() == named
    assert own.of_study(ANSWERS[["query_id", "result_id"]]) is None


def test_two_own_ids_of_one_pair_do_not_become_one():
    """The table listed a document and a search twice; the first of each is the study's."""
    twice = pd.DataFrame(
        [("q1", "r1", "31", "D4"), ("q1", "r1", "31", "D5"), ("q1", "r1", "33", "D4"), ("q1", "r2", "31", "D6")],
        columns=["query_id", "result_id", "own_query", "own_result"],
    )
    own = OwnIds.of(Checked(twice, "answers.csv"))
    assert own is not None
    later = pd.DataFrame({"query_id": ["31", "31", "33", "31"], "result_id": ["D4", "D5", "D4", "D6"]})
    found = own.of_study(later)
    assert found is not None and not found.duplicated().any()
    assert found.values.tolist() == [["q1", "r1"], ["q1", "D5"], ["33", "D4"], ["q1", "r2"]]


def test_another_table_of_that_name_has_no_part(tmp_path: Path):
    (tmp_path / "answers.csv").write_text('question,answer\nWhy?,"unclosed\n')
    assert OwnIds.in_file(tmp_path / "answers.csv") is None and OwnIds.in_file(tmp_path / "none.csv") is None
    (tmp_path / "answers.csv").write_text("my_query_id,my_result_id,own_query_text,own_results\n1,2,3\n")
    assert OwnIds.in_file(tmp_path / "answers.csv") is None


def test_a_table_that_a_spreadsheet_wrote_again_has_its_part(tmp_path: Path):
    """Its first line was split at commas: a mark of UTF-8, quotes and semicolons made it another table."""
    file = tmp_path / "answers.csv"
    ANSWERS.to_csv(file, index=False)
    plain = OwnIds.in_file(file)
    assert plain is not None and plain.queries == {"31": "q1", "32": "q2"}
    for how in ({"encoding": "utf-8-sig"}, {"quoting": csv.QUOTE_ALL}, {"sep": ";"}):
        ANSWERS.to_csv(file, index=False, **how)
        assert OwnIds.in_file(file) == plain, how
    pd.concat([ANSWERS, ANSWERS[["query_id"]]], axis=1).to_csv(file, index=False)
    assert OwnIds.in_file(file) is None, "which of two columns holds the study's ids is not known; it was a KeyError"


def test_a_damaged_row_of_own_ids_is_named_and_not_passed_over(tmp_path: Path):
    """The table was taken for somebody else's, and a run with its own ids then scored no judged pair."""
    file = tmp_path / "answers.csv"
    ANSWERS.to_csv(file, index=False)
    file.write_text(file.read_text() + "q9,r9,a,b,c,d,e,f,g\n")
    with pytest.raises(RelstudyError, match="row 6"):
        OwnIds.in_file(file)


def test_a_later_run_is_scored_by_its_own_ids_on_the_command_line_and_in_python(tmp_path: Path):
    ANSWERS.to_csv(tmp_path / "answers.csv", index=False)
    judged = ANSWERS[["query_id", "result_id"]].assign(judgment=[5.0, 1.0, 4.0, 2.0])
    judged.to_csv(tmp_path / "judgments.csv", index=False)
    run = tmp_path / "later.run"
    run.write_text("31 Q0 D4 1 2 later\n31 Q0 D5 2 1 later\n32 Q0 D7 1 2 later\n32 Q0 D4 2 1 later\n")
    done = succeeds("score", run, "--judgments", tmp_path, "--scale", "1-5", "--verbose")
    assert "later: ids are those of the table that the study was made of" in done.output
    found = rs.score({"later": str(run)}, tmp_path, scale="1-5")
    assert any("ids are those of the table" in note for note in found.notes)
    scores = pd.DataFrame(
        {"query_id": ["q1", "q1", "q2", "q2"], "result_id": ["r1", "r2", "r4", "r3"], "score": [2.0, 1, 2, 1]}
    )
    same = rs.score({"later": scores}, tmp_path, scale="1-5")
    assert found["later"]["raw_pearson"] == same["later"]["raw_pearson"]
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "later.run").write_text(run.read_text())
    scores.assign(system="earlier").to_csv(tmp_path / "scores" / "earlier.csv", index=False)
    for words in (("fit",), ("score", "--verbose"), ("report",)):
        assert "later: ids are those of the table" in succeeds(*words, tmp_path).output
    fitted = succeeds("fit", run, "--judgments", tmp_path / "judgments.csv", "--scale", "1-5", "-o", tmp_path / "m")
    assert "ids are those of the table" in fitted.output
    assert rs.fit({"later": str(run)}, tmp_path, scale="1-5", folds=2)["later"]
