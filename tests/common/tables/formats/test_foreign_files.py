"""Files of other tools and of spreadsheets, read as they stand: JSON, header rows, separators, answers in columns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from relstudy.calibration.tables.judgments import read_judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.common.tables.formats.json_files import read_records
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.reading import Reading
from relstudy.mapping.scores.score_files import read_scores
from tests.places import Write


def rows(path: Path) -> list[dict[str, str]]:
    return read_table(path).frame.to_dict("records")


# Spreadsheets


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b"a_id;b\nx;1,5\ny;2\n", "decimal commas are read as points in b"),
        (b"sep=;\na_id;b\nx;1.5\ny;2\n", "1 line before the header passed over"),
        (b"a_id\tb\nx\t1.5\ny\t2\n", "fields are separated by tabs"),
        (b"a_id|b\nx|1.5\ny|2\n", "fields are separated by vertical bars"),
        ("a_id\tb\nx\t1.5\ny\t2\n".encode("utf-16"), "the file is in UTF-16, as Excel and Qualtrics write it"),
        (b"# made by hand\n# in June\na_id,b\nx,1.5\ny,2\n", "2 lines before the header passed over"),
    ],
)
def test_what_a_spreadsheet_makes_of_a_table_is_read_and_said(write: Write, content: bytes, note: str) -> None:
    table = read_table(write(content, "t.csv"))
    assert table.frame["a_id"].tolist() == ["x", "y"]
    assert table.numbers("b").tolist() == [1.5, 2]
    assert note in table.notes


def test_rows_keep_their_numbers_below_lines_that_were_passed_over(write: Write) -> None:
    table = read_table(write("# one\n# two\nx,y\n1,2\n\n3,bad\n", "t.csv"))
    table.numbers("y")
    with pytest.raises(TableError, match=r"row 6, column y: 'bad'"):
        table.raise_faults()
    with pytest.raises(TableError, match=r"row 5: '3' is not allowed; this row has 1 field"):
        read_table(write("# one\nx,y\n1,2\n\n3\n", "t.csv"))


def test_a_header_behind_a_number_sign_is_a_header(write: Write) -> None:
    assert rows(write("#x,y\n1,2\n", "t.csv")) == [{"#x": "1", "y": "2"}]


def test_numbers_with_points_and_commas_are_not_guessed(write: Write) -> None:
    table = read_table(write("a;b\nx;1.5\ny;2,5\n", "t.csv"))
    table.numbers("b")
    with pytest.raises(TableError, match="'2,5' is not allowed"):
        table.raise_faults()


def test_ids_that_a_spreadsheet_has_rounded_are_refused(write: Write) -> None:
    """4375840905 and 4375843592 are both 4.37584E+09 then: two raters would be one."""
    table = "rater_id,query_id,result_id,rating\n4.37584E+09,q,x,3\n4.37584E+09,q,y,5\n4.37580E+09,q,x,4\n"
    with pytest.raises(
        TableError, match=r"'4.37584E[+]09' is not allowed; this number was rounded, as by a spreadsheet"
    ):
        read_ratings(write(table, "ratings.csv"))


def test_a_workbook_is_to_be_saved_as_csv(write: Write) -> None:
    with pytest.raises(RelstudyError, match="this is a spreadsheet; save the sheet as CSV"):
        read_table(write(b"PK\x03\x04\x00\x00", "t.numbers"))


# What tools write besides ratings


def test_qualtrics_header_rows_are_passed_over(write: Write) -> None:
    text = (
        'StartDate,ResponseId,Finished,1_Q3,2_Q3\n"Start Date","Response ID",Finished,"How good?","How good?"\n'
        '"{""ImportId"":""startDate"",""timeZone"":""Z""}","{""ImportId"":""_recordId""}","{""ImportId"":""finished""}",'
        '"{""ImportId"":""1_QID3""}","{""ImportId"":""2_QID3""}"\n2026-05-01,R_1,1,4,5\n2026-05-01,R_2,1,2,bad\n'
    )
    path = write(text, "survey.csv")
    table = read_table(path)
    assert table.frame["ResponseId"].tolist() == ["R_1", "R_2"]
    assert "Qualtrics' wording and ImportIds" in table.notes[0]
    with pytest.raises(TableError, match="row 5, column rating: 'bad'"):
        read_ratings(path, reading=Reading.typed(columns="rater_id=ResponseId,rating=?_Q3"))


def test_queries_that_nobody_rated_are_left_out_of_quepids_table(write: Write) -> None:
    table = read_table(write("query,docid,rating\nlamp,d1,3\nchair,,\nlamp,d2,0\n", "case.csv"))
    assert table.frame["docid"].tolist() == ["d1", "d2"]
    assert table.notes == ("1 query without any rating, as Quepid writes them: passed over",)


def test_mturks_rows_may_end_before_the_requesters_marks(write: Write) -> None:
    text = 'AssignmentId,WorkerId,Input.q,Answer.rel,Approve,Reject\n"a","w1","lamp","3"\n"b","w2","lamp","1"\n'
    table = read_table(write(text, "batch.csv"))
    assert table.frame.to_numpy().tolist() == [["a", "w1", "lamp", "3"], ["b", "w2", "lamp", "1"]]
    assert table.rows.tolist() == [2, 3]


def test_answers_wrapped_in_json_are_unwrapped(write: Write) -> None:
    crowd = (
        'WorkerId,AssignmentId,Answer.taskAnswers\nw1,a1,"[{""grade"":{""label"":""good""},""slide"":70}]"\n'
        'w2,a2,"[{""grade"":{""label"":""bad""},""slide"":20}]"\n'
    )
    frame = read_table(write(crowd, "crowd.csv")).frame
    assert frame[["Answer.grade", "Answer.slide"]].to_numpy().tolist() == [["good", "70"], ["bad", "20"]]
    studio = 'id,query,grade,annotator,annotation_id\n1,lamp,"[{""rating"": 4}]",7,70\n1,lamp,,8,71\n'
    assert [row["grade"] for row in rows(write(studio, "studio.csv"))] == ["4", ""]


@pytest.mark.parametrize("yes", [("true", "false"), ("1", "0"), ("on", "")])
def test_answers_with_a_column_each_are_one_rating(write: Write, yes: tuple[str, str]) -> None:
    t, f = yes
    text = (
        f"w,q,d,A.rel.1,A.rel.2,A.rel.3\na,q,x,{f},{t},{f}\nb,q,x,{f},{f},{t}\na,q,y,{t},{f},{f}\nb,q,y,{f},{f},{f}\n"
    )
    path = write(text, "choices.csv")
    reading = Reading.typed(columns="rater_id=w,query_id=q,result_id=d,rating=A.rel.*")
    assert read_ratings(path, reading=reading).frame["rating"].fillna(-1).tolist() == [2, 3, 1, -1]
    twice = write(text.replace(f"a,q,y,{t},{f},{f}", f"a,q,y,{t},{t},{f}"), "twice.csv")
    with pytest.raises(TableError, match="row 4, column rating: '1 and 2' is not allowed; one answer a row is allowed"):
        read_ratings(twice, reading=reading)


# JSON

STUDIO = [
    {
        "id": 5,
        "data": {"query": "lamp", "docid": "d1"},
        "annotations": [
            {
                "id": 50,
                "completed_by": {"email": "ann@example.org"},
                "result": [
                    {"from_name": "grade", "type": "rating", "value": {"rating": 4}},
                    {"from_name": "kind", "type": "choices", "value": {"choices": ["lamp"]}},
                ],
            },
            {"id": 51, "completed_by": 8, "was_cancelled": True, "result": []},
            {"id": 52, "completed_by": 9, "result": [{"from_name": "grade", "value": {"number": 2}}]},
        ],
    }
]
POTATO_PAIRS = {
    "user_id": "ann",
    "instance_id_to_label_to_value": {
        "i1": [[{"schema": "quality", "name": "scale_4"}, "4"], [{"schema": "ok", "name": "yes"}, True]],
        "i2": [[{"schema": "quality", "name": "good"}, "true"], [{"schema": "quality", "name": "bad"}, "false"]],
    },
}
POTATO_LINES = [
    {"instance_id": "i1", "user_id": "ann", "labels": {"quality": {"good": "true"}}, "spans": {}},
    {"instance_id": "i1", "user_id": "bob", "labels": {"slide": {"value": "73"}}, "spans": {}},
]
ARGILLA = [
    {
        "id": "r1",
        "fields": {"query": "lamp", "text": "a lamp"},
        "responses": [
            {"user_id": "u1", "values": {"rating": {"value": 4}}, "status": "submitted"},
            {"user_id": "u2", "values": {"rating": {"value": 1}}, "status": "discarded"},
        ],
    },
    {"id": "r2", "fields": {"query": "lamp"}, "responses": {"rating": [{"user_id": "u1", "value": 2}]}},
]
ARGILLA_2 = [
    {
        "id": "r1",
        "fields": {"query": "lamp"},
        "metadata": {},
        "suggestions": {"rating": {"value": 5, "score": None, "agent": None}},
        "responses": {"rating": [{"value": 4, "user_id": "u1"}, {"value": 2, "user_id": "u2"}]},
        "vectors": {},
        "_server_id": "s1",
    }
]
"""As Argilla 2 writes records to JSON."""
ARGILLA_FLATTENED = [
    {
        "id": "r1",
        "query": "lamp",
        "rating.responses": [4, 2],
        "rating.responses.users": ["u1", "u2"],
        "rating.responses.status": ["submitted", "draft"],
        "rating.suggestion": 5,
    }
]
RRE = {
    "index": "shop",
    "topics": [
        {
            "query_groups": [
                {
                    "name": "lamps",
                    "queries": [{"placeholders": {"$query": "lamp"}}],
                    "relevant_documents": {"3": ["d1", "d2"], "0": ["d3"]},
                },
                {"name": "chair", "queries": [], "relevant_documents": {"d4": {"gain": 2}}},
            ]
        }
    ],
}
BOOK = {
    "name": "book",
    "query_doc_pairs": [
        {
            "query_text": "lamp",
            "doc_id": "d1",
            "judgements": [
                {"rating": 2.0, "user_email": "a@example.org"},
                {"rating": None, "unrateable": True, "user_email": "b@example.org"},
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            STUDIO,
            [
                {"query": "lamp", "docid": "d1", "annotator": "ann@example.org", "grade": "4", "kind": "lamp"},
                {"query": "lamp", "docid": "d1", "annotator": "9", "grade": "2", "kind": ""},
            ],
        ),
        (POTATO_PAIRS, [{"instance_id": "i1", "quality": "4", "ok": "yes"}, {"instance_id": "i2", "quality": "good"}]),
        (POTATO_LINES, [{"user_id": "ann", "quality": "good"}, {"user_id": "bob", "slide": "73"}]),
        (ARGILLA_2, [{"id": "r1", "user_id": "u1", "rating": "4"}, {"id": "r1", "user_id": "u2", "rating": "2"}]),
        (ARGILLA_FLATTENED, [{"id": "r1", "query": "lamp", "user_id": "u1", "rating": "4"}]),
        (ARGILLA, [{"id": "r1", "user_id": "u1", "rating": "4"}, {"id": "r2", "user_id": "u1", "rating": "2"}]),
        (
            RRE,
            [
                {"query": "lamp", "docid": "d1", "rating": "3"},
                {"query": "lamp", "docid": "d2", "rating": "3"},
                {"query": "lamp", "docid": "d3", "rating": "0"},
                {"query": "chair", "docid": "d4", "rating": "2"},
            ],
        ),
        (BOOK, [{"docid": "d1", "judge": "a@example.org", "rating": "2.0"}, {"judge": "b@example.org", "rating": ""}]),
        (
            {"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}},
            [
                {"query_id": "q1", "result_id": "d1", "rating": "3"},
                {"query_id": "q1", "result_id": "d2", "rating": "0"},
                {"query_id": "q2", "result_id": "d1", "rating": "1"},
            ],
        ),
        (
            {"data": [{"who": "a", "rating": 3}, {"who": "b"}]},
            [{"who": "a", "rating": "3"}, {"who": "b", "rating": ""}],
        ),
        ({"q1": [{"doc": "d1"}, {"doc": "d2"}]}, [{"q1": '[{"doc": "d1"}, {"doc": "d2"}]'}]),
        ({"q1": {"d1": 10**400}}, [{"query_id": "q1", "result_id": "d1", "rating": f"1{'0' * 400}"}]),
        ({"q1": {"d1": 0.5}}, [{"query_id": "q1", "result_id": "d1", "score": "0.5"}]),
        (
            [{"who": "a", "item": {"id": "007"}, "rating": 3}, {"who": "b", "rating": None}],
            [{"who": "a", "item.id": "007", "rating": "3"}, {"who": "b", "rating": ""}],
        ),
    ],
)
@pytest.mark.parametrize("lines", [False, True])
def test_records_are_rows(write: Write, content: Any, expected: list[dict[str, str]], lines: bool) -> None:
    if lines and isinstance(content, list) and len(content) > 1:
        path = write("\n".join(json.dumps(each) for each in content) + "\n", "export.jsonl")
    else:
        path = write(json.dumps(content), "export.json")
    found = rows(path)
    assert [{name: row[name] for name in want} for row, want in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not JSON"),
        ("{", "this is not JSON"),
        ("[]", "there are no records in this JSON"),
        ("[1, 2]", "there are no records in this JSON"),
        ('"text"', "there are no records in this JSON"),
        ('{"a": 1}\n{"a": \n', "line 2: this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        ("9" * 5000, "this is not JSON"),
        ('{"a": 1}\n{"a": ' + "9" * 5000 + "}", "line 2: this is not JSON"),
        ('{"topics": 3}', "there are no records in this JSON"),
        ('{"instance_id_to_label_to_value": []}', "there are no records in this JSON"),
    ],
)
def test_json_that_holds_no_records_is_one_sentence(write: Write, text: str, message: str) -> None:
    with pytest.raises(RelstudyError, match=message.replace("(", r"\(")):
        read_table(write(text, "bad.json"))


def test_ratings_in_json_are_calibrated_as_they_stand(write: Write) -> None:
    records = [
        {"who": f"r{rater}", "item": f"i{item}", "grade": 1 + (rater + item) % 5}
        for rater in (0, 1)
        for item in range(6)
    ]
    path = write("\n".join(map(json.dumps, records)), "ratings.jsonl")
    ratings = read_ratings(
        path, reading=Reading.typed(columns="rater_id=who,result_id=item,query_id=item,rating=grade")
    )
    assert len(ratings.frame) == 12 and ratings.scale.scale.name == "1-5"


def test_what_argilla_does_not_tell_of_a_response_is_a_note(tmp_path: Path) -> None:
    notes = {}
    for name, records in (("by_question", ARGILLA_2), ("flattened", ARGILLA_FLATTENED), ("both", ARGILLA)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(records), encoding="utf-8")
        notes[name] = [note for note in read_records(path).notes if "submitted" in note]
    assert "drafts and discarded may be among them" in notes["by_question"][0]
    assert notes["flattened"] == ["only responses that were submitted are read"]
    assert len(notes["both"]) == 2


def test_a_pipe_is_refused_in_a_sentence_by_every_reader(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), "-"):
        for read in (read_scores, read_judgments, read_table):
            with pytest.raises(RelstudyError, match="this is a pipe or a device; write the table to a file first"):
                read(path)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_are_read_wherever_no_comma_separates_and_with_an_exponent(
    tmp_path: Path, separator: str
) -> None:
    path = tmp_path / "s.csv"
    rows = (("query_id", "result_id", "a"), ("q", "x", "3,5E-04"), ("q", "y", "-1,25"), ("q", "z", "7"))
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    read = read_scores(path)
    assert read.frame["score"].tolist() == [3.5e-4, -1.25, 7.0]
    assert any("decimal commas are read as points in a" in note for note in read.notes)


def test_a_word_among_decimal_commas_is_a_fault_and_not_the_end_of_its_column(tmp_path: Path) -> None:
    """One n/a made a column of text of a system's scores, and the best system was left out."""
    path = tmp_path / "s.csv"
    path.write_text("query_id;result_id;a;b\nq;x;0,5;n/a\nq;y;0,25;0,75\nq;z;1;0,5\n")
    with pytest.raises(RelstudyError, match=r"row 2, column b: 'n/a' is not allowed"):
        read_scores(path)
    path.write_text("query_id;result_id;a;b\nq;x;0,5;one, two\nq;y;0,25;three\nq;z;1;4,5\n")
    read = read_scores(path)
    assert read.systems == ["a"] and any("do not hold numbers: b" in note for note in read.notes)


def test_commas_in_ids_are_no_decimal_commas_whatever_case_their_header_has(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("Query ID;result_id;hybrid\n1,5;x;0,5\n2;y;0,7\n")
    read = read_scores(path).frame
    assert read.drop(columns="system").values.tolist() == [["1,5", "x", 0.5], ["2", "y", 0.7]]


def test_points_that_may_separate_thousands_beside_decimal_commas_are_told(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("query_id;result_id;a;b\nq;x;0,5;1.234\nq;y;0,7;987\n")
    assert read_table(path).notes[-1] == "1.234 in b is read with a decimal point; if it is 1234, leave that out"
    for unambiguous in ("0,5;1.234\nq;y;0,7;0.987", "0.5;1.234\nq;y;0.7;987"):
        path.write_text(f"query_id;result_id;a;b\nq;x;{unambiguous}\n")
        assert not any("decimal point;" in note for note in read_table(path).notes)


def test_commas_that_may_separate_thousands_are_told(tmp_path: Path) -> None:
    """Excel saves what a cell shows: 1,234 and 987 among fields between tabs came out as 1.234 and 987."""
    path = tmp_path / "s.tsv"
    path.write_text("query_id\tresult_id\tviews\nq\tx\t1,234\nq\ty\t987\n")
    assert read_table(path).notes[-1] == "1,234 in views is read as 1.234; if it is 1234, leave the commas out"
    path.write_text("query_id\tresult_id\tviews\nq\tx\t1,234\nq\ty\t0,987\n")
    assert not any("leave the commas out" in note for note in read_table(path).notes)


def test_ids_that_pandas_has_rounded_after_a_gap_are_refused(write: Write) -> None:
    table = "rater_id,query_id,result_id,rating\na,1.2345678901234568e+18,x,3\nb,1e5,x,4\n"
    with pytest.raises(
        TableError, match=r"column query_id: '1.2345678901234568e[+]18' is not allowed; this number was"
    ):
        read_ratings(write(table, "ratings.csv"))


def test_json_that_pandas_wrote_column_by_column_is_a_table(write: Write) -> None:
    """Ids that are numbers made it grades of the queries "query_id" and "result_id"."""
    content = {"query_id": {"0": 1, "1": 1}, "result_id": {"0": 7, "1": 8}, "rating": {"0": 4, "1": None}}
    judged = read_judgments(write(json.dumps(content), "j.json"))
    assert judged.frame[["query_id", "result_id", "judgment"]].values.tolist() == [["1", "7", 4]]
    assert "as pandas writes it" in judged.notes[0]


@pytest.mark.parametrize(
    ("above", "lines"),
    [("Results of June,,\n", 1), ("Results of June\n\n", 2), ('"Results, June",,\n,,\nNext line of it,,\n', 3)],
)
def test_a_title_above_the_header_is_passed_over_and_told(write: Write, above: str, lines: int) -> None:
    """Spreadsheets write one; it was refused, and whoever had it had to edit the file."""
    table = read_table(write(f"{above}a,b,c\n1,2,x\n3,4,y\n", "t.csv"))
    assert list(table.frame) == ["a", "b", "c"] and table.frame["c"].tolist() == ["x", "y"]
    assert table.rows.tolist() == [lines + 2, lines + 3]
    assert any(note.startswith(f"{lines} line") and "Results" in note for note in table.notes)


@pytest.mark.parametrize("content", ["Results of June,,\n1,2,3\n4,5,6\n", "query id\nq1,d1,3\n", "a b,,\nc,,d\n"])
def test_what_may_be_a_broken_header_is_no_title(write: Write, content: str) -> None:
    with pytest.raises(RelstudyError):
        read_table(write(content, "t.csv"))


def test_many_columns_are_short_sentences(write: Write) -> None:
    many = ",".join(f"c{number}" for number in range(1500))
    with pytest.raises(TableError, match=r"\(the file has: c0, .*, c39 and 1,460 more\)"):
        read_table(write(f"{many}\n{many}\n", "t.csv"), "query_id")
