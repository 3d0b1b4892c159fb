"""Tables of other libraries than pandas are what a pandas DataFrame is."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import relstudy as rs

PAIRS = {"query_id": list("aabb"), "result_id": list("wxyz")}
RATED = pd.DataFrame(
    {"rater_id": list("ppqqppqq"), "query_id": list("aaaabbbb"), "result_id": list("wxwxyzyz"),
     "rating": [4, 1, 5, 2, 3, None, 4, 1]}
)  # fmt: skip
SCORES = pd.DataFrame({**PAIRS, "bm25": [0.9, 0.2, 0.4, 0.3]})


class Interchanged:
    """A table that offers the dataframe interchange protocol alone."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.table = pa.Table.from_pandas(frame)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self.table.__dataframe__(nan_as_null, allow_copy)


@pytest.mark.parametrize(
    "of_pandas",
    [pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy(), pa.Table.from_pandas, Interchanged],
    ids=["polars", "a lazy frame", "pyarrow", "interchange"],
)
def test_frames_of_other_libraries_give_the_same_figures(of_pandas: Any) -> None:
    panel = rs.calibrate(of_pandas(RATED), method="mean", trust_raters=True)
    assert panel.judgments.equals(rs.calibrate(RATED, method="mean", trust_raters=True).judgments)
    judgments = of_pandas(panel.judgments[["query_id", "result_id", "judgment"]])
    scored = rs.score(of_pandas(SCORES), judgments, replicates=20)
    assert scored.table.equals(
        rs.score(SCORES, panel.judgments[["query_id", "result_id", "judgment"]], replicates=20).table
    )
    assert rs.fit({"mine": of_pandas(SCORES)}, judgments, method="isotonic")["mine"] is not None
    assert rs.inspect(of_pandas(RATED)).kind == "ratings"


@pytest.mark.parametrize("thing", [5, [1, 2], object(), pl.Series([1, 2]), {"a": 1}])
def test_what_is_no_table_is_refused_in_a_sentence(thing: Any) -> None:
    with pytest.raises(rs.RelstudyError, match="the ratings: a path or a pandas DataFrame is needed"):
        rs.calibrate(thing)
