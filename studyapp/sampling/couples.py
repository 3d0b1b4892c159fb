"""Couples of results of one query to be compared, drawn with known probability among neighbours in systems' rankings.

Results far apart in a ranking are seldom hard to tell apart, and couples of poor matches say little: a couple is drawn
in proportion to the mean over systems of 1 / (best rank of the two) where the two stand at most `REACH` places apart,
beside a share for every couple of the pool alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.drawing import inclusion_probabilities, rank_share, systematic_sample
from relstudy.common.errors import RelstudyError
from relstudy.common.pairs_table import OTHER, SOURCE_SEPARATOR, read_pairs, write_pairs
from relstudy.common.tables import read_table
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.sampling.design import scores_of
from relstudy.studyapp.sampling.population import Eligible, ScoredItems, pool, tie_order, union_of
from relstudy.studyapp.sampling.sources import Source

REACH = 2
FLOOR = 0.1


def couple_sizes(ranks: np.ndarray, floor: float = FLOOR) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The couples of a query's pool, and the size by which each is drawn.

    Parameters
    ----------
    ranks : float [systems, results], from 1; NaN where a system does not return a result
    floor : share that all couples get alike

    Returns
    -------
    first, second : int [couples], numbers of the results
    size : float [couples], sums to 1

    Examples
    --------
    >>> first, second, size = couple_sizes(np.array([[1.0, 2.0, 5.0]]))
    >>> list(zip(first.tolist(), second.tolist(), size.round(3).tolist()))
    [(0, 1, 0.933), (0, 2, 0.033), (1, 2, 0.033)]
    """
    first, second = np.triu_indices(ranks.shape[1], k=1)
    one, other = ranks[:, first], ranks[:, second]
    near = np.abs(one - other) <= REACH  # False where a system does not return one of them
    size = np.where(near, 1 / np.fmin(one, other), 0.0).sum(axis=0)
    alike = np.full(len(first), 1 / len(first))
    total = float(size.sum())
    return first, second, alike if total <= 0 else (1 - floor) * size / total + floor * alike


def draw_couples(
    folder: Path, collection: Collection, sources: Sequence[Source], each: int, depth: int, seed: int
) -> pd.DataFrame:
    """Couples of the study's drawn queries, as rows for pairs.csv.

    Parameters
    ----------
    sources : the systems whose rankings they are neighbours in
    each : couples of a query
    depth : the pool is made of so many first results of each system
    seed : of the draw

    Returns
    -------
    DataFrame with the columns of a pairs table and other_id; inclusion_probability is the couple's, its query's drawn
    or not
    """
    pairs = read_pairs(folder / "pairs.csv", "pair_id", "query_probability")
    queries = pairs.drop_duplicates("query_id")
    if len(read_pairs(folder / "pairs.csv", couples=True)):
        raise RelstudyError(f"{folder / 'pairs.csv'}: it holds couples already, and they are drawn once")
    if queries["query_probability"].isna().any():
        raise RelstudyError(f"{folder / 'pairs.csv'}: the probability of every query is needed (query_probability)")
    rng = np.random.default_rng([seed, 7])
    rows = []
    chances = queries["query_probability"].to_numpy(dtype=float).tolist()
    for query_id, of_query in zip(queries["query_id"].astype("str"), chances, strict=True):
        query = collection[query_id]
        scores = scores_of(query, sources)
        if not scores:
            continue
        lists = union_of(scores, list(scores))
        candidates = pool(Eligible.of(query, collection), lists, depth, tie_order(collection, query)).candidates
        if len(candidates) < 2:
            continue
        ranks = np.vstack([_ranks(said, candidates) for said in scores.values()])
        first, second, size = couple_sizes(ranks)
        wanted = min(each, len(size))
        probability = inclusion_probabilities(size, wanted)
        for couple in systematic_sample(probability, rng):
            both = np.array([first[couple], second[couple]])
            near = [name for name, row in zip(scores, ranks[:, both], strict=True) if abs(row[0] - row[1]) <= REACH]
            ends = collection.ids[candidates[rng.permutation(both)]]
            chance = float(probability[couple]) * of_query
            rows.append(
                {
                    "pair_id": "",
                    "query_id": query.id,
                    "result_id": str(ends[0]),
                    OTHER: str(ends[1]),
                    "paradigm": query.kind,
                    "source": SOURCE_SEPARATOR.join(near) or "random",
                    "inclusion_probability": chance,
                    "query_probability": of_query,
                    "block": "unique",
                    "round": 1,
                }
            )
    if not rows:
        raise RelstudyError(f"{folder}: no query has two results that a system returns, so there is nothing to compare")
    order = rng.permutation(len(rows))
    width = max(4, len(str(len(rows))))
    couples = pd.DataFrame([rows[place] for place in order])
    return couples.assign(pair_id=[f"c{number:0{width}d}" for number in range(1, len(rows) + 1)])


def _ranks(said: ScoredItems, candidates: np.ndarray) -> np.ndarray:
    """Ranks of the pool's results in a system, NaN where it does not return one."""
    scores = said.at(candidates)
    return np.where(np.isnan(scores), np.nan, rank_share(said.upward(scores), 1.0)[1])


def add_couples(folder: Path, couples: pd.DataFrame) -> None:
    """Write couples into the study's pairs.csv, below the pairs, which stay as they are."""
    file = folder / "pairs.csv"
    table = read_table(file).frame
    write_pairs(pd.concat([table, couples.astype(object)], ignore_index=True), file)
