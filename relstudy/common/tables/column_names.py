"""Columns whose names are relstudy's own but for case, blanks and hyphens: `Rater ID`, `Inclusion_Probability`.

A column that is left alone because its name is in capitals would be missed without a word: the block of attention
checks, a pair's probability, a rater who was set aside.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable

from relstudy.common.runtime.control_characters import UNSEEN, with_unseen
from relstudy.common.tables.checked_table import Checked


def plain_name(name: object) -> str:
    """A name without case, blanks, hyphens, underscores and characters that nobody sees.

    Examples
    --------
    >>> plain_name("Rater ID"), plain_name("rater_id")
    ('raterid', 'raterid')
    """
    return re.sub("[ \u00a0_-]", "", UNSEEN.sub("", str(name))).casefold()


def under_own_names(table: Checked, names: Iterable[str], keep: Iterable[object] = ()) -> Checked:
    """The table with relstudy's names for columns that are called almost so, and a note on them.

    Parameters
    ----------
    table : as it stands in the file
    names : relstudy's names that its reader knows
    keep : columns that somebody asked for by the name they have

    Returns
    -------
    The same table where no column is renamed. Nothing is renamed where the table has relstudy's name already, or where
    two columns are called almost so.

    Examples
    --------
    >>> import pandas as pd
    >>> table = under_own_names(Checked(pd.DataFrame({"Query ID": ["q"], "Note": ["n"]}), "t.csv"), ["query_id"])
    >>> list(table.frame), table.notes
    (['query_id', 'Note'], ("columns are taken for relstudy's own: Query ID for query_id",))
    """
    have, kept = list(table.frame.columns), list(keep)
    almost: dict[str, list[object]] = {}
    for column in have:
        if column not in kept:
            almost.setdefault(plain_name(column), []).append(column)
    renamed = {
        called[0]: name for name in names if name not in have and len(called := almost.get(plain_name(name), [])) == 1
    }
    if not renamed:
        return table
    read = copy.copy(table)
    read.frame = table.frame.rename(columns=renamed)
    read.labels = {**table.labels, **{name: str(column) for column, name in renamed.items()}}
    said = ", ".join(f"{with_unseen(str(column))} for {name}" for column, name in renamed.items())
    read.notes = (*table.notes, f"columns are taken for relstudy's own: {said}")
    return read
