"""The ids that queries and results had in the table that a study was made of, by which later systems name them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.formats.table_files import read_table

COLUMNS = ("query_id", "result_id", "own_query", "own_result")
LONGEST_HEADER = 10_000
"""Bytes."""


@dataclass(frozen=True)
class OwnIds:
    """The study's ids by own ones.

    Parameters
    ----------
    queries : of queries
    results : of results, by the own ids of a query and a result for it
    """

    queries: Mapping[str, str]
    results: Mapping[tuple[str, str], str]

    @classmethod
    def in_file(cls, answers: Path) -> OwnIds | None:
        """Those in a study's answers.csv; None if there is no such file, or `relstudy ask` did not write it."""
        if not answers.is_file():
            return None
        try:
            table = read_table(answers)
        except RelstudyError:
            with answers.open("rb") as file:
                head = file.readline(LONGEST_HEADER).decode(errors="replace")
            if set(COLUMNS) <= {cell.strip('" \ufeff\r\n') for cell in re.split("[,;\t]", head)}:
                raise
            return None  # somebody else's file of that name, whatever is wrong with it
        return cls.of(table) if set(COLUMNS) <= set(table.frame) else None

    @classmethod
    def of(cls, answers: Checked) -> OwnIds | None:
        """Those in a table of `COLUMNS`; None where the table that was given had no ids.

        Each is of one own id, the first, so that no two scores become those of one pair.

        Examples
        --------
        >>> made = {"query_id": ["q0001"], "result_id": ["r00007"], "own_query": ["31"], "own_result": ["D4"]}
        >>> OwnIds.of(Checked(pd.DataFrame(made), "answers.csv"))
        OwnIds(queries={'31': 'q0001'}, results={('31', 'D4'): 'r00007'})
        """
        rows = list(zip(*(stripped(answers.frame[name]) for name in COLUMNS), strict=True))
        own_query: dict[str, str] = {}
        own_result: dict[tuple[str, str], tuple[str, str]] = {}
        for query, result, own, mine in rows:
            if own and own_query.setdefault(query, own) == own and mine:
                own_result.setdefault((query, result), (own, mine))
        queries = {own: query for query, own in own_query.items()}
        results = {own: result for (query, result), own in own_result.items() if queries[own[0]] == query}
        return cls(queries, results) if results else None

    def of_study(self, scores: pd.DataFrame) -> pd.DataFrame | None:
        """Scores by the study's ids; None if no more of their pairs are named by own ids than by the study's.

        A result that the study does not know keeps its own id, since nobody judged it.

        Parameters
        ----------
        scores : query_id, result_id (text) and further columns
        """
        theirs = {(self.queries[own], result) for (own, _), result in self.results.items()}
        if _named(scores, self.results) <= _named(scores, theirs):
            return None
        queries, results = set(self.queries.values()), set(self.results.values())
        rows = list(zip(scores["query_id"], scores["result_id"], strict=True))
        return scores.assign(
            query_id=[self.queries.get(query) or _apart(query, queries) for query, _ in rows],
            result_id=[self.results.get(row) or _apart(row[1], results) for row in rows],
        )


def _named(scores: pd.DataFrame, pairs: Collection[tuple[str, str]]) -> int:
    """How many rows are of these pairs."""
    queries, results = ({pair[place] for pair in pairs} for place in (0, 1))
    near = scores[scores["query_id"].isin(queries) & scores["result_id"].isin(results)]
    return sum(row in pairs for row in zip(near["query_id"], near["result_id"], strict=True))


def _apart(own: str, taken: Collection[str]) -> str:
    """An own id, which must not be taken for another one of the study."""
    return f"own {own}" if own in taken else own
