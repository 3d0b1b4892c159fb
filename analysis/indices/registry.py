"""The indices that there are: those of the paper, those registered besides, and each measure of ir-measures by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import numpy as np

from relstudy.analysis.indices.index import Index, Needs
from relstudy.analysis.indices.judged_coverage import covered_name, depths_of, judged_name
from relstudy.analysis.indices.measures import parsed_measure, takes_relevant_or_not
from relstudy.analysis.indices.per_query import FEWEST_RELEVANT
from relstudy.analysis.indices.sample_estimators import depth_looked_at, is_estimable
from relstudy.analysis.resampling.spread import CORRELATION
from relstudy.common.runtime.errors import RelstudyError


def derivative_of_average_precision(
    ranking: np.ndarray, relevance: np.ndarray, weight: np.ndarray, spread: np.ndarray | float = 0.0
) -> np.ndarray:
    """The derivative of average precision with respect to what people say of each pair, float [pairs], not finite where
    the index is undefined; `spread` is the variance of what each judgment is the mean of."""
    level, seen, hit = _by_level(ranking, relevance, weight)
    total = hit.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.cumsum(hit) / np.cumsum(seen)
        value = hit @ precision / total
        below = np.cumsum((hit / np.cumsum(seen))[::-1])[::-1]
        return np.asarray(weight * (precision + below - value)[level] / total)


def derivative_of_normalised_rank(
    ranking: np.ndarray, relevance: np.ndarray, weight: np.ndarray, spread: np.ndarray | float = 0.0
) -> np.ndarray:
    """That of one minus the area under the ROC curve, as `derivative_of_average_precision`."""
    level, seen, hit = _by_level(ranking, relevance, weight)
    total, miss = hit.sum(), seen - hit
    with np.errstate(invalid="ignore", divide="ignore"):
        missed_above = np.cumsum(miss) - miss / 2
        hits_below = total - np.cumsum(hit) + hit / 2
        # no pair is held against itself
        itself = weight**2 * relevance * (1 - relevance)
        itself_slope = weight**2 * (1 - 2 * relevance)
        pairs = total * miss.sum() - itself.sum()
        value = (hit @ missed_above - itself.sum() / 2) / pairs
        changed = weight * (missed_above - hits_below)[level] - itself_slope / 2
        return np.asarray((changed - value * (weight * (miss.sum() - total) - itself_slope)) / pairs)


def _by_level(
    ranking: np.ndarray, relevance: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each pair's level of scores, 0 for the highest, and the weight of all and of relevant pairs at each level."""
    _, level = np.unique(-ranking, return_inverse=True)
    return level, np.bincount(level, weight), np.bincount(level, weight * relevance)


def derivative_of_pearson(
    values: np.ndarray, judgment: np.ndarray, weight: np.ndarray, spread: np.ndarray | float = 0.0
) -> np.ndarray:
    """That of Pearson's correlation of `values` with judgments, as `derivative_of_average_precision`."""
    share = weight / weight.sum()
    x, y = values - share @ values, judgment - share @ judgment
    xx, yy = share @ (x * x), share @ (y * y + spread)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = share @ (x * y) / np.sqrt(xx * yy)
        return np.asarray(share * (x / np.sqrt(xx * yy) - r * y / yy))


CONDENSED, ESTIMATED = "condensed ", "estimated "
PREFIXES = (CONDENSED, ESTIMATED)
"""Before the names of measures of judged pairs alone, and of those that a sample of pairs estimates."""


def bare_name(name: str) -> str:
    """The name of a measure as ir-measures has it.

    Examples
    --------
    >>> bare_name("condensed nDCG@10"), bare_name("AP")
    ('nDCG@10', 'AP')
    """
    return next((name.removeprefix(each) for each in PREFIXES if name.startswith(each)), name)


def named_under(measure: str, unjudged: str) -> str:
    """The name of a measure by what is made of results that nobody judged.

    Parameters
    ----------
    unjudged : "poor", "skip" or "weigh", which skips in measures that a sample does not estimate

    Examples
    --------
    >>> named_under("AP", "poor"), named_under("AP", "weigh"), named_under("RR", "weigh")
    ('AP', 'estimated AP', 'condensed RR')
    """
    bare = str(parsed_measure(bare_name(measure)))
    if unjudged == "poor":
        return bare
    return (ESTIMATED if unjudged == "weigh" and is_estimable(bare) else CONDENSED) + bare


PEARSON = Index(
    name="pearson",
    term="correlation",
    definition="Pearson's r of scores with judgments; of which scores and which pairs, compared_by says",
    plain="how closely scores follow people's judgments",
    needs=Needs.JUDGMENTS,
    draws=lambda pairs: pairs.correlation(),
    each_query=lambda pairs: pairs.correlation_in_each_query(),
    scale=CORRELATION,
    guess=lambda share: 0.0,
    guess_label="no relation",
    derivative=derivative_of_pearson,
    source="Shirahatti and Barnard 2005, section 5.5.1",
)

AVERAGE_PRECISION = Index(
    name="average_precision",
    term="pooled AP",
    definition=(
        "sum of precision times gain in recall over distinct scores, no interpolation; under design weights a pair "
        "counts in its own precision as one pair of the collection; within a query left empty where fewer than "
        f"{FEWEST_RELEVANT} relevant results were drawn and others were not"
    ),
    plain="the mean share of good matches from the top down to each good one, all pairs in one list",
    needs=Needs.RELEVANCE,
    reading=(
        "Go down the list of all pairs, best score first, and at each good match note the share of good ones so far; "
        "this is the mean of what was noted. 1 when all good matches come first; guessing gives the share of good "
        "matches, so it is low wherever these are rare."
    ),
    draws=lambda pairs: pairs.retrieval["average_precision"],
    each_query=lambda pairs: pairs.order_in_each_query()[0],
    also=("average precision", "pooled average precision"),
    limited=True,
    of_relevance_alone=True,
    guess=lambda share: share,
    derivative=derivative_of_average_precision,
    source="Shirahatti and Barnard 2005, section 5.5.3",
)

NORMALISED_RANK = Index(
    name="normalised_rank",
    term="pooled pairwise accuracy",
    definition="one minus the weighted area under the ROC curve, ties half: 0 best, 0.5 random, 1 worst",
    plain="how often a good match is above a poor one, whatever the query of either",
    needs=Needs.RELEVANCE,
    reading=(
        "How often a good match ranks above a poor one, whatever the query of either: 1 always, 0.5 by chance, 0 "
        "never. It is the area under the ROC curve, one minus the normalised rank of the JSON."
    ),
    draws=lambda pairs: pairs.retrieval["normalised_rank"],
    each_query=lambda pairs: 1.0 - pairs.order_in_each_query()[1],
    better="lower",
    complement=True,
    in_100=True,
    limited=True,
    of_relevance_alone=True,
    guess=lambda share: 0.5,
    derivative=derivative_of_normalised_rank,
    also=("pairwise accuracy", "good above poor"),
    source="Shirahatti and Barnard 2005, section 5.5.4",
)

SAME_QUERY = Index(
    name="same_query",
    term="pairwise accuracy within queries",
    definition=(
        "of all couples of a good and a poor pair of one query, those with the good one above, ties half; a query "
        "counts by its couples over its pairs: 1 best, 0.5 random"
    ),
    plain="how often a good match is ranked above a poor one",
    needs=Needs.LISTS,
    reading=(
        "How often a good match ranks above a poor one of the same query, as in the list that somebody who searches "
        "sees: 1 always, 0.5 by chance, 0 never. Queries with few good or few poor results count less."
    ),
    draws=lambda pairs: pairs.good_above_poor(),
    each_query=lambda pairs: pairs.lists.by_query(),
    in_100=True,
    limited=True,
    of_relevance_alone=True,
    also=("good above poor in the same query", "good above poor by query", "same query"),
    guess=lambda share: 0.5,
    source="Hanley and McNeil 1982, of each query",
)

_own = [PEARSON, AVERAGE_PRECISION, NORMALISED_RANK, SAME_QUERY]


def own_indices() -> tuple[Index, ...]:
    """The indices that every scoring run has, in the order in which they are shown."""
    return tuple(_own)


def register(index: Index) -> Index:
    """Add an index to those that every scoring run has; the index itself.

    Raises
    ------
    RelstudyError
        where another has its name or term
    """
    for other in _own:
        for what in ("name", "term"):
            if getattr(index, what) and getattr(index, what) == getattr(other, what):
                raise RelstudyError(f"index {index.name}: {other.name} has the {what} {getattr(other, what)!r} already")
    _own.append(index)
    return index


@contextmanager
def registered(index: Index) -> Iterator[Index]:
    """Register an index for as long as a block lasts."""
    register(index)
    try:
        yield index
    finally:
        _own.remove(index)


def index_of(name: str) -> Index:
    """The index of a name: one of every run, else a measure of ir-measures, "condensed " before it or not.

    Raises
    ------
    RelstudyError
        if there is none

    Examples
    --------
    >>> index_of("normalised_rank").term, index_of("condensed nDCG@10").name
    ('pooled pairwise accuracy', 'condensed nDCG@10')
    """
    return next((index for index in _own if index.name == name), None) or _measure(name)


def index_called(name: str, unjudged: str = "poor") -> Index:
    """The index that somebody names: by its key, its term or another of its names, else a measure of ir-measures.

    Parameters
    ----------
    unjudged : what a measure makes of results that nobody judged (`named_under`)

    Raises
    ------
    RelstudyError
        if there is none

    Examples
    --------
    >>> index_called("correlation").name, index_called("nDCG@10", "skip").name
    ('pearson', 'condensed nDCG@10')
    """
    for index in _own:
        if index.is_called(name.strip()):
            return index
    try:
        return index_of(name if unjudged == "poor" else named_under(name, unjudged))
    except RelstudyError:
        named = ", ".join(index.name for index in _own)
        raise RelstudyError(
            f"{name!r} is not an index: one of {named}, or a measure such as nDCG@10, is needed"
        ) from None


@cache
def _measure(name: str) -> Index:
    bare = str(parsed_measure(bare_name(name)))
    prefix = next((each for each in PREFIXES if name.startswith(each)), "")
    return Index(
        name=prefix + bare,
        term=prefix + bare,
        definition=f"{bare} of ir-measures",
        needs=Needs.GRADES if not takes_relevant_or_not(bare) else Needs.BINARY,
        draws=lambda pairs: pairs.over_queries(bare),
        each_query=lambda pairs: pairs.measured(bare).values,
        of_run=True,
        of_relevance_alone=True,
        source="ir-measures",
    )


def judged_beside(index: Index) -> str | None:
    """The name of the share of first results that tells how much an index of runs rests on; None of other indices.

    Examples
    --------
    >>> judged_beside(index_of("nDCG@10")), judged_beside(index_of("estimated AP")), judged_beside(PEARSON)
    ('judged@10', 'covered@10', None)
    """
    if index.name.startswith(ESTIMATED):
        return covered_name(depth_looked_at(bare_name(index.name)))
    return judged_name(depths_of([bare_name(index.name)])[0]) if index.of_run else None


def run_indices(measures: Sequence[str], unjudged: str) -> tuple[Index, ...]:
    """The indices of a scoring run: those of every run, then the measures asked for.

    Parameters
    ----------
    unjudged : what measures make of results that nobody judged (`named_under`)
    """
    names = dict.fromkeys(named_under(name, unjudged) for name in measures)
    return (*own_indices(), *(index_of(name) for name in names))


def limited_figures() -> list[str]:
    """Readers' names of the figures that rest on all that is relevant in a population, recall among them."""
    return [*(index.term for index in own_indices() if index.limited), "recall"]


def by_relevance_first(indices: Iterable[Index]) -> list[Index]:
    """The indices of relevance and then those of judgments, each in their order."""
    return sorted(indices, key=lambda index: index.needs is Needs.JUDGMENTS)
