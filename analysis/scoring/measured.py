"""Measures under their ir-measures names: of whole runs by whole qrels, else of condensed lists.

A condensed list leaves out what nobody judged, so its values are others, mostly higher; they are called condensed.
Both count every pair alike, and are not corrected for how the pairs were chosen.

The term is that of Sakai 2007.
"""

from __future__ import annotations

import numpy as np

from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.measures import (
    QueryValues,
    measure_by_query,
    parsed_measure,
    takes_relevant_or_not,
    values_by_query,
)
from relstudy.analysis.scoring.trec import gains

CONDENSED = "condensed "


def measured(context: ScoringContext, candidate: Candidate) -> dict[str, BootstrapStatistic]:
    """The measures asked for, over all queries, with their bootstrap replicates.

    Replicates draw whole queries and know of no collection. Under judgments that are no qrels, each name has
    "condensed " before it.
    """
    names = context.options.measures
    if not names:
        return {}
    if not context.pairs.qrels:
        return condensed(context, candidate)
    counts = context.draws.counts
    by_measure: dict[str, BootstrapStatistic] = {}
    for name in dict.fromkeys(str(parsed_measure(name)) for name in names):
        values = None if candidate.measures is None else candidate.measures.get(name)
        if values is None:
            nothing = np.full(counts.shape[1], np.nan)
            by_measure[name] = BootstrapStatistic(np.nan, nothing, "the saved comparison does not hold this measure")
        else:
            by_measure[name] = BootstrapStatistic(values.total(), values.total(counts))
    return by_measure


def condensed(context: ScoringContext, candidate: Candidate) -> dict[str, BootstrapStatistic]:
    """Measures of each query's judged pairs alone, in the system's order.

    Measures that take pairs as relevant or not, at a grade that their name leaves open, take those pairs as relevant
    that more than half of their ratings call so (or whose judgment is above the cut); all others take whole gains
    (`gains`). A query without a relevant pair counts as 0, as trec_eval counts it.
    """
    pairs, counts = context.pairs, context.draws.counts
    score = np.full(len(pairs), np.nan)
    score[candidate.used] = candidate.ranking
    whole = gains(pairs.judgment, pairs.scale.scale)
    binary = (context.relevance.values > 0.5).astype(np.int64)
    names = context.options.measures
    by_query: dict[str, QueryValues] = {}
    for relevance, chosen in (
        (binary, [name for name in names if takes_relevant_or_not(name)]),
        (whole, [name for name in names if not takes_relevant_or_not(name)]),
    ):
        if not chosen:
            continue
        table = measure_by_query(chosen, pairs.query_id, pairs.result_id, relevance, score)
        by_query |= values_by_query(chosen, pairs.queries, table)
    ordered = dict.fromkeys(str(parsed_measure(name)) for name in names)
    return {
        f"{CONDENSED}{name}": BootstrapStatistic(by_query[name].total(), by_query[name].total(counts))
        for name in ordered
    }
