"""The pairs that a judge was given, laid beside those that people judged."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from relstudy.analysis.judges.grades import JudgedSample, expected_by_grade
from relstudy.analysis.judges.regression import expected_by_features
from relstudy.analysis.judges.table import JudgeTable
from relstudy.analysis.resampling.bootstrap import query_counts
from relstudy.analysis.resampling.draws import each_query_left_out
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import Raters, ScoringOptions
from relstudy.common.runtime.errors import RelstudyError


@dataclass(frozen=True, eq=False)
class Worth:
    """Expected judgment of each row of a judge's table, from its grade.

    Parameters
    ----------
    relevance, judgment, square : float [rows]: the share of people who call the pair relevant, the judgment, and its
        square; the pair's own query left out
    order : float [rows], the judgment with no query left out, for indices that rank rows of one grade alike
    """

    relevance: np.ndarray
    judgment: np.ndarray
    square: np.ndarray
    order: np.ndarray

    @cached_property
    def spread(self) -> np.ndarray:
        """Variance of the judgment, float [rows]."""
        variance: np.ndarray = np.maximum(self.square - self.judgment**2, 0.0)
        return variance

    def of(self, row: np.ndarray) -> Worth:
        """The worths of these rows alone; `row` is an integer array."""
        return Worth(self.relevance[row], self.judgment[row], self.square[row], self.order[row])


class Universe:
    """A judge's pairs beside the judged pairs of a scoring run.

    Parameters
    ----------
    judge : the judge's table
    context : the judged pairs and the bootstrap's draws
    features : float [rows, features], each of mean 0 and variance 1, which tell what a row is worth in place of its
        grade; None: the grade

    Attributes
    ----------
    jackknife : whether the draws are those of `left_out`

    Raises
    ------
    RelstudyError
        where none of the judged pairs is in the judge's table
    """

    def __init__(self, judge: JudgeTable, context: ScoringContext, features: np.ndarray | None = None) -> None:
        self.judge = judge
        self.context = context
        self.features = features
        self.jackknife = False
        pairs = context.pairs
        self.row_of_judged = judge.rows_of(pairs.query_id, pairs.result_id)
        self.given = self.row_of_judged >= 0
        if not self.given.any():
            raise RelstudyError(
                f"the judge {judge.name} was given none of the {len(pairs)} pairs that people judged, so its table is "
                "of other pairs"
            )
        names = pd.Index(pairs.queries)
        codes, of_judge = judge.queries
        self.query_of_row = names.get_indexer(of_judge).astype(np.int64)[codes]
        self.sampled = np.flatnonzero(self.query_of_row >= 0)
        self.weight = 1.0 / judge.probability

    @classmethod
    def of(cls, pairs: JudgedPairs, judge: JudgeTable, options: ScoringOptions) -> Universe:
        """A judge's pairs beside the judged pairs, with the draws of the bootstrap that `context_for` makes."""
        return cls(judge, context_for(pairs, judge, options))

    @cached_property
    def judged_alone(self) -> bool:
        """True where the judge was given, of the judged queries, people's sample and nothing that it is a sample of."""
        sampled = self.context.pairs.probability_in_query[self.given] < 1 - 1e-9
        return len(self.sampled) == int(self.given.sum()) and bool(sampled.any())

    def sampled_in(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of judged queries, int64 [sampled], as they stand in an order of all rows, and their weights."""
        rows = order[self.query_of_row[order] >= 0]
        return rows, self.sampled_weight[np.searchsorted(self.sampled, rows)]

    @cached_property
    def without_each(self) -> np.ndarray | None:
        """Counts of judged queries without each of them, float64 [queries, queries]; None if there is one."""
        context = self.context
        if len(context.pairs.queries) < 2:
            return None
        return each_query_left_out(context.pairs.query, context.draws.step).between

    @cached_property
    def left_out(self) -> Universe | None:
        """The same with a replicate for each judged query, which leaves it out; None if there is one query."""
        context, options = self.context, self.context.options
        if len(context.pairs.queries) < 2:
            return None
        draws = each_query_left_out(context.pairs.query, context.draws.step)
        _ = self.worth  # computed before the copy, since it is the same for both and takes long
        other = copy(self)
        other.context, other.jackknife = ScoringContext(context.pairs, replace(options, raters="these"), draws), True
        other.__dict__.pop("collection_times", None)
        return other

    @cached_property
    def partial(self) -> bool:
        """True where pairs that people judged are not in the judge's table, or none but them: its rows are then not the
        collection that people's pairs are a sample of."""
        return self.judged_alone or not bool(self.given.all())

    @property
    def beyond(self) -> bool:
        """True where the judge was given pairs of queries that nobody judged."""
        return len(self.sampled) < len(self.judge)

    @cached_property
    def sampled_weight(self) -> np.ndarray:
        """One over the probability that a pair is among those of the sampled queries, float [sampled]."""
        fraction = self.context.pairs.fraction[self.query_of_row[self.sampled]]
        fractions_known = np.isfinite(self.context.pairs.fraction).all()
        weight: np.ndarray = self.weight[self.sampled] / (fraction if fractions_known else 1.0)
        return weight

    @cached_property
    def collection_times(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts of each row in replicates of the whole, and its row of that; ones where it is not a sample."""
        if self.jackknife or (self.judge.probability == 1.0).all():
            return np.zeros(len(self.judge), dtype=np.int64), np.ones((1, 1))
        codes, names = self.judge.queries
        replicates = self.context.draws.counts.shape[1]
        return codes, query_counts(len(names), replicates, np.random.default_rng([self.context.options.seed, 3]))

    def residual(self, of_judgments: bool) -> np.ndarray:
        """Root of the expected squared residual of every row, float [rows].

        Of relevance m (1 - m) is taken, with m what the grade is worth; of judgments their variance by grade.
        """
        return self._residuals[of_judgments]

    @cached_property
    def _residuals(self) -> tuple[np.ndarray, np.ndarray]:
        m = self.worth.relevance
        return np.sqrt(np.maximum(m * (1 - m), 0.0)), np.sqrt(self.worth.spread)

    @cached_property
    def worth(self) -> Worth:
        """The worth of each row's grade."""
        context = self.context
        sample = JudgedSample(
            self.row_of_judged[self.given],
            context.pairs.query[self.given],
            context.design[self.given],
        )
        judgment = context.pairs.judgment[self.given]
        values = np.stack([context.relevance.values[self.given], judgment, judgment**2])
        if self.features is not None:
            relevance, mean, square = expected_by_features(self.features, self.query_of_row, sample, values)
            return Worth(relevance, mean, square, mean)
        rating = self.judge.rating
        relevance, mean, square = expected_by_grade(rating, self.query_of_row, sample, values, values[0])
        nobody = np.full(len(rating), -1)
        (order,) = expected_by_grade(rating, nobody, sample, values[1:2], values[0])
        return Worth(relevance, mean, square, order)


def context_for(
    pairs: JudgedPairs, judge: JudgeTable, options: ScoringOptions, raters: Raters = "these"
) -> ScoringContext:
    """The judged pairs and the bootstrap's draws, as a judge's help needs them.

    Parameters
    ----------
    raters : which raters intervals speak of
    """
    # within a query, replicates of a judge's own sample vary as whole queries alone
    population = options.population if (judge.probability == 1.0).all() else "open"
    return ScoringContext(pairs, replace(options, raters=raters, population=population))
