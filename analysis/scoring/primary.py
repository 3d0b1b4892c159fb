"""The one index that decides between systems: as stated, else by what was drawn and how many queries can be ordered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.registry import PEARSON, SAME_QUERY, bare_name, index_called, index_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.relevance import Relevance
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.design_reach import LEAST_PAIRS, LEAST_QUERIES

MATTERS = 0.05
"""The smallest difference that matters, unless it is stated."""


@dataclass(frozen=True)
class Primary:
    """The primary index of a scoring run.

    Parameters
    ----------
    name : of the index that decides
    chosen : how it came to be the one, as the end of a sentence
    matters : the smallest difference in it that matters, in its own points
    """

    name: str
    chosen: str
    matters: float = MATTERS

    @property
    def index(self) -> Index:
        """The index itself."""
        return index_of(self.name)


def primary_of(pairs: JudgedPairs, relevance: Relevance, options: ScoringOptions) -> Primary:
    """The primary index with the smallest difference that matters: the one stated, else by the judgments' design.

    Under whole qrels it is the first measure; else pairwise accuracy within queries, where at least 20 queries have
    five judged pairs with good and poor ones among them and the design reaches far enough; else the correlation.
    """
    name, chosen = _chosen(pairs, relevance, options)
    return Primary(name, chosen, MATTERS if options.matters is None else options.matters)


def _chosen(pairs: JudgedPairs, relevance: Relevance, options: ScoringOptions) -> tuple[str, str]:
    if options.primary is not None:
        return index_called(options.primary, unjudged_in(pairs, options)).name, "as stated"
    if pairs.qrels and options.measures:
        first = index_called(options.measures[0], unjudged_in(pairs, options)).name
        return first, "the first measure, since the judgments are whole qrels"
    if pairs.design.withheld is not None:
        return PEARSON.name, f"the default when the design is too small for {SAME_QUERY.term}"
    queries = queries_with_both(pairs, relevance)
    if queries >= LEAST_QUERIES:
        return SAME_QUERY.name, _default(queries)
    return PEARSON.name, _default(queries)


def _default(queries: int) -> str:
    """Why an index is the default, by the number of queries that can be ordered."""
    than = "at least" if queries >= LEAST_QUERIES else "fewer than"
    return (
        f"the default when {than} {LEAST_QUERIES} queries have {LEAST_PAIRS} or more judged results, good ones and "
        f"poor ones (here {queries})"
    )


def queries_with_both(pairs: JudgedPairs, relevance: Relevance) -> int:
    """Number of queries with at least five judged pairs, of which most people call some good and some poor."""
    number = len(pairs.queries)
    good = np.bincount(pairs.query, relevance.values > 0.5, number) > 0
    poor = np.bincount(pairs.query, relevance.values <= 0.5, number) > 0
    return int((good & poor & (np.bincount(pairs.query, minlength=number) >= LEAST_PAIRS)).sum())


def unjudged_in(pairs: JudgedPairs, options: ScoringOptions) -> Literal["poor", "skip", "weigh"]:
    """The part of results that nobody judged in measures: they are poor, or left out, or those judged stand for them.

    Raises
    ------
    RelstudyError
        where they are to count as poor and the judgments are not whole qrels, or judged ones are to stand for them and
        probabilities are not known
    """
    if options.unjudged == "poor" and not pairs.qrels:
        raise RelstudyError(
            f"unjudged results count as poor ({option('unjudged', 'poor')}) under whole qrels alone; of "
            "pairs outside other judgments nothing is known"
        )
    sampled = bool(np.isfinite(pairs.probability).all()) and not pairs.qrels
    if options.unjudged == "weigh" and not sampled:
        raise RelstudyError(
            f"judged pairs represent others ({option('unjudged', 'weigh')}) where the inclusion probability of every "
            "pair is known, and here it is not"
        )
    if options.unjudged != "auto":
        return options.unjudged
    if pairs.qrels:
        return "poor"
    return "weigh" if sampled and pairs.results_drawn else "skip"


def asked_measures(options: ScoringOptions) -> tuple[str, ...]:
    """The measures asked for, with the primary index where it is one of ir-measures."""
    if options.primary is None:
        return options.measures
    index = index_called(options.primary)
    bare = bare_name(index.name)
    return (*options.measures, bare) if index.of_run and bare not in options.measures else options.measures
