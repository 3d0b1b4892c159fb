"""Measures by their names in ir-measures: of whole runs by whole qrels, else of condensed lists.

A condensed list leaves out what nobody judged, so its values are others, mostly higher; they are called condensed.
Both count every pair alike, and are not corrected for how the pairs were chosen.

The term is that of Sakai 2007.
"""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.measures import (
    Evaluation,
    QueryValues,
    scales_with_gains,
    takes_relevant_or_not,
)
from relstudy.analysis.indices.registry import CONDENSED, ESTIMATED, bare_name
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.trec import gains, whole_multiple
from relstudy.common.options.option_wording import option


def measured(context: ScoringContext, candidate: Candidate) -> dict[str, QueryValues]:
    """The measures asked for, of each query, by their names without "condensed "; of whole runs under qrels."""
    if context.pairs.qrels:
        return dict(candidate.measures or {})
    if context.unjudged == "weigh":
        kept = candidate.measures or {}
        asked = [bare_name(index.name) for index in context.indices if index.name.startswith(ESTIMATED)]
        return {name: kept[name] for name in asked if name in kept}
    if withheld(context) is not None:
        return {}
    return condensed(context, candidate) if any(index.of_run for index in context.indices) else {}


def withheld(context: ScoringContext) -> str | None:
    """The reason why measures of condensed lists are left empty, as a phrase; None where they are not.

    Where the results of a query were sampled, a condensed list is a short one of mostly other results: nDCG@10 of
    .342 was printed for .588 where 600 of 50,000 pairs were drawn. Who wants it all the same asks for it.
    """
    pairs = context.pairs
    if pairs.qrels or context.options.unjudged == "skip" or not pairs.results_drawn:
        return None
    return (
        f"only a sample of each list was judged ({option('unjudged', 'skip')} computes it on the judged results alone)"
    )


def condensed(context: ScoringContext, candidate: Candidate) -> dict[str, QueryValues]:
    """Measures of each query's judged pairs alone, in the system's order.

    Measures that take pairs as relevant or not, at a grade that their name leaves open, take those pairs as relevant
    that more than half of their ratings call so (or whose judgment is above the cut); all others take gains: grades as
    they are, whole or not, and means in whole steps of their scale (`gains`). A query without a relevant pair counts as
    0, as trec_eval counts it.
    """
    pairs = context.pairs
    score = np.full(len(pairs), np.nan)
    score[candidate.used] = candidate.ranking
    if candidate.run:
        score[np.isnan(candidate.given)] = np.nan  # what a run does not hold it did not retrieve
    if context.evaluations is None:
        context.evaluations = _evaluations(context)
    by_query: dict[str, QueryValues] = {}
    run = None
    for evaluation in context.evaluations:
        run = evaluation.run_of(pairs.query_id, pairs.result_id, score) if run is None else run
        by_query |= evaluation.of_run(pairs.queries, run)
    return by_query


def _evaluations(context: ScoringContext) -> list[Evaluation]:
    """The measures asked for, by what of the judgments they take."""
    pairs = context.pairs
    rounded = gains(pairs.judgment, pairs.scale.scale) if pairs.gain is None else pairs.gain
    whole, factor = whole_multiple(rounded)
    binary = (context.relevance.values > 0.5).astype(np.int64)
    names = [bare_name(index.name) for index in context.indices if index.name.startswith(CONDENSED)]
    graded = [name for name in names if not takes_relevant_or_not(name)]
    asked = (
        (binary, [name for name in names if takes_relevant_or_not(name)]),
        (whole, [name for name in graded if factor == 1 or scales_with_gains(name)]),
        (whole // factor, [name for name in graded if factor > 1 and not scales_with_gains(name)]),
    )
    return [
        Evaluation.of_pairs(chosen, pairs.query_id, pairs.result_id, relevance) for relevance, chosen in asked if chosen
    ]
