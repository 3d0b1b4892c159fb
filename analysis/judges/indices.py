"""Each index of a system as the figures that a judge's help is made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from relstudy.analysis.indices.correlation import INDICES as CORRELATIONS
from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.index import Index, Needs
from relstudy.analysis.indices.pairs import SystemPairs
from relstudy.analysis.indices.precision_recall import RELEVANT, SHARES, Retrieval, at_share
from relstudy.analysis.indices.registry import PEARSON, by_relevance_first, own_indices
from relstudy.analysis.judges.allocation import least_errors
from relstudy.analysis.judges.estimator import Terms
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.retrieval_cutoffs import Cuts, at_varying_cuts
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.analysis.resampling.spread import CORRELATION, SHARE, Transform
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged_pairs import Weighting
from relstudy.analysis.scoring.scored_pairs import ScoredPairs

RANK_CORRELATIONS = tuple(name for name in CORRELATIONS if name != PEARSON.name)
Figures = dict[str, BootstrapStatistic]


def assisted_indices() -> list[Index]:
    """The indices that a judge can help with: those that are defined for what a grade is worth on average."""
    takes = (Needs.JUDGMENTS, Needs.RELEVANCE, Needs.LISTS)
    return by_relevance_first([index for index in own_indices() if index.needs in takes])


def helped(index: str, terms: Terms) -> Terms:
    """The terms of an index, by its name, without those of the judge where it cannot help."""
    of_lists = any(each.name == index and not helps(each) for each in own_indices())
    return terms.by_people() if of_lists else terms


def helps(index: Index) -> bool:
    """True where a judge helps with an index.

    Pairwise accuracy within queries sets pairs of one query beside one another, of which few are drawn, and that its
    corrections are zero on average is not shown; the verdict by it rests on people alone.
    """
    return index.needs is not Needs.LISTS


def transform_of(index: str) -> Transform:
    """The scale on which an index has a symmetric interval."""
    if index in CORRELATIONS:
        return CORRELATION
    return next((each.scale for each in own_indices() if each.name == index), SHARE)


def terms_of(
    universe: Universe,
    candidate: Candidate,
    scores: np.ndarray,
    used: np.ndarray,
    indices: Collection[str] | None = None,
    by_judge: bool = True,
) -> dict[str, Terms]:
    """Indices of a system, by name, with those of the delete-one jackknife if there are two queries.

    Correlations are of mapped scores if there are any: those of people out of fold as ever, those in the brackets,
    whose mean is zero whatever is correlated, by the one mapping of all judged pairs.

    Parameters
    ----------
    scores : float [rows of the judge's table], the system's, as they are
    used : bool [judged pairs], those that count for the system
    indices : which; None gives every index
    by_judge : whether indices that no judge helps with (`helps`) are wanted of the judge alone
    """
    system = _System(universe, candidate, scores, used)
    terms = _terms(system, indices, by_judge)
    if len(universe.context.pairs.queries) < 2:
        return terms
    least = least_errors(universe, terms, system.ranking, system.mapped)
    return {name: replace(each, least=least[name]) for name, each in terms.items()}


class _System:
    """A system over the rows of a judge's table, and what its figures share."""

    def __init__(self, universe: Universe, candidate: Candidate, scores: np.ndarray, used: np.ndarray) -> None:
        self.universe, self.candidate, self.used = universe, candidate, used
        self.ranking = candidate.direction.turned(scores)
        self.mapped = self.ranking
        if candidate.mapped is not None and candidate.mapped.fitted is not None:
            self.mapped = candidate.mapped.fitted.predict(scores)
        # from the best down: whatever sorts these rows again finds them sorted, which takes a walk
        self.order = np.argsort(-self.ranking, kind="stable")
        self.queries = np.unique(universe.context.pairs.query[used])
        self.cuts = self._cuts()

    def _cuts(self) -> Cuts:
        """The scores at which SHARES of the collection are retrieved.

        They are known where the judge was given the collection; else a sample tells them, and they vary with it.
        """
        universe, used = self.universe, self.used
        context, draws = universe.context, universe.context.draws
        if universe.partial:
            sample = self.candidate.ranking_of(used), context.design[used]
            row, times, query = draws.row[used], draws.times, context.pairs.query[used]
        elif universe.beyond:
            return Cuts.known(self.ranking[self.order], universe.weight[self.order])
        else:
            rows, weight = universe.sampled_in(self.order)
            sample = self.ranking[rows], weight
            row = query = universe.query_of_row[rows]
            times = draws.between
        cuts = Cuts.of_sample(*sample, row, times)
        if universe.without_each is None:
            return cuts
        return replace(cuts, without=Cuts.of_sample(*sample, query, universe.without_each).varying)


def _terms(system: _System, indices: Collection[str] | None, by_judge: bool) -> dict[str, Terms]:
    """Without the least errors."""
    universe, used, order, queries, cuts = system.universe, system.used, system.order, system.queries, system.cuts
    context, draws = universe.context, universe.context.draws
    wanted = [index for index in assisted_indices() if indices is None or index.name in indices]
    of_ranks = tuple(name for name in RANK_CORRELATIONS if indices is None or name in indices)

    def of_rows(
        rows: np.ndarray, row: np.ndarray, times: np.ndarray, weight: np.ndarray, own: float | None, judged: bool = True
    ) -> Figures:
        """`judged`: of judged queries alone; the whole is the same without any of them."""
        query = universe.query_of_row[rows] if judged else universe.judge.queries[0][rows]
        left_out = LeftOut.of(query, draws.step, len(queries)) if judged else None
        worth = universe.worth.of(rows)
        pairs = SystemPairs(
            query,
            worth.judgment,
            worth.relevance,
            system.ranking[rows],
            system.mapped[rows],
            weight,
            row,
            times,
            pull=weight,
            own=None if own is None else np.full(len(row), own),
            left_out=left_out,
            step=draws.step,
            spread=worth.spread,
        )
        figures = {index.name: index.over_draws(pairs) for index in wanted if helps(index) or (by_judge and judged)}
        without, each = None, universe.without_each if judged else np.ones((1, 1))
        if cuts.without is not None and each is not None:
            without = Retrieval(query if judged else np.zeros_like(query), worth.relevance, each, guard=False)
        retrieval = Retrieval(row, worth.relevance, times, left_out=left_out, guard=False)
        figures |= _at_cuts(retrieval, pairs.ranking, weight, cuts, without, queries)
        if of_ranks:
            prepared = CorrelationBootstrap(row, worth.order, times, weight, left_out=left_out)
            figures |= prepared.correlate(pairs.value, of_ranks)
        names = np.unique(query) if judged else queries[:0]
        return {name: _without_each(each, names, queries) for name, each in figures.items()}

    people = _of_people(system, wanted, of_ranks)
    both = used & universe.given
    rows = universe.row_of_judged[both]
    own_of_judged = None if context.own is None else float(context.own[0])
    by_set = [of_rows(rows, draws.row[both], draws.times, context.design[both], own_of_judged)]
    if not universe.judged_alone:
        own = 1.0 if np.isfinite(context.pairs.fraction).all() else None
        rows, weight = universe.sampled_in(order)
        by_set.append(of_rows(rows, universe.query_of_row[rows], draws.between, weight, own))
        if universe.beyond:
            row, times = universe.collection_times
            by_set.append(of_rows(order, row[order], times, universe.weight[order], 1.0, judged=False))
    replicates = draws.counts.shape[1]
    found = {
        name: [_in_every_replicate(each[name], replicates) for each in by_set if name in each]
        for name in people
        if indices is None or name in indices
    }
    return {name: Terms(people[name], *(each or [people[name]])) for name, each in found.items()}


def _without_each(figure: BootstrapStatistic, names: np.ndarray, queries: np.ndarray) -> BootstrapStatistic:
    """A figure with what it is without each of `queries`; without one of which it has no pair it stays as it is.

    Parameters
    ----------
    names : the queries of its pairs, which its own `left_out` is of
    """
    jackknife = figure.left_out
    if len(names) if jackknife is None else len(jackknife) != len(names):
        return figure  # it has no jackknife, or one of all queries already
    left_out = np.full(len(queries), figure.value)
    if jackknife is not None:
        left_out[np.isin(queries, names)] = jackknife
    return replace(figure, left_out=left_out)


def _at_cuts(
    pairs: Retrieval,
    ranking: np.ndarray,
    weight: np.ndarray,
    cuts: Cuts,
    without: Retrieval | None,
    queries: np.ndarray,
) -> Figures:
    """The relevant share, and precision and recall at the cuts, by name.

    Parameters
    ----------
    without : the same pairs with a replicate for each judged query, without it; None where cuts do not vary
    queries : those of them that count
    """
    points = pairs.at_thresholds(ranking, weight, np.array(SHARES), cuts.scores)
    figures = {RELEVANT: points.precision[-1]}
    precisions, recalls = points.precision, points.recall
    if cuts.varying is not None:
        moved = at_varying_cuts(pairs, ranking, weight, cuts.varying)
        left_out: list[np.ndarray | None] = [None, None]
        if without is not None and cuts.without is not None:
            left_out = [each[:, queries] for each in at_varying_cuts(without, ranking, weight, cuts.without)]
        precisions, recalls = (
            [
                replace(each, replicates=varied[k], left_out=None if jackknife is None else jackknife[k])
                for k, each in enumerate(known[:-1])
            ]
            for known, varied, jackknife in zip((precisions, recalls), moved, left_out, strict=True)
        )
    for share, precision, recall in zip(SHARES[:-1], precisions, recalls, strict=False):
        figures |= {at_share("precision", share): precision, at_share("recall", share): recall}
    return figures


def _of_people(system: _System, indices: Sequence[Index], of_ranks: tuple[str, ...]) -> Figures:
    """The indices from people's judgments alone; those that the design cannot estimate are withheld."""
    universe, candidate, used, cuts = system.universe, system.candidate, system.used, system.cuts
    context = universe.context
    pairs = ScoredPairs.of(context, candidate, used, collection=True)
    by_judgments, by_relevance = (
        {index.name: pairs.figure(index) for index in indices if index.of_judgments == of_judgments}
        for of_judgments in (True, False)
    )
    by_rank = context.compared_correlations(candidate, used, of_ranks, collection=True)
    without, each = None, universe.without_each
    if cuts.without is not None and each is not None:
        without = Retrieval(pairs.query, pairs.relevance, each, guard=False)
    at_cuts = _at_cuts(context.prepared(used), pairs.ranking, context.design[used], cuts, without, system.queries)
    design = context.pairs.design
    at_cuts = {name: design.limited(each) if name.startswith("recall_at_") else each for name, each in at_cuts.items()}
    return by_judgments | by_rank | by_relevance | at_cuts


def _in_every_replicate(figure: BootstrapStatistic, replicates: int) -> BootstrapStatistic:
    repeated = np.broadcast_to(figure.replicates, (replicates,))
    return BootstrapStatistic(figure.value, repeated, left_out=figure.left_out)


def check_weighting(universe: Universe) -> str | None:
    """The reason why no judge can help with these judgments, as a phrase; None where one can."""
    context = universe.context
    if context.pairs.weighting(context.options.weights) is not Weighting.DESIGN:
        return "pairs must be weighted by design"
    return context.weights_missing
