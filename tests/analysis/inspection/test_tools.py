"""Exports of other tools, with headers and nesting as the tools write them: the command that is printed reads them.

Headers are those of Label Studio's converter (prettified results, columns in the order of the alphabet), Potato's
tabular exporter and user_state.json, Quepid's case and book exports, Argilla's records and its older datasets, MTurk's
batch results, Prolific's demographic export, and Qualtrics' three header rows.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relstudy.analysis.inspection.files import inspect_file
from relstudy.common.runtime.errors import TableError
from tests.analysis.inspection.printed import ratings_by
from tests.common.tables.formats.test_foreign_files import ARGILLA, BOOK, RRE, STUDIO
from tests.places import Write

MTURK = (
    "HITId,HITTypeId,Title,Description,Keywords,Reward,CreationTime,MaxAssignments,AssignmentId,WorkerId,"
    "AssignmentStatus,AcceptTime,SubmitTime,WorkTimeInSeconds,LifetimeApprovalRate,"
)


def read(path: Path, kind: str) -> list[list[object]]:
    """Rater, query, result and rating of every row, as the printed command reads them."""
    inspection = inspect_file(path)
    assert inspection.kind == kind, inspection
    return ratings_by(inspection).to_numpy().tolist()


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


def test_label_studio_s_columns_are_known_whatever_their_case(write: Write) -> None:
    """A header of Annotator and Annotation_ID ended in a traceback."""
    path = write("id,goodness,Annotator,Annotation_ID,Lead_Time\n1,4,7,70,3\n1,2,8,71,2\n2,5,7,72,1\n", "project.csv")
    assert [row[3] for row in read(path, "Label Studio")] == [4, 2, 5]


def test_label_studio_s_measure_of_agreement_is_no_answer(write: Write) -> None:
    """Its columns are in the order of the alphabet, so that this measure comes first."""
    path = write(
        "agreement,annotation_id,annotator,created_at,helpfulness,history,id,image,lead_time,query,updated_at\n"
        '0.5,70,7,2026,"[{""rating"": 4}]","[{""a"": 1}]",1,u1,3.2,lamp,2026\n'
        '0.5,71,8,2026,"[{""rating"": 1}]","[{""a"": 1}]",1,u1,3.2,lamp,2026\n',
        "sorted.csv",
    )
    assert read(path, "Label Studio") == [["7", "lamp", "u1", 4], ["8", "lamp", "u1", 1]]


def test_answers_about_regions_are_no_rating_of_the_item(write: Write) -> None:
    results = [{"from_name": "grade", "value": {"rating": grade}} for grade in (4, 2)]
    tasks = [
        {"id": 1, "data": {"query": "lamp", "docid": "d1"}, "annotations": [{"completed_by": 7, "result": results}]},
        {
            "id": 2,
            "data": {"query": "lamp", "docid": "d2"},
            "annotations": [{"completed_by": 7, "result": results[:1]}],
        },
    ]
    inspection = inspect_file(write(json.dumps(tasks), "regions.json"))
    assert inspection.command is None, "the last of the answers would be taken for the item's"
    assert "grade: 1 cell with more than one answer, as [4, 2], which is not a rating" in inspection.notes


def test_label_studio_json(write: Write) -> None:
    path = write(json.dumps(STUDIO), "export.json")
    assert read(path, "Label Studio") == [["ann@example.org", "lamp", "d1", 4], ["9", "lamp", "d1", 2]]
    assert "1 annotation skipped (was_cancelled) and left out" in inspect_file(path).notes


@pytest.mark.parametrize("mark", [":::", "."])
def test_potato_tables_with_a_column_each_label(write: Write, mark: str) -> None:
    head = f"user_id,instance_id,quality{mark}scale_1,quality{mark}scale_2,quality{mark}scale_3\n"
    path = write(head + "ann,i1,,2,\nbob,i1,1,,\nann,i2,,,3\n", "annotations.csv")
    assert [[row[0], row[2], row[3]] for row in read(path, "Potato")] == [
        ["ann", "i1", 2],
        ["bob", "i1", 1],
        ["ann", "i2", 3],
    ]


def test_potato_rows_by_machines_are_told_and_spans_are_no_labels(write: Write) -> None:
    path = write(
        "instance_id,user_id,annotator_origin,annotator_origin_detail,quality.scale_1,quality.scale_2,quality._spans\n"
        'i1,ann,human,,,2,"[{""start"": 1}]"\ni1,gpt,llm,"{""model"": ""x""}",1,,\n',
        "annotations.csv",
    )
    assert [[row[0], row[3]] for row in read(path, "Potato")] == [["ann", 2], ["gpt", 1]]
    assert any(note.startswith("1 row by a machine (annotator_origin)") for note in inspect_file(path).notes)


def test_potato_rows_with_two_labels_of_one_question_are_refused(write: Write) -> None:
    """The column that holds what Potato resolved is empty in all other rows."""
    path = write(
        "instance_id,user_id,quality.scale_1,quality.scale_2,quality\ni1,ann,,2,\ni2,ann,1,2,2\ni1,bob,1,,\n",
        "annotations.csv",
    )
    inspection = inspect_file(path)
    assert any("several answers (scale_1 and scale_2)" in note for note in inspection.notes)
    with pytest.raises(TableError, match=r"row 3, column rating: 'scale_1 and scale_2'.*one answer a row is allowed"):
        ratings_by(inspection)


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
    twice = write("query,docid,Ann Lee,Unknown\nlamp,d1,3.0|2.0,2.0\nlamp,d2,0.0,1.0\n", "twice.csv")
    assert read(twice, "Quepid")[0] == ["Unknown", "lamp", "d1", 2]
    assert any(note.startswith("1 cell with several judgements of one judge") for note in inspect_file(twice).notes)


def test_a_query_that_quepid_has_no_rating_of_is_passed_over(write: Write) -> None:
    table = inspect_file(write("query,docid,rating\nlamp,d1,3\nchair,,\n =sofa,d2,0", "case_1_judgements.csv"))
    assert "1 query without any rating, as Quepid writes them: passed over" in table.notes


def test_argillas_older_datasets_and_its_lists_in_cells(write: Write) -> None:
    def answer(user: str, value: int, status: str) -> dict[str, object]:
        return {"user_id": user, "value": value, "status": status}

    rows: list[dict[str, object]] = [
        {"query": "lamp", "doc": "r1", "relevance": [answer("u1", 4, "submitted"), answer("u2", 2, "discarded")]},
        {"query": "lamp", "doc": "r2", "relevance": [answer("u2", 1, "submitted")], "relevance-suggestion": 3},
    ]
    path = write("\n".join(map(json.dumps, rows)), "feedback.jsonl")
    assert read(path, "Argilla") == [["u1", "lamp", "r1", 4], ["u2", "lamp", "r2", 1]]
    lists = "query,doc,rating.responses,rating.responses.users\nlamp,r1,\"[4, 2]\",\"['u1', 'u2']\"\n"
    inspection = inspect_file(write(lists, "flattened.csv"))
    assert inspection.command is None and "export the records as JSON" in inspection.notes[0]


def test_mturk_radio_buttons(write: Write) -> None:
    path = write(
        MTURK + "Input.query,Input.image_url,Answer.rel.0,Answer.rel.1,Answer.rel.2,Approve,Reject\n"
        "h,t,T,D,K,1,c,3,a1,w1,Approved,x,y,9,100,lamp,u1,false,false,true\n"
        "h,t,T,D,K,1,c,3,a2,w2,Rejected,x,y,9,100,lamp,u1,true,false,false\n",
        "batch.csv",
    )
    assert read(path, "MTurk") == [["w1", "lamp", "u1", 2], ["w2", "lamp", "u1", 0]]
    assert any("1 row of AssignmentStatus Rejected" in note for note in inspect_file(path).notes)


def test_mturk_crowd_elements(write: Write) -> None:
    path = write(
        MTURK + "Input.query,Input.url,Answer.taskAnswers\n"
        'h,t,T,D,K,1,c,3,a1,w1,Approved,x,y,9,100,lamp,u1,"[{""grade"":{""label"":""relevant""}}]"\n'
        'h,t,T,D,K,1,c,3,a2,w2,Approved,x,y,9,100,lamp,u1,"[{""grade"":{""label"":""not relevant""}}]"\n',
        "batch.csv",
    )
    assert [row[3] for row in read(path, "MTurk")] == [1, 0]


def test_a_workers_remark_is_not_preferred_to_a_number(write: Write) -> None:
    path = write(
        MTURK + "Input.query,Input.link,Answer.Feedback,Answer.relevance\n"
        "h,t,T,D,K,1,c,3,a1,w1,Submitted,x,y,9,100,lamp,u1,fine,3\n"
        "h,t,T,D,K,1,c,3,a2,w2,Submitted,x,y,9,100,lamp,u1,nice,1\n",
        "batch.csv",
    )
    assert [row[3] for row in read(path, "MTurk")] == [3, 1]
    assert "Input.link is taken for result_id, being the last input: --columns names another" in str(inspect_file(path))


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
    text = head + wording + imported
    text += "d,IP Address,True,R_1,1,5,3,2,2\nd,IP Address,True,R_0,2,4,3,3,1\n"
    text += "d,Survey Preview,True,R_2,4,4,2,1,1\nd,IP Address,False,R_3,4,4,2,1,1\n"
    path = write(text, "survey.csv")
    inspection = inspect_file(path)
    assert inspection.command is None, "which of two questions is meant, only a person can tell"
    loop, matrix = (ratings_by(reading) for reading in inspection.readings)
    rows = loop.to_numpy().tolist()
    assert rows[:3] == [["R_1", "1_Q3", "1_Q3", 1], ["R_1", "2_Q3", "2_Q3", 5], ["R_1", "3_Q3", "3_Q3", 3]]
    assert (len(loop), len(matrix)) == (6, 4)
    said = " ".join(inspection.notes)
    assert "rows 2 and 3 are Qualtrics' wording" in said
    assert '1 response by way of trial (Status) left out; --where "Status==Survey Preview" takes such alone' in said
    assert '1 response not finished (Finished) left out; --where "Finished==False" takes such alone' in said


def test_qualtrics_questions_have_the_names_their_author_gave(write: Write) -> None:
    head = (
        "Status,Finished,ResponseId,age_1,seen_1,seen_2,seen_3,relevance_1,relevance_2,relevance_DO_1,relevance_DO_2\n"
    )
    imported = ",".join('"{""ImportId"":""QID' + str(number) + '""}"' for number in range(11)) + "\n"
    rows = "0,1,R_1,33,1,1,1,5,3,1,2\n1,1,R_2,44,1,,1,4,2,2,1\n0,0,R_3,45,1,,,4,,2,1\n0,1,R_4,46,1,1,,4,,2,1\n"
    path = write(head + head + imported + rows, "survey.csv")
    assert [row[:1] + row[2:] for row in read(path, "Qualtrics")] == [
        *(["R_1", "relevance_1", 5], ["R_1", "relevance_2", 3], ["R_4", "relevance_1", 4]),
    ], "boxes that may be ticked, and the order of display, are no ratings"
    said = " ".join(inspect_file(path).notes)
    assert "1 response not finished" in said and "1 response by way of trial" in said


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
