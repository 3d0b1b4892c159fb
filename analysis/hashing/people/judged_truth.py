"""Relevance lists from people's judgments."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from relstudy.analysis.hashing.truth.relevance import ListedTruth
from relstudy.common.errors import RelstudyError


def judged_truth(
    judgments: pd.DataFrame, query_ids: Sequence[str], database_ids: Sequence[str], threshold: float
) -> ListedTruth:
    """Relevant where people judged above `threshold`; a pair nobody judged counts as not relevant.

    Parameters
    ----------
    judgments : query_id, result_id, judgment
    query_ids, database_ids : the ids of the codes, in their order

    Examples
    --------
    >>> judged = pd.DataFrame({"query_id": ["a", "a"], "result_id": ["x", "y"], "judgment": [4.0, 2.0]})
    >>> judged_truth(judged, ["a"], ["y", "x"], 3.0).of(0).tolist()
    [1]
    """
    rows, columns = pd.Index(list(query_ids)), pd.Index(list(database_ids))
    for name, index in (("query", rows), ("database", columns)):
        if index.has_duplicates:
            raise RelstudyError(
                f"the {name} id {index[index.duplicated()][0]!r} stands more than once; ids must differ"
            )
    good = judgments[judgments["judgment"] > threshold]
    query_rows, result_rows = (
        rows.get_indexer(pd.Index(good["query_id"])),
        columns.get_indexer(pd.Index(good["result_id"])),
    )
    has_codes = (query_rows >= 0) & (result_rows >= 0)
    if not has_codes.any():
        raise RelstudyError(f"no pair judged above {threshold:g} has both its ids among the codes")
    lists = [result_rows[has_codes & (query_rows == query)] for query in range(len(rows))]
    return ListedTruth.from_lists(lists, len(columns), f"judgments above {threshold:g}")
