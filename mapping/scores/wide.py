"""Wide score tables: query_id and result_id, then a column of scores for each system."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from relstudy.calibration.tables import judgments, ratings
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import plain_name
from relstudy.common.tables.meaning import pairs_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

OWN = {
    plain_name(name)
    for name in (*ratings.NAMES, *judgments.NAMES, *pairs_table.COLUMNS, "calibrated", "weight", "system")
}
"""Plain names of the columns of relstudy's other tables, which a join may have brought in."""
ROW_NUMBERS = re.compile(r"(column1)?|unnamed:\d+|index|level\d+")
"""Plain names of the columns in which pandas and R write row numbers, and of a first column without a name."""


def is_no_system(name: object) -> bool:
    """True where a numeric column of a wide table is known to be no system's scores.

    Examples
    --------
    >>> [is_no_system(name) for name in ("rank", "Unnamed: 0", "column 1", "bm25")]
    [True, True, True, False]
    """
    plain = plain_name(name)
    return plain in OWN or ROW_NUMBERS.fullmatch(plain) is not None


def read_wide(table: Checked, takes: Callable[[str], bool], named: bool, notes: list[str]) -> pd.DataFrame:
    """One row a score, with the score's row in the file as `row`.

    Parameters
    ----------
    takes : whether a system of this name is to be read
    named : whether the systems to read were named; else columns that are no system's are left out
    notes : what a person should know is added

    Raises
    ------
    TableError
        naming the row of every score that is not a finite number
    RelstudyError
        where no column holds a system's scores, or where one does beside a column `system`, so that the table may be
        long with its scores under another name
    """
    pairs = pd.DataFrame({column: table.texts(column) for column in PAIR})
    pairs["row"] = table.rows
    words: list[str] = []
    no_systems: list[str] = []
    empty: list[str] = []
    parts: list[pd.DataFrame] = []
    for column in table.frame.columns:
        name = str(column)
        if column in PAIR or not takes(name):
            continue
        if not named and is_no_system(name):
            no_systems.append(name)
            continue
        if not named and not _mostly_numbers(table.frame[column]):
            words.append(name)
            continue
        values = read_numbers(table, column, empty=True)
        given = ~np.isnan(values)
        if not given.all():
            empty.append(f"{name} ({int((~given).sum())})")
        parts.append(pairs[given].assign(system=name, score=values[given]))
    table.raise_faults()
    left = [f"columns left out because they do not hold numbers: {', '.join(words)}"] if words else []
    if no_systems:
        left.append(f"columns left out because they are no system's scores by their names: {', '.join(no_systems)}")
    notes += [f"{table.file}: {each}" for each in left]
    if empty:
        notes.append(f"{table.file}: empty cells are taken as results not returned: {', '.join(empty)}")
    if not parts:
        why = f" ({'; '.join(left)})" if left else ""
        raise RelstudyError(
            f"{table.file}: no column holds a system's scores; a numeric column per system is needed{why}"
        )
    if len(parts) == 1 and "system" in table.frame and not named and takes("system"):
        name = parts[0]["system"].iloc[0]
        raise RelstudyError(
            f"{table.file}: there is a column system and none called score; {name} must be called score if it holds "
            "the scores of several systems, and the column system left out if not"
        )
    return pd.concat(parts, ignore_index=True)


def _mostly_numbers(values: pd.Series) -> bool:
    """True where at least half of the filled cells are numbers, so that the others are faults and not another thing."""
    if values.dtype.kind in "fiu":
        return True
    filled = values.astype("str").str.strip()
    filled = filled[filled != ""]
    return len(filled) > 0 and pd.to_numeric(filled, errors="coerce").notna().mean() >= 0.5


def read_numbers(table: Checked, column: str, *, empty: bool) -> np.ndarray:
    """A column of finite numbers; the others are faults of the table."""
    values = table.numbers(column, empty=empty)
    if table.frame[column].dtype.kind == "f":
        table.add(np.isinf(values), column, "a finite number is allowed")
    return values
