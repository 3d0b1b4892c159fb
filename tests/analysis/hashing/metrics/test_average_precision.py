"""Closed forms against brute force over every order of ties, and against published numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import (
    DENOMINATORS,
    average_precision,
    grouped_average_precision,
    harmonic_difference,
)
from relstudy.analysis.hashing.metrics.first_ranks import TIES, precision_at
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.people.scores import expected_ndcg

# Sums of at most a few hundred terms of order one: rounding stays far below this.
ROUNDING = 1e-12


def orders(groups: list[list[int]]) -> np.ndarray:
    """Every ranking that orders the tied groups one after another."""
    ways = itertools.product(*[list(itertools.permutations(group)) for group in groups])
    return np.array([list(itertools.chain(*way)) for way in ways])


@st.composite
def small_counts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    total = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(lambda n: 1 <= sum(n) <= 8))
    relevant = [draw(st.integers(0, n)) for n in total]
    return total, relevant


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(small_counts(), st.sampled_from([None, 1, 2, 3, 5, 8]), st.sampled_from(DENOMINATORS))
@example(([1, 3, 2], [1, 0, 1]), 5, "hits")  # the best order has no second hit among the five
def test_average_precision_equals_the_brute_force_over_every_order_of_ties(counts, k, denominator):
    total, relevant = counts
    table = CountTable(np.array([total]), np.array([relevant]))
    if sum(relevant) == 0:
        assert np.isnan(average_precision(table, "expected", k, denominator)[0])
        return
    rankings = orders([[1] * m + [0] * (n - m) for n, m in zip(total, relevant, strict=True)])
    cut = rankings.shape[1] if k is None else min(k, rankings.shape[1])
    precision = rankings.cumsum(axis=1) / np.arange(1, rankings.shape[1] + 1)
    added = (precision * rankings)[:, :cut].sum(axis=1)
    if denominator == "hits" and k is not None:
        values = added / np.maximum(rankings[:, :cut].sum(axis=1), 1)
    elif denominator == "first K relevant" and k is not None:
        counted = (rankings > 0) & (rankings.cumsum(axis=1) <= k)
        values = (precision * counted).sum(axis=1) / counted.sum(axis=1)
    elif denominator == "min(K, relevant)" and k is not None:
        values = added / min(k, sum(relevant))
    else:
        values = added / sum(relevant)
    expected = {"pessimistic": values.min(), "expected": values.mean(), "optimistic": values.max()}
    for tie in TIES:
        assert average_precision(table, tie, k, denominator)[0] == pytest.approx(expected[tie], abs=ROUNDING)


@settings(max_examples=40, deadline=None)
@given(small_counts(), st.integers(1, 9))
def test_precision_at_k_equals_the_brute_force_over_every_order_of_ties(counts, k):
    total, relevant = counts
    table = CountTable(np.array([total]), np.array([relevant]))
    rankings = orders([[1] * m + [0] * (n - m) for n, m in zip(total, relevant, strict=True)])
    values = rankings[:, :k].sum(axis=1) / k
    expected = {"pessimistic": values.min(), "expected": values.mean(), "optimistic": values.max()}
    for tie in TIES:
        assert precision_at(table, k, tie)[0] == pytest.approx(expected[tie], abs=ROUNDING)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 2), min_size=0, max_size=3), min_size=1, max_size=3).filter(
        lambda groups: 1 <= sum(map(len, groups)) <= 7 and max(map(max, filter(None, groups))) > 0
    ),
    st.sampled_from([None, 1, 3]),
)
def test_expected_ndcg_equals_the_mean_over_every_order_of_ties(groups, k):
    counts = np.array([[group.count(grade) for group in groups] for grade in range(3)])
    rankings = orders(groups)
    discount = 1 / np.log2(np.arange(2, rankings.shape[1] + 2))
    ideal = ((2.0 ** np.sort(rankings[0])[::-1] - 1) * discount)[:k].sum()
    mean = ((2.0**rankings - 1) * discount)[:, :k].sum(axis=1).mean() / ideal
    assert expected_ndcg(counts, k=k) == pytest.approx(mean, abs=ROUNDING)


def test_ndcg_without_any_gain_is_missing_rather_than_zero() -> None:
    assert expected_ndcg(np.array([[3, 2], [0, 0]])) is None


def test_the_grouped_rule_is_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    total = rng.integers(0, 30, 17)
    relevant = rng.integers(0, total + 1)
    distance = np.repeat(np.arange(17), total)
    truth = np.concatenate([np.r_[np.ones(m), np.zeros(n - m)] for n, m in zip(total, relevant, strict=True)])
    ours = grouped_average_precision(CountTable(total[None], relevant[None]))[0]
    assert ours == pytest.approx(average_precision_score(truth, -distance), abs=ROUNDING)


def test_expected_average_precision_of_large_groups_equals_the_sum_over_ranks() -> None:
    rng = np.random.default_rng(7)
    total = rng.binomial(4000, 0.5, 65)
    relevant = rng.binomial(total, np.linspace(0.9, 0.02, 65))
    added, before, hits = 0.0, 0, 0
    for n, m in zip(total.tolist(), relevant.tolist(), strict=True):
        t = np.arange(n)
        added += (m / n) * ((hits + 1 + t * (m - 1) / (n - 1)) / (before + 1 + t)).sum()
        before, hits = before + n, hits + m
    ours = average_precision(CountTable(total[None], relevant[None]))[0]
    assert ours == pytest.approx(added / relevant.sum(), abs=ROUNDING)


@pytest.mark.parametrize(
    ("start", "terms"),
    [
        (0, 1),
        (0, 100),
        (5, 33),
        (20, 1),
        (49, 1),
        (49, 1000),
        (50, 1),
        (50, 33),
        (12345, 100_000),
        (10**9, 1),
        (10**9, 40),
        (10**9, 10**6),
    ],
)
def test_harmonic_differences_equal_the_exact_sum(start: int, terms: int) -> None:
    exact = math.fsum(1.0 / (start + i) for i in range(1, terms + 1))
    ours = float(harmonic_difference(start, terms))
    assert ours == pytest.approx(exact, rel=1e-13, abs=0)  # some hundred units in the last place


def test_figure_2_of_ding_li_and_li_has_best_1_worst_0_3544_and_expected_0_6072() -> None:
    figures = mean_average_precision(CountTable(np.array([[10]]), np.array([[5]])))
    assert (round(figures.pessimistic, 4), round(figures.expected, 4), figures.optimistic) == (0.3544, 0.6072, 1.0)


def test_dividing_by_hits_punishes_finding_more() -> None:
    two_hits = CountTable(np.array([[1, 98, 1]]), np.array([[1, 0, 1]]))
    one_hit = CountTable(np.array([[1, 98, 1, 5]]), np.array([[1, 0, 0, 1]]))
    assert average_precision(two_hits, k=100, denominator="hits") < average_precision(
        one_hit, k=100, denominator="hits"
    )
    assert average_precision(two_hits, k=100) > average_precision(one_hit, k=100)


def test_queries_without_a_relevant_code_are_skipped_or_zero_by_name() -> None:
    table = CountTable(np.array([[2], [2]]), np.array([[2], [0]]))
    assert mean_average_precision(table, no_relevant="skip").expected == 1.0
    assert mean_average_precision(table, no_relevant="zero").expected == 0.5
    nothing = CountTable(np.array([[2]]), np.array([[0]]))
    assert mean_average_precision(nothing).expected is None
