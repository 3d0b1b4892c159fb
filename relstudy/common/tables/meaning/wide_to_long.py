"""One rating a row, from tables that have a column for each rater, each item, or each answer that could be chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.json_records import NO, YES, chosen_label

WORDING = "wording"


def items_of(source: str | os.PathLike[str] | pd.DataFrame | None) -> dict[str, tuple[str, str]] | None:
    """The query and the result of each column, from a table of them; none where no table is given, and None for
    "wording", which takes them from what the survey asked.

    Raises
    ------
    RelstudyError
        where the table lacks a column, or has one column of the survey twice
    """
    if source is None:
        return {}
    if isinstance(source, str) and source == WORDING:
        return None
    from relstudy.common.tables.formats.table_files import read_table

    table = Checked(source, "the items") if isinstance(source, pd.DataFrame) else read_table(source)
    table.require("column", "result_id")
    frame = table.frame
    results = table.texts("result_id")
    queries = table.texts("query_id") if "query_id" in frame else results
    columns = table.texts("column")
    table.add(columns.duplicated(), "column", "this column is in an earlier row; each may appear once")
    table.raise_faults()
    return {name: (query, result) for name, query, result in zip(columns, queries, results, strict=True)}


def items_in_wording(table: Checked) -> dict[str, tuple[str, str]]:
    """The query and the result of each column whose wording holds both, with a bar, slash or arrow between.

    The wording stands below the header (Qualtrics), or in a column's name, in its brackets where it has some
    (LimeSurvey, Google Forms). In "How well does it match? - red lamp | d1", what stands after the last " - " counts.

    Raises
    ------
    RelstudyError
        where no column's wording holds a query and a result

    Examples
    --------
    >>> table = Checked(pd.DataFrame(columns=["id", "How good? [red lamp | d1]"]), "survey.csv")
    >>> items_in_wording(table)
    {'How good? [red lamp | d1]': ('red lamp', 'd1')}
    >>> items_in_wording(Checked(pd.DataFrame(columns=["min / s", "red lamp | d1"]), "survey.csv"))
    {'red lamp | d1': ('red lamp', 'd1')}
    """
    items = {}
    for name in map(str, table.frame):
        brackets = re.search(r"\[(.+)\]", name)
        # a name alone may have a slash for other reasons, as "Duration (min / s)"
        text = table.wording.get(name) or (brackets[1] if brackets else name.replace(" / ", "/"))
        parts = re.split(r"\s+(?:\||/|->|→|::)\s+", text.rsplit(" - ")[-1])
        if len(parts) == 2 and all(parts):
            items[name] = (parts[0].strip(), parts[1].strip())
    if not items:
        raise RelstudyError(
            f"{table.file}: no column's wording holds a query and a result with a bar between, as 'red lamp | d1'; "
            f"{option('items', 'FILE')} says what each column asked about"
        )
    return items


def long_rows(
    table: Checked,
    frame: pd.DataFrame,
    columns: Sequence[str],
    labels: Mapping[str, str],
    items: Mapping[str, tuple[str, str]] | None = None,
) -> Checked:
    """One row per rating, where each rater (or, with a rater_id, each item) has a column.

    Parameters
    ----------
    items : the query and the result of each column; None takes its name for both
    """
    by_item = "rater_id" in frame
    count = len(columns)
    long = frame.loc[np.repeat(frame.index, count)].reset_index(drop=True)
    names = np.tile(np.asarray(columns, dtype=object), len(frame))
    if items:
        pairs = [items[name] for name in columns]
        long["query_id"] = np.tile(np.asarray([query for query, _ in pairs], dtype=object), len(frame))
        long["result_id"] = np.tile(np.asarray([result for _, result in pairs], dtype=object), len(frame))
    for name in ("result_id", "query_id") if by_item else ("rater_id",):
        if name not in long:
            long[name] = names
    long["rating"] = table.frame[list(columns)].to_numpy(dtype=object).ravel()
    if not by_item and not {"query_id", "result_id"} & set(long):
        long["result_id"] = np.repeat([str(number) for number in range(1, len(frame) + 1)], count)
        table.notes = (*table.notes, "no column names a row's item, so each row is one, called by its number from 1")
    if not by_item:
        long = with_item(long)
    return table.among(long, np.repeat(table.rows, count), labels)


def chosen_answers(table: Checked, frame: pd.DataFrame, columns: Sequence[str], labels: Mapping[str, str]) -> Checked:
    """One rating per row, where each answer has a column that says whether it was chosen.

    The answer is what the columns' names do not share at their beginning: Answer.grade.1, Answer.grade.2 are 1 and 2.
    """
    stems = {re.split(r"[^.:]*$", name)[0] for name in columns}
    names = [name.removeprefix(stem) for stem in stems for name in columns] if len(stems) == 1 else list(columns)
    cells = table.frame[list(columns)].astype("str").to_numpy(dtype=object)
    filled = np.array([[cell.strip() != "" for cell in row] for row in cells])
    several_filled = bool((filled.sum(axis=1) > 1).any())
    # a cell may hold its own label, and then it says so by being filled
    labelled = {cell.strip().casefold() for cell in cells[filled]} <= {*YES, *NO, "0"}
    chosen = [chosen_label(zip(names, row, strict=True), several_filled and labelled) for row in cells]
    read = table.among(with_item(frame.assign(rating=[" and ".join(each) for each in chosen])), table.rows, labels)
    read.add(np.array([len(each) > 1 for each in chosen]), "rating", "one answer a row is allowed")
    return read


def with_item(frame: pd.DataFrame) -> pd.DataFrame:
    """An item that stands alone is its own query."""
    for one, other in (("query_id", "result_id"), ("result_id", "query_id")):
        if one in frame and other not in frame:
            frame[other] = frame[one]
    return frame
