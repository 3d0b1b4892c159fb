"""Couples of results, or of whole lists, of one query to be compared, drawn with known probability.

Results far apart in a ranking are seldom hard to tell apart, and couples of poor matches say little: a couple is drawn
in proportion to the mean over systems of 1 / (best rank of the two) where the two stand at most `REACH` places apart,
beside a share for every couple of the pool alike. Couples of lists are of two systems whose lists differ, all alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.pairs_table import OTHER, SOURCE_SEPARATOR, read_pairs, write_pairs
from relstudy.studyapp.collection.copied_items import copy_items, items_needed
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.large_collection import LargeCollection
from relstudy.studyapp.collection.lists import RankedList, read_lists, write_lists
from relstudy.studyapp.sampling.options import CouplesOptions
from relstudy.studyapp.sampling.population import Eligible, ScoredItems, TieKeys, pool, tie_order
from relstudy.studyapp.sampling.sources import Source, scores_of

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


def draw(
    folder: Path, collection: Collection, sources: Sequence[Source], options: CouplesOptions
) -> tuple[pd.DataFrame, list[RankedList]]:
    """The couples that the options ask for, by `draw_couples` or `draw_lists`, and the lists."""
    if options.lists is None:
        return draw_couples(folder, collection, sources, options.each, options.depth, options.seed), []
    return draw_lists(folder, collection, sources, options.each, options.lists, options.seed)


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
    rng = np.random.default_rng([seed, 7])
    rows = []
    for query, of_query, scores in _queries(folder, collection, sources, of_lists=False):
        eligible, ties = Eligible.of(query, collection), tie_order(collection, query)
        candidates = pool(eligible, list(scores.values()), depth, ties).candidates
        if len(candidates) < 2:
            continue
        ranks = np.vstack([_ranks(said, candidates) for said in scores.values()])
        first, second, size = couple_sizes(ranks)
        probability = inclusion_probabilities(size, min(each, len(size)))
        for couple in systematic_sample(probability, rng):
            both = np.array([first[couple], second[couple]])
            near = [name for name, row in zip(scores, ranks[:, both], strict=True) if abs(row[0] - row[1]) <= REACH]
            ends = map(str, collection.ids[candidates[rng.permutation(both)]])
            rows.append(_row(query, ends, near or ["random"], float(probability[couple]), of_query))
    if not rows:
        raise RelstudyError(f"{folder}: no query has two results that a system returns, so there is nothing to compare")
    return _numbered(rows, "c", rng)


def draw_lists(
    folder: Path, collection: Collection, sources: Sequence[Source], each: int, length: int, seed: int
) -> tuple[pd.DataFrame, list[RankedList]]:
    """Couples of whole lists of the study's drawn queries, as rows for pairs.csv, and the lists.

    Parameters
    ----------
    sources : the systems whose lists they are
    each : couples of a query
    length : of a list: so many first results of a system
    seed : of the draw

    Returns
    -------
    As `draw_couples`; result_id and other_id name lists, and source their two systems in this order. Two systems that
    give a query the same list are no couple
    """
    rng = np.random.default_rng([seed, 8])
    rows, lists = [], dict[str, RankedList]()
    for query, of_query, scores in _queries(folder, collection, sources, of_lists=True):
        eligible, ties = Eligible.of(query, collection), tie_order(collection, query)
        found = {name: _first(said, eligible, collection, length, ties) for name, said in sorted(scores.items())}
        apart = [(a, b) for a, b in combinations(found, 2) if found[a] and found[b] and found[a] != found[b]]
        if not apart:
            continue
        probability = np.full(len(apart), min(each / len(apart), 1.0))
        for couple in systematic_sample(probability, rng):
            systems = [apart[couple][k] for k in rng.permutation(2)]
            both = [RankedList(f"{query.id}/{name}", query.id, name, found[name]) for name in systems]
            lists |= {one.id: one for one in both}
            ends = (one.id for one in both)
            rows.append(_row(query, ends, systems, float(probability[couple]), of_query))
    if not rows:
        raise RelstudyError(f"{folder}: no query has two systems with different lists, so there is nothing to compare")
    return _numbered(rows, "l", rng), list(lists.values())


def _queries(
    folder: Path, collection: Collection, sources: Sequence[Source], of_lists: bool
) -> Iterator[tuple[Item, float, dict[str, ScoredItems]]]:
    """The study's drawn queries that a system answers, with their probability and what the systems say of them."""
    file = folder / "pairs.csv"
    pairs = read_pairs(file, "pair_id", "query_probability")
    queries = pairs.drop_duplicates("query_id")
    if (read_pairs(file, couples=True)["result_id"].isin(read_lists(folder).keys()) == of_lists).any():
        raise RelstudyError(f"{file}: it holds couples already{' of lists' * of_lists}; they are drawn once")
    if queries["query_probability"].isna().any():
        raise RelstudyError(
            f"{file}: the probability of every query is needed (query_probability); "
            "if rounds draw their own queries, couples are drawn after the first"
        )
    chances = queries["query_probability"].to_numpy(dtype=float).tolist()
    for query_id, of_query in zip(queries["query_id"].astype("str"), chances, strict=True):
        query = collection[query_id]
        scores = scores_of(query, sources)
        if scores:
            yield query, of_query, scores


def _row(
    query: Item, ends: Iterator[str], source: Sequence[str], given_query: float, of_query: float
) -> dict[str, object]:
    """A row of pairs.csv; `given_query` is the couple's probability where its query is drawn."""
    return {
        "pair_id": "",
        "query_id": query.id,
        **dict(zip(("result_id", OTHER), ends, strict=True)),
        "paradigm": query.paradigm,
        "source": SOURCE_SEPARATOR.join(source),
        "inclusion_probability": given_query * of_query,
        "query_probability": of_query,
        "block": "unique",
        "round": 1,
    }


def _numbered(rows: Sequence[dict[str, object]], letter: str, rng: np.random.Generator) -> pd.DataFrame:
    """The rows in an order by chance, with their ids."""
    order = rng.permutation(len(rows))
    width = max(4, len(str(len(rows))))
    couples = pd.DataFrame([rows[place] for place in order])
    return couples.assign(pair_id=[f"{letter}{number:0{width}d}" for number in range(1, len(rows) + 1)])


def _first(
    said: ScoredItems, eligible: Eligible, collection: Collection, length: int, ties: TieKeys
) -> tuple[str, ...]:
    """Ids of a system's first results, best first; of equal scores those of the lowest keys."""
    positions, scores = said.among(eligible)
    order = np.lexsort((ties(positions), -said.upward(scores)))[:length]
    return tuple(map(str, collection.ids[positions[order]]))


def _ranks(said: ScoredItems, candidates: np.ndarray) -> np.ndarray:
    """Ranks of the pool's results in a system, NaN where it does not return one."""
    scores = said.at(candidates)
    return np.where(np.isnan(scores), np.nan, rank_share(said.upward(scores), 1.0)[1])


def with_couples_of(folder: Path, pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of a further round with the couples that FOLDER/pairs.csv holds, below them and as they are."""
    couples = read_pairs(folder / "pairs.csv", couples=True)
    return pairs if couples.empty else pd.concat([pairs, couples.astype(object)], ignore_index=True)


def add_couples(folder: Path, collection: Collection, couples: pd.DataFrame, lists: Sequence[RankedList] = ()) -> None:
    """Write couples into the study's pairs.csv, below the pairs, which stay as they are, and lists into lists.csv; of a
    collection that is read in a stream, copy their items."""
    file = folder / "pairs.csv"
    table = read_table(file).frame
    if isinstance(collection, LargeCollection):
        results = [name for each in lists for name in each.results] or [*couples["result_id"], *couples[OTHER]]
        ids = [*items_needed(folder, couples.iloc[:0]), *couples["query_id"], *results]
        copy_items(collection, dict.fromkeys(ids), folder)
    if lists:
        write_lists(folder, lists)
    write_pairs(pd.concat([table, couples.astype(object)], ignore_index=True), file)
