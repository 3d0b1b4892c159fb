"""One table of pairs, one meaning, whoever reads it: the app, `sample`, `calibrate` and the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from relstudy.analysis.study_run import read_study_folder
from relstudy.calibration.tables.drawn_pairs import with_design
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.errors import TableError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.pairs_table import COLUMNS, read_pairs, write_pairs
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.commands.systems import score_collection
from tests.analysis.report.pages import tables_of
from tests.studyapp.studies import write_study

JUDGMENTS = Judgments.of(pd.DataFrame({"query_id": ["q0"], "result_id": ["r0"], "judgment": [3.0]}))
READERS: dict[str, Callable[[Path], Any]] = {
    "serve": prepare,
    "sample and systems": lambda folder: score_collection(folder, ["colour"]),
    "calibrate": lambda folder: with_design(JUDGMENTS, folder / "pairs.csv"),
    "report": read_study_folder,
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A small study with judgments and scores, so that every stage can read its pairs."""
    folder = write_study(tmp_path / "study", base_queries=1, unique_queries=1)
    pairs = pd.read_csv(folder / "pairs.csv")
    pairs.assign(judgment=3.0)[["query_id", "result_id", "judgment"]].to_csv(folder / "judgments.csv", index=False)
    (folder / "scores").mkdir()
    scores = pairs.assign(system="secret-system", score=1 / pairs["rank"])
    scores[["system", "query_id", "result_id", "score"]].to_csv(folder / "scores" / "secret-system.csv", index=False)
    return folder


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "secret-system,1,0.25",
            "secret-system,0,0.25",
            "row 2, column rank: '0' is not allowed; a whole number at least 1 is allowed",
        ),
        ("0.25,base\np0-1", "1.5,base\np0-1", "column inclusion_probability: '1.5' is not allowed"),
        (
            "0.25,base\np0-1",
            "0.25,both\np0-1",
            "column block: 'both' is not allowed; base or unique is allowed, or empty",
        ),
        ("p0-1,q0,r1", "p0-0,q0,r1", "column pair_id: 'p0-0' is not allowed; each pair may appear there once"),
        ("p0-1,q0,r1,image,secret-system,2,0.25", "p0-1,q0,r0,image,secret-system,2,0.5", "a pair has one inclusion"),
        ("p0-1,q0", "p0-1,", "row 3, column query_id: '' is not allowed; a value is required"),
    ],
)
def test_what_one_stage_refuses_every_stage_refuses(
    study: Path, reader: str, before: str, after: str, message: str
) -> None:
    READERS[reader](study)
    text = (study / "pairs.csv").read_text(encoding="utf-8")
    assert before in text
    (study / "pairs.csv").write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(TableError) as refused:
        READERS[reader](study)
    assert message in str(refused.value)


def test_a_pair_twice_is_one_where_its_rows_agree_and_refused_where_they_do_not() -> None:
    rows = pd.DataFrame({"query_id": "q", "result_id": "x", "source": "a", "rank": [None, None], "block": "base"})
    assert len(read_pairs(Checked(rows, "pairs"))) == 1
    assert len(read_pairs(Checked(rows.assign(paradigm=["image", "text"]), "pairs"))) == 2
    for name, values in {"source": ["a", "b"], "rank": [None, 3], "block": ["base", ""], "pair_id": ["1", "2"]}.items():
        with pytest.raises(TableError, match=rf"column {name}: .* an earlier row has another value for this pair"):
            read_pairs(Checked(rows.assign(**{name: values}), "pairs"))


def test_blanks_after_the_commas_change_nothing(study: Path) -> None:
    plain = read_pairs(study / "pairs.csv")
    text = (study / "pairs.csv").read_text(encoding="utf-8")
    (study / "pairs.csv").write_text(text.replace(",", ", "), encoding="utf-8")
    pd.testing.assert_frame_equal(read_pairs(study / "pairs.csv"), plain)
    assert set(tables_of(study).pair_column("source")) == {"secret-system"}  # type: ignore[arg-type]


def test_what_is_written_is_read_again(study: Path) -> None:
    pairs = read_pairs(study / "pairs.csv").assign(remark="x")
    write_pairs(pairs[["remark", *COLUMNS[::-1]]], study / "again.csv")
    again = read_pairs(study / "again.csv")
    assert list(again) == [*COLUMNS, "remark"]
    pd.testing.assert_frame_equal(again, pairs, check_dtype=False)


def test_two_columns_are_enough(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("query_id,result_id\nq,x\n", encoding="utf-8")
    row = read_pairs(tmp_path / "pairs.csv").fillna({"rank": -1, "inclusion_probability": -1, "query_probability": -1})
    assert row.iloc[0].to_dict() == {
        "pair_id": "q|x",
        "query_id": "q",
        "result_id": "x",
        "paradigm": "",
        "source": "",
        "block": "unique",
        "rank": -1,
        "round": 1,
        "inclusion_probability": -1,
        "query_probability": -1,
    }
    with pytest.raises(TableError, match="column inclusion_probability: this column is required"):
        read_pairs(tmp_path / "pairs.csv", "inclusion_probability")


@pytest.mark.parametrize(
    ("column", "value", "default"),
    [("source", "bm25", ""), ("paradigm", "text", ""), ("block", "base", "unique"), ("pool", "outside", "inside")],
)
def test_a_column_of_categories_with_an_empty_cell_is_read_as_text(column: str, value: str, default: str) -> None:
    frame = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["x", "y"], column: pd.Categorical([value, None])})
    assert read_pairs(Checked(frame, "pairs"))[column].tolist() == [value, default]
