"""Precision and recall of the first N, over N: the curves P@N and R@N of hashing papers."""

from __future__ import annotations

from dataclasses import dataclass

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.first_ranks import TIES, precision_at, recall_at
from relstudy.analysis.hashing.metrics.mean_average_precision import TieInterval, mean_over_queries
from relstudy.analysis.hashing.options import NoRelevant


@dataclass(frozen=True)
class RankingPoint:
    """Mean precision and recall of the first n codes, each over every order of ties."""

    n: int
    precision: TieInterval
    recall: TieInterval

    @classmethod
    def of(cls, table: CountTable, n: int, no_relevant: NoRelevant) -> RankingPoint:
        """The point of the first n codes; `no_relevant` as in `mean_average_precision`, for recall."""
        return cls(
            n,
            TieInterval(*(float(precision_at(table, n, tie).mean()) for tie in TIES)),
            TieInterval(*(mean_over_queries(recall_at(table, n, tie), no_relevant) for tie in TIES)),
        )

    def as_json(self) -> dict[str, object]:
        """n, and precision and recall with their ends over ties, by name."""
        return {"n": self.n, "precision": self.precision.as_json(), "recall": self.recall.as_json()}


def ranking_curve(table: CountTable, no_relevant: NoRelevant = "skip") -> list[RankingPoint]:
    """P@N and R@N at N = 1, 2, 5, 10, ... up to the whole database.

    Parameters
    ----------
    no_relevant : as in `mean_average_precision`, for recall

    Examples
    --------
    >>> import numpy as np
    >>> table = CountTable(np.array([[2, 2]]), np.array([[1, 1]]))
    >>> [(point.n, point.recall.expected) for point in ranking_curve(table)]
    [(1, 0.25), (2, 0.5), (4, 1.0)]
    """
    return [RankingPoint.of(table, n, no_relevant) for n in ranks_shown(table.codes)]


def ranks_shown(codes: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... below the database's size, and that.

    Examples
    --------
    >>> ranks_shown(30)
    [1, 2, 5, 10, 20, 30]
    """
    steps = [step * 10**power for power in range(len(str(codes))) for step in (1, 2, 5)]
    return [*(step for step in steps if step < codes), codes]
