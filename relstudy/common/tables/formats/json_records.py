"""Records: one a row of a table, as JSON has them, and what tools wrap an answer in."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from relstudy.common.tables.checked_table import Checked, refuse_many_columns

ANSWERS = ("rating", "number", "choices", "text", "value", "label")
"""Keys under which Label Studio, Argilla and MTurk keep what was answered."""
FLATTENED = ".responses"
"""Ending of a question's name where Argilla flattens a record."""
YES, NO = ("true", "yes", "on", "x", "1"), ("false", "no", "off")
Record = dict[str, Any]


@dataclass(frozen=True)
class Records:
    """The records of a file.

    Parameters
    ----------
    tool : whose export they are; "" where that is not known
    rows : values by column, one record per row
    notes : on how it was read, as sentences
    """

    tool: str
    rows: list[Record]
    notes: tuple[str, ...] = ()

    def table(self, file: str) -> Checked:
        """The records as a table of text; rows are counted from 1."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        refuse_many_columns(file, len(names))
        columns = {name: [cell_text(row.get(name)) for row in self.rows] for name in names}
        table = Checked(pd.DataFrame(columns, dtype="str"), file, np.arange(1, len(self.rows) + 1))
        table.tool = self.tool
        table.notes = (*self.notes, "records of JSON are counted as rows, from 1")
        return table


def unwrapped(value: Any) -> Any:
    """The answer, out of the objects that tools wrap it in.

    Examples
    --------
    >>> unwrapped([{"rating": 4}]), unwrapped({"choices": ["good"]}), unwrapped({"1": False, "2": True})
    (4, 'good', '2')
    """
    while True:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict) and value and all(isinstance(each, bool) for each in value.values()):
            chosen = [name for name, is_chosen in value.items() if is_chosen]
            return chosen[0] if len(chosen) == 1 else chosen or None
        elif isinstance(value, dict) and (keys := [name for name in ANSWERS if name in value]):
            value = value[keys[0]]
        else:
            return value


def cell_text(value: Any) -> str:
    """A value as a table's cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def flat(record: Record, prefix: str = "") -> Record:
    """Nested objects as columns named with a point between."""
    row: Record = {}
    for name, value in record.items():
        if isinstance(value, dict) and value:
            row |= flat(value, f"{prefix}{name}.")
        else:
            row[f"{prefix}{name}"] = value
    return row


def objects(value: Any) -> list[Record]:
    """The objects of a list; nothing where it is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def chosen_label(row: Iterable[tuple[str, str]], must_say_yes: bool) -> list[str]:
    """The labels that a row chooses, where each label has a column.

    Parameters
    ----------
    row : labels with their cells
    must_say_yes : whether a cell must say yes to count; else it counts where it is filled and does not say no
    """
    texts = [(label, cell.strip().casefold()) for label, cell in row]
    if must_say_yes:
        return [label for label, cell in texts if cell in YES]
    # a cell that holds its own label says so, be that label "no"
    return [label for label, cell in texts if cell and (cell not in NO or cell == label.casefold())]
