"""Groups of a table's rows by a column: by paradigm, by interface, by block, by any column of theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.control_characters import refuse_controls
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import pair_rows
from relstudy.common.tables.whole_number_ids import whole_ids

MOST_GROUPS = 50
EMPTY = "(none)"


def groups_of(
    judged: pd.DataFrame,
    column: str,
    pairs_file: Path | Checked | None = None,
    table: str = "the judgments",
) -> np.ndarray:
    """The value of a column for each row, as text [rows]; "(none)" where it is empty.

    Parameters
    ----------
    judged : query_id, result_id and other columns
    column : one of them, or of the table of pairs
    pairs_file : a table of pairs (query_id, result_id and other columns), or its file if there is one, for columns that
        `judged` lacks
    table : what messages call it

    Raises
    ------
    RelstudyError
        where neither table has the column, it has too many values, or the table of pairs has two for one pair
    """
    if column in judged:
        values = judged[column]
    else:
        if isinstance(pairs_file, Path) and not pairs_file.is_file():
            pairs_file = None
        pairs = None if pairs_file is None else pair_rows(pairs_file).frame
        if pairs is None or column not in pairs:
            columns = [name for name in judged if name not in PAIR]
            beside = [] if pairs is None else [name for name in pairs if name not in (*PAIR, *columns)]
            raise RelstudyError(
                f"{option('by')}: there is no column {column!r} in {table}; there are: {', '.join(map(str, columns))}"
                + (f"; and in {_name(pairs_file)}: {', '.join(map(str, beside))}" if beside else "")
            )
        one = pairs[[*PAIR, column]].drop_duplicates()
        _refuse_two(one[one.duplicated(PAIR)], column, _name(pairs_file))
        values = judged[PAIR].astype("str").merge(one, on=PAIR, how="left", validate="many_to_one")[column]
    text = stripped(whole_ids(values))
    groups = text.where(text != "", EMPTY).to_numpy(dtype=object)
    refuse_controls(sorted(set(groups)), table, "a group")
    number = len(set(groups))
    if number > MOST_GROUPS:
        many = f"{number} values are too many; up to {MOST_GROUPS} groups are allowed"
        raise RelstudyError(f"{option('by')} {column}: {many}")
    return groups


def said_once(values: pd.Series, raters: pd.Series, column: str) -> pd.Series:
    """What a column says of each rater, by rater as text.

    Raises
    ------
    RelstudyError
        where it says several things of one
    """
    by_rater = values.groupby(raters.astype("str"))
    several = by_rater.nunique()
    if (several > 1).any():
        rater = several.index[several > 1][0]
        raise RelstudyError(
            f"{column} says {several[rater]} things of rater {rater}; people are compared by columns with one value "
            "for each"
        )
    return by_rater.first()


def _refuse_two(again: pd.DataFrame, column: str, file: str) -> None:
    """Refuse pairs that a table puts into two groups."""
    if len(again):
        pair = f"query_id {again['query_id'].iloc[0]}, result_id {again['result_id'].iloc[0]}"
        raise RelstudyError(
            f"{option('by')} {column}: {file} has two values for one pair ({pair}); a pair is in one group"
        )


def _name(pairs: Path | Checked | None) -> str:
    return pairs.file if isinstance(pairs, Checked) else str(pairs)
