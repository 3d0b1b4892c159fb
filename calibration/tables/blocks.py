"""The blocks of a ratings table: the base block, marked or rated by everyone, and what is set aside."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.calibration.tables.excluded_raters import NO, YES
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import OTHER

BLOCKS = ("base", "unique")
ASIDE = ("check", "repeat", "practice")
"""Blocks of the app's export that are no ratings to calibrate: attention checks, repeated pairs, practice."""
TRUE, FALSE = (*YES, "base"), (*NO, "unique")
LEAST_UNDECLARED = 10
"""So many pairs that all raters rated are a base block though nobody declared one; fewer may be an accident."""


def rows_aside(table: Checked) -> np.ndarray:
    """Rows of checks, repeated pairs and practice, bool [rows]."""
    if "block" not in table.frame:
        return np.zeros(len(table.frame), dtype=bool)
    return stripped(table.frame["block"]).isin(ASIDE).to_numpy(dtype=bool)


def is_couple(table: Checked) -> np.ndarray:
    """Rows that say which of two results is better (column other_id), bool [rows]."""
    if OTHER not in table.frame:
        return np.zeros(len(table.frame), dtype=bool)
    return (stripped(table.frame[OTHER]) != "").to_numpy(dtype=bool)


def without_couples(table: Checked) -> Checked:
    """The table without couples, which are no ratings of one pair, and a note of their number.

    Raises
    ------
    RelstudyError
        if there is nothing else
    """
    couples = is_couple(table)
    if not couples.any():
        return table
    if couples.all():
        raise RelstudyError(
            f"{table.file}: every row says which of two results is better (column other_id); "
            "relstudy calibrate preferences takes these"
        )
    rest = table.where(~couples)
    said = f"{count_of(int(couples.sum()), 'row')} on which of two results is better left out; "
    rest.notes = (*table.notes, said + "relstudy calibrate preferences takes these")
    return rest


def marked_base(table: Checked, base_column: str | None) -> tuple[np.ndarray, str] | None:
    """Rows that the table marks as base, and the rule in words; None when it marks none."""
    if "block" in table.frame:
        block = stripped(table.frame["block"])
        table.add(~block.isin([*BLOCKS, *ASIDE, ""]), "block", "base or unique is allowed (or check, repeat, practice)")
        base = (block == "base").to_numpy()
        if base.any():
            return base, "column block"
    if base_column is None:
        return None
    table.require(base_column)
    values = stripped(table.frame[base_column]).str.lower()
    table.add(~values.isin([*TRUE, *FALSE]), base_column, "true or false (1 or 0, yes or no) is allowed")
    base = values.isin(TRUE).to_numpy()
    if not base.any():
        table.fault(base_column, "no row is true, so this column marks no base block")
    return base, f"column {base_column}"


def check_base_is_of_pairs(table: Checked, frame: pd.DataFrame) -> None:
    """Note as faults the rows whose pair an earlier row marks the other way."""
    first = frame.groupby(PAIR, sort=False)["base"].transform("first")
    differing = frame.loc[first != frame["base"], [*PAIR, "base"]]
    table.more += max(len(differing) - TableError.SHOWN, 0)
    for row, query, result, base in differing.head(TableError.SHOWN).itertuples():
        allowed = (
            f"query_id {query}, result_id {result} is marked the other way in an earlier row; a pair is in the base "
            "block for everyone or for no one"
        )
        table.faults.append(Fault(table.file, table.row(row), None, "base" if base else "not base", allowed))


def rated_by_all(frame: pd.DataFrame) -> tuple[np.ndarray, str | None, str | None]:
    """The pairs that every rater rated, as a base block that nobody declared; the rule, and a note on it.

    A handful of such pairs may be an accident; where not all pairs are such, ten are needed.
    """
    raters = frame["rater_id"].nunique()
    counts = frame.groupby(PAIR, sort=False)["rating"].transform("size")
    base = (counts == raters).to_numpy()
    if not base.any():
        return base, None, None
    pairs = int(base.sum() / raters)
    named = f"the {count_of(pairs, 'pair')} that every rater rated"
    if pairs >= LEAST_UNDECLARED or base.all():
        return base, named, None
    note = (
        f"{named} {'are' if pairs > 1 else 'is'} too few for a base block: it needs {LEAST_UNDECLARED} pairs. To "
        f"use fewer, mark their rows with base in a column block, or name the column with {option('base_column')}"
    )
    return np.zeros(len(frame), dtype=bool), None, note
