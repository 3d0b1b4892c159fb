"""Rows of a table that count: those a person chooses, without what a tool marks as trials or unfinished."""

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
from relstudy.common.tables.formats.survey_and_annotation_tools import tool_of

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
    tool = tool_of(plain)
    for mark in tool.marks if tool else ():
        if mark.column not in plain or plain[mark.column] in keep:
            continue
        name = plain[mark.column]
        column = table.frame[name]
        marked = mark.is_none(stripped(column).str.casefold()).to_numpy(dtype=bool) & ~left
        if marked.any():
            left |= marked
            example = str(column[marked].iloc[0])
            way = table.words.where(f"{name}=={example}")
            number = count_of(int(marked.sum()), "response")
            notes.append(f"{number} {mark.what} ({name}) left out; {way} takes such alone")
    if not notes:
        return table
    if left.all():
        raise RelstudyError(f"{table.file}: every response is marked as no answer ({'; '.join(notes)})")
    fewer = table.where(~left)
    fewer.notes = (*table.notes, *notes)
    return fewer
