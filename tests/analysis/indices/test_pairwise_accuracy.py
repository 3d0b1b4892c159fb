"""Pairwise accuracy among the results of one query, against brute force over all couples of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.analysis.indices.pairwise_accuracy import NOTHING_TO_ORDER, SameQuery
from relstudy.analysis.indices.reweighted import ReweightedPairs
from relstudy.analysis.resampling.draws import two_stages, whole_queries

QUERIES = 7


def made(seed: int = 3) -> dict[str, np.ndarray]:
    """Queries of different sizes, tied scores, shares of raters, one query without a good match."""
    random = np.random.default_rng(seed)
    query = random.integers(0, QUERIES, 80)
    relevant = random.choice([0.0, 0.0, 0.25, 0.5, 1.0], 80)
    relevant[query == 2] = 0.0
    return {
        "query": query,
        "score": random.integers(0, 9, 80) / 8.0,
        "relevant": relevant,
        "weight": random.uniform(0.5, 20.0, 80),
    }


def brute(query: np.ndarray, score: np.ndarray, gain: np.ndarray, miss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Couples of different pairs of each query over its pairs: those in which the good one stands above, and all."""
    right, all_of = np.zeros(QUERIES), np.zeros(QUERIES)
    for number in range(QUERIES):
        rows = np.flatnonzero(query == number)
        size = (gain[rows] + miss[rows]).sum()
        for i in rows:
            for j in rows:
                if i != j and size > 0:
                    couple = gain[i] * miss[j] / size
                    all_of[number] += couple
                    right[number] += couple * (1.0 if score[i] > score[j] else 0.5 if score[i] == score[j] else 0.0)
    return right, all_of


def brute_index(query: np.ndarray, score: np.ndarray, gain: np.ndarray, miss: np.ndarray) -> float:
    """All queries' couples with the good one above over all."""
    right, all_of = brute(query, score, gain, miss)
    return float(right.sum() / all_of.sum())


def test_each_query_is_the_share_of_couples_in_which_the_good_one_stands_above() -> None:
    data = made()
    pairs = SameQuery(data["query"], QUERIES, data["score"], data["relevant"], data["weight"])
    gain = data["weight"] * data["relevant"]
    right, all_of = brute(data["query"], data["score"], gain, data["weight"] - gain)
    assert all_of[2] == 0.0 and np.isnan(pairs.by_query()[2])
    kept = all_of > 0
    np.testing.assert_allclose(pairs.by_query()[kept], right[kept] / all_of[kept], rtol=1e-9)
    assert pairs.value == pytest.approx(right.sum() / all_of.sum(), rel=1e-9)


@pytest.mark.parametrize("finite", [False, True])
def test_replicates_are_the_index_of_the_reweighted_pairs(finite: bool) -> None:
    data = made()
    query, weight = data["query"], data["weight"]
    draws = (
        two_stages(query, np.full(QUERIES, 0.4), np.full(len(query), 0.3), 5, 0)
        if finite
        else whole_queries(query, QUERIES, 5, 0)
    )
    pairs = SameQuery(query, QUERIES, data["score"], data["relevant"], weight)
    figure = pairs.statistic(draws.times, draws.row, draws.step)
    for b in range(5):
        mass = weight * draws.times[draws.row, b]
        expected = brute_index(query, data["score"], mass * data["relevant"], mass * (1 - data["relevant"]))
        assert figure.replicates[b] == pytest.approx(expected, rel=1e-9)
    assert figure.clusters == QUERIES - 1  # one has no good match


def test_each_left_out_query_gives_the_index_of_the_others() -> None:
    data = made()
    query, score, weight = data["query"], data["score"], data["weight"]
    draws = whole_queries(query, QUERIES, 5, 0)
    left_out = SameQuery(query, QUERIES, score, data["relevant"], weight).statistic(draws.times, draws.row).left_out
    assert left_out is not None
    others = [
        brute_index(query, score, kept * data["relevant"], kept * (1 - data["relevant"]))
        for kept in (weight * (query != number) for number in range(QUERIES) if number != 2)
    ]
    np.testing.assert_allclose(left_out, others, rtol=1e-9)


def test_under_raters_each_replicate_has_its_own_shares() -> None:
    data = made()
    random = np.random.default_rng(5)
    mass = random.uniform(0.2, 2.0, (3, 80))
    hits = mass * random.choice([0.0, 0.3, 1.0], (3, 80))
    pairs = SameQuery(data["query"], QUERIES, data["score"], data["relevant"], data["weight"])
    given = pairs.under_raters(ReweightedPairs(*(np.ascontiguousarray(each.T) for each in (mass, hits, mass, mass))))
    for b in range(3):
        gain, miss = data["weight"] * hits[b], data["weight"] * (mass[b] - hits[b])
        assert given[b] == pytest.approx(brute_index(data["query"], data["score"], gain, miss), rel=1e-9)


def test_a_few_pairs_of_each_query_drawn_unequally_give_the_collections_figure() -> None:
    """The mean of the queries' own ratios leans to the system that proposed them."""
    random = np.random.default_rng(11)
    queries, results, draws = 150, 60, 40
    query = np.repeat(np.arange(queries), results)
    worth = random.normal(size=len(query))
    score = 0.6 * worth + 0.8 * random.normal(size=len(query))
    good = (worth + 0.3 * random.normal(size=len(query)) > 1.6).astype(float)
    probability = np.clip(0.08 * np.exp(1.2 * score), 0.02, 0.9)  # the system proposes what is judged
    whole = SameQuery(query, queries, score, good, np.ones(len(query)))
    ratios, sums = [], []
    for _ in range(draws):
        drawn = random.random(len(query)) < probability
        pairs = SameQuery(query[drawn], queries, score[drawn], good[drawn], 1 / probability[drawn])
        ratios.append(np.nanmean(pairs.by_query()))
        sums.append(pairs.value)
    error = np.std(sums) / np.sqrt(draws)
    assert abs(np.mean(sums) - whole.value) < 3 * error + 0.005  # chance, and a bias of the order of one over queries
    assert np.mean(ratios) - np.nanmean(whole.by_query()) > 0.03


def test_without_a_query_of_good_and_poor_there_is_a_reason_and_no_figure() -> None:
    query = np.array([0, 0, 1, 1])
    draws = whole_queries(query, 2, 4, 0)
    pairs = SameQuery(query, 2, np.arange(4.0), np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4))
    figure = pairs.statistic(draws.times, draws.row)
    assert np.isnan(figure.value) and figure.reason == NOTHING_TO_ORDER
    assert figure.estimate().reason == NOTHING_TO_ORDER
