"""Each index of a system as the figures that a judge's help is made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from relstudy.analysis.indices.correlation import INDICES as CORRELATIONS
from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.index import Index, Needs
from relstudy.analysis.indices.known import PEARSON, by_relevance_first, own_indices
from relstudy.analysis.indices.pairs import SystemPairs
from relstudy.analysis.indices.precision_recall import SHARES, Retrieval
from relstudy.analysis.judges.allocation import least_errors
from relstudy.analysis.judges.cuts import Cuts, at_varying_cuts
from relstudy.analysis.judges.estimator import Terms
from relstudy.analysis.judges.universe import Universe
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged import Weighting
from relstudy.analysis.scoring.scored_pairs import ScoredPairs

RELEVANT = "relevant_share"
RECALL = "recall_at_"
RANK_CORRELATIONS = tuple(name for name in CORRELATIONS if name != PEARSON.name)
Figures = dict[str, BootstrapStatistic]


def assisted_indices() -> list[Index]:
    """The indices that a judge can help with: those that are defined for what a grade is worth on average."""
    takes = (Needs.JUDGMENTS, Needs.RELEVANCE, Needs.LISTS)
    return by_relevance_first([index for index in own_indices() if index.needs in takes])


def helped(index: str, terms: Terms) -> Terms:
    """The terms of an index without those of the judge where it cannot help.

    Good above poor in the same query sets pairs of one query beside one another, of which few are drawn, and that its
    corrections are zero on average is not shown; the verdict by it rests on people alone.
    """
    of_lists = any(each.name == index and each.needs is Needs.LISTS for each in own_indices())
    return terms.by_people() if of_lists else terms


def figure_names(shares: Sequence[float]) -> list[str]:
    """Figures that a judge can help with, by name: the relevant share, indices, precision and recall at shares."""
    at_shares = [f"{what}_at_{share:g}" for share in shares for what in ("precision", "recall")]
    return [RELEVANT, *(index.name for index in assisted_indices()), *at_shares]


def terms_of(
    universe: Universe,
    candidate: Candidate,
    scores: np.ndarray,
    used: np.ndarray,
    indices: Collection[str] | None = None,
) -> dict[str, Terms]:
    """Indices of a system, by name, with those of the delete-one jackknife where there are two queries.

    Correlations are of mapped scores where there are any: those of people out of fold as ever, those in the brackets,
    whose mean is zero whatever is correlated, by the one mapping of all judged pairs.

    Parameters
    ----------
    scores : float [rows of the judge's table], the system's, as they are
    used : bool [judged pairs], those that count for the system
    indices : which; None gives every index, which takes twice as long as one
    """
    ranking = scores if candidate.direction.higher else -scores
    mapped = ranking
    if candidate.mapped is not None and candidate.mapped.fitted is not None:
        mapped = candidate.mapped.fitted.predict(scores)
    cuts = _cuts(universe, candidate, ranking, used)
    terms, whole = _terms(universe, candidate, ranking, mapped, used, indices, cuts)
    if universe.left_out is None:
        return terms
    if cuts.varying is not None:
        cuts = _cuts(universe.left_out, candidate, ranking, used)
    left_out, _ = _terms(universe.left_out, candidate, ranking, mapped, used, indices, cuts, whole)
    least = least_errors(universe, terms, ranking, mapped)
    queries = np.unique(universe.context.pairs.query[used])
    return {
        name: replace(each.with_left_out(left_out[name], queries), least=least[name]) for name, each in terms.items()
    }


def _terms(
    universe: Universe,
    candidate: Candidate,
    ranking: np.ndarray,
    mapped: np.ndarray,
    used: np.ndarray,
    indices: Collection[str] | None,
    cuts: Cuts,
    whole: Figures | None = None,
) -> tuple[dict[str, Terms], Figures | None]:
    """Without those of the jackknife; and the figures of the whole collection where they are the same in every
    replicate, so that `whole` can spare them the next time."""
    context = universe.context
    wanted = [index for index in assisted_indices() if indices is None or index.name in indices]
    of_ranks = tuple(name for name in RANK_CORRELATIONS if indices is None or name in indices)

    def of_pairs(
        table_row: np.ndarray,
        row: np.ndarray,
        times: np.ndarray,
        weight: np.ndarray,
        own: float | None,
        sampled: bool = True,
    ) -> Figures:
        worth = universe.worth.of(table_row)
        pairs = SystemPairs(
            universe.query_of_row[table_row] if sampled else universe.judge.queries[0],
            worth.judgment,
            worth.relevance,
            ranking[table_row],
            mapped[table_row],
            weight,
            row,
            times,
            pull=weight,
            own=None if own is None else np.full(len(row), own),
            spread=worth.spread,
        )
        figures = {index.name: index.over_draws(pairs) for index in wanted}
        figures |= _at_cuts(Retrieval(row, worth.relevance, times, guard=False), pairs.ranking, weight, cuts)
        if not of_ranks:
            return figures
        return figures | CorrelationBootstrap(row, worth.order, times, weight).correlate(pairs.value, of_ranks)

    people = _of_people(universe, candidate, used, cuts, wanted, of_ranks)
    both = used & universe.given
    judged = (universe.row_of_judged[both], context.draws.row[both], context.draws.times, context.design[both])
    by_set = [of_pairs(*judged, None if context.own is None else float(context.own[0]))]
    if not universe.judged_alone:
        own = 1.0 if np.isfinite(context.pairs.fraction).all() else None
        query = universe.query_of_row[universe.sampled]
        by_set.append(of_pairs(universe.sampled, query, context.draws.between, universe.sampled_weight, own))
        if universe.beyond:
            if whole is None:
                row, times = universe.collection_times
                figures = of_pairs(np.arange(len(ranking)), row, times, universe.weight, 1.0, sampled=False)
                whole = figures if times.shape == (1, 1) and cuts.varying is None else None
            else:
                figures = whole
            by_set.append(figures)
    replicates = context.draws.counts.shape[1]
    return {
        name: Terms(figure, *(_in_every_replicate(each[name], replicates) for each in by_set))
        for name, figure in people.items()
        if indices is None or name in indices
    }, whole


def _cuts(universe: Universe, candidate: Candidate, ranking: np.ndarray, used: np.ndarray) -> Cuts:
    """The scores at which SHARES of the collection are retrieved.

    They are known where the judge was given the collection; else a sample tells them, and they vary with it.
    """
    context = universe.context
    if universe.partial:
        weight, row, times = context.design[used], context.draws.row[used], context.draws.times
        return Cuts.of_sample(candidate.ranking_of(used), weight, row, times)
    if not universe.beyond:
        query = universe.query_of_row[universe.sampled]
        return Cuts.of_sample(ranking[universe.sampled], universe.sampled_weight, query, context.draws.between)
    return Cuts.known(ranking, universe.weight)


def _at_cuts(pairs: Retrieval, ranking: np.ndarray, weight: np.ndarray, cuts: Cuts) -> Figures:
    """The relevant share, and precision and recall at the cuts, by name."""
    points = pairs.at_thresholds(ranking, weight, np.array(SHARES), cuts.scores)
    figures = {RELEVANT: points.precision[-1]}
    precisions, recalls = points.precision, points.recall
    if cuts.varying is not None:
        moved = at_varying_cuts(pairs, ranking, weight, cuts.varying)
        precisions, recalls = (
            [replace(each, replicates=own, left_out=None) for each, own in zip(known, varied, strict=True)]
            for known, varied in zip((precisions[:-1], recalls[:-1]), moved, strict=True)
        )
    for share, precision, recall in zip(SHARES[:-1], precisions, recalls, strict=False):
        figures |= {f"precision_at_{share:g}": precision, f"{RECALL}{share:g}": recall}
    return figures


def _of_people(
    universe: Universe,
    candidate: Candidate,
    used: np.ndarray,
    cuts: Cuts,
    indices: Sequence[Index],
    of_ranks: tuple[str, ...],
) -> Figures:
    """The indices from people's judgments alone; those that the design cannot estimate are withheld."""
    context = universe.context
    pairs = ScoredPairs.of(context, candidate, used, collection=True)
    by_judgments, by_relevance = (
        {index.name: pairs.figure(index) for index in indices if index.of_judgments == of_judgments}
        for of_judgments in (True, False)
    )
    by_rank = context.compared_correlations(candidate, used, of_ranks, collection=True)
    at_cuts = _at_cuts(context.prepared(used), pairs.ranking, context.design[used], cuts)
    design = context.pairs.design
    at_cuts = {name: design.limited(each) if name.startswith(RECALL) else each for name, each in at_cuts.items()}
    return by_judgments | by_rank | by_relevance | at_cuts


def _in_every_replicate(figure: BootstrapStatistic, replicates: int) -> BootstrapStatistic:
    return BootstrapStatistic(figure.value, np.broadcast_to(figure.replicates, (replicates,)))


def check_weighting(universe: Universe) -> str | None:
    """Why no judge can help with these judgments, as a phrase; None where one can."""
    context = universe.context
    if context.pairs.weighting(context.options.weights) is not Weighting.DESIGN:
        return "pairs must be weighted by design"
    return context.weights_missing
