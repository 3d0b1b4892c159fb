"""Exports of other tools, with headers and nesting as the tools write them: the command that is printed reads them.

Headers are those of Label Studio's converter (prettified results), Potato's tabular exporter and user_state.json,
Quepid's case and book exports, MTurk's batch results, Prolific's demographic export, and Qualtrics' three header rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.analysis.inspection.files import inspect_file
from tests.analysis.inspection.test_inspect import ratings_by
from tests.common.test_foreign_files import ARGILLA, BOOK, RRE, STUDIO

Write = Callable[[str, str], Path]
MTURK = (
    "HITId,HITTypeId,Title,Description,Keywords,Reward,CreationTime,MaxAssignments,AssignmentId,WorkerId,"
    "AssignmentStatus,AcceptTime,SubmitTime,WorkTimeInSeconds,LifetimeApprovalRate,"
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str, name: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def read(path: Path, kind: str) -> list[list[object]]:
    """Rater, query, result and rating of every row, as the printed command reads them."""
    inspection = inspect_file(path)
    assert inspection.kind == kind, inspection
    frame = ratings_by(inspection)
    return frame[["rater_id", "query_id", "result_id", "rating"]].to_numpy().tolist()


def test_label_studio_csv(write: Write) -> None:
    text = (
        "query,docid,id,grade,comment,annotator,annotation_id,created_at,updated_at,lead_time\n"
        'lamp,d1,1,"[{""rating"": 4}]",fine,7,70,2026-05-01,2026-05-01,3.2\n'
        'lamp,d1,1,"[{""rating"": 1}]",bad,8,71,2026-05-01,2026-05-01,2.2\n'
        'lamp,d2,2,"[{""rating"": 5}]",ok,7,72,2026-05-01,2026-05-01,1.2\n'
    )
    path = write(text, "project.csv")
    assert read(path, "Label Studio") == [["7", "lamp", "d1", 4], ["8", "lamp", "d1", 1], ["7", "lamp", "d2", 5]]


def test_label_studio_tasks_without_known_names_are_items_by_their_id(write: Write) -> None:
    text = "prompt_text,id,sentiment,annotator,annotation_id\nx,1,good,7,70\nx,1,bad,8,71\ny,2,good,7,72\n"
    assert [row[1:3] for row in read(write(text, "project.csv"), "Label Studio")] == [
        ["1", "1"],
        ["1", "1"],
        ["2", "2"],
    ]


def test_label_studio_json(write: Write) -> None:
    path = write(json.dumps(STUDIO), "export.json")
    assert read(path, "Label Studio") == [["ann@example.org", "lamp", "d1", 4], ["9", "lamp", "d1", 2]]
    assert "1 annotations that were skipped (was_cancelled) are left out" in inspect_file(path).notes


@pytest.mark.parametrize("mark", [":::", "."])
def test_potato_tables_with_a_column_each_label(write: Write, mark: str) -> None:
    head = f"user_id,instance_id,quality{mark}scale_1,quality{mark}scale_2,quality{mark}scale_3\n"
    path = write(head + "ann,i1,,2,\nbob,i1,1,,\nann,i2,,,3\n", "annotations.csv")
    assert [[row[0], row[2], row[3]] for row in read(path, "Potato")] == [
        ["ann", "i1", 2],
        ["bob", "i1", 1],
        ["ann", "i2", 3],
    ]


def test_potato_tsv_with_one_column_a_question(write: Write) -> None:
    path = write("user\tinstance_id\tdisplayed_text\tquality\nann\ti1\ta lamp\t3\nbob\ti1\ta lamp\t4\n", "a.tsv")
    assert [row[3] for row in read(path, "Potato")] == [3, 4]


def test_potato_user_state(write: Write) -> None:
    labels = {f"i{item}": [[{"schema": "quality", "name": f"scale_{item}"}, str(item)]] for item in (1, 2, 3)}
    path = write(json.dumps({"user_id": "ann", "instance_id_to_label_to_value": labels}), "user_state.json")
    assert [[row[0], row[2], row[3]] for row in read(path, "Potato")] == [
        ["ann", f"i{item}", item] for item in (1, 2, 3)
    ]


def test_argilla_and_quepids_book_and_the_ranked_evaluator(write: Write) -> None:
    assert read(write(json.dumps(ARGILLA), "records.json"), "Argilla") == [
        ["u1", "lamp", "r1", 4],
        ["u1", "lamp", "r2", 2],
    ]
    assert read(write(json.dumps(BOOK), "book.json"), "Quepid")[0] == ["a@example.org", "lamp", "d1", 2]
    inspection = inspect_file(write(json.dumps(RRE), "ratings.json"))
    assert inspection.kind == "RRE"
    assert inspection.command is not None and inspection.command.startswith("relstudy score SCORES -j")


def test_quepids_book_as_a_table_has_a_column_a_judge(write: Write) -> None:
    path = write("query,docid,Ann Lee,anonymous\nlamp,d1,3.0,2.0\nlamp,d2,0.0,\nchair,d3,1.0,1.0\n", "book.csv")
    assert read(path, "wide raters")[0] == ["Ann Lee", "lamp", "d1", 3]
    twice = write("query,docid,Ann Lee,anonymous\nlamp,d1,3.0|2.0,2.0\nlamp,d2,0.0,1.0\n", "twice.csv")
    assert "3.0|2.0=3" not in str(inspect_file(twice)), "two judgements in one cell are no number"


def test_mturk_radio_buttons(write: Write) -> None:
    path = write(
        MTURK + "Input.query,Input.image_url,Answer.rel.0,Answer.rel.1,Answer.rel.2,Approve,Reject\n"
        "h,t,T,D,K,1,c,3,a1,w1,Approved,x,y,9,100,lamp,u1,false,false,true\n"
        "h,t,T,D,K,1,c,3,a2,w2,Rejected,x,y,9,100,lamp,u1,true,false,false\n",
        "batch.csv",
    )
    assert read(path, "MTurk") == [["w1", "lamp", "u1", 2], ["w2", "lamp", "u1", 0]]
    assert any("1 rows have AssignmentStatus Rejected" in note for note in inspect_file(path).notes)


def test_mturk_crowd_elements(write: Write) -> None:
    path = write(
        MTURK + "Input.query,Input.url,Answer.taskAnswers\n"
        'h,t,T,D,K,1,c,3,a1,w1,Approved,x,y,9,100,lamp,u1,"[{""grade"":{""label"":""relevant""}}]"\n'
        'h,t,T,D,K,1,c,3,a2,w2,Approved,x,y,9,100,lamp,u1,"[{""grade"":{""label"":""not relevant""}}]"\n',
        "batch.csv",
    )
    assert [row[3] for row in read(path, "MTurk")] == [1, 0]


def test_mturk_with_several_items_an_assignment_gets_no_command(write: Write) -> None:
    path = write(
        MTURK + "Input.url1,Input.url2,Answer.q1,Answer.q2\nh,t,T,D,K,1,c,3,a1,w1,Approved,x,y,9,100,u1,u2,3,4\n",
        "batch.csv",
    )
    inspection = inspect_file(path)
    assert inspection.command is None, "q1 is about url1, and not about the last input"
    assert any("each assignment shows several items" in note for note in inspection.notes)


def test_qualtrics_loop_and_merge_and_matrix_questions(write: Write) -> None:
    head = "StartDate,Status,Finished,ResponseId,1_Q3,2_Q3,3_Q3,Q9_1,Q9_2\n"
    wording = "Start Date,Response Type,Finished,Response ID,How good?,How good?,How good?,a,b\n"
    imported = ",".join('"{""ImportId"":""QID' + str(number) + '""}"' for number in range(9)) + "\n"
    text = head + wording + imported + "d,IP Address,True,R_1,1,5,3,2,2\nd,Survey Preview,False,R_2,4,4,2,1,1\n"
    path = write(text, "survey.csv")
    inspection = inspect_file(path)
    assert read(path, "Qualtrics")[:3] == [
        ["R_1", "1_Q3", "1_Q3", 1],
        ["R_1", "2_Q3", "2_Q3", 5],
        ["R_1", "3_Q3", "3_Q3", 3],
    ]
    said = " ".join(inspection.notes)
    assert "rows 2 and 3 are Qualtrics' wording" in said
    assert "1 responses are not finished" in said and "1 responses are previews" in said


def test_prolifics_export_holds_no_ratings(write: Write) -> None:
    text = (
        "Submission id,Participant id,Status,Custom study tncs accepted at,Started at,Completed at,Reviewed at,"
        "Archived at,Time taken,Completion code,Total approvals\ns1,p1,APPROVED,,,,,,300,C1,12\n"
        "s2,p2,TIMED-OUT,,,,,,,,3\n"
    )
    inspection = inspect_file(write(text, "prolific_export.csv"))
    assert inspection.kind == "Prolific" and inspection.command is None
    assert "2 submissions (1 APPROVED, 1 TIMED-OUT)" in inspection.sentence


def test_a_list_of_records_is_told_by_its_names(write: Write) -> None:
    records = [
        {"worker": "a", "query": "q", "doc": "x", "grade": 3},
        {"worker": "b", "query": "q", "doc": "x", "grade": 1},
    ]
    path = write(json.dumps(records), "ratings.json")
    assert read(path, "ratings") == [["a", "q", "x", 3], ["b", "q", "x", 1]]
