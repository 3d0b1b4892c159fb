"""lists.csv: whole lists of results that people compare, each the first results of one system for one query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from relstudy.common.tables.formats.table_files import read_table, write_table

LISTS = "lists.csv"


@dataclass(frozen=True)
class RankedList:
    """The first results of a system for a query, best first; raters see neither its id nor its system."""

    id: str
    query_id: str
    system: str
    results: tuple[str, ...]


def read_lists(folder: Path) -> dict[str, RankedList]:
    """The lists of FOLDER/lists.csv by id; none if there is no such file.

    Raises
    ------
    TableError
        where a column or a value is missing, or a list is of two queries or systems, or has two results of one rank
    """
    file = folder / LISTS
    if not file.is_file():
        return {}
    table = read_table(file)
    table.require("list_id", "query_id", "system", "rank", "result_id")
    frame = pd.DataFrame({name: table.texts(name) for name in ("list_id", "query_id", "system", "result_id")})
    frame["rank"] = table.numbers("rank", low=1, whole=True)
    table.add(frame.duplicated(["list_id", "rank"]).to_numpy(), "rank", "each rank may appear once in a list")
    for name in ("query_id", "system"):
        first = frame.groupby("list_id", sort=False)[name].transform("first")
        table.add((frame[name] != first).to_numpy(), name, "an earlier row of this list has another; one is allowed")
    table.raise_faults()
    return {
        str(name): RankedList(
            str(name), str(rows["query_id"].iloc[0]), str(rows["system"].iloc[0]), tuple(map(str, rows["result_id"]))
        )
        for name, rows in frame.sort_values("rank", kind="stable").groupby("list_id", sort=False)
    }


def write_lists(folder: Path, lists: Iterable[RankedList]) -> Path:
    """Write FOLDER/lists.csv; gives the file."""
    rows = [
        (each.id, each.query_id, each.system, rank, result)
        for each in lists
        for rank, result in enumerate(each.results, start=1)
    ]
    write_table(pd.DataFrame(rows, columns=["list_id", "query_id", "system", "rank", "result_id"]), folder / LISTS)
    return folder / LISTS
