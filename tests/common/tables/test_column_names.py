"""Columns that are called almost as relstudy calls them."""

from __future__ import annotations

import pandas as pd
import pytest

from relstudy.calibration.tables.judgments import check_judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import TableError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.meaning.pairs_table import read_pairs


def ratings(**columns: object) -> Checked:
    table = {"Rater ID": list("aabb"), "QUERY_ID": "q", "result-id": list("xyxy"), "Rating": ["1", "2", "3", "4"]}
    return Checked(pd.DataFrame({**table, **columns}), "ratings.csv")


def test_ratings_are_read_whatever_the_case_of_their_header_and_a_note_tells() -> None:
    read = read_ratings(ratings())
    assert read.frame["rating"].tolist() == [1, 2, 3, 4]
    assert "Rater ID for rater_id" in read.notes[0]


@pytest.mark.parametrize(
    ("column", "values", "kept"),
    [("Block", ["unique", "check", "unique", "check"], [1, 3]), ("Set aside", ["", "", "1", "1"], [1, 2])],
)
def test_a_column_that_leaves_rows_out_does_so_in_capitals_too(
    column: str, values: list[str], kept: list[float]
) -> None:
    assert read_ratings(ratings(**{column: values})).frame["rating"].tolist() == kept


def test_probabilities_count_in_capitals_too() -> None:
    pairs = {"Query_ID": ["q", "q"], "Result_ID": ["x", "y"], "Inclusion Probability": ["0.5", "0.25"]}
    judged = check_judgments(Checked(pd.DataFrame({**pairs, "Judgment": ["1", "4"]}), "judgments.csv"))
    assert judged.probability.tolist() == [0.5, 0.25]
    assert read_pairs(Checked(pd.DataFrame(pairs), "pairs.csv"))["inclusion_probability"].tolist() == [0.5, 0.25]


def test_a_fault_names_the_column_as_the_file_does() -> None:
    with pytest.raises(TableError, match="column Rating: 'good' is not allowed"):
        read_ratings(ratings(Rating=["1", "2", "3", "good"]))


def test_relstudys_own_name_comes_first_and_two_that_are_almost_so_are_left_alone() -> None:
    both = Checked(pd.DataFrame({"rating": [1], "Rating": [2]}), "t")
    assert list(under_own_names(both, ["rating"]).frame) == ["rating", "Rating"]
    two = Checked(pd.DataFrame({"RATING": [1], "Rating": [2]}), "t")
    assert list(under_own_names(two, ["rating"]).frame) == ["RATING", "Rating"]


def test_a_column_that_was_asked_for_keeps_its_name() -> None:
    read = read_ratings(ratings(Block=["yes", "no", "yes", "no"]), base_column="Block")
    assert read.frame["base"].tolist() == [True, False, True, False]
