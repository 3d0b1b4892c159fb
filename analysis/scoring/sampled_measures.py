"""Measures of whole rankings from a sample of judged pairs, for a system whose scores of all results are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from relstudy.analysis.indices.judged_coverage import covered_name, in_order
from relstudy.analysis.indices.measures import QueryValues, parsed_measure
from relstudy.analysis.indices.sample_estimators import (
    LARGEST,
    LARGEST_ROOM,
    LARGEST_SEEN,
    ON_RELEVANT,
    SampledList,
    Strata,
    depth_looked_at,
    error_of_drawing,
    estimated,
    is_relevant,
    room,
    uncertainty,
    weighed,
)
from relstudy.analysis.resampling.paired_tests import PairedDifference
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.relevance import Relevance
from relstudy.analysis.scoring.trec import gains
from relstudy.common.runtime.wording import percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

LEAST_LISTED = 0.75
"""Scores of fewer than this share of the results for which the judged ones stand are not the whole rankings; the number
for which they stand is itself an estimate."""
FEWER = 2.0
"""Standard errors by which judged results stand for fewer than a system ranks first, where others had no chance of
being drawn; by chance alone one system in forty looks so."""
EXACT = 1e-9
"""Sums of some thousands of doubles differ by less, relative to their size."""
NOT_LISTED = "the scores cover only the judged results, so ranks are unknown"


def estimates(
    pairs: JudgedPairs,
    relevance: Relevance,
    names: Sequence[str],
    scores: pd.DataFrame,
    higher: bool,
    with_errors: bool = True,
    system: str = "the system",
) -> dict[str, QueryValues]:
    """Each measure as the sample of judged pairs gives it, by its name; and where the pool is known or does not
    hold all of its first results, the shares of each query's of which something judged speaks (`covered_name`).

    Parameters
    ----------
    names : of measures that a sample estimates (`relstudy.analysis.indices.sample_estimators.is_estimable`)
    scores : query_id, result_id, score: everything that the system retrieved or scored
    higher : whether a higher score is better
    with_errors : whether each query's standard error of drawing its results is worked out, which takes most of the time
    system : what reasons call it
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
    given = np.minimum(1.0, pairs.probability_in_query)
    stood_for = (1.0 / given[rank > 0]).sum()
    if retrieved.sum() < LEAST_LISTED * stood_for:
        nothing = np.full(len(pairs.queries), np.nan)
        return {name: QueryValues(nothing, missing=NOT_LISTED) for name in names}
    gain = gains(pairs.judgment, pairs.scale.scale).astype(float) if pairs.gain is None else pairs.gain
    # as trec_eval and statAP take grades of qrels, whatever the threshold
    relevant = (pairs.judgment >= 1) * 1.0 if pairs.of_qrels else relevance.values
    rows = np.split(np.argsort(pairs.query, kind="stable"), np.cumsum(np.bincount(pairs.query))[:-1])
    strata = _strata(pairs, rank, places)
    depths = {name: depth_looked_at(name) for name in names}
    near = np.flatnonzero(place < max(depths.values(), default=0))
    inside = _pool(pairs)
    outside = None if inside is None else near[~keys[near].isin(inside)]
    if inside is None and pairs.query_probability_given and not pairs.design.pool:
        outside = near[:0]  # drawn from all results, as relstudy draws without a pool
    lists = [
        SampledList(
            rank[each],
            gain[each],
            relevant[each],
            given[each],
            int(retrieved[number]),
            strata.get(number),
            None if outside is None else place[outside[query[outside] == number]] + 1,
        )
        for number, each in enumerate(rows)
    ]
    worth = pairs.worth_of_queries
    found = {
        name: _over_queries(name, lists, with_errors, worth, float(gain.max(initial=0.0)), system) for name in names
    }
    shares = {depth: covered(lists, depth) for depth in sorted({*depths.values()})}
    return found | {covered_name(depth): QueryValues(each) for depth, each in shares.items() if each is not None}


def _pool(pairs: JudgedPairs) -> pd.MultiIndex | None:
    """The results that had a chance of being judged; None where they are not known."""
    if pairs.pool is not None:
        return pairs.pool.pairs
    others = pairs.unjudged
    if pairs.stratum is None or others is None or "stratum" not in others:
        return None
    names = [np.r_[getattr(pairs, name), others[name].astype("str").to_numpy(dtype=object)] for name in PAIR]
    return pd.MultiIndex.from_arrays(names)


def covered(lists: Sequence[SampledList], depth: int) -> np.ndarray | None:
    """The share of each query's first results of which something judged speaks, float [queries].

    Where the pool is not known it is the share for which the judged ones stand, and None where that is not less than
    chance explains.
    """
    first = np.array([max(min(depth, each.retrieved), 1) for each in lists])
    if any(each.beyond is not None for each in lists):
        return 1 - np.array([len(each.unseen(depth)) for each in lists]) / first
    near = [(each.rank >= 1) & (each.rank <= depth) for each in lists]
    stood = np.array([each.weight[part].sum() for each, part in zip(lists, near, strict=True)])
    drawn = sum(((1 - each.probability) * each.weight**2)[part].sum() for each, part in zip(lists, near, strict=True))
    short = first.sum() - stood.sum() > FEWER * np.sqrt(drawn) + EXACT * first.sum()
    return stood / first if short else None


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


def _over_queries(
    name: str, lists: Sequence[SampledList], with_errors: bool, worth: np.ndarray | None, best: float, system: str
) -> QueryValues:
    reason = uncounted(name, lists) if parsed_measure(name).NAME in ON_RELEVANT else None
    if reason is not None and not any(each.strata for each in lists):
        return QueryValues(np.full(len(lists), np.nan), missing=reason)
    values = np.array([estimated(name, each) for each in lists])
    errors = np.array([error_of_drawing(name, each) for each in lists]) if with_errors else None
    # of strata people look for the published figures, which lean as the others do
    reason = reason or unsure(name, lists) or uncovered(name, lists, values, worth, best, system)
    return QueryValues(values, errors=errors, withheld=reason)


def uncovered(
    name: str,
    lists: Sequence[SampledList],
    values: np.ndarray,
    worth: np.ndarray | None = None,
    best: float = 1.0,
    system: str = "the system",
) -> str | None:
    """Why a figure has no interval since nothing judged speaks of some first results, as a phrase; None where it has.

    Where the pool is not known, the results for which the judged ones stand are held against those that there are.

    Parameters
    ----------
    values : of each query, float [queries], NaN where it has none
    worth : how much each query counts; None: all alike
    best : the highest gain
    system : what the phrase calls it
    """
    depth = depth_looked_at(name)
    shares = covered(lists, depth)
    if shares is None:
        return None
    share = float(np.average(shares, weights=worth))
    if all(each.beyond is None for each in lists):
        return (
            f"the judged results stand for {percent(share)} of {system}'s first {depth}, fewer than chance explains, "
            "so others had no chance of being drawn, and count as poor"
        )
    most = float(np.average([room(name, each, best) for each in lists], weights=worth))
    if most == 0 or most <= LARGEST_ROOM * PairedDifference.of(values, worth).error:
        return None
    return (
        f"nothing judged speaks of {percent(1 - share)} of {system}'s first {depth} results, which could move it by up "
        f"to {most:.2g}"
    )


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
        f"the number of relevant results per query is too uncertain ({judged:.1f} judged on average; relative standard "
        f"error {percent(spread)}, limit {percent(LARGEST)}); P@k and RBP do not need it"
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
