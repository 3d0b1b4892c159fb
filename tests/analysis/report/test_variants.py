"""Systems that chose no pairs: they join the comparison and disturb nothing that speaks of those that did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.report.paper.study import chose_pairs
from relstudy.analysis.report.study import uniformity
from relstudy.analysis.report.words import orders_agree
from relstudy.analysis.scoring.results import Comparison, Ordering, ScoreResult
from relstudy.common.results.estimates import Estimate

pytestmark = pytest.mark.slow


def comparison(first: str, second: str, index: str, value: float, p: float) -> Comparison:
    return Comparison(first, second, index, Estimate(value, value - 0.1, value + 0.1), p, p, 100)


def ordered(result: ScoreResult, orders: dict[str, str], comparisons: list[Comparison]) -> ScoreResult:
    """The result with these orders, one letter a system, and comparisons."""
    made = tuple(Ordering(index, tuple(order), {}, 100) for index, order in orders.items())
    return replace(result, orderings=made, comparisons=tuple(comparisons))


def test_one_order_by_all_indices_is_said_and_so_is_more_than_one(result):
    same = dict.fromkeys(("pearson", "average_precision", "normalised_rank"), "abc")
    assert orders_agree(ordered(result, same, [])) == (
        "All indices (correlation, pooled AP and pooled pairwise accuracy) put the systems in the same order: "
        "a > b > c."
    )
    orders = {"pearson": "axbyc", "average_precision": "abcxy", "normalised_rank": "yabxc"}
    made = ordered(result, orders, [])
    assert orders_agree(made).startswith(
        "The indices (correlation, pooled AP and pooled pairwise accuracy) don't put the"
    )


def test_a_contradiction_is_one_only_where_both_leads_are_more_than_chance(result):
    orders = {"pearson": "ab", "normalised_rank": "ba"}
    # a normalised rank is better when lower: a positive difference favours the second
    for p, chance in ((0.3, True), (0.001, False)):
        leads = [comparison("a", "b", "pearson", 0.2, 0.001), comparison("a", "b", "normalised_rank", 0.2, p)]
        assert ("one of the leads may be chance" in orders_agree(ordered(result, orders, leads))) == chance


def test_systems_that_chose_are_known_by_the_sources_of_the_pairs():
    sources = np.array(["keywords", "keywords;colour", "random", ""])
    assert chose_pairs(["gift", "keywords", "colour"], sources) == ["keywords", "colour"]
    assert chose_pairs(["gift"], None) == ["gift"]


def test_uniformity_is_told_round_by_round():
    one = pd.DataFrame({"rating": [1, 1, 1, 2, 3], "source": ["a", "a", "a", "b", "b"], "round": "1"})
    two = pd.DataFrame({"rating": [1, 2, 3, 4, 5], "source": ["a", "a", "b", "b", "combined"], "round": "2"})
    table = uniformity(pd.concat([one, two], ignore_index=True), [1, 2, 3, 4, 5])
    assert [column.name for column in table.columns][:3] == ["Pairs proposed by", "Round", "Ratings"]
    found = {(row[0], row[1]): row[-1] for row in table.rows}
    assert found["a", "1"] == pytest.approx((0.8 + 4 * 0.2) / 5)
    assert found["all pairs", "1"] == pytest.approx((0.4 + 0 + 0 + 0.2 + 0.2) / 5)
    assert found["all pairs", "2"] == 0
    assert ("combined", "2") in found
