"""One of a thing is not told in the plural."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.inspection.files import inspect_file
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.reading import Reading

ONE = "rater_id,query_id,result_id,rating\na,q,x,5\n"
LABELS = [
    {
        "id": 1,
        "data": {"text": "t"},
        "annotations": [
            {"id": 1, "completed_by": 1, "result": [{"from_name": "grade", "value": {"rating": 3}}]},
            {"id": 2, "completed_by": 2, "was_cancelled": True, "result": []},
        ],
    }
]
TASKS = [{"_input_hash": number, "answer": answer} for number, answer in enumerate(["accept", "ignore"])]
BOOK = {
    "query_doc_pairs": [
        {"query_text": "q", "doc_id": "d", "judgements": [{"user_email": "a", "rating": None, "unrateable": True}]}
    ]
}


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (LABELS, "1 annotation skipped (was_cancelled) and left out"),
        (TASKS, "1 task skipped or rejected (answer) and left out"),
        (BOOK, "1 judgement is unrateable or put off"),
    ],
)
def test_notes_on_an_export(tmp_path: Path, content: Any, note: str) -> None:
    (tmp_path / "export.json").write_text(json.dumps(content), encoding="utf-8")
    assert note in read_table(tmp_path / "export.json").notes


def test_the_sentence_of_a_reading() -> None:
    items = pd.DataFrame({"column": ["Q1"], "result_id": ["x"]})
    assert Reading.stated({"items": items}).sentence() == "read as stated: 1 column by a table of items"


def test_the_heading_of_ratings(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(ONE, encoding="utf-8")
    heading = read_ratings(tmp_path / "ratings.csv").heading()
    assert heading == "1 rating on the scale 1-5 by 1 rater of 1 pair, 0 undecided"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("ratings.csv", ONE, "1 rating by 1 rater"),
        ("pairs.csv", "pair_id,query_id,result_id,source\np,q,x,a\n", "the pairs of a study (1 row)"),
        ("x.qrels", "q 0 x 1\n", "TREC qrels: 1 judgment of 1 query (1 of grade 1)"),
        ("x.run", "q Q0 x 1 0.5 mine\n", "a TREC run of mine: 1 result of 1 query"),
    ],
)
def test_what_a_table_is(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert inspect_file(tmp_path / name).sentence == sentence


def test_what_an_array_is(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[0.5]]))
    assert inspect_file(tmp_path / "v.npy").sentence == "1 vector of 1 number"
