"""Mean average precision as an interval over the order of ties, under every rule for the queries to average over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.first_ranks import TIES, hit_probability
from relstudy.analysis.hashing.options import Denominator, LeftOut, NoRelevant


@dataclass(frozen=True)
class TieInterval:
    """One figure under the worst, the mean and the best order of ties; None where no query is left to average over."""

    pessimistic: float | None
    expected: float | None
    optimistic: float | None

    def as_json(self) -> dict[str, float | None]:
        """The three figures by name."""
        return {"pessimistic": self.pessimistic, "expected": self.expected, "optimistic": self.optimistic}


def mean_average_precision(
    table: CountTable,
    k: int | None = None,
    denominator: Denominator = "min(K, relevant)",
    no_relevant: NoRelevant = "skip",
    no_hit: LeftOut = "zero",
) -> TieInterval:
    """Mean over queries of average precision: its least, its expected and its largest value over all orders of ties.

    Parameters
    ----------
    k, denominator : as in `average_precision`
    no_relevant : queries without a relevant code are left out (`skip`) or count as 0 (`zero`)
    no_hit : with a cut-off, queries without a relevant code among the first k count as 0 (`zero`) or are left out
        (`skip`), as some evaluators do; a query without any relevant code has none there either

    Examples
    --------
    >>> table = CountTable(np.array([[10]]), np.array([[5]]))
    >>> round(mean_average_precision(table).expected, 4)
    0.6072
    """
    if no_hit == "skip" and k is not None:
        if denominator != "first K relevant":
            return _mean_of_hit_queries(table, k, denominator)
        no_relevant = "skip"  # among the first k relevant codes, only a query without a relevant code has none
    return TieInterval(*(mean_over_queries(average_precision(table, tie, k, denominator), no_relevant) for tie in TIES))


def mean_over_queries(values: np.ndarray, no_relevant: NoRelevant) -> float | None:
    """The mean of per-query figures that are NaN where a query has no relevant code; None when nothing is left."""
    kept = values[~np.isnan(values)] if no_relevant == "skip" else np.nan_to_num(values, nan=0.0)
    return float(kept.mean()) if len(kept) else None


def _mean_of_hit_queries(table: CountTable, k: int, denominator: Denominator) -> TieInterval:
    chance = hit_probability(table, k)
    if not (chance > 0).any():
        return TieInterval(None, None, None)
    low, mean, high = (average_precision(table, tie, k, denominator)[chance > 0] for tie in TIES)
    relevant_codes, chance = table.relevant.sum(axis=1)[chance > 0], chance[chance > 0]
    # A query that may be left out counts at least its lowest value with a hit: one, at rank k.
    bottom = {
        "hits": 1,
        "relevant": relevant_codes,
        "min(K, relevant)": np.minimum(relevant_codes, min(k, table.codes)),
    }[denominator]
    low = np.where(chance < 1, 1 / (min(k, table.codes) * bottom), low)
    return TieInterval(_extreme_mean(low, chance < 1), _expected_mean(mean, chance), -_extreme_mean(-high, chance < 1))


def _extreme_mean(values: np.ndarray, optional: np.ndarray) -> float:
    """The least mean of values of which the optional ones may be left out, but not all."""
    sums = values[~optional].sum() + np.concatenate([[0.0], np.cumsum(np.sort(values[optional]))])
    counts = (~optional).sum() + np.arange(len(sums))
    return float((sums[counts > 0] / counts[counts > 0]).min())


def _expected_mean(values: np.ndarray, chance: np.ndarray) -> float:
    """The expected mean over the queries that are kept, each by its own chance, given that some are.

    `values` are expectations that count 0 where a query is not kept. By the number of kept queries: how likely it is,
    and the expected sum of the values times that.
    """
    sure = chance == 1
    likely, total = np.ones(1), np.array([values[sure].sum()])
    for value, kept in zip(values[~sure], chance[~sure], strict=True):
        total = np.append(total * (1 - kept), 0) + np.insert(total * kept + likely * value, 0, 0)
        likely = np.append(likely * (1 - kept), 0) + np.insert(likely * kept, 0, 0)
    counts = sure.sum() + np.arange(len(likely))
    return float((total[counts > 0] / counts[counts > 0]).sum() / likely[counts > 0].sum())
