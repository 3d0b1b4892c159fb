"""Cells that hold lists, as tools that log models and searches write them: turns of a conversation, hits of a query."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from relstudy.common.runtime.wording import listed
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.results_columns import a_row_a_side, known_columns, plain_column

TURNS = "turns"
QUERY, ANSWER, RANK = "query", "answer", "rank"


def without_lists(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with texts for what such cells hold, and a row a hit where a row held the hits of a query, or an answer
    where it held those of several systems.

    Quoted texts and lists of them become texts; messages a query and, unless there is one, an answer; `choices` an
    answer; a list of records a row each, unless the table has answers. Every other cell stays as it is.

    Examples
    --------
    >>> without_lists(pd.DataFrame({"q": ["a"], "hits": ['[{"id": 7, "title": "x"}, {"id": 8, "title": "y"}]']}))
       q  id title  rank
    0  a   7     x     1
    1  a   8     y     2
    """
    frame = frame.copy()
    for name in list(frame):
        values = read_cells(frame[name])
        if values is None:
            continue
        known, plain = known_columns(list(frame)), plain_column(name)
        is_text = name in (known.get("query"), known.get("answer")) or plain == TURNS
        if all(isinstance(value, str) for value in values):
            frame[name] = values
        elif is_text and all(_is_texts(value) for value in values):
            frame[name] = [_joined(value) for value in values]
            if plain == TURNS and "query" not in known:
                frame = frame.rename(columns={name: QUERY})
        elif any(_is_records(value, "role", "content") for value in values):
            if not all(_is_records(value, "role", "content") for value in values):
                continue  # a conversation is missing; its turns are no hits of a query
            asked = [[each for each in value if each["role"] == "user"] for value in values]
            frame = frame.drop(columns=name)
            if "query" not in known and all(asked):
                frame[QUERY] = [_joined(each[-1]["content"]) for each in asked]
            if "answer" not in known and all(value[-1]["role"] == "assistant" for value in values):
                frame[ANSWER] = [_joined(value[-1]["content"]) for value in values]
        elif plain.endswith("choices") and all(_is_records(value) for value in values):
            frame = frame.drop(columns=name).assign(**{ANSWER: [_chosen(value[0]) for value in values]})
        elif not {"answer", "text"} & known.keys() and any(map(_is_records, values)):
            frame = _a_row_each(frame.drop(columns=name), values)
    return a_row_a_side(frame)


def a_row_an_entry(table: Checked, names: Sequence[str]) -> Checked:
    """A row for each entry of the lists in these columns, whose first entries belong together, and so on; the table
    itself where they do not all hold lists of single values.

    Raises
    ------
    TableError
        naming each row whose lists are not equally long

    Examples
    --------
    >>> rated = pd.DataFrame({"doc": ["d1"], "by": ["['ann', 'bob']"], "grades": ["[2, 0]"]})
    >>> a_row_an_entry(Checked(rated, "a.csv"), ["by", "grades"]).frame.to_numpy().tolist()
    [['d1', 'ann', '2'], ['d1', 'bob', '0']]
    """
    lists = [read_cells(table.frame[name]) for name in names]
    if any(each is None or not all(map(_is_plain, each)) for each in lists):
        return table
    lengths = np.array([[len(value) for value in each or []] for each in lists])
    table = table.without_faults()
    table.add((lengths != lengths[0]).any(axis=0), names[-1], f"a list as long as that of {names[0]} is needed")
    table.raise_faults()
    of_row = np.repeat(np.arange(len(table.frame)), lengths[0])
    entries = {
        name: ["" if entry is None else str(entry) for value in each or [] for entry in value]
        for name, each in zip(names, lists, strict=True)
    }
    frame = table.frame.iloc[of_row].reset_index(drop=True).assign(**entries)
    found = table.among(frame, table.rows[of_row])
    found.notes = (*table.notes, f"{listed(list(names))} hold lists: each entry is a row")
    return found


def _is_plain(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(entry, list | dict) for entry in value)


def read_cells(column: pd.Series) -> list[Any] | None:
    """What the cells of a column hold, as JSON or Python write it; None unless each holds a list, a quoted text, or
    nothing."""
    values: list[Any] = []
    for cell in column:
        value = cell
        if isinstance(cell, str) and cell.strip()[:1] in ("[", '"') and len(cell.strip()) > 1:
            value = None
            for read in (json.loads, ast.literal_eval):
                with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                    value = read(cell.strip())
                    break
        elif isinstance(cell, list | tuple | np.ndarray):
            value = list(cell)
        elif cell is None or cell == "" or (isinstance(cell, float) and np.isnan(cell)):
            value = []
        else:
            return None
        if not isinstance(value, list | str):
            return None
        values.append(value)
    is_text = [isinstance(value, str) for value in values if value != []]
    if not is_text or any(is_text) != all(is_text):
        return None
    return ["" if value == [] else value for value in values] if is_text[0] else values


def _is_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(map(_is_texts, value)))


def _joined(value: Any) -> str:
    """Texts, one paragraph each; of a message's parts, those that are text."""
    if isinstance(value, dict):
        return str(value.get("text") or "")
    return "\n\n".join(filter(None, map(_joined, value))) if isinstance(value, list) else str(value or "")


def _is_records(value: Any, *keys: str) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(e, dict) and e.keys() >= {*keys} for e in value)


def _chosen(choice: dict[str, Any]) -> str:
    message = choice.get("message")
    return _joined(message.get("content") if isinstance(message, dict) else choice.get(TURNS) or choice.get("text"))


def _a_row_each(frame: pd.DataFrame, values: Sequence[Any]) -> pd.DataFrame:
    """A row for each record, with what else its row held; a row without records is left out."""
    kept = [index for index, value in enumerate(values) if _is_records(value)]
    rows = [_fields(each) for index in kept for each in values[index]]
    records = pd.json_normalize(rows)
    above = frame.iloc[[index for index in kept for _ in values[index]]].reset_index(drop=True)
    found = pd.concat([above.drop(columns=[name for name in above if name in records]), records], axis=1)
    if "rank" not in known_columns(list(found)):
        found[RANK] = [place for index in kept for place in range(1, len(values[index]) + 1)]
    return found


def _fields(hit: dict[str, Any]) -> dict[str, Any]:
    """A record's fields; those of a search engine's hit lie below its _source."""
    own = {name: value for name, value in hit.items() if name not in ("_source", "_id")}
    below = hit.get("_source")
    return own | ({"id": hit["_id"]} if "_id" in hit else {}) | (below if isinstance(below, dict) else {})
