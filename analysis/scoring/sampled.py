"""Measures of whole rankings from a sample of judged pairs, for a system whose scores of all results are there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from relstudy.analysis.indices.first_judged import in_order
from relstudy.analysis.indices.measures import QueryValues, parsed_measure
from relstudy.analysis.indices.sampled import LARGEST, ON_RELEVANT, SampledList, estimated, is_relevant, uncertainty
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.relevance import Relevance
from relstudy.analysis.scoring.trec import gains
from relstudy.common.wording import percent

LEAST_LISTED = 0.75
"""Scores of fewer than this share of the results for which the judged ones stand are not the whole rankings; the number
for which they stand is itself an estimate."""
NOT_LISTED = "the scores do not hold the results between those judged, so their places are not known"


def estimates(
    pairs: JudgedPairs, relevance: Relevance, names: Sequence[str], scores: pd.DataFrame, higher: bool
) -> dict[str, QueryValues]:
    """Each measure as the sample of judged pairs gives it, by its name.

    Parameters
    ----------
    names : of measures that a sample estimates (`relstudy.analysis.indices.sampled.is_estimable`)
    scores : query_id, result_id, score: everything that the system retrieved or scored
    higher : whether a higher score is better
    """
    kept, query, place = in_order(pairs.queries, scores, higher)
    retrieved = np.bincount(query, minlength=len(pairs.queries))
    rank = _ranks(pairs, scores.iloc[kept], place + 1)
    given = np.minimum(
        1.0, pairs.probability / np.where(np.isfinite(pairs.query_probability), pairs.query_probability, 1)
    )
    stood_for = (1.0 / given[rank > 0]).sum()
    if retrieved.sum() < LEAST_LISTED * stood_for:
        nothing = np.full(len(pairs.queries), np.nan)
        return {name: QueryValues(nothing, missing=NOT_LISTED) for name in names}
    gain = gains(pairs.judgment, pairs.scale.scale).astype(float) if pairs.gain is None else pairs.gain
    # as trec_eval and statAP take grades of qrels, whatever the threshold
    relevant = (pairs.judgment >= 1) * 1.0 if pairs.of_qrels else relevance.values
    rows = np.split(np.argsort(pairs.query, kind="stable"), np.cumsum(np.bincount(pairs.query))[:-1])
    lists = [
        SampledList(rank[each], gain[each], relevant[each], given[each], int(retrieved[number]))
        for number, each in enumerate(rows)
    ]
    return {name: _over_queries(name, lists) for name in names}


def _ranks(pairs: JudgedPairs, listed: pd.DataFrame, rank: np.ndarray) -> np.ndarray:
    """The place of each judged pair in the system's ranking, from 1; 0 where it is not there."""
    keys = pd.MultiIndex.from_arrays(
        [listed[name].astype("str").to_numpy(dtype=object) for name in ("query_id", "result_id")]
    )
    at = keys.get_indexer(pd.MultiIndex.from_arrays([pairs.query_id, pairs.result_id]))
    return np.where(at >= 0, rank[at], 0)


def _over_queries(name: str, lists: Sequence[SampledList]) -> QueryValues:
    if parsed_measure(name).NAME in ON_RELEVANT:
        varies = np.array([uncertainty(name, each) for each in lists])
        known = varies[np.isfinite(varies)]
        if not len(known):
            return QueryValues(np.full(len(lists), np.nan), missing="no judged result is relevant")
        spread = float(np.sqrt(np.mean(known**2)))
        if spread > LARGEST:
            judged = np.mean([is_relevant(name, each).sum() for each in lists])
            reason = (
                f"too few relevant results of a query are judged ({judged:.1f} on average) to know how many there are "
                f"(to {percent(spread)}; {percent(LARGEST)} is needed), on which it rests; P@k and RBP do not"
            )
            return QueryValues(np.full(len(lists), np.nan), missing=reason)
    found = [estimated(name, each) for each in lists]
    values, errors = (np.array([getattr(each, part) for each in found]) for part in ("value", "error"))
    return QueryValues(values, errors=errors)
