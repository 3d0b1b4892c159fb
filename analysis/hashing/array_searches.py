"""Look-up, graded labels and real-valued rankings from arrays, for `rs.hashing`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.lookup.sweep import Grid, Searcher, sweep
from relstudy.analysis.hashing.metrics.label_grades import Empty, Gain, graded_figures
from relstudy.analysis.hashing.truth.relevance import LabelTruth, Truth
from relstudy.common.arguments import check_arguments
from relstudy.common.errors import RelstudyError


def look_up(
    queries: Codes,
    database: Codes,
    truth: Truth,
    *,
    bits: Iterable[int] = (),
    tables: Iterable[int] = (1,),
    flips: Iterable[int] = (0,),
    engine: Searcher = "numpy",
) -> pd.DataFrame:
    """What hash tables find and how long they take; the first row is the scan of all codes.

    Parameters
    ----------
    queries, database : codes of the same length
    truth : which codes are relevant to which query
    bits, tables, flips : K, L and the bits flipped in each key; each is tried with each of the others. Without `bits`,
        one table of the whole code: then `flips` are Hamming radii.
    engine : `numpy`, or `faiss` (the extra `faiss`), which looks into the same buckets

    Returns
    -------
    One row per setting: bits, tables, flips, probes, candidates, empty, precision, recall, f1 (micro), milliseconds of
    the processor a query

    Raises
    ------
    RelstudyError
        where no table fits the codes, or the truth speaks of other numbers of queries and codes

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.relevance import ListedTruth
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 1], [1, 1]], dtype=bool))
    >>> truth = ListedTruth.from_lists([[0, 1]], 3)
    >>> look_up(codes.take(slice(0, 1)), codes, truth, flips=(0, 1)).recall.tolist()
    [1.0, 0.5, 1.0]
    """
    check_arguments(look_up, locals())
    grid = Grid(tuple(bits) or (database.bits,), tuple(tables), tuple(flips), None, engine)
    if not grid.settings(database.bits):
        raise RelstudyError(f"none of these tables fits codes of {database.bits} bits")
    return pd.DataFrame([row.as_json() for row in sweep(queries, database, truth, grid)])


def graded(
    queries: Codes,
    database: Codes,
    truth: LabelTruth,
    k: Iterable[int] = (),
    *,
    gain: Gain = "exponential",
    no_relevant: Empty = "skip",
) -> pd.DataFrame:
    """ACG, nDCG and WAP by the number of shared labels (Zhao et al. 2015).

    Parameters
    ----------
    truth : labels of queries and database
    k : cut-offs; the whole ranking is always there too
    gain : of nDCG: 2^labels - 1, or their number
    no_relevant : queries that share no label with any code: left out, 0, or 1 in nDCG

    Returns
    -------
    Pessimistic, expected and optimistic over the order of ties; one row a figure, such as "WAP@100" or "WAP"

    Raises
    ------
    RelstudyError
        where there are not as many labels as codes, or a cut-off is below 1

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.labels import Labels
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 1]], dtype=bool))
    >>> both, one = Labels(masks=np.array([[3]], dtype=np.uint64)), Labels(masks=np.array([[3, 1]], dtype=np.uint64))
    >>> graded(codes.take(slice(0, 1)), codes, LabelTruth.by(both, one), [1]).loc["ACG@1", "expected"]
    np.float64(2.0)
    """
    check_arguments(graded, locals())
    from relstudy.analysis.hashing.counting.shared_labels import shared_label_counts

    counts = shared_label_counts(queries, database, truth)
    rows: dict[str, dict[str, float | None]] = {}
    for cut in (*k, None):
        figures = graded_figures(counts, cut, gain, no_relevant).as_json()
        names = {"acg": "ACG", "ndcg": "nDCG", "wap": "WAP"}
        rows |= {names[key] + ("" if cut is None else f"@{cut}"): value for key, value in figures.items()}
    return pd.DataFrame(rows, dtype=float).T


def rank(distances: Iterable[np.ndarray], truth: Truth, name: str) -> CountTable:
    """A count table of rankings by real-valued distances, for `evaluate` and `compare` beside hash codes.

    Parameters
    ----------
    distances : of each query in turn, float (N,), from every item of the database
    truth : which items are relevant to which query
    name : what ranks, in a word or two

    Raises
    ------
    RelstudyError
        where a query's distances are not numbers, one for each item of the database

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.relevance import ListedTruth
    >>> rank([np.array([0.3, 0.1, 0.2])], ListedTruth.from_lists([[1]], 3), "Euclidean")
    CountTable(1 queries x 3 items by Euclidean distance, 1 relevant pairs by listed)
    """
    check_arguments(rank, locals())
    from relstudy.analysis.hashing.ranking.rank_table import rank_table

    return rank_table(distances, truth, name)
