"""The ids that queries and results had in the table that a study was made of, by which later systems name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from relstudy.common.tables.checked_table import Checked, stripped

TRANSLATED = "ids are those of the table that the study was made of; answers.csv has the study's"


@dataclass(frozen=True)
class OwnIds:
    """The study's id of each own id, of queries and of results; results are named within a query."""

    queries: Mapping[str, str]
    results: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, answers: Checked | None) -> OwnIds | None:
        """From a study's answers.csv; None where that is not there, or the table that was given had no ids.

        Examples
        --------
        >>> made = {"query_id": ["q0001"], "result_id": ["r00007"], "own_query": ["31"], "own_result": ["D4"]}
        >>> OwnIds.of(Checked(pd.DataFrame(made), "answers.csv")).queries
        {'31': 'q0001'}
        """
        names = ["query_id", "result_id", "own_query", "own_result"]
        if answers is None or not set(names) <= set(answers.frame):
            return None
        rows = list(zip(*(stripped(answers.frame[name]) for name in names), strict=True))
        found = {(query, mine): result for query, result, _, mine in rows if mine}
        queries = {mine: query for query, _, mine, _ in rows if mine}
        return cls(queries, found) if found and queries else None

    def of_study(self, scores: pd.DataFrame) -> pd.DataFrame | None:
        """Scores by the study's ids; None where they have these already, or name none of its queries.

        A result that the study does not know keeps its own id: nobody judged it.

        Parameters
        ----------
        scores : query_id, result_id (text) and further columns
        """
        query = scores["query_id"].map(self.queries)
        if query.isna().all() or scores["query_id"].isin(list(self.queries.values())).any():
            return None
        pairs = zip(query, scores["result_id"], strict=True)
        result = [self.results.get(pair, pair[1]) for pair in pairs]
        return scores.assign(query_id=query.fillna(scores["query_id"]), result_id=result)
