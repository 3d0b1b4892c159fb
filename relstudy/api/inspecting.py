"""Inspection of a table from elsewhere, before anything is computed from it."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pandas as pd

from relstudy.analysis.inspection.files import inspect_file
from relstudy.analysis.inspection.finding import Inspection
from relstudy.analysis.inspection.tables import inspect_table
from relstudy.api.inputs import Source, path_or_frame, table_of

__all__ = ["Inspection", "inspect"]

NAME = "the DataFrame"


def inspect(source: Source) -> Inspection:
    """Inspect a file or a DataFrame: its kind, the meaning of each column and why, possible figures, and the next step.

    Parameters
    ----------
    source : a path (a table, a TREC run or qrels, codes, labels or vectors, or another tool's export), or a DataFrame

    Returns
    -------
    Inspection, which prints as `relstudy inspect` does, in a console wrapped to 80 columns

    Raises
    ------
    RelstudyError
        when the file cannot be read, or is no table that can be told columns from

    Examples
    --------
    >>> import pandas as pd
    >>> ratings = {"worker": list("aabb"), "query": list("qqqq"), "doc": list("xyxy"), "rating": [1, 5, 2, 4]}
    >>> answers = pd.DataFrame(ratings)
    >>> {each.column: each.role for each in inspect(answers).columns}["worker"]
    'rater_id'
    """
    given = path_or_frame(source, "the source")
    if not isinstance(given, pd.DataFrame):
        return inspect_file(given)
    as_text = given.astype("str").where(given.notna(), "")
    return _of_a_file_to_be(inspect_table(table_of(as_text, NAME)))


def _of_a_file_to_be(inspection: Inspection) -> Inspection:
    """The inspection of a DataFrame, which has no file that a command could be given: FILE stands for where it will be
    saved."""

    def renamed(command: str | None) -> str | None:
        return command and command.replace(shlex.quote(NAME), "FILE")

    return replace(
        inspection,
        command=renamed(inspection.command),
        draft=renamed(inspection.draft),
        readings=tuple(_of_a_file_to_be(reading) for reading in inspection.readings),
    )
