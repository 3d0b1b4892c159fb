"""Ratings of raters who were set aside: the app's export marks them, and calibration leaves them out."""

from __future__ import annotations

import numpy as np

from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.option_words import option

COLUMN = "set_aside"
YES, NO = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no", "", "none")


def without_set_aside(table: Checked) -> Checked:
    """The rows of raters who were not set aside; a note says how many were left out.

    Raises
    ------
    RelstudyError
        where every rater was set aside, or where a row says neither yes nor no
    """
    if COLUMN not in table.frame:
        return table
    said = table.frame[COLUMN].astype("str").fillna("").str.strip()
    aside = said.str.lower().isin(YES).to_numpy(dtype=bool)
    neither = ~aside & ~said.str.lower().isin(NO).to_numpy(dtype=bool)
    if neither.any():
        first = int(np.flatnonzero(neither)[0])
        raise RelstudyError(
            f"{table.file}, row {table.rows[first]}: {COLUMN} says {said.iloc[first]!r}; it is yes for raters who were "
            "set aside, and no or empty for others"
        )
    if not aside.any():
        return table
    if aside.all():
        raise RelstudyError(
            f"{table.file}: every rater was set aside; {option('with_set_aside', True)} of relstudy calibrate takes "
            "their ratings"
        )
    rest = table.among(table.frame[~aside].reset_index(drop=True), table.rows[~aside])
    raters = table.frame["rater_id"][aside].nunique()
    who = "1 rater who was" if raters == 1 else f"{raters} raters who were"
    left = (
        f"{int(aside.sum())} ratings of {who} set aside are left out; {option('with_set_aside', True)} of relstudy "
        "calibrate takes them"
    )
    rest.notes = (*table.notes, left)
    return rest
