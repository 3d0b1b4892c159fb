"""Rater columns that name a position in a table and no person: nobody can be calibrated by them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.option_words import option

SORTED_PAIRS = (50, 20)
"""So many pairs with different ratings, all ordered alike, are taken for sorted slots: the first number for two raters,
who may be a strict and a lenient person, the second for more. By chance alone, 2^-20."""


def refuse_slots(table: Checked) -> None:
    """Refuse a table with columns of slots in place of rater_id."""
    columns = [str(column) for column in table.frame.columns]
    if "rater_id" in columns:
        return
    slots = [c for c in columns if re.fullmatch(r"(slot|annotator|answer|rating|rater|label)s?[ _-]?\d+", c.lower())]
    if "slot" in columns or len(slots) >= 2:
        named = "column slot" if "slot" in columns else f"columns {', '.join(slots[:4])}"
        raise RelstudyError(
            f"{table.file}: {named}: a slot is not a rater, because slot 1 of one pair and slot 1 of the next may be "
            "different people; calibration needs a column rater_id that names one person throughout, one row per "
            "rater and pair"
        )


def refuse_sorted(frame: pd.DataFrame, file: str) -> None:
    """Refuse rater columns that only number the sorted answers of each pair.

    People disagree in both directions. Where every two "raters" differ on many shared pairs and always in the same
    direction, the rows were sorted within each pair, and the column names a position and no person.
    """
    names = [str(name) for name in frame["rater_id"].unique()]
    if all(re.fullmatch(r"(slot|column|answer|response)s?[ _-]?\d+", name.lower()) for name in names):
        raise RelstudyError(
            f"{file}, column rater_id: {', '.join(names[:4])} name positions in a table, not people: slot 1 of "
            "one pair and slot 1 of the next may be different people, so there is no one to calibrate (if each is one "
            f"person all the same, say {option('trust_raters', True)})"
        )
    if not 2 <= len(names) <= 20:
        return
    wide = frame.pivot_table(index=["query_id", "result_id"], columns="rater_id", values="rating", observed=True)
    values = wide.to_numpy()
    if values.shape[1] < 2:
        return
    least = SORTED_PAIRS[0] if values.shape[1] == 2 else SORTED_PAIRS[1]
    values = values[:, np.argsort(np.nan_to_num(np.nanmean(values, axis=0)), kind="stable")]
    for lower in range(values.shape[1]):
        for upper in range(lower + 1, values.shape[1]):
            difference = values[:, upper] - values[:, lower]
            if (difference < 0).any() or np.count_nonzero(difference > 0) < least:
                return
    raise RelstudyError(
        f"{file}, column rater_id: on every pair the ratings of {', '.join(map(str, wide.columns[:4]))} stand in the "
        "same order, which people never do: these are sorted slots, not raters, and cannot be calibrated (if they "
        f"are people all the same, say {option('trust_raters', True)})"
    )
