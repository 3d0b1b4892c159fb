"""Hash codes and the literature's ground truths, held against people's judgments.

A code scores a judged pair by minus its Hamming distance; a ground truth scores it 1 where it calls the pair relevant
and 0 elsewhere. Both are then systems like any other, so every index, interval and convention is the scoring's own.

Grades have nDCG beside, its expectation where results tie (McSherry and Najork 2008: each gains its group's mean).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.metrics.mean_interval import mean_interval
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth, ListedTruth
from relstudy.analysis.hashing.truth.vector_truth import epsilon_radius, nearest_neighbours
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR


def rows_of_pairs(
    judgments: pd.DataFrame, ids: Sequence[str], result_ids: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of each judged pair's query and result, int64 (pairs,) each; -1 where an id is unknown.

    Parameters
    ----------
    judgments : with query_id and result_id
    ids : the id of each code or vector, in its order, each once
    result_ids : those of the results, where they are coded apart
    """
    query_rows = _index(ids).get_indexer(pd.Index(judgments["query_id"]))
    result_rows = _index(ids if result_ids is None else result_ids).get_indexer(pd.Index(judgments["result_id"]))
    if not ((query_rows >= 0) & (result_rows >= 0)).any():
        raise RelstudyError("no judged pair has both its ids among the codes; check that they are written the same way")
    return query_rows, result_rows


def _index(ids: Sequence[str]) -> pd.Index:
    index = pd.Index(list(ids))
    if index.has_duplicates:
        raise RelstudyError(f"the id {index[index.duplicated()][0]!r} appears more than once; ids must differ")
    return index


def left_out(used: int, judged: int) -> tuple[str, ...]:
    """Note on judged pairs left out because an id of theirs is unknown, or empty."""
    if used == judged:
        return ()
    return (f"{judged - used:,} of {judged:,} judged pairs are left out: not both of their ids are among those given",)


def hamming_scores(
    judgments: pd.DataFrame,
    codes: Codes,
    ids: Sequence[str],
    system: str = "hash",
    *,
    results: tuple[Codes, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """A hashing system's score table for the judged pairs: minus the Hamming distance.

    Parameters
    ----------
    codes, ids : of all judged items; or of the queries, where
    results : codes and ids of the results come from another encoder or file

    Returns
    -------
    DataFrame[system, query_id, result_id, score], pairs with an unknown id left out

    Examples
    --------
    >>> judged = pd.DataFrame({"query_id": ["a"], "result_id": ["b"], "judgment": [4.0]})
    >>> hamming_scores(judged, Codes.from_bits(np.array([[0, 1], [1, 1]], dtype=bool)), ["a", "b"])["score"].tolist()
    [-1.0]
    """
    result_codes, result_ids = (codes, ids) if results is None else results
    if codes.bits != result_codes.bits:
        raise RelstudyError(
            f"query codes have {codes.bits} bits and result codes {result_codes.bits}; they must be equal"
        )
    query_rows, result_rows = rows_of_pairs(judgments, ids, result_ids)
    distance = np.zeros(len(query_rows), dtype=np.int64)
    for query_words, result_words in zip(codes.columns, result_codes.columns, strict=True):
        distance += np.bitwise_count(query_words[query_rows] ^ result_words[result_rows])
    return _table(judgments, {system: -distance.astype(float)}, (query_rows >= 0) & (result_rows >= 0))


@dataclass(frozen=True, eq=False)
class DescribedItems:
    """The judged items, and what ground truths are made of.

    Parameters
    ----------
    ids : of each item, each once
    vectors : float (items, D): gives `epsilon-ball` (radius of `neighbours` on average), `k-NN` and `distance`
    labels : gives `class` or `shared label`
    """

    ids: Sequence[str]
    vectors: np.ndarray | None = None
    labels: Labels | None = None


def truth_scores(
    judgments: pd.DataFrame, items: DescribedItems, *, neighbours: int = 50, seed: int = 0
) -> pd.DataFrame:
    """The literature's ground truths as scores of the judged pairs, one system each.

    Parameters
    ----------
    neighbours : R of the epsilon-ball and k of k-NN

    Returns
    -------
    DataFrame[system, query_id, result_id, score]: 0 or 1, and minus the distance for `distance`
    """
    vectors, labels = items.vectors, items.labels
    query_rows, result_rows = rows_of_pairs(judgments, items.ids)
    has_rows = (query_rows >= 0) & (result_rows >= 0)
    systems: dict[str, np.ndarray] = {}
    if labels is not None:
        systems[LabelTruth.by(labels, labels).kind] = _shared(labels, query_rows, result_rows)
    if vectors is not None:
        points = np.asarray(vectors, dtype=float)
        radius = epsilon_radius(points, neighbours=neighbours, seed=seed)
        distance = np.sqrt(((points[query_rows] - points[result_rows]) ** 2).sum(axis=1))
        systems["epsilon-ball"] = (distance <= radius).astype(float)
        systems["k-NN"] = _among_nearest(points, query_rows, result_rows, neighbours)
        systems["distance"] = -distance
    if not systems:
        raise RelstudyError("an audit needs vectors or labels of the judged items")
    return _table(judgments, systems, has_rows)


def _shared(labels: Labels, query_rows: np.ndarray, result_rows: np.ndarray) -> np.ndarray:
    if labels.classes is not None:
        return np.asarray(labels.classes[query_rows] == labels.classes[result_rows], dtype=float)
    assert labels.masks is not None
    return (labels.masks[:, query_rows] & labels.masks[:, result_rows]).any(axis=0).astype(float)


def _among_nearest(vectors: np.ndarray, query_rows: np.ndarray, result_rows: np.ndarray, neighbours: int) -> np.ndarray:
    queries = np.unique(query_rows)
    # One more than asked, because an item is its own nearest neighbour; itself is then not counted.
    near = nearest_neighbours(vectors[queries], vectors, min(neighbours + 1, len(vectors)))
    member = {int(query): set(near.of(i).tolist()) for i, query in enumerate(queries)}
    return np.array([float(b in member[a]) for a, b in zip(query_rows.tolist(), result_rows.tolist(), strict=True)])


def _table(judgments: pd.DataFrame, systems: dict[str, np.ndarray], has_rows: np.ndarray) -> pd.DataFrame:
    pairs = judgments.loc[has_rows, PAIR]
    return pd.concat(
        [pairs.assign(system=name, score=score[has_rows]) for name, score in systems.items()], ignore_index=True
    )[["system", "query_id", "result_id", "score"]]


def graded_ndcg(
    judgments: Judgments | pd.DataFrame,
    scores: pd.DataFrame,
    *,
    k: int | None = None,
    seed: int = 0,
) -> Estimate:
    """Mean over queries of the tie-aware expected nDCG of results ranked by Hamming distance, with its interval.

    A pair that was drawn with probability p stands for 1/p pairs (Horvitz and Thompson 1952), so ranks are those in all
    that could have been drawn; where no probability is known, all pairs count once, and where some are not, there is
    no figure.

    Parameters
    ----------
    judgments : judgment less the scale's lowest value is the gain, nothing where calibration carried it below; with
        inclusion_probability
    scores : one system's table from `hamming_scores`
    k : cut-off
    seed : of the bootstrap over queries
    """
    judged = Judgments.of(judgments)
    unweighted = JudgedPairs.of(judged).weights_missing("design")
    if unweighted:
        return Estimate.missing(unweighted)
    columns = ["query_id", "result_id", "judgment", "inclusion_probability"]
    merged = scores.merge(judged.frame[columns], on=PAIR)
    weight = pair_weights(merged)
    values = []
    for rows in merged.groupby("query_id", sort=True).indices.values():
        grades, grade = np.unique(merged["judgment"].to_numpy()[rows], return_inverse=True)
        distance = -merged["score"].to_numpy()[rows]
        counts = np.zeros((len(grades), int(distance.max()) + 1))
        np.add.at(counts, (grade, distance.astype(int)), weight[rows])
        value = expected_ndcg(counts, gains=np.maximum(grades - judged.scale.scale.low, 0.0), k=k)
        if value is not None:
            values.append(value)
    return mean_interval(np.array(values), "no query has a result judged above the lowest value of the scale", seed)


def pair_weights(merged: pd.DataFrame) -> np.ndarray:
    """1 / inclusion probability; ones where none is known (`JudgedPairs.weights_missing` refuses a few)."""
    return (1.0 / merged["inclusion_probability"].fillna(1.0)).to_numpy(dtype=float)


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
                f"the {name} id {index[index.duplicated()][0]!r} appears more than once; ids must differ"
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


def expected_ndcg(counts: np.ndarray, gains: np.ndarray | None = None, k: int | None = None) -> float | None:
    """nDCG of one query, its expectation over the order of ties.

    Parameters
    ----------
    counts : numbers (grades, Q + 1), not negative: points of each grade at each radius. Where a point of a sample
        stands for 1/p points, its count is 1/p; between whole ranks the sum of discounts runs straight.
    gains : float (grades,), by default 2**grade - 1
    k : cut-off; None for the whole ranking

    Returns
    -------
    A number in [0, 1], or None where no point has a gain.

    Examples
    --------
    >>> expected_ndcg(np.array([[0, 3], [2, 0]]))
    1.0
    """
    gain = 2.0 ** np.arange(len(counts)) - 1 if gains is None else np.asarray(gains, dtype=float)
    sizes = counts.sum(axis=0)
    ideal_order = np.argsort(-gain, kind="stable")
    length = float(sizes.sum())
    cut = length if k is None else min(float(k), length)
    discount = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, int(np.ceil(cut)) + 2)))])
    mean_gain = np.divide(gain @ counts, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    ideal = _discounted(gain[ideal_order], counts.sum(axis=1)[ideal_order], discount, cut)
    return _discounted(mean_gain, sizes, discount, cut) / ideal if ideal > 0 else None


def _discounted(gains: np.ndarray, sizes: np.ndarray, discount: np.ndarray, cut: float) -> float:
    ends = np.minimum(np.cumsum(sizes), cut)
    starts = np.minimum(np.concatenate([[0], np.cumsum(sizes)[:-1]]), cut)
    ranks = np.arange(len(discount))
    return float(gains @ (np.interp(ends, ranks, discount) - np.interp(starts, ranks, discount)))
