"""Look-up in hash tables (Moran 2016, section 3.4.2): L tables of K bits each; a code is found where any bucket agrees.

For given tables the result needs the codes: two more counters a query. Its expectation over a random permutation of the
bits needs the count table alone, because a code at distance d is found with a probability that depends on d only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.lookup.bucket_index import BucketIndex, segments
from relstudy.analysis.hashing.metrics.ball import collision_probability
from relstudy.analysis.hashing.truth.relevance import Truth, check_sizes


@dataclass(frozen=True)
class Buckets:
    """Totals of what the tables return, over all queries.

    Parameters
    ----------
    retrieved, relevant : float (M,), codes found and relevant codes found by each query
    all_relevant : int64 (M,), relevant codes in the database
    """

    retrieved: np.ndarray
    relevant: np.ndarray
    all_relevant: np.ndarray

    def micro(self, beta: float = 1.0) -> dict[str, Any]:
        """Micro precision, recall and F-beta (Eq. 3.6, 3.7, 3.10), and the mean candidates a query; None for 0/0."""
        hits, seen, relevant_pairs = (
            float(self.relevant.sum()),
            float(self.retrieved.sum()),
            float(self.all_relevant.sum()),
        )
        squared = beta**2
        bottom = seen + squared * relevant_pairs
        return {
            "precision": hits / seen if seen else None,
            "recall": hits / relevant_pairs if relevant_pairs else None,
            "f": (1 + squared) * hits / bottom if bottom else None,
            "candidates": seen / len(self.retrieved) if len(self.retrieved) else 0.0,
        }


def look_up(queries: Codes, database: Codes, truth: Truth, tables: Sequence[np.ndarray]) -> Buckets:
    """Look every query up in given tables.

    Parameters
    ----------
    tables : the bit positions of each table
    """
    check_sizes(truth, len(queries), len(database))
    result = BucketIndex.of(database, tables).look_up(queries)
    wanted = np.array([len(truth.of(query)) for query in range(len(queries))], dtype=np.int64)
    return Buckets(result.candidates.astype(float), result.relevant(truth).astype(float), wanted)


def expected_look_up(table: CountTable, width: int, tables: int) -> Buckets:
    """Expected look-ups in L disjoint tables of K bits over a random permutation of the bits, from counts alone.

    Examples
    --------
    >>> counts = CountTable(np.array([[1, 0, 4]]), np.array([[1, 0, 0]]))
    >>> expected_look_up(counts, 1, 1).retrieved.tolist()
    [1.0]
    """
    table.need_radii()
    segments(table.bits, width, tables)  # refuses what does not fit
    chance = np.array([collision_probability(table.bits, width, tables, d) for d in range(table.bits + 1)])
    return Buckets(table.total @ chance, table.relevant @ chance, table.relevant.sum(axis=1))
