"""Two systems within each query: whether one orders the results of a single query better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from relstudy.analysis.scoring.results import ScoreResult

FEWEST_QUERIES = 5


@dataclass(frozen=True)
class WithinQuery:
    """How often two systems put a good match above a poor one of the same query; the mean over queries.

    Parameters
    ----------
    first, second : names
    first_mean, second_mean : 0 to 1, over the queries in which both have a value
    first_ahead : queries in which the first is ahead
    queries : how many there are
    p_value : two-sided, of the paired t test over queries, not corrected; None where all differences are the same
    """

    first: str
    second: str
    first_mean: float
    second_mean: float
    first_ahead: int
    queries: int
    p_value: float | None

    def sentence(self, alpha: float) -> str:
        """What it comes to, in a sentence that names its own measure."""
        where = f"mean over {self.queries} queries; {self.first} better in {self.first_ahead}"
        one, other = (f"{100 * mean:.0f}" for mean in (self.first_mean, self.second_mean))
        if self.p_value is None or self.p_value >= alpha:
            return (
                f"Within one query's results neither {self.first} nor {self.second} is clearly ahead: a good match "
                f"is above a poor one {one} times in 100 with the first, {other} with the second ({where})."
            )
        first_is_better = self.first_mean > self.second_mean
        better, worse = (self.first, self.second) if first_is_better else (self.second, self.first)
        one, other = (one, other) if first_is_better else (other, one)
        return (
            f"Within one query's results {better} is ahead of {worse}: a good match is above a poor one {one} times in "
            f"100 with the first, {other} with the second ({where})."
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "systems": [self.first, self.second],
            "good_above_poor": [self.first_mean, self.second_mean],
            "first_better_in": self.first_ahead,
            "queries": self.queries,
            "p_value": self.p_value,
        }


def within_query(result: ScoreResult, first: str, second: str) -> WithinQuery | None:
    """Two systems within queries; None with fewer than five queries in which both have a value."""
    table = result.per_query
    columns = [table.loc[table["system"] == name].set_index("query_id")["normalised_rank"] for name in (first, second)]
    one, other = (1 - each.reindex(columns[0].index).to_numpy(dtype=float) for each in columns)
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < FEWEST_QUERIES:
        return None
    one, other = one[both], other[both]
    same = bool(np.ptp(one - other) == 0)
    p_value = None if same else float(stats.ttest_rel(one, other).pvalue)
    return WithinQuery(
        first, second, float(one.mean()), float(other.mean()), int((one > other).sum()), len(one), p_value
    )
