"""Measures of whole rankings from a sample of judged pairs, for a system whose scores of all results are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from relstudy.analysis.indices.first_judged import in_order
from relstudy.analysis.indices.measures import QueryValues, parsed_measure
from relstudy.analysis.indices.sampled import (
    LARGEST,
    LARGEST_SEEN,
    ON_RELEVANT,
    SampledList,
    Strata,
    estimated,
    is_relevant,
    uncertainty,
    weighed,
)
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.relevance import Relevance
from relstudy.analysis.scoring.trec import gains
from relstudy.common.wording import percent

LEAST_LISTED = 0.75
"""Scores of fewer than this share of the results for which the judged ones stand are not the whole rankings; the number
for which they stand is itself an estimate."""
NOT_LISTED = "the scores do not hold the results between those judged, so their places are not known"


def estimates(
    pairs: JudgedPairs,
    relevance: Relevance,
    names: Sequence[str],
    scores: pd.DataFrame,
    higher: bool,
    with_errors: bool = True,
) -> dict[str, QueryValues]:
    """Each measure as the sample of judged pairs gives it, by its name.

    Parameters
    ----------
    names : of measures that a sample estimates (`relstudy.analysis.indices.sampled.is_estimable`)
    scores : query_id, result_id, score: everything that the system retrieved or scored
    higher : whether a higher score is better
    with_errors : whether each query's standard error of drawing its results is worked out, which takes most of the time
    """
    kept, query, place = in_order(pairs.queries, scores, higher)
    retrieved = np.bincount(query, minlength=len(pairs.queries))
    listed = scores.iloc[kept]
    keys = pd.MultiIndex.from_arrays(
        [listed[name].astype("str").to_numpy(dtype=object) for name in ("query_id", "result_id")]
    )

    def places(query_id: np.ndarray, result_id: np.ndarray) -> np.ndarray:
        """The place of each pair in the system's ranking, from 1; 0 where it is not there."""
        at = keys.get_indexer(pd.MultiIndex.from_arrays([query_id, result_id]))
        return np.where(at >= 0, place[at] + 1, 0)

    rank = places(pairs.query_id, pairs.result_id)
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
    strata = _strata(pairs, rank, places)
    lists = [
        SampledList(rank[each], gain[each], relevant[each], given[each], int(retrieved[number]), strata.get(number))
        for number, each in enumerate(rows)
    ]
    return {name: _over_queries(name, lists, with_errors) for name in names}


def _strata(
    pairs: JudgedPairs, rank: np.ndarray, places: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> dict[int, Strata]:
    """The pool of each query, by its number, where it was drawn from stratum by stratum; else nothing."""
    others = pairs.unjudged
    if pairs.stratum is None or others is None or "stratum" not in others:
        return {}
    names = [others[name].astype("str").to_numpy(dtype=object) for name in ("query_id", "result_id")]
    of_others = pd.Index(pairs.queries).get_indexer(names[0])
    query = np.r_[pairs.query, of_others]
    every = np.r_[rank, places(*names)]
    label = np.r_[pairs.stratum, others["stratum"].astype("str").to_numpy(dtype=object)]
    found = {}
    for number in range(len(pairs.queries)):
        inside = query == number
        codes = pd.factorize(label[inside])[0]
        found[number] = Strata(every[inside], codes, codes[: int((pairs.query == number).sum())])
    return found


def _over_queries(name: str, lists: Sequence[SampledList], with_errors: bool) -> QueryValues:
    reason = uncounted(name, lists) if parsed_measure(name).NAME in ON_RELEVANT else None
    if reason is not None and not any(each.strata for each in lists):
        return QueryValues(np.full(len(lists), np.nan), missing=reason)
    found = [estimated(name, each, with_errors) for each in lists]
    values, errors = (np.array([getattr(each, part) for each in found]) for part in ("value", "error"))
    # of strata people look for the published figures, which lean as the others do
    known = errors if with_errors else None
    return QueryValues(values, errors=known, withheld=reason or unsure(name, lists))


def uncounted(name: str, lists: Sequence[SampledList]) -> str | None:
    """The reason why the number of relevant results is not known well enough, as a phrase; None where it is."""
    varies = np.array([uncertainty(name, each) for each in lists])
    known = varies[np.isfinite(varies)]
    if not len(known):
        return "no judged result is relevant"
    spread = float(np.sqrt(np.mean(known**2)))
    if spread <= LARGEST:
        return None
    judged = np.mean([is_relevant(name, each).sum() for each in lists])
    return (
        f"too few relevant results of a query are judged ({judged:.1f} on average) to know how many there are "
        f"(to {percent(spread)}; {percent(LARGEST)} is needed), on which it rests; P@k and RBP do not"
    )


def unsure(name: str, lists: Sequence[SampledList]) -> str | None:
    """The reason why a sum over the first results has no interval, as a phrase; None where it has one.

    Where results that a system ranks high had small chances to be drawn, single ones stand for many, and a study that
    drew none of them looks sure of itself.
    """
    seen = [weighed(name, each) for each in lists]
    if not any(len(part) for part in seen):
        return None
    whole = sum(each.sum() for each in seen)
    variance = sum(
        ((1 - each.probability) * part**2).sum() for each, part in zip(lists, seen, strict=True) if len(part)
    )
    if whole == 0:
        return "none of the results that it looks at was judged"
    spread = float(np.sqrt(variance) / whole)
    if spread <= LARGEST_SEEN:
        return None
    return (
        "a few judged results stand for most of those that it looks at, as the system ranks high what was seldom drawn "
        f"(their number is known to {percent(spread)}; {percent(LARGEST_SEEN)} is needed)"
    )
