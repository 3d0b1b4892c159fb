"""Every index within each query: where a system does well and where it fails."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.scored_pairs import ScoredPairs


def indices_by_query(pairs: ScoredPairs) -> pd.DataFrame:
    """One row per query: system, query_id, pairs, relevant, and a column an index.

    `relevant` adds up how relevant the pairs are: their number, where each is relevant or not. An index is NaN
    where the query does not define it: no relevant pair, only relevant pairs, or equal values. Average precision is NaN
    as well where fewer than `FEWEST_RELEVANT` relevant results were drawn and others were not.
    """
    number = pairs.queries
    columns = {
        "system": pairs.candidate.name,
        "query_id": pairs.context.pairs.queries,
        "pairs": np.bincount(pairs.query, minlength=number),
        "relevant": np.bincount(pairs.query, pairs.relevance, number),
    }
    return pd.DataFrame(columns | {index.name: index.by_query(pairs) for index in pairs.context.indices})
