"""Selection of the pairs that a judge is given."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.calibration.tables.study_tables import Pool, find_pool
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import quoted
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import OTHER, OUTSIDE, read_pairs
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.sampling.population import Eligible


def pairs_to_judge(folder: Path, collection: Collection, extent: str) -> pd.DataFrame:
    """The pairs of a study that a judge is to be given.

    Parameters
    ----------
    extent : "judged" (the pairs of pairs.csv, enough to check the judge), "queries" (every candidate of their queries),
        "candidates" (every candidate of every query; "sample" is drawn from these by `drawn_share`) or "collection"
        (every item that may answer, pool or not)

    Returns
    -------
    DataFrame[query_id, result_id], each pair once

    Raises
    ------
    RelstudyError
        if there are no pairs, or the pool of queries that were not drawn is not known
    """
    drawn = read_pairs(folder / "pairs.csv", items=collection)
    if "pool" in drawn and extent != "collection":
        drawn = drawn[drawn["pool"] != OUTSIDE]
    if extent == "judged":
        return drawn[PAIR].drop_duplicates().reset_index(drop=True)
    paradigms = {collection[query].paradigm for query in drawn["query_id"].unique()}
    queries = [item.id for kind in sorted(paradigms) for item in collection.queries(kind)]
    if extent == "queries":
        asked = set(drawn["query_id"])
        queries = [query for query in queries if query in asked]
    pool = None if extent == "collection" else find_pool(folder)
    if pool is not None:
        return _of_pool(pool, queries)
    parts = []
    for query in queries:
        positions = Eligible.of(collection[query], collection).all()
        parts.append(pd.DataFrame({"query_id": query, "result_id": collection.ids[positions]}))
    return pd.concat(parts, ignore_index=True)


def couples_to_judge(folder: Path, lists: Iterable[str], of_lists: bool) -> pd.DataFrame:
    """The couples of a study of results, or of the lists that it has, as its pairs table holds them.

    Parameters
    ----------
    lists : their ids
    of_lists : whether couples of lists are wanted, and not of results

    Raises
    ------
    RelstudyError
        if there are none
    """
    couples = read_pairs(folder / "pairs.csv", couples=True)
    chosen = couples[couples["result_id"].isin(list(lists)) == of_lists].reset_index(drop=True)
    if chosen.empty:
        command = f"relstudy sample couples {quoted(folder)}{' --lists 5' * of_lists}"
        raise RelstudyError(f"{folder / 'pairs.csv'}: it holds no such couples; `{command}` draws them")
    return chosen


def by_side(couples: pd.DataFrame) -> list[tuple[str, ...]]:
    """The query of each couple, and its two from left to right: which stands on the left is as good as drawn."""
    rows = couples[["query_id", "result_id", OTHER]].itertuples(index=False, name=None)
    lots = ((query, one, other, lot_of(query, f"{one}\x1f{other}")) for query, one, other in rows)
    return [(query, one, other) if lot < 0.5 else (query, other, one) for query, one, other, lot in lots]


def drawn_share(candidates: pd.DataFrame, judged: pd.DataFrame, share: float) -> tuple[pd.DataFrame, np.ndarray]:
    """All judged pairs, and of the other candidates each by a lot of its own.

    A pair's lot is a hash of its ids: it is the same at every run, and a larger share holds the smaller one.

    Parameters
    ----------
    candidates, judged : DataFrame[query_id, result_id]
    share : of the candidates, above 0 to 1

    Returns
    -------
    DataFrame[query_id, result_id], and the probability of each pair given the judged ones: 1 or `share`, float [pairs]

    Examples
    --------
    >>> candidates = pd.DataFrame({"query_id": "q", "result_id": [f"r{k}" for k in range(100)]})
    >>> table, probability = drawn_share(candidates, candidates.head(3), 0.1)
    >>> len(table), probability[:4].tolist()
    (15, [1.0, 1.0, 1.0, 0.1])
    """
    certain = pd.MultiIndex.from_frame(candidates[PAIR]).isin(pd.MultiIndex.from_frame(judged[PAIR]))
    lots = [lot_of(*pair) for pair in candidates[PAIR].itertuples(index=False, name=None)]
    taken = certain | (np.array(lots) < share)
    probability = np.where(certain, 1.0, share)[taken]
    return candidates[taken].reset_index(drop=True), probability


def lot_of(query_id: str, result_id: str) -> float:
    """A number from 0 to 1 that is as good as drawn for a pair.

    Examples
    --------
    >>> round(lot_of("q", "r"), 4)
    0.4184
    """
    digits = hashlib.sha256(f"{query_id}\x1f{result_id}".encode()).hexdigest()[:13]
    return int(digits, 16) / 16**13


def _of_pool(pool: Pool, queries: list[str]) -> pd.DataFrame:
    table = pool.pairs.to_frame(index=False, name=PAIR)
    absent = np.setdiff1d(queries, table["query_id"])
    if len(absent):
        raise RelstudyError(
            f"the pool of {len(absent)} of {len(queries)} queries is not known, since only those drawn have one: "
            "--pairs queries asks for these"
        )
    return table[table["query_id"].isin(queries)].reset_index(drop=True)
