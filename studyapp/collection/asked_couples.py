"""Couples of a table of results to be compared side by side: two models' answers, or two systems' first results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.pairs_table import SOURCE_SEPARATOR
from relstudy.studyapp.collection.lists import RankedList

LENGTH = 5
"""First results of a system that a list shows."""


def couples_of_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Every two different answers to a question.

    Parameters
    ----------
    rows : system, query_id, result_id, one row a model and question

    Returns
    -------
    DataFrame[query_id, result_id, other_id, source]; source names the models of the two

    Examples
    --------
    >>> rows = pd.DataFrame({"system": list("xyz"), "query_id": "q", "result_id": ["r1", "r2", "r1"]})
    >>> couples_of_answers(rows).values.tolist()
    [['q', 'r1', 'r2', 'x;y']]
    """
    found = rows.drop_duplicates(["query_id", "result_id"])
    return _couples(
        (str(query), str(a.system), str(a.result_id), str(b.system), str(b.result_id))
        for query, part in found.groupby("query_id", sort=False)
        for a, b in combinations(part.itertuples(), 2)
    )


def couples_of_lists(
    rows: pd.DataFrame, known: Mapping[str, RankedList] | None = None
) -> tuple[pd.DataFrame, list[RankedList]]:
    """Every two systems whose first results for a query differ, and the lists.

    Parameters
    ----------
    rows : system, query_id, result_id, place (int from 1, best first)
    known : lists of an earlier state of the table by id, which keep their ids; a list that changed is a new one

    Returns
    -------
    DataFrame as of `couples_of_answers`, whose results are lists, and all lists
    """
    named = {(each.query_id, each.system, each.results): each for each in (known or {}).values()}
    count = len(named)
    lists: dict[tuple[str, str], RankedList] = {}
    first = rows[rows["place"] <= LENGTH].sort_values("place", kind="stable")
    for (query, system), part in first.groupby(["query_id", "system"], sort=False):
        key = str(query), str(system), tuple(map(str, part["result_id"]))
        if key not in named:
            count += 1
            named[key] = RankedList(f"l{count:05d}", *key)  # an id says nothing of its system
        lists[key[:2]] = named[key]
    of_query: dict[str, list[RankedList]] = {}
    for (query, _), each in lists.items():
        of_query.setdefault(query, []).append(each)
    made = _couples(
        (query, a.system, a.id, b.system, b.id)
        for query, parts in of_query.items()
        for a, b in combinations(parts, 2)
        if a.results != b.results
    )
    return made, list(named.values())


def _couples(found: Iterable[tuple[str, str, str, str, str]]) -> pd.DataFrame:
    rows = [(query, one, other, SOURCE_SEPARATOR.join((system, rival))) for query, system, one, rival, other in found]
    if not rows:
        raise RelstudyError("no query has two different results of two systems, so there is nothing to compare")
    return pd.DataFrame(rows, columns=["query_id", "result_id", "other_id", "source"])
