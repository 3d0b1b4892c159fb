"""Each index of a system as the figures that a judge's help is made of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from relstudy.analysis.indices.correlation import INDICES as CORRELATIONS
from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import SHARES, Retrieval
from relstudy.analysis.judges.allocation import least_errors
from relstudy.analysis.judges.cuts import Cuts, at_varying_cuts
from relstudy.analysis.judges.estimator import Terms
from relstudy.analysis.judges.universe import Universe
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged import Weighting
from relstudy.common.reach import LIMITED

RELEVANT = "relevant_share"
Figures = dict[str, BootstrapStatistic]


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs that an index is taken over, with what they count.

    Parameters
    ----------
    row, times : each pair's row of `times` (`relstudy.analysis.resampling.draws`), and that
    weight : float [pairs]
    own : the weight of a pair in its own precision; None takes `weight`
    ranking, mapped : float [pairs], the system's scores so that higher is better, and on the human scale
    """

    row: np.ndarray
    times: np.ndarray
    weight: np.ndarray
    own: float | None
    ranking: np.ndarray
    mapped: np.ndarray

    def retrieval(self, relevance: np.ndarray, cuts: Cuts) -> Figures:
        """Average precision, normalised rank, relevant share, and precision and recall at the cuts."""
        own = None if self.own is None else np.full(len(self.row), self.own)
        pairs = Retrieval(self.row, relevance, self.times, guard=False)
        return _retrieval(pairs, self.ranking, self.weight, own, cuts)

    def correlations(
        self, judgment: np.ndarray, spread: np.ndarray, order: np.ndarray, wanted: tuple[str, ...]
    ) -> Figures:
        """Correlation with judgments that are known in mean and variance, and rank correlation with their order."""
        known = CorrelationBootstrap(self.row, judgment, self.times, self.weight, spread)
        ranked = CorrelationBootstrap(self.row, order, self.times, self.weight)
        of_ranks = tuple(name for name in wanted if name != "pearson")
        return known.correlate(self.mapped, tuple(set(wanted) - set(of_ranks))) | ranked.correlate(
            self.mapped, of_ranks
        )


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
    terms, whole = _terms(universe, candidate, ranking, mapped, used, indices)
    if universe.left_out is None:
        return terms
    left_out, _ = _terms(universe.left_out, candidate, ranking, mapped, used, indices, whole)
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
    whole: Figures | None = None,
) -> tuple[dict[str, Terms], Figures | None]:
    """Without those of the jackknife; and the figures of the whole collection where they are the same in every
    replicate, so that `whole` can spare them the next time."""
    context = universe.context
    correlations = tuple(name for name in CORRELATIONS if indices is None or name in indices)
    cuts = _cuts(universe, candidate, ranking, used)

    def of_pairs(
        table_row: np.ndarray, row: np.ndarray, times: np.ndarray, weight: np.ndarray, own: float | None
    ) -> Figures:
        pairs = PairSet(row, times, weight, own, ranking[table_row], mapped[table_row])
        worth = universe.worth.of(table_row)
        figures = pairs.retrieval(worth.relevance, cuts)
        return figures | pairs.correlations(worth.judgment, worth.spread, worth.order, correlations)

    people = _of_people(universe, candidate, used, cuts, correlations)
    both = used & universe.given
    judged = (universe.row_of_judged[both], context.draws.row[both], context.draws.times, context.design[both])
    by_set = [of_pairs(*judged, context.own)]
    if not universe.judged_alone:
        own = 1.0 if np.isfinite(context.pairs.fraction).all() else None
        query = universe.query_of_row[universe.sampled]
        by_set.append(of_pairs(universe.sampled, query, context.draws.between, universe.sampled_weight, own))
        if universe.beyond:
            if whole is None:
                row, times = universe.collection_times
                figures = of_pairs(np.arange(len(ranking)), row, times, universe.weight, 1.0)
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


def _retrieval(
    pairs: Retrieval, ranking: np.ndarray, weight: np.ndarray, own: np.ndarray | None, cuts: Cuts
) -> Figures:
    """The indices that take pairs as relevant or not, by name."""
    figures = pairs.indices(ranking, weight, own)
    points = pairs.at_thresholds(ranking, weight, np.array(SHARES), cuts.scores)
    figures[RELEVANT] = points.precision[-1]
    precisions, recalls = points.precision, points.recall
    if cuts.varying is not None:
        moved = at_varying_cuts(pairs, ranking, weight, cuts.varying)
        precisions, recalls = (
            [replace(each, replicates=own, left_out=None) for each, own in zip(known, varied, strict=True)]
            for known, varied in zip((precisions[:-1], recalls[:-1]), moved, strict=True)
        )
    for share, precision, recall in zip(SHARES[:-1], precisions, recalls, strict=False):
        figures |= {f"precision_at_{share:g}": precision, f"recall_at_{share:g}": recall}
    return figures


def _of_people(
    universe: Universe, candidate: Candidate, used: np.ndarray, cuts: Cuts, correlations: tuple[str, ...]
) -> Figures:
    """The indices from people's judgments alone; those that the design cannot estimate are withheld."""
    context = universe.context
    own = None if context.own is None else np.full(int(used.sum()), context.own)
    prepared = context.prepared(used)
    figures = _retrieval(prepared, candidate.ranking_of(used), context.design[used], own, cuts)
    reason = context.pairs.design.withheld
    if reason is not None:
        figures = {
            name: replace(figure, withheld=reason) if name.startswith(tuple(LIMITED)) else figure
            for name, figure in figures.items()
        }
    return context.compared_correlations(candidate, used, correlations, collection=True) | figures


def _in_every_replicate(figure: BootstrapStatistic, replicates: int) -> BootstrapStatistic:
    return BootstrapStatistic(figure.value, np.broadcast_to(figure.replicates, (replicates,)))


def check_weighting(universe: Universe) -> str | None:
    """Why no judge can help with these judgments, as a phrase; None where one can."""
    context = universe.context
    if context.pairs.weighting(context.options.weights) is not Weighting.DESIGN:
        return "pairs must be weighted by design"
    return context.weights_missing
