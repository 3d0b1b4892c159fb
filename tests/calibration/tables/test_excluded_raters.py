"""Ratings of raters who were set aside have no part, unless asked for; and it is said."""

from __future__ import annotations

import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError

FRAME = pd.DataFrame(
    {
        "rater_id": list("aabb"),
        "query_id": "q",
        "result_id": list("xyxy"),
        "rating": [1, 3, 3, 5],
        "set_aside": [0, 0, 1, 1],
    }
)


def test_they_are_left_out_with_a_note_and_taken_where_asked_for() -> None:
    alone = rs.calibrate(FRAME, method="none")
    assert alone.judgments["judgment"].tolist() == [1.0, 3.0] and alone.judgments["n_ratings"].tolist() == [1, 1]
    assert any("2 ratings of 1 excluded rater are left out" in note for note in alone.notes)
    both = rs.calibrate(FRAME, method="none", with_set_aside=True)
    assert both.judgments["judgment"].tolist() == [2.0, 4.0] and not any("excluded" in note for note in both.notes)


def test_one_rating_is_said_to_be_one() -> None:
    notes = rs.read_ratings(FRAME.iloc[:3]).notes
    assert "1 rating of 1 excluded rater is left out, unless it is asked for" in notes


def test_a_table_of_none_but_these_is_refused() -> None:
    with pytest.raises(RelstudyError, match="every rater is excluded"):
        rs.read_ratings(FRAME.assign(set_aside="yes"))


@pytest.mark.parametrize("said", ["2026-01-01", "spam", 2])
def test_a_word_that_is_neither_yes_nor_no_is_refused_and_not_taken_for_no(said: object) -> None:
    """A date or a reason in the column: the raters' ratings would have counted without a word."""
    with pytest.raises(RelstudyError, match=r"row 2: set_aside says .*; it is yes for excluded raters"):
        rs.read_ratings(FRAME.astype({"set_aside": object}).assign(set_aside=["", "no", said, said]))
    kept = rs.read_ratings(FRAME.assign(set_aside=["", None, False, "0"])).frame
    assert len(kept) == 4
