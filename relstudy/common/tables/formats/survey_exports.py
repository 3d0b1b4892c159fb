"""Rows of a table that count: those a person chooses, without what a survey tool marks as trials or unfinished."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.checked_table import Checked, stripped

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Condition:
    """Condition on a row's cell in a column.

    Parameters
    ----------
    column : the table's own name of it
    sign : one of `OPERATORS`; the first two compare texts (numbers as numbers), the others numbers
    value : what the cell is held against

    Examples
    --------
    >>> [str(each) for each in conditions('Finished==1 and "Group name" != pilot')]
    ['Finished==1', 'Group name!=pilot']
    """

    column: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{self.column}{self.sign}{self.value}"

    def rows(self, table: Checked) -> np.ndarray:
        """Rows that fit, bool [rows]."""
        texts = stripped(table.frame[self.column]).str.casefold()
        numbers = pd.to_numeric(texts, errors="coerce")
        number = pd.to_numeric(self.value, errors="coerce")
        compare = OPERATORS[self.sign]
        if self.sign in ("==", "!="):
            same = (texts == self.value.casefold()) | (numbers == number)
            return (same if self.sign == "==" else ~same).to_numpy(dtype=bool)
        if pd.isna(number):
            raise RelstudyError(f"{option('where')}: {self} compares numbers, and {self.value!r} is none")
        fits: np.ndarray = compare(numbers.to_numpy(dtype=float), float(number))
        return fits


def conditions(text: str | None) -> tuple[Condition, ...]:
    """The conditions that `--where` states, joined by `and`; none where it is not given.

    Raises
    ------
    RelstudyError
        for a text that is not understood
    """
    found = []
    for part in re.split(r"\s+(?:and|AND)\s+", text) if text else []:
        match = re.fullmatch(r"\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.*?)\s*", part)
        if match is None:
            raise RelstudyError(f"{option('where')}: {part!r} is not understood; Finished==1 would be right")
        column, value = (re.sub(r"^(['\"])(.*)\1$", r"\2", each) for each in (match[1], match[3]))
        found.append(Condition(column, match[2], value))
    return tuple(found)


def chosen(table: Checked, stated: Sequence[Condition]) -> Checked:
    """The rows that fit all conditions; a note counts them.

    Raises
    ------
    RelstudyError
        where no row is left
    """
    if not stated:
        return table
    fits = np.logical_and.reduce([condition.rows(table) for condition in stated])
    said = " and ".join(map(str, stated))
    if not fits.any():
        raise RelstudyError(f"{table.file}: no row is left where {said}")
    fewer = table.where(fits)
    fewer.notes = (*table.notes, f"{int(fits.sum()):,} of {count_of(len(fits), 'row')} taken, where {said}")
    return fewer


TRIALS = ("1", "2", "9", "17")
"""Status of survey previews and tests, in a Qualtrics export of numbers."""


def _is_trial(texts: pd.Series) -> pd.Series:
    return texts.str.contains("preview|test|pretest|debug|admin") | texts.isin(TRIALS)


def _is_unfinished(texts: pd.Series) -> pd.Series:
    return texts.isin(["false", "0", "no"])


def _is_true(texts: pd.Series) -> pd.Series:
    return texts.isin(["true", "1", "yes"])


def _is_empty(texts: pd.Series) -> pd.Series:
    return texts == ""


MARKS: tuple[tuple[frozenset[str], str, Callable[[pd.Series], pd.Series], str], ...] = (
    (frozenset({"responseid", "finished"}), "status", _is_trial, "by way of trial"),
    (frozenset({"responseid", "finished"}), "distributionchannel", _is_trial, "by way of trial"),
    (frozenset({"responseid", "finished"}), "finished", _is_unfinished, "not finished"),
    (frozenset({"submitdate", "lastpage"}), "submitdate", _is_empty, "not finished"),
    (frozenset({"date submitted", "last page"}), "date submitted", _is_empty, "not finished"),
    (frozenset({"case", "questnnr", "mode"}), "mode", _is_trial, "by way of trial"),
    (frozenset({"case", "questnnr", "mode"}), "finished", _is_unfinished, "not finished"),
    (frozenset({"_worker_id", "_unit_id"}), "_golden", _is_true, "to test questions"),
    (frozenset({"_worker_id", "_unit_id"}), "_tainted", _is_true, "thrown out by the vendor"),
)
"""Columns by which an export is known (Qualtrics, LimeSurvey, SoSci Survey, Appen), and one that marks a row."""


def answered(table: Checked, keep: Collection[str] = ()) -> Checked:
    """The table without rows that its survey tool marks as trials or unfinished; its notes count them.

    Parameters
    ----------
    table : as it stands in the file
    keep : columns that somebody chose rows by, and by which none is left out here

    Examples
    --------
    >>> frame = pd.DataFrame({"ResponseId": ["a", "b"], "Finished": ["1", "0"], "Q1_1": ["3", "2"]})
    >>> read = answered(Checked(frame, "survey.csv"))
    >>> len(read.frame), read.notes
    (1, ('1 response not finished (Finished) left out; --where "Finished==0" takes such alone',))
    """
    plain = {str(name).casefold().strip(): str(name) for name in table.frame}
    left = np.zeros(len(table.frame), dtype=bool)
    notes = []
    for known_by, mark, is_none, what in MARKS:
        if not known_by <= set(plain) or mark not in plain or plain[mark] in keep:
            continue
        column = table.frame[plain[mark]]
        marked = is_none(stripped(column).str.casefold()).to_numpy(dtype=bool) & ~left
        if marked.any():
            left |= marked
            example = str(column[marked].iloc[0])
            way = table.words.where(f"{plain[mark]}=={example}")
            number = count_of(int(marked.sum()), "response")
            notes.append(f"{number} {what} ({plain[mark]}) left out; {way} takes such alone")
    if not notes:
        return table
    if left.all():
        raise RelstudyError(f"{table.file}: every response is marked as no answer ({'; '.join(notes)})")
    fewer = table.where(~left)
    fewer.notes = (*table.notes, *notes)
    return fewer
