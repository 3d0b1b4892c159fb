"""The share of what a system retrieved that somebody judged, by which two systems' measures can be compared or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from relstudy.analysis.indices.measures import QueryValues, parsed_measure

COVERED, JUDGED = "covered@", "judged@"
COVERED_IN_WORDS = (
    f"{COVERED}k: the share of the first k results of which something judged speaks; estimates count the others as "
    "poor, and may be too low."
)


def judged_name(depth: int | None) -> str:
    """The name of the share of the first results that are judged.

    Examples
    --------
    >>> judged_name(10), judged_name(None)
    ('judged@10', 'judged')
    """
    return "judged" if depth is None else f"{JUDGED}{depth}"


def covered_name(depth: int) -> str:
    """The name of the share of the first results of which judged ones speak, where these were sampled.

    Examples
    --------
    >>> covered_name(10)
    'covered@10'
    """
    return f"{COVERED}{depth}"


def depths_of(measures: Sequence[str]) -> list[int | None]:
    """The depths to which some measures look, ascending; None, for those that look at all that was retrieved, last.

    Examples
    --------
    >>> depths_of(["nDCG@10", "AP", "P@5", "P(rel=2)@10"])
    [5, 10, None]
    """
    depths = {parsed_measure(name).params.get("cutoff") for name in measures}
    return [*sorted(each for each in depths if each is not None), *([None] if None in depths else [])]


def first_judged(
    depths: Sequence[int | None], judged: np.ndarray, queries: np.ndarray, scores: pd.DataFrame, higher: bool
) -> dict[str, QueryValues]:
    """The share of each query's first results that somebody judged, by its name; 0 where nothing was retrieved.

    Equal scores stand as trec_eval sorts them, by result_id descending. With fewer results than `depth` it is the share
    of those, as in ir-measures' Judged, which however takes pairs with a grade below 0 for judged.

    Parameters
    ----------
    depths : how many results count; None: all
    judged : bool [rows of scores]
    queries : names of the qrels' queries
    scores : query_id, result_id, score: everything the system retrieved, judged or not
    higher : whether a higher score is better

    Examples
    --------
    >>> run = pd.DataFrame({"query_id": ["q"] * 3, "result_id": list("abc"), "score": [1.0, 3.0, 2.0]})
    >>> shares = first_judged([1, 2], np.array([True, True, False]), np.array(["q"]), run, higher=True)
    >>> {name: each.total() for name, each in shares.items()}
    {'judged@1': 1.0, 'judged@2': 0.5}
    """
    kept, query, place = in_order(queries, scores, higher)
    known = judged[kept]
    retrieved = np.bincount(query, minlength=len(queries))
    shares = {}
    for depth in depths:
        counted = retrieved if depth is None else np.minimum(retrieved, depth)
        hits = np.bincount(query[known & (place < counted[query])], minlength=len(queries))
        shares[judged_name(depth)] = QueryValues(hits / np.maximum(counted, 1))
    return shares


def in_order(queries: np.ndarray, scores: pd.DataFrame, higher: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A run as trec_eval sorts it: by score, and equal scores by result_id, descending.

    Returns
    -------
    Rows of `scores` in that order, those of other queries and without a score left out; the number of each one's
    query in `queries`; and how many results of the query stand before it; all int64 [kept rows]
    """
    query = pd.Index(queries).get_indexer(scores["query_id"].astype("str"))
    value = scores["score"].to_numpy(dtype=float) * (-1.0 if higher else 1.0)
    kept = np.flatnonzero((query >= 0) & np.isfinite(value))
    name = pd.factorize(scores["result_id"].astype("str").to_numpy(dtype=object)[kept], sort=True)[0]
    kept = kept[np.lexsort((-name, value[kept], query[kept]))]
    query = query[kept]
    retrieved = np.bincount(query, minlength=len(queries))
    place = np.arange(len(query)) - np.repeat(np.cumsum(retrieved) - retrieved, retrieved)
    return kept, query, place


def residual_name(measure: str) -> str | None:
    """The name of a measure's residual; None for a measure that has none.

    Examples
    --------
    >>> residual_name("RBP(p=0.9,rel=1)"), residual_name("AP")
    ('RBP(p=0.9,rel=1) residual', None)
    """
    parsed = parsed_measure(measure)
    return f"{parsed} residual" if parsed.NAME == "RBP" else None


def residuals(
    measures: Sequence[str], judged: np.ndarray, queries: np.ndarray, scores: pd.DataFrame, higher: bool
) -> dict[str, QueryValues]:
    """The most that rank-biased precision might gain, by its name: were all good that nobody judged or that lies below
    the run's end (Moffat and Zobel 2008, section 4.3).

    Parameters
    ----------
    judged, queries, scores, higher : as `first_judged` has them

    Examples
    --------
    >>> run = pd.DataFrame({"query_id": ["q"] * 2, "result_id": list("ab"), "score": [2.0, 1.0]})
    >>> found = residuals(["RBP(p=0.5,rel=1)"], np.array([True, False]), np.array(["q"]), run, higher=True)
    >>> float(found["RBP(p=0.5,rel=1) residual"].total())
    0.5
    """
    named = {name: parsed_measure(measure) for measure in measures if (name := residual_name(measure)) is not None}
    if not named:
        return {}
    kept, query, place = in_order(queries, scores, higher)
    retrieved = np.bincount(query, minlength=len(queries))
    open_yet = ~judged[kept]
    found = {}
    for name, measure in named.items():
        p = float(measure.params.get("p", measure.SUPPORTED_PARAMS["p"].default))
        missing = np.bincount(query, open_yet * (1 - p) * p**place, len(queries))
        found[name] = QueryValues(missing + p**retrieved)
    return found
