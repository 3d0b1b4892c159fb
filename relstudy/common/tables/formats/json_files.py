"""Tables in JSON or JSON lines: one record per row, an export of another tool, or numbers by query and result."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

from relstudy.common.runtime.compression import read_bytes
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import decoded
from relstudy.common.tables.column_names import plain_name
from relstudy.common.tables.formats.annotation_exports import exported
from relstudy.common.tables.formats.json_records import Record, Records, flat

RATED = {"rating", "grade", "relevance", "label", "judgment", "score"}
OWN = {"raterid", "queryid", "resultid", "rating", "judgment", "score"}
"""Plain names of columns by one of which a table is known."""


def read_records(path: str | os.PathLike[str]) -> Records:
    """The records of a JSON or JSON lines file, as the tool that wrote it means them.

    Raises
    ------
    RelstudyError
        when the file cannot be read or is no JSON, has a name twice in one object, or holds no records
    """
    file = os.fspath(path)
    content = _content(file)
    records = _records(content)
    if not any(records.rows):
        raise RelstudyError(f"{file}: there are no records in this JSON; a list of objects, or one a line, is needed")
    return records


def _content(file: str) -> Any:
    text = decoded(read_bytes(file), file, "file")

    def once(pairs: list[tuple[str, Any]]) -> Record:
        record = dict(pairs)
        if len(record) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise RelstudyError(f"{file}: {twice!r} appears twice in one object, and only one of them would be read")
        return record

    try:
        return json.loads(text, object_pairs_hook=once)
    except NO_JSON as whole:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(lines) < 2 or not lines[0][1].lstrip().startswith("{"):
            raise RelstudyError(f"{file}: this is not JSON ({whole})") from None
    records = []
    for number, line in lines:
        try:
            records.append(json.loads(line, object_pairs_hook=once))
        except NO_JSON as error:
            raise RelstudyError(f"{file}, line {number}: this is not JSON ({error})") from None
    return records


def _records(content: Any) -> Records:
    """Records by the form of what the file holds."""
    if isinstance(content, dict):
        return (
            exported(content)
            or _split(content)
            or _by_column(content)
            or _by_query(content)
            or _below(content)
            or Records("", [flat(content)])
        )
    rows = [record for record in content if isinstance(record, dict)] if isinstance(content, list) else []
    if not rows or len(rows) < len(content):
        return Records("", [])
    return exported(rows) or _rated_in_lists(rows) or Records("", [flat(row) for row in rows])


def _rated_in_lists(rows: list[Record]) -> Records | None:
    """A row for each entry of the one list that each record holds, where entries are ids with a grade; None for
    anything else."""
    lists = [name for name, value in rows[0].items() if isinstance(value, list)]
    if len(lists) != 1 or not all(isinstance(row.get(lists[0]), list) for row in rows):
        return None
    entries = [(row, entry) for row in rows for entry in row[lists[0]]]
    if not entries or not all(isinstance(entry, dict) and _is_rated(entry) for _, entry in entries):
        return None
    found = [
        flat({**{name: value for name, value in row.items() if name != lists[0]}, **entry}) for row, entry in entries
    ]
    return Records("", found, (f"a row for each entry of {lists[0]}",))


def _is_rated(entry: Record) -> bool:
    """True for an entry of an id, or an address, and a grade, without more."""
    grades = [value for name, value in entry.items() if plain_name(name) in RATED]
    return len(entry) == 2 and len(grades) == 1 and isinstance(grades[0], int | float | str)


WRAPPERS = ("data", "records", "rows", "items", "results")
"""Names under which web services answer with records of any kind."""


def _below(content: Record) -> Records | None:
    """The records of the one list that an object holds under a name for any; None for anything else."""
    name, below = next(iter(content.items()), ("", None))
    if len(content) != 1 or name not in WRAPPERS or not isinstance(below, list) or len(below) < 2:
        return None
    return _records(below) if all(isinstance(each, dict) for each in below) else None


def _split(content: Record) -> Records | None:
    """Rows below the names of their columns, as pandas' orient "split" and trackers of experiments write them; None for
    anything else."""
    names, rows = content.get("columns"), content.get("data")
    if not (
        isinstance(names, list) and isinstance(rows, list) and rows and all(isinstance(each, str) for each in names)
    ):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return Records("", [flat(dict(zip(names, row, strict=True))) for row in rows])


def _by_column(content: Record) -> Records | None:
    """Rows of a table that was written column by column, as pandas does by default; None for anything else."""
    columns = [values for values in content.values() if isinstance(values, dict)]
    if len(columns) < len(content) or not OWN & {plain_name(name) for name in content}:
        return None
    rows = list(columns[0])
    if any(list(values) != rows for values in columns):
        return None
    records = [{name: values[row] for name, values in content.items()} for row in rows]
    return Records("", records, ("a value by row under each column's name, as pandas writes it",))


def _by_query(content: Record) -> Records | None:
    """Grades, or scores, by query and then by result, as evaluation libraries keep them; None for anything else."""
    by_query = {query: values for query, values in content.items() if isinstance(values, dict)}
    numbers = [number for values in by_query.values() for number in values.values()]
    if len(by_query) < len(content) or not numbers or not all(type(number) in (int, float) for number in numbers):
        return None
    name = "rating" if all(number.is_integer() for number in numbers if isinstance(number, float)) else "score"
    pairs = [(query, result, number) for query, values in by_query.items() for result, number in values.items()]
    rows = [{"query_id": query, "result_id": result, name: number} for query, result, number in pairs]
    return Records("", rows, (f"queries, of results with a number each: taken for a {name}",))
