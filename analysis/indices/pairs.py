"""One system's judged pairs and how much each counts in every replicate: what an index is computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.measures import Evaluation, QueryValues, takes_relevant_or_not
from relstudy.analysis.indices.pairwise_accuracy import SameQuery
from relstudy.analysis.indices.per_query import pearson_within, within_queries
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, chunks
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.analysis.resampling.spread import Transform
from relstudy.common.runtime.errors import RelstudyError

WIDTH = 64
"""Replicates that a figure is computed for at once: 20,000 pairs then take 10 MB."""


@dataclass(frozen=True, eq=False)
class WeightedPairs:
    """Pairs as a figure takes them, for some replicates side by side.

    Parameters
    ----------
    weight : float [pairs, replicates], not negative, what each pair counts in each replicate
    judgment, relevance : float [pairs, replicates], or [pairs, 1] where they are the same in all of them
    ranking : float [pairs], the system's scores so that higher is better
    value : float [pairs], its scores on the human scale, else `ranking`
    """

    weight: np.ndarray
    judgment: np.ndarray
    relevance: np.ndarray
    ranking: np.ndarray
    value: np.ndarray


Figure = Callable[[WeightedPairs], np.ndarray]
"""A figure in each replicate, float [replicates], NaN where undefined."""


@dataclass(frozen=True, eq=False)
class SystemPairs:
    """One system's judged pairs.

    Parameters
    ----------
    query : int64 [pairs], number of each pair's query, from 0
    judgment : float [pairs]
    relevance : float [pairs], the share of people who call the pair relevant, 0 to 1
    ranking : float [pairs], the system's scores so that higher is better
    value : float [pairs], its scores on the human scale, else `ranking`
    weight : float [pairs], positive, what a pair counts in figures of relevance
    row, times : each pair's row of `times`, and that (`relstudy.analysis.resampling.draws`)
    pull : float [pairs], what a pair counts in figures of judgments; None: alike
    own : float [pairs], what it counts in its own precision; None takes `weight`
    left_out : each query of the pairs left out, for the jackknife; None: the bootstrap alone
    step : float [queries], how far a query's counts go from 1 in replicates; None: ones
    spread : float [pairs], the variance of what each judgment is the mean of; None where judgments are known
    grades : int [pairs], judgments as whole gains from 0; None where they have none
    """

    query: np.ndarray
    judgment: np.ndarray
    relevance: np.ndarray
    ranking: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    row: np.ndarray
    times: np.ndarray
    pull: np.ndarray | None = None
    own: np.ndarray | None = None
    left_out: LeftOut | None = None
    step: np.ndarray | None = None
    spread: np.ndarray | None = None
    grades: np.ndarray | None = None

    @classmethod
    def pooled(cls, relevance: np.ndarray, ranking: np.ndarray, weight: np.ndarray) -> SystemPairs:
        """Pairs taken as those of one query, without draws."""
        one = np.zeros(len(ranking), dtype=np.int64)
        return cls(one, relevance, relevance, ranking, ranking, weight, one, np.ones((1, 1)))

    def correlation(self) -> BootstrapStatistic:
        """Pearson's r of the system's values with the judgments."""
        prepared = CorrelationBootstrap(
            self.row, self.judgment, self.times, self.pull, self.spread, left_out=self.left_out
        )
        return prepared.correlate(self.value, ("pearson",))["pearson"]

    @cached_property
    def retrieval(self) -> dict[str, BootstrapStatistic]:
        """Indices of one walk down the ranking, as of `Retrieval.indices`."""
        prepared = Retrieval(self.row, self.relevance, self.times, left_out=self.left_out)
        return prepared.indices(self.ranking, self.weight, self.own)

    @cached_property
    def lists(self) -> SameQuery:
        """The pairs in the order of the system's scores within each query."""
        return SameQuery(self.query, self.queries, self.ranking, self.relevance, self.weight)

    def good_above_poor(self) -> BootstrapStatistic:
        """The chance that a good match is above a poor one of the same query."""
        return self.lists.statistic(self.times, self.row, self.step)

    def over_draws(self, figure: Figure, of_judgments: bool, scale: Transform) -> BootstrapStatistic:
        """A figure on the data, in every replicate, and without each query.

        Parameters
        ----------
        of_judgments : whether pairs count by `pull`, else by `weight`
        scale : on which its interval is symmetric
        """
        weight = self.counted(of_judgments)
        value = float(self._figures(figure, weight, self.row, np.ones((self.times.shape[0], 1)))[0])
        replicates = self._figures(figure, weight, self.row, self.times)
        without = None
        if self.left_out is not None:
            without = self._figures(figure, weight, self.left_out.query, self.left_out.times)
        clusters = len(np.unique(self.query))
        return BootstrapStatistic(value, replicates, clusters=clusters, left_out=without, scale=scale)

    def counted(self, of_judgments: bool) -> np.ndarray:
        """The count of each pair, float [pairs]."""
        if not of_judgments:
            return self.weight
        return np.ones(len(self.query)) if self.pull is None else self.pull

    def _figures(self, figure: Figure, weight: np.ndarray, row: np.ndarray, times: np.ndarray) -> np.ndarray:
        parts = [weight[:, None] * times[:, part][row] for part in chunks(times.shape[1], WIDTH)]
        return np.concatenate([self.computed(figure, each) for each in parts])

    def computed(
        self,
        figure: Figure,
        weight: np.ndarray,
        judgment: np.ndarray | None = None,
        relevance: np.ndarray | None = None,
        chosen: slice | np.ndarray = slice(None),
    ) -> np.ndarray:
        """A figure in replicates whose weights are given, float [replicates].

        Parameters
        ----------
        weight : float [chosen pairs, replicates]
        judgment, relevance : float [chosen pairs, replicates]; None takes those of the data
        chosen : which pairs
        """
        judged = self.judgment[chosen, None] if judgment is None else judgment
        relevant = self.relevance[chosen, None] if relevance is None else relevance
        pairs = WeightedPairs(weight, judged, relevant, self.ranking[chosen], self.value[chosen])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.broadcast_to(np.asarray(figure(pairs), dtype=float), weight.shape[1:])

    def in_each_query(self, figure: Figure, of_judgments: bool) -> np.ndarray:
        """A figure of each query's pairs alone, float [queries], NaN for a query without pairs."""
        weight = self.counted(of_judgments)[:, None]
        order = np.argsort(self.query, kind="stable")
        rows = np.split(order, np.cumsum(np.bincount(self.query, minlength=self.queries))[:-1])
        return np.array([self.computed(figure, weight[each], chosen=each)[0] if len(each) else np.nan for each in rows])

    @property
    def queries(self) -> int:
        """The number of queries, those without pairs among them."""
        return int(self.query.max()) + 1 if len(self.query) else 0

    def order_in_each_query(self) -> tuple[np.ndarray, np.ndarray]:
        """Average precision and area under the ROC curve of each query alone, float [queries]."""
        return within_queries(self.query, self.ranking, self.relevance, self.weight, self.queries, self.own)

    def correlation_in_each_query(self) -> np.ndarray:
        """Pearson's r within each query, every pair counted equally, float [queries]."""
        return pearson_within(self.query, self.value, self.judgment, self.queries)

    def measured(self, name: str) -> QueryValues:
        """A measure of ir-measures of each query's pairs alone, in the system's order.

        A measure that takes pairs as relevant or not, at a grade that its name leaves open, takes those as relevant
        that more than half of people call so; all others take whole gains.

        Raises
        ------
        RelstudyError
            where the measure takes whole gains and the judgments have none
        """
        relevance = (self.relevance > 0.5).astype(np.int64) if takes_relevant_or_not(name) else self.grades
        if relevance is None:
            raise RelstudyError(f"{name} takes whole grades, and these judgments are on no scale that has them")
        queries = np.arange(self.queries).astype(str).astype(object)
        result = np.arange(len(self.query)).astype(str).astype(object)
        evaluation = Evaluation.of_pairs([name], queries[self.query], result, relevance)
        run = evaluation.run_of(queries[self.query], result, self.ranking)
        (values,) = evaluation.of_run(queries, run).values()
        return values

    def over_queries(self, name: str) -> BootstrapStatistic:
        """A measure over all queries; each counts as often as it is drawn."""
        values = self.measured(name)
        return BootstrapStatistic(values.total(), values.total(self.times), left_out=values.left_out())
