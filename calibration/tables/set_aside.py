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
    rest = table.where(~aside)
    raters = table.frame["rater_id"][aside].nunique()
    who = "1 rater who was" if raters == 1 else f"{raters} raters who were"
    count = int(aside.sum())
    several = f"{count} ratings of {who} set aside are left out, unless they are asked for"
    one = f"1 rating of {who} set aside is left out, unless it is asked for"
    rest.notes = (*table.notes, one if count == 1 else several)
    return rest


NOT_SHOWN = "not_shown"


def without_not_shown(table: Checked) -> tuple[Checked, dict[str, int]]:
    """The rows whose result could be shown to its rater, and how many could not, by rater; a note says how many.

    They are neither ratings nor undecided: nothing is known of them but that a picture or a film did not load.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Checked(pd.DataFrame({"rater_id": ["a", "b"], "not_shown": ["0", "1"]}), "ratings.csv")
    >>> rest, lost = without_not_shown(table)
    >>> len(rest.frame), lost, rest.notes
    (1, {'b': 1}, ('1 result could not be shown to its rater; it is left out',))
    """
    if NOT_SHOWN not in table.frame:
        return table, {}
    said = table.frame[NOT_SHOWN].astype("str").fillna("").str.strip().str.lower()
    lost = said.isin(YES).to_numpy(dtype=bool)
    if not lost.any() or lost.all():
        return table, {}
    rest = table.where(~lost)
    count = int(lost.sum())
    several = f"{count} results could not be shown to their raters; they are left out"
    rest.notes = (*table.notes, "1 result could not be shown to its rater; it is left out" if count == 1 else several)
    by_rater = table.frame["rater_id"][lost].astype("str").str.strip().value_counts()
    return rest, {str(rater): int(many) for rater, many in by_rater.items()}
