"""DataFrames as notebooks have them: ids in the index, ids that became floats, tables of other libraries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import relstudy as rs
from relstudy.api.inputs import judgments_of, scores_of
from relstudy.common.runtime.errors import RelstudyError
from tests.places import EXAMPLE

RATINGS = pd.DataFrame({"rater_id": [1, 1, 2, 2], "query_id": 7, "result_id": [1, 2, 1, 2], "rating": [1, 4, 2, 5]})


@pytest.mark.parametrize("levels", [["query_id", "result_id"], ["rater_id"]])
def test_ids_in_the_index_are_columns(levels: list[str]) -> None:
    read = rs.read_ratings(RATINGS.set_index(levels)).frame
    pd.testing.assert_frame_equal(read[list(RATINGS)], rs.read_ratings(RATINGS).frame[list(RATINGS)])


def test_a_pivoted_table_of_scores_holds_its_systems() -> None:
    long = pd.DataFrame({"system": ["a", "b"], "query_id": "q", "result_id": "x", "score": [1.0, 2.0]})
    pivoted = long.pivot(index=["query_id", "result_id"], columns="system", values="score")
    read, _ = scores_of(pivoted)
    assert read.frame.sort_values("system").values.tolist() == long.values.tolist()


@pytest.mark.parametrize("dtype", ["float64", "Float64", pd.ArrowDtype(pa.float64())])
def test_a_whole_id_is_the_same_id_as_a_float(dtype: Any) -> None:
    floats = RATINGS.astype({"query_id": dtype, "rater_id": dtype})
    assert rs.read_ratings(floats).frame["query_id"].tolist() == ["7"] * 4
    judged, _ = judgments_of(floats)
    assert judged.frame["query_id"].tolist() == ["7", "7"]


def test_a_whole_id_is_the_same_id_among_categories_and_other_things() -> None:
    for ids in (RATINGS["query_id"].astype(float).astype("category"), pd.Series([7.0, 7, "7", np.float32(7)])):
        assert rs.read_ratings(RATINGS.assign(query_id=ids)).frame["query_id"].tolist() == ["7"] * 4


def test_an_infinite_id_is_one_of_its_own_without_a_warning() -> None:
    infinite = RATINGS.assign(query_id=[7.0, np.inf] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rs.read_ratings(infinite).frame["query_id"].tolist() == ["7.0", "inf"] * 2


def test_columns_of_two_levels_are_refused_and_no_id_is_scored() -> None:
    long = pd.DataFrame({"system": ["a", "b"], "query_id": 1, "result_id": "x", "score": [1.0, 2.0]})
    pivoted = long.pivot_table(index=["query_id", "result_id"], columns="system", values=["score"])
    for frame in (pivoted, pivoted.reset_index()):
        with pytest.raises(RelstudyError, match=r"its columns have 2 levels, as \('score', 'b'\) has; one is needed"):
            scores_of(frame)


def test_levels_of_an_index_are_ids_in_capitals_too_and_others_are_named_where_a_column_lacks() -> None:
    frame = pd.DataFrame({"Query ID": ["q"], "result": ["x"], "a": [1.0]}).set_index(["Query ID", "result"])
    with pytest.raises(RelstudyError, match=r"the DataFrame has: query_id, a; in its index: result"):
        scores_of(frame)


def test_a_float_that_holds_no_whole_number_exactly_stays_as_it_is() -> None:
    assert rs.read_ratings(RATINGS.assign(query_id=1e300)).frame["query_id"].unique().tolist() == ["1e+300"]
    assert rs.read_ratings(RATINGS.assign(query_id=[1.5, 2.0] * 2)).frame["query_id"].tolist() == ["1.5", "2.0"] * 2


def test_a_system_may_be_named_by_what_is_no_text() -> None:
    frame = pd.DataFrame({"query_id": ["q"], "result_id": ["x"], 7: [1.0], ("a", "b"): [2.0]})
    assert scores_of(frame)[0].systems == ["7", "('a', 'b')"]
    assert scores_of(frame, only=("7",))[0].systems == ["7"]


def test_a_thing_that_pandas_can_be_made_of_is_refused_with_its_own_name_and_the_way_out() -> None:
    index = pa.array([1, 2])
    with pytest.raises(rs.RelstudyError, match=r"a pandas DataFrame is needed, not a pyarrow.* to_pandas"):
        rs.read_ratings(index)  # type: ignore[arg-type]


def test_two_names_of_one_text_are_not_two_systems() -> None:
    """Both were fitted as one system, whose correlation was half of the better one's."""
    scores = pd.DataFrame({"query_id": "q", "result_id": list("abc"), "score": [1.0, 2.0, 3.0]})
    for call in (rs.fit, rs.score):
        with pytest.raises(rs.RelstudyError, match="two systems are named '1'"):
            call({1: scores, "1": scores}, EXAMPLE / "judgments.csv")


def test_a_direction_is_empty_also_where_a_cell_is_missing() -> None:
    judged = pd.read_csv(EXAMPLE / "judgments.csv", dtype={"query_id": str, "result_id": str})
    keys = judged[["query_id", "result_id"]]
    low = keys.assign(system="low", score=-judged["judgment"], direction="lower")
    both = pd.concat([low, keys.assign(system="plain", score=judged["judgment"])])
    fitted = rs.fit(both, judged[["query_id", "result_id", "judgment"]], method="isotonic")
    assert set(fitted) == {"low", "plain"}


def test_categories_with_an_empty_cell_are_texts_in_tables_of_scores_and_of_judges() -> None:
    ids = {"query_id": list("aabb"), "result_id": list("wxyz")}
    judgments = pd.DataFrame({**ids, "judgment": [5, 1, 4, 2], "inclusion_probability": 0.5})
    scores = pd.DataFrame({**ids, "system": "new", "score": [0.9, 0.2, 0.4, 0.3]})
    scores["direction"] = pd.Categorical(["higher", None, "higher", None])
    assert rs.score(scores, judgments, threshold=3, replicates=20).table["system"].tolist() == ["new"]
    judge = pd.DataFrame({**ids, "rating": [1, 0, 1, None], "status": pd.Categorical(["ok", None, "ok", "error"])})
    as_text = judge.assign(status=["ok", "", "ok", "error"])
    tables = [rs.judge(each, judgments, replicates=20).table for each in (judge, as_text)]
    pd.testing.assert_frame_equal(*tables)
