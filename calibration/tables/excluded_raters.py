"""Ratings of raters who were set aside: the app's export marks them, and calibration leaves them out."""

from __future__ import annotations

import numpy as np

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.checked_table import Checked, stripped

COLUMN = "set_aside"
YES, NO = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no", "", "none")


def without_set_aside(table: Checked) -> Checked:
    """The rows of raters who were not set aside; a note says how many were left out.

    Raises
    ------
    RelstudyError
        where every rater is excluded, or where a row says neither yes nor no
    """
    if COLUMN not in table.frame:
        return table
    said = stripped(table.frame[COLUMN])
    aside = said.str.lower().isin(YES).to_numpy(dtype=bool)
    neither = ~aside & ~said.str.lower().isin(NO).to_numpy(dtype=bool)
    if neither.any():
        first = int(np.flatnonzero(neither)[0])
        raise RelstudyError(
            f"{table.file}, row {table.row(first)}: {COLUMN} says {said.iloc[first]!r}; it is yes for excluded "
            "raters, and no or empty for others"
        )
    if not aside.any():
        return table
    if aside.all():
        raise RelstudyError(
            f"{table.file}: every rater is excluded; {option('with_set_aside', True)} of relstudy calibrate takes "
            "their ratings"
        )
    rest = table.where(~aside)
    who = count_of(table.frame["rater_id"][aside].nunique(), "excluded rater")
    number = int(aside.sum())
    are, they = ("is", "it is") if number == 1 else ("are", "they are")
    note = f"{count_of(number, 'rating')} of {who} {are} left out, unless {they} asked for"
    rest.notes = (*table.notes, note)
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
    lost = stripped(table.frame[NOT_SHOWN]).str.lower().isin(YES).to_numpy(dtype=bool)
    if not lost.any() or lost.all():
        return table, {}
    rest = table.where(~lost)
    number = int(lost.sum())
    their, they_are = ("its rater", "it is") if number == 1 else ("their raters", "they are")
    note = f"{count_of(number, 'result')} could not be shown to {their}; {they_are} left out"
    rest.notes = (*table.notes, note)
    by_rater = stripped(table.frame["rater_id"][lost]).value_counts()
    return rest, {str(rater): int(many) for rater, many in by_rater.items()}
