"""Ratings of raters who were set aside: the app's export marks them, and calibration leaves them out."""

from __future__ import annotations

from relstudy.common.errors import RelstudyError
from relstudy.common.tables import Checked

COLUMN = "set_aside"
YES = ("true", "1", "1.0", "yes")


def without_set_aside(table: Checked) -> Checked:
    """The rows of raters who were not set aside; a note says how many were left out.

    Raises
    ------
    RelstudyError
        where every rater was set aside
    """
    if COLUMN not in table.frame:
        return table
    aside = table.frame[COLUMN].astype("str").str.strip().str.lower().isin(YES).to_numpy(dtype=bool)
    if not aside.any():
        return table
    if aside.all():
        raise RelstudyError(f"{table.file}: every rater was set aside; --with-set-aside takes their ratings")
    rest = Checked(table.frame[~aside].reset_index(drop=True), table.file, table.rows[~aside], table.labels)
    raters = table.frame["rater_id"][aside].nunique()
    who = "1 rater who was" if raters == 1 else f"{raters} raters who were"
    left = f"{int(aside.sum())} ratings of {who} set aside are left out; --with-set-aside takes them"
    rest.notes = (*table.notes, left)
    return rest
