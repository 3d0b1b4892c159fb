"""Inclusion probabilities in a table of pairs or ratings: NaN where unknown, one value per pair, one a query."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.common.tables.checked_table import Checked

PAIR = ["query_id", "result_id"]
PROBABILITIES = ["inclusion_probability", "query_probability"]


def read_probabilities(table: Checked, frame: pd.DataFrame) -> None:
    """Turn the columns of probabilities that a table has into floats.

    Parameters
    ----------
    table : its faults are added to: values outside (0, 1], a query of two probabilities or one below that of one of
        its pairs
    frame : with query_id as text; gets inclusion_probability (float in (0, 1], NaN where unknown, NaN throughout where
        the table has no such column), and query_probability where the table has it
    """
    given = "inclusion_probability" in table.frame
    frame["inclusion_probability"] = _numbers(table, "inclusion_probability") if given else np.nan
    if "query_probability" not in table.frame:
        return
    of_query = _numbers(table, "query_probability")
    frame["query_probability"] = of_query
    differs = pd.Series(of_query).groupby(frame["query_id"].to_numpy()).transform("nunique") > 1
    table.add(differs, "query_probability", "a query has one probability, and rows of this query differ")
    # a pair certain given its query has its query's probability, and files round
    above = frame["inclusion_probability"].to_numpy(dtype=float) > of_query * (1 + 1e-6)
    table.add(above, "query_probability", "at least the pair's inclusion_probability is needed")


def check_one_a_pair(table: Checked, frame: pd.DataFrame) -> None:
    """Note rows of one pair with different inclusion probabilities as faults of the table."""
    if "inclusion_probability" not in table.frame or frame["inclusion_probability"].isna().all():
        return
    differs = frame.groupby(PAIR, sort=False)["inclusion_probability"].transform("nunique", dropna=False) > 1
    rows = pd.Series(False, index=table.frame.index)
    rows[frame.index] = differs
    table.add(rows, "inclusion_probability", "a pair has one inclusion probability, and rows of this pair differ")


def _numbers(table: Checked, name: str) -> np.ndarray:
    return table.numbers(name, low=0, high=1, low_open=True, empty=True)
