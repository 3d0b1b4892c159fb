"""How far each system leads each other by the ratings of one side, and by those of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.reliability.within_pair_variance import bootstrap_interval
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import number, span
from relstudy.common.sampling.rankdata import ranks
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

LEAST_PAIRS = 10


@dataclass(frozen=True)
class OrderRow:
    """The lead of one system over another by two sides' judgments.

    Parameters
    ----------
    first, second : names
    theirs, others : how far the first's correlation is above the second's with the judgments of either side
    difference : theirs less others', its 95 % interval by query, at the level at which all rows hold together
        (Bonferroni)
    """

    first: str
    second: str
    theirs: float
    others: float
    difference: Estimate

    def as_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "rater": self.theirs,
            "others": self.others,
            "difference": self.difference.as_json(),
        }


def leads_apart(
    one: pd.DataFrame, other: pd.DataFrame, scores: Mapping[str, pd.DataFrame], seed: int = 0, families: int = 1
) -> list[OrderRow]:
    """Leads of every system over every other, by the ratings of one side and by those of the other.

    Parameters
    ----------
    one, other : query_id, result_id, judgment (a calibrated rating), weight (all of a pair's weigh 1 together)
    scores : by system query_id, result_id, score, higher is better; a system with fewer than ten pairs of either side
        has no part
    families : so many such comparisons are made, and all their intervals hold together
    """
    sides = {}
    for system, part in scores.items():
        joined = [source.merge(part, on=PAIR) for source in (one, other)]
        if min(len(frame.drop_duplicates(PAIR)) for frame in joined) >= LEAST_PAIRS:
            sides[system] = beside(*map(query_sums, joined))
    return leads_of_all(sides, seed, families)


def leads_of_all(both_sides: dict[str, pd.DataFrame], seed: int, families: int = 1) -> list[OrderRow]:
    """Leads of every system over every other by either side's judgments, the same queries drawn for all four figures.

    Parameters
    ----------
    both_sides : by system, the sums of `query_sums` with one side's judgments and with the other's (`beside`)
    families : as in `leads_apart`
    """
    couples = list(combinations(both_sides, 2))
    level = 1 - 0.05 / max(len(couples) * families, 1)
    rows = []

    def lead(sums: np.ndarray, side: int) -> np.ndarray:
        one, other = (correlations(sums[:, at : at + 6]) for at in (side, side + 12))
        return one - other

    for first, second in couples:
        sums = both_sides[first].add_prefix("1").join(both_sides[second].add_prefix("2"), how="outer").fillna(0.0)
        whole = sums.to_numpy().sum(axis=0, keepdims=True)
        theirs, others = (float(lead(whole, side)[0]) for side in (0, 6))
        difference = over_queries(sums, lambda drawn: lead(drawn, 0) - lead(drawn, 6), seed, level)
        rows.append(OrderRow(first, second, theirs, others, difference))
    return rows


def ranked_differently(who: str, orders: Sequence[OrderRow]) -> list[str]:
    """Sentences on the pairs of systems of which one leads further by one side's judgments than by the others'."""
    lines = [
        f"{who} and the others see {row.first} and {row.second} differently: the correlation of {row.first} less that "
        f"of {row.second} is {number(row.theirs, '+.2f')} by their ratings and {number(row.others, '+.2f')} by "
        f"the others', a difference of {signed(row.difference)}."
        for row in orders
        if row.difference.excludes_zero
    ]
    return lines or [f"Of no two systems {who} and the others see the lead differently."]


def all_orders_hold(statements: int) -> str:
    """The sentence on what the intervals of so many differences of a lead hold for."""
    every = f"all {statements} pairs of systems together" if statements > 1 else "two systems"
    return f"These intervals hold for {every}, over queries, and for these people."


def beside(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Sums by query of one side (a...) beside those of the other (b...)."""
    return one.add_prefix("a").join(other.add_prefix("b"), how="outer").fillna(0.0)


def query_sums(frame: pd.DataFrame) -> pd.DataFrame:
    """Per query, the sums a correlation is made of: weights, and weighted x, y, x², y², xy (x, y: relative ranks)."""
    x, y = (ranks(frame[name].to_numpy()) / max(len(frame), 1) for name in ("score", "judgment"))
    columns = {"n": np.ones(len(frame)), "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    weighted = pd.DataFrame(columns).mul(frame["weight"].to_numpy(), axis=0)
    return weighted.groupby(frame["query_id"].to_numpy()).sum()


def correlations(sums: np.ndarray) -> np.ndarray:
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y)))


def correlations_apart(both: np.ndarray) -> np.ndarray:
    """Correlations of the first six sums less those of the others."""
    return correlations(both[:, :6]) - correlations(both[:, 6:])


def over_queries(
    sums: pd.DataFrame, figure: Callable[[np.ndarray], np.ndarray], seed: int, level: float = 0.95
) -> Estimate:
    """A figure of all queries' sums, with its interval by queries drawn again."""
    values = sums.to_numpy()
    value = float(figure(values.sum(axis=0, keepdims=True))[0])
    low, high = bootstrap_interval(values, figure, seed, level=level)
    return Estimate.of(value, low, high, None if np.isfinite(value) else "scores or judgments are all the same")


def signed(estimate: Estimate) -> str:
    if estimate.value is None or estimate.ends is None:
        return "–"
    return f"{number(estimate.value, '+.2f')} ({span(*estimate.ends, '+.2f')})"
