"""Tables of other libraries: a DataFrame of any of them, their names of columns, and their nested dicts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, TypeGuard

import pandas as pd

from relstudy.common.options.argument_checks import shown
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import plain_name


class ArrowFrame(Protocol):
    """A table of any library that speaks Arrow: polars, pyarrow, DuckDB, Modin and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as Arrow has it."""


class LazyFrame(Protocol):
    """A table that is computed when it is asked for, as polars has it."""

    def collect(self) -> Any:
        """The table."""


Source = str | os.PathLike[str] | pd.DataFrame | ArrowFrame | LazyFrame
IDS = ("query_id", "result_id")
Nested = Mapping[str, Mapping[str, float]]
"""A number by query and result, as ranx, pytrec_eval and ir_measures have qrels and runs."""


@dataclass(frozen=True)
class Library:
    """The columns of a library's qrels and runs.

    Parameters
    ----------
    name : of the library
    ids : its columns of query and result
    grade : its column of what a result is worth
    """

    name: str
    ids: tuple[str, str]
    grade: str


LIBRARIES = (
    Library("PyTerrier", ("qid", "docno"), "label"),
    Library("ir_measures", ("query_id", "doc_id"), "relevance"),
    Library("ranx", ("q_id", "doc_id"), "score"),
)
SCORE = "score"
TASKS = {"task": "result_id", "worker": "rater_id", "label": "rating"}
"""crowd-kit's columns, of which a task is a query of its own."""


def path_or_frame(source: Any, name: str) -> str | os.PathLike[str] | pd.DataFrame:
    """The path itself, or the table as a pandas DataFrame, of whichever library it is; refused where it is neither."""
    if isinstance(source, str | os.PathLike | pd.DataFrame):
        return source
    records = frame_of_records(source)
    converted = _in_pandas(source) if records is None else records
    if converted is not None:
        return converted
    way_out = "; its method to_pandas() gives one" if hasattr(source, "to_pandas") else ""
    raise RelstudyError(f"{name}: a path or a pandas DataFrame is needed, not {shown(source)}{way_out}")


def _in_pandas(source: Any) -> pd.DataFrame | None:
    """A table of another library as a pandas DataFrame, a lazy one computed; None where it is none."""
    import narwhals as nw
    import pyarrow as pa

    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return frame.to_pandas()
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return pa.table(source).to_pandas()
        except pa.ArrowInvalid:  # a single column and no table
            return None
    if hasattr(source, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return from_dataframe(source).to_pandas()
    return None


def qrels_of_library(table: Checked) -> Checked | None:
    """A library's qrels under relstudy's names, with a note; None where the table is none.

    Examples
    --------
    >>> table = Checked(pd.DataFrame({"qid": ["q"], "docno": ["d"], "label": [1]}), "t.csv")
    >>> qrels = qrels_of_library(table)
    >>> list(qrels.frame), qrels.notes
    (['query_id', 'result_id', 'judgment'], ('read as qrels of PyTerrier: qid, docno, label',))
    """
    for library in LIBRARIES:
        names = dict(zip((*library.ids, library.grade), (*IDS, "judgment"), strict=True))
        if _fits(table, names) and not {"rating", "rater_id"} & {*map(str, table.frame)}:
            return _renamed(table, names, f"read as qrels of {library.name}: {', '.join(names)}")
    return None


def run_of_library(table: Checked) -> Checked | None:
    """A library's run as query_id, result_id and score, with a note on what was left out; None where the table is none.

    Examples
    --------
    >>> frame = pd.DataFrame({"qid": ["q"], "docno": ["d"], "rank": [0], "score": [1.5]})
    >>> run = run_of_library(Checked(frame, "t.csv"))
    >>> list(run.frame), run.notes
    (['query_id', 'result_id', 'score'], ('read as a run of PyTerrier: qid, docno, score; rank left out',))
    """
    if "system" in table.frame:
        return None
    for library in LIBRARIES:
        names = dict(zip((*library.ids, SCORE), (*IDS, SCORE), strict=True))
        if _fits(table, names):
            left = [str(name) for name in table.frame if name not in names]
            unused = f"; {', '.join(left)} left out" if left else ""
            run = _renamed(table, names, f"read as a run of {library.name}: {', '.join(names)}{unused}")
            return run.among(run.frame[[*IDS, SCORE]], run.rows)
    return None


def tasks_of_library(table: Checked) -> Checked:
    """crowd-kit's answers under relstudy's names, with a note; the table itself where it is none of them.

    Examples
    --------
    >>> table = Checked(pd.DataFrame({"task": ["t"], "worker": ["w"], "label": [1]}), "t.csv")
    >>> list(tasks_of_library(table).frame)
    ['result_id', 'rater_id', 'rating', 'query_id']
    """
    if not _fits(table, TASKS) or "query_id" in table.frame:
        return table
    said = f"read as answers of crowd-kit: {', '.join(TASKS)}; each task is its own query"
    read = _renamed(table, TASKS, said)
    read.frame["query_id"] = read.frame["result_id"]
    read.labels["query_id"] = "task"
    return read


def _fits(table: Checked, names: Mapping[str, str]) -> bool:
    """True where a table has all of a library's columns, and none of relstudy's that they would be taken for."""
    have = {*map(str, table.frame)}
    ours = {plain_name(ours) for theirs, ours in names.items() if theirs != ours}
    return set(names) <= have and not ours & {plain_name(name) for name in have - set(names)}


def _renamed(table: Checked, names: Mapping[str, str], note: str) -> Checked:
    read = table.among(
        table.frame.rename(columns=dict(names)),
        table.rows,
        {**table.labels, **{ours: theirs for theirs, ours in names.items()}},
    )
    read.notes = (*table.notes, note)
    return read


def frame_of_records(source: Any) -> pd.DataFrame | None:
    """A list or tuple of records with named fields, such as ir_measures' Qrel and ScoredDoc, as a table; None where it
    is none.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Qrel = namedtuple("Qrel", ("query_id", "doc_id", "relevance"))
    >>> list(frame_of_records([Qrel("q", "d", 1)])), frame_of_records([1])
    (['query_id', 'doc_id', 'relevance'], None)
    """
    if not isinstance(source, list | tuple) or hasattr(source, "_fields") or not source:
        return None
    fields = getattr(source[0], "_fields", None)
    if fields is None or any(getattr(each, "_fields", None) != fields for each in source):
        return None
    return pd.DataFrame(source, columns=list(fields))


def is_nested(source: Any) -> TypeGuard[Nested]:
    """True for a number by query and result.

    Examples
    --------
    >>> is_nested({"q": {"d": 1}}), is_nested({"mine": {"q": {"d": 1}}}), is_nested({})
    (True, False, False)
    """
    return (
        isinstance(source, Mapping)
        and len(source) > 0
        and all(isinstance(each, Mapping) for each in source.values())
        and all(isinstance(number, Real) for each in source.values() for number in each.values())
    )


def frame_of_nested(source: Nested, value: str) -> pd.DataFrame:
    """One row per query and result: query_id, result_id, and the number under the name `value`."""
    rows = [(str(query), str(result), number) for query, each in source.items() for result, number in each.items()]
    return pd.DataFrame(rows, columns=[*IDS, value])
