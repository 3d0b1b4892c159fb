"""Pairs that a researcher may take as examples of grades while a study is set up: real ones, which nobody will rate."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from relstudy.common.tables.formats.table_files import read_table
from relstudy.mapping.scores.score_files import read_scores

OFFERED = 10
"""Pairs that are offered."""


def pairs_to_grade(folder: Path, number: int = OFFERED) -> list[tuple[str, str]]:
    """Pairs of drawn queries that are not in pairs.csv, from near to far in the ranking of a system; none without one.

    Each is of another query while there are enough, and from a place of the ranking that doubles from pair to pair, so
    that good matches are among them and poor ones.
    """
    tables = sorted((folder / "scores").glob("*.csv"))
    if not tables:
        return []
    drawn = read_table(folder / "pairs.csv", "query_id", "result_id").frame
    taken = set(zip(drawn["query_id"], drawn["result_id"], strict=True))
    scores = read_scores(tables[0]).frame.sort_values("score", ascending=False, kind="stable")
    ranked: dict[str, list[str]] = {}
    for query, result in zip(scores["query_id"].astype(str), scores["result_id"].astype(str), strict=True):
        if (query, result) not in taken:
            ranked.setdefault(query, []).append(result)
    if not ranked:
        return []
    queries = sorted(ranked)
    longest = max(map(len, ranked.values()))
    places = np.unique(np.geomspace(1, longest, number).astype(int) - 1)
    found = []
    for turn, place in enumerate(places):
        query = queries[turn % len(queries)]
        found.append((query, ranked[query][min(place, len(ranked[query]) - 1)]))
    return list(dict.fromkeys(found))
