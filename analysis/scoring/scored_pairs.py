"""One system's judged pairs in a scoring run, as indices take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.judged_coverage import covered_name, depths_of, judged_name, residual_name
from relstudy.analysis.indices.measures import QueryValues
from relstudy.analysis.indices.pairs import WIDTH, Figure, SystemPairs
from relstudy.analysis.indices.per_query import FEWEST_RELEVANT, within_queries
from relstudy.analysis.indices.reweighted import ReweightedPairs, part_of_the_way
from relstudy.analysis.indices.sample_estimators import depth_looked_at
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, chunks
from relstudy.analysis.resampling.spread import Transform
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.rater_draws import whole_steps
from relstudy.analysis.scoring.run_measures import measured, withheld


@dataclass(frozen=True, eq=False)
class ScoredPairs(SystemPairs):
    """The pairs of a candidate that count, with the run's draws, raters and design.

    Parameters
    ----------
    context, candidate : of the run
    used : bool [judged pairs], those that count
    collection : whether pairs count by their design weights in the correlation
    """

    context: ScoringContext = field(kw_only=True)
    candidate: Candidate = field(kw_only=True)
    used: np.ndarray = field(kw_only=True)
    collection: bool = field(kw_only=True)

    @classmethod
    def of(
        cls,
        context: ScoringContext,
        candidate: Candidate,
        used: np.ndarray | None = None,
        collection: bool | None = None,
    ) -> ScoredPairs:
        """The candidate's pairs, or those of `used` alone; the correlation as the run has it, unless it is stated."""
        used = candidate.used if used is None else used
        collection = context.collection if collection is None else collection
        ranking = candidate.ranking_of(used)
        missing = context.weights_missing is not None
        return cls(
            context.pairs.query[used],
            context.pairs.judgment[used],
            context.relevance.values[used],
            ranking,
            ranking if candidate.mapped is None else candidate.mapped.values[used],
            np.full(len(ranking), np.nan) if missing else context.weight(ranking, used),
            context.draws.row[used],
            context.draws.times,
            context.weights_of_correlation(used, collection),
            left_out=context.left_out(used),
            context=context,
            candidate=candidate,
            used=used,
            collection=collection,
        )

    def figures(self, known: Mapping[str, BootstrapStatistic]) -> dict[str, BootstrapStatistic]:
        """Every index of the run by name, those that are `known` as they are."""
        return {index.name: known.get(index.name) or self.figure(index) for index in self.context.indices}

    def figure(self, index: Index) -> BootstrapStatistic:
        """An index, without an interval where the design cannot estimate it."""
        if not self.used.any():
            return BootstrapStatistic(np.nan, self.context.nothing, "no pair is scored by both")
        figure = index.over_draws(self)
        return self.context.pairs.design.limited(figure) if index.limited else figure

    def correlation(self) -> BootstrapStatistic:
        """As the run compares systems by it."""
        return self.context.compared_correlations(self.candidate, self.used, ("pearson",), self.collection)["pearson"]

    @cached_property
    def retrieval(self) -> dict[str, BootstrapStatistic]:
        """Indices of one walk down the ranking, over queries and raters."""
        return self.context.retrieval(self.ranking, self.used)

    def good_above_poor(self) -> BootstrapStatistic:
        """The chance that a good match is above a poor one of the same query, over queries and raters."""
        missing = self.context.weights_missing
        if missing is not None:
            return BootstrapStatistic(np.nan, self.context.nothing, missing)
        draws = self.context.draws
        figure = self.lists.statistic(draws.times, self.row, draws.step)
        raters = self.context.by_rater(self.used, lambda pairs: [self.lists.under_raters(pairs)])
        return figure if raters is None else replace(figure, raters=raters[0])

    def over_draws(self, figure: Figure, of_judgments: bool, scale: Transform) -> BootstrapStatistic:
        """A figure in every replicate of queries and of raters."""
        missing = self.context.weights_missing
        if missing is not None and not of_judgments:
            return BootstrapStatistic(np.nan, self.context.nothing, missing)
        over_queries = super().over_draws(figure, of_judgments, scale)
        raters = self.context.by_rater(self.used, lambda pairs: [self._by_rater(figure, of_judgments, pairs)])
        return over_queries if raters is None else replace(over_queries, raters=raters[0])

    def _by_rater(self, figure: Figure, of_judgments: bool, drawn: ReweightedPairs) -> np.ndarray:
        weight = self.counted(of_judgments)[:, None]
        figures = []
        for part in chunks(drawn.replicates, WIDTH):
            mass = drawn.mass[:, part].astype(np.float64, order="F")
            with np.errstate(invalid="ignore", divide="ignore"):
                relevance = np.where(mass > 0, np.minimum(drawn.hits[:, part] / mass, 1.0), 0.0)
            counted = part_of_the_way(drawn.counted[:, part], drawn.step) if of_judgments else mass
            figures.append(self.computed(figure, weight * counted, drawn.judgment[:, part] + drawn.middle, relevance))
        return whole_steps(np.concatenate(figures)) if of_judgments else np.concatenate(figures)

    @property
    def queries(self) -> int:
        """The number of judged queries."""
        return len(self.context.pairs.queries)

    def order_in_each_query(self) -> tuple[np.ndarray, np.ndarray]:
        """Average precision and area under the ROC curve within each query.

        Average precision is left empty where fewer than `FEWEST_RELEVANT` relevant results were drawn and others were
        not.
        """
        own = self._own_in_each_query()
        precision, area = within_queries(self.query, self.ranking, self.relevance, self.weight, self.queries, own)
        drawn = np.bincount(self.query, own < self.weight * (1 - 1e-9), self.queries) > 0
        few = np.bincount(self.query, self.relevance, self.queries) < FEWEST_RELEVANT
        return np.where(drawn & few, np.nan, precision), area

    def _own_in_each_query(self) -> np.ndarray:
        """The weight of one of its query's candidates, for each pair; the least weight of the query where unknown."""
        context = self.context
        if context.own is None:
            return self.weight
        least = np.full(self.queries, np.inf)
        np.fmin.at(least, self.query, self.weight)
        one = context.own[self.used] / context.pairs.fraction[self.query]
        own: np.ndarray = np.minimum(self.weight, np.where(np.isfinite(one), one, least[self.query]))
        return own

    @cached_property
    def measures(self) -> Mapping[str, QueryValues]:
        """The run's measures by their ir-measures names: of the system, whichever pairs are chosen here."""
        worth = self.context.pairs.worth_of_queries
        return {name: each.weighted(worth) for name, each in measured(self.context, self.candidate).items()}

    @cached_property
    def first_judged(self) -> dict[str, QueryValues]:
        """The first results that are judged, or of which judged ones speak, counted as deep as the measures look, and
        residuals of measures that have them; empty where that is not known."""
        asked = self.context.measures
        names = [*map(judged_name, depths_of(asked)), *filter(None, map(residual_name, asked))]
        names += [covered_name(depth) for depth in sorted({*map(depth_looked_at, asked)})]
        measures = self.candidate.measures or {}
        worth = self.context.pairs.worth_of_queries
        return {name: measures[name].weighted(worth) for name in names if name in measures}

    def measured(self, name: str) -> QueryValues:
        """A measure of each query; NaN where a saved comparison does not hold it."""
        return self.measures.get(name, QueryValues(np.full(self.queries, np.nan)))

    def over_queries(self, name: str) -> BootstrapStatistic:
        """A measure over all queries. Replicates draw whole queries and know of no collection and no raters."""
        if name not in self.measures:
            reason = withheld(self.context) or "the saved comparison does not hold this measure"
            return BootstrapStatistic(np.nan, self.context.nothing, reason)
        return averaged(self.context, self.measures[name], sampled=self.context.unjudged == "weigh")


def averaged(
    context: ScoringContext,
    values: QueryValues,
    sampled: bool = False,
    bounded: bool = True,
) -> BootstrapStatistic:
    """A mean (or sum) of values of queries, over all of them and in every replicate.

    Parameters
    ----------
    sampled : whether each value is an estimate from a sample, which may be beyond the bounds of the measure
    bounded : whether the figure itself is kept within them; else it is a difference
    """
    if values.missing is not None:
        return BootstrapStatistic(np.nan, context.nothing, values.missing)
    queries = int(np.isfinite(values.values).sum())
    if not queries:
        return BootstrapStatistic(np.nan, context.nothing, "no query has a value")
    figure = BootstrapStatistic(
        values.total(),
        values.total(context.draws.counts),
        left_out=values.left_out(),
        freedom=values.freedom,
        averaged=True,
        withheld=values.withheld,
    )
    if not sampled:
        return figure
    if bounded:
        return replace(figure, value=float(np.clip(figure.value, 0.0, 1.0)), clusters=queries, scale=Transform.SHARE)
    return replace(figure, clusters=queries, scale=Transform.NUMBER)
