"""The mean over queries against brute force over every order of every query's ties, under every rule."""

from __future__ import annotations

import itertools
from collections import Counter
from math import prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import DENOMINATORS
from relstudy.analysis.hashing.metrics.first_ranks import hit_probability
from relstudy.analysis.hashing.metrics.mean_average_precision import TieInterval, mean_average_precision

# Sums of at most a few hundred terms of order one: rounding stays far below this.
ROUNDING = 1e-12


@st.composite
def few_queries(draw: st.DrawFn) -> CountTable:
    """Up to three queries against up to four codes at three distances."""
    size = draw(st.integers(1, 4))
    total = np.zeros((draw(st.integers(1, 3)), 3), dtype=np.int64)
    relevant = np.zeros_like(total)
    for own, hits in zip(total, relevant, strict=True):
        for _ in range(size):
            radius = draw(st.integers(0, 2))
            own[radius] += 1
            hits[radius] += draw(st.booleans())
    return CountTable(total, relevant)


def rankings(total: np.ndarray, relevant: np.ndarray) -> dict[tuple[int, ...], float]:
    """Every order of one query's codes that keeps to their distances, with its probability."""
    groups = [[1] * m + [0] * (n - m) for n, m in zip(total.tolist(), relevant.tolist(), strict=True)]
    ways = itertools.product(*[itertools.permutations(group) for group in groups])
    orders = Counter(tuple(itertools.chain(*way)) for way in ways)
    return {order: number / orders.total() for order, number in orders.items()}


def evaluated(order: tuple[int, ...], k: int | None, denominator: str) -> float:
    if denominator == "first K relevant" and k is not None:
        ranks = [rank for rank, relevant in enumerate(order, 1) if relevant][:k]
        return sum(number / rank for number, rank in enumerate(ranks, 1)) / len(ranks)
    cut = order[:k]
    added = sum(sum(cut[:rank]) / rank for rank in range(1, len(cut) + 1) if cut[rank - 1])
    if k is None or denominator == "relevant":
        return added / sum(order)
    return added / (max(sum(cut), 1) if denominator == "hits" else min(k, sum(order)))


@pytest.mark.slow
@settings(max_examples=60)
@example(CountTable(np.array([[1], [1]]), np.array([[0], [1]])), 1, "first K relevant", "zero", "skip")
@given(
    few_queries(),
    st.sampled_from([None, 1, 2, 3, 4, 7]),
    st.sampled_from(DENOMINATORS),
    st.sampled_from(["skip", "zero"]),
    st.sampled_from(["skip", "zero"]),
)
def test_the_mean_equals_the_brute_force_over_the_orders_of_all_queries(table, k, denominator, no_relevant, no_hit):
    figures: list[tuple[float, float]] = []
    for orders in itertools.product(*map(rankings, table.total, table.relevant)):
        likely = prod(
            rankings(total, relevant)[order]
            for order, total, relevant in zip(orders, table.total, table.relevant, strict=True)
        )
        values = []
        for order in orders:
            hit = any(order if denominator == "first K relevant" else order[:k])
            if k is not None and no_hit == "skip" and not hit:
                continue
            if any(order):
                values.append(evaluated(order, k, denominator))
            elif no_relevant == "zero":
                values.append(0.0)
        if values:
            figures.append((sum(values) / len(values), likely))
    ours = mean_average_precision(table, k, denominator, no_relevant, no_hit)
    if not figures:
        assert ours == TieInterval(None, None, None)
        return
    values, likely = np.array(figures).T
    assert ours.pessimistic == pytest.approx(values.min(), abs=ROUNDING)
    assert ours.expected == pytest.approx(values @ likely / likely.sum(), abs=ROUNDING)
    assert ours.optimistic == pytest.approx(values.max(), abs=ROUNDING)


@pytest.mark.slow
@given(few_queries(), st.integers(1, 6))
def test_the_probability_of_a_hit_is_the_share_of_orders_with_one(table, k) -> None:
    shares = [
        sum(likely for order, likely in rankings(total, relevant).items() if any(order[:k]))
        for total, relevant in zip(table.total, table.relevant, strict=True)
    ]
    assert hit_probability(table, k) == pytest.approx(shares, abs=ROUNDING)


def test_leaving_out_queries_without_a_hit_may_raise_the_mean_so_the_best_order_drops_a_poor_query() -> None:
    """One query is perfect; the other has one relevant code in a hundred tied at rank 10: worth 0.1 if it is drawn."""
    table = CountTable(np.array([[1, 0, 108], [0, 9, 100]]), np.array([[1, 0, 0], [0, 0, 1]]))
    figures = mean_average_precision(table, 10, "hits", no_hit="skip")
    assert figures.optimistic == 1.0
    assert figures.pessimistic == pytest.approx((1 + 0.1) / 2, abs=ROUNDING)
    assert figures.expected == pytest.approx(0.99 * 1 + 0.01 * (1 + 0.1) / 2, abs=ROUNDING)


def test_many_queries_that_may_be_left_out_keep_the_expectation_exact() -> None:
    """n queries, each with one hit at rank 1 with probability 1/2: whoever is left has 1, and so has their mean."""
    table = CountTable(np.full((2000, 1), 2), np.ones((2000, 1), dtype=int))
    assert mean_average_precision(table, 1, no_hit="skip").expected == pytest.approx(1.0, abs=ROUNDING)


def test_a_cut_off_beyond_the_database_is_the_whole_ranking() -> None:
    table = CountTable(np.array([[2, 3, 1]]), np.array([[1, 1, 0]]))
    for denominator in DENOMINATORS:
        assert mean_average_precision(table, 10**30, denominator) == mean_average_precision(table, None)


def test_the_expected_mean_is_over_the_orders_in_which_some_query_is_kept() -> None:
    """One relevant code of four ties: the first is it in a quarter of the orders, and then precision is 1."""
    one, two = (CountTable(np.array([[4]] * number), np.array([[1]] * number)) for number in (1, 2))
    for table in (one, two):
        kept = mean_average_precision(table, 1, "hits", "skip", "skip")
        assert (kept.pessimistic, kept.expected, kept.optimistic) == pytest.approx((1, 1, 1))
        assert mean_average_precision(table, 1, "hits", "skip", "zero").expected == pytest.approx(0.25)
    nothing = mean_average_precision(CountTable(np.array([[4]]), np.array([[0]])), 1, "hits", "skip", "skip")
    assert (nothing.pessimistic, nothing.expected, nothing.optimistic) == (None, None, None)
