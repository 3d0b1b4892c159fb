"""Good above poor among the results of one query, against brute force over all couples of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.analysis.indices.reweighted import ReweightedPairs
from relstudy.analysis.indices.same_query import NOTHING_TO_ORDER, SameQuery
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


def brute(query: np.ndarray, score: np.ndarray, gain: np.ndarray, miss: np.ndarray) -> np.ndarray:
    """Over every couple of different pairs of a query, its share in which the good one stands above."""
    values = np.full(QUERIES, np.nan)
    for number in range(QUERIES):
        rows = np.flatnonzero(query == number)
        above = whole = 0.0
        for i in rows:
            for j in rows:
                if i != j:
                    couple = gain[i] * miss[j]
                    whole += couple
                    above += couple * (1.0 if score[i] > score[j] else 0.5 if score[i] == score[j] else 0.0)
        values[number] = above / whole if whole > 0 else np.nan
    return values


def test_each_query_is_the_share_of_couples_in_which_the_good_one_stands_above() -> None:
    data = made()
    pairs = SameQuery(data["query"], QUERIES, data["score"], data["relevant"], data["weight"])
    gain = data["weight"] * data["relevant"]
    expected = brute(data["query"], data["score"], gain, data["weight"] - gain)
    assert np.isnan(expected[2])
    np.testing.assert_allclose(pairs.by_query(), expected, rtol=1e-9)


@pytest.mark.parametrize("finite", [False, True])
def test_replicates_are_the_index_of_the_reweighted_pairs(finite: bool) -> None:
    data = made()
    query, weight = data["query"], data["weight"]
    own = np.random.default_rng(1).uniform(1.0, 3.0, QUERIES)
    draws = (
        two_stages(query, np.full(QUERIES, 0.4), np.full(len(query), 0.3), 5, 0)
        if finite
        else whole_queries(query, QUERIES, 5, 0)
    )
    pairs = SameQuery(query, QUERIES, data["score"], data["relevant"], weight, own)
    figure = pairs.statistic(draws.times, draws.row, draws.between, draws.step)
    for b in range(5):
        mass = weight * draws.times[draws.row, b]
        area = brute(query, data["score"], mass * data["relevant"], mass * (1 - data["relevant"]))
        counts = own * draws.between[:, b] * np.isfinite(area)
        assert figure.replicates[b] == pytest.approx(np.nansum(counts * np.nan_to_num(area)) / counts.sum(), rel=1e-9)
    assert figure.clusters == QUERIES - 1  # one has no good match


def test_each_left_out_query_gives_the_index_of_the_others() -> None:
    data = made()
    draws = whole_queries(data["query"], QUERIES, 5, 0)
    pairs = SameQuery(data["query"], QUERIES, data["score"], data["relevant"], data["weight"])
    left_out = pairs.statistic(draws.times, draws.row).left_out
    areas = pairs.by_query()
    areas = areas[np.isfinite(areas)]
    assert left_out is not None
    np.testing.assert_allclose(left_out, [np.delete(areas, k).mean() for k in range(len(areas))], rtol=1e-12)


def test_under_raters_each_replicate_has_its_own_shares() -> None:
    data = made()
    random = np.random.default_rng(5)
    mass = random.uniform(0.2, 2.0, (3, 80))
    hits = mass * random.choice([0.0, 0.3, 1.0], (3, 80))
    pairs = SameQuery(data["query"], QUERIES, data["score"], data["relevant"], data["weight"])
    given = pairs.under_raters(ReweightedPairs(mass, hits, mass, mass))
    for b in range(3):
        area = brute(data["query"], data["score"], data["weight"] * hits[b], data["weight"] * (mass[b] - hits[b]))
        assert given[b] == pytest.approx(np.nanmean(area), rel=1e-9)


def test_without_a_query_of_good_and_poor_there_is_a_reason_and_no_figure() -> None:
    query = np.array([0, 0, 1, 1])
    draws = whole_queries(query, 2, 4, 0)
    pairs = SameQuery(query, 2, np.arange(4.0), np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4))
    figure = pairs.statistic(draws.times, draws.row)
    assert np.isnan(figure.value) and figure.reason == NOTHING_TO_ORDER
    assert figure.estimate().reason == NOTHING_TO_ORDER
