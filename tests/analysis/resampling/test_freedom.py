"""Degrees of freedom: fewer where few queries decide, those of raters where raters do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, RaterReplicates, logit_interval, query_counts
from relstudy.analysis.resampling.draws import two_stages
from relstudy.analysis.resampling.freedom import LEAST_FREEDOM, degrees_of_freedom
from relstudy.analysis.scoring.comparison import difference_estimate, p_value
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems


@pytest.mark.parametrize("queries", [20, 80, 400])
def test_degrees_are_those_of_the_influences_whatever_noise_the_replicates_have(queries: int) -> None:
    influence = np.random.default_rng(queries).standard_t(3, queries)
    influence -= influence.mean()
    counts = query_counts(queries, 1000, 1)
    expected = 2 / (np.sum(influence**4) / np.sum(influence**2) ** 2 - 1 / queries)
    # the noise of 1,000 replicates leaves them within a quarter, for each of 18 other seeds
    assert degrees_of_freedom(influence @ counts, counts, queries) == pytest.approx(
        np.clip(expected, LEAST_FREEDOM, queries - 1), rel=0.3
    )


def test_few_queries_undefined_replicates_and_a_constant_keep_one_fewer_than_queries() -> None:
    counts = query_counts(5, 100, 0)
    assert degrees_of_freedom(np.arange(5.0) @ counts, counts, 5) == 4
    counts = query_counts(30, 100, 0)
    assert degrees_of_freedom(np.full(100, np.nan), counts, 30) == 29
    assert degrees_of_freedom(np.full(100, 0.3), counts, 30) == 29


def test_where_every_query_of_a_collection_was_judged_queries_tell_nothing_of_degrees() -> None:
    query = np.repeat(np.arange(40), 6)
    draws = two_stages(query, np.ones(40), np.full(240, 0.3), 300, 2)
    values = np.random.default_rng(1).normal(size=240)
    assert degrees_of_freedom(values @ draws.times, draws.counts, 40) == 39


def test_interval_and_test_of_a_difference_take_the_degrees_of_few_queries_that_decide() -> None:
    """Half a dozen large influences: with 59 degrees of freedom a difference of two standard errors is significant."""
    influence = np.r_[np.full(3, 5.0), np.full(3, -5.0), np.resize([-0.5, 0.5], 54)]
    counts = query_counts(60, 2000, 3)
    one = BootstrapStatistic(0.0, influence @ counts / 60, clusters=60, counts=counts)
    other = BootstrapStatistic(0.0, np.zeros(2000), clusters=60, counts=counts)
    error = float(np.std(one.replicates, ddof=1)) * np.sqrt(60 / 59)
    difference = BootstrapStatistic(2.05 * error, (one - other).replicates, counts=(one - other).counts)
    assert stats.t.sf(2.05, 59) * 2 < 0.05 < p_value(difference, 60)
    found = difference_estimate(difference, 60, 0.95)
    assert found.low is not None
    assert found.low < 0


def test_degrees_are_of_raters_where_raters_decide_and_of_queries_where_raters_show_nothing() -> None:
    random = np.random.default_rng(4)
    counts = query_counts(100, 1000, 1)
    by_query = np.resize([-0.1, 0.1], 100) @ counts / 100
    noise = 0.01 * random.normal(size=300)
    wide, narrow = random.normal(size=300), 0.001 * random.normal(size=300)
    figure = BootstrapStatistic(0.5, by_query, clusters=100, counts=counts)

    def degrees(drawn: np.ndarray, both: np.ndarray) -> float:
        parts = RaterReplicates(drawn, both, 100, 12)
        found = BootstrapStatistic(0.5, by_query, clusters=100, counts=counts, raters=parts).over_raters()
        assert found.freedom is not None
        return found.freedom

    assert degrees(wide, noise) == pytest.approx(11, rel=0.01)
    assert degrees(narrow, noise) == figure.degrees(100) == 99
    assert 11 < degrees(0.01 * wide, 0.1 * noise) < 99


def test_a_comparison_counts_the_queries_that_both_systems_score() -> None:
    """Twelve queries in common and 36 that only one scores, such as base pairs from elsewhere: not 47 degrees."""
    random = np.random.default_rng(3)
    pairs = pd.DataFrame(
        {"query_id": np.repeat([f"q{k:02}" for k in range(48)], 5), "result_id": np.tile(list("abcde"), 48)}
    )
    judgments = pairs.assign(judgment=random.integers(1, 6, 240), scale_low=1, scale_high=5, inclusion_probability=0.5)
    scores = pd.concat([pairs.assign(system=name, score=random.normal(size=240)) for name in ("whole", "part")])
    scores = scores[(scores["system"] == "whole") | (scores["query_id"] < "q12")]
    options = ScoringOptions(replicates=200, low_coverage=True, measures=())
    compared = score_systems(judgments, scores, options=options).comparisons
    assert all(each.freedom is not None and each.freedom <= 11 for each in compared)


def test_precision_and_recall_have_students_t_on_the_logit_scale() -> None:
    """Percentiles of 40 queries held the truth in 93.8 % of studies on average, and in 91 % at worst."""
    random = np.random.default_rng(6)
    query, counts = np.repeat(np.arange(20), 10), query_counts(20, 200, 1)
    relevant, score, weight = random.random(200) < 0.4, random.normal(size=200), random.exponential(size=200)
    points = Retrieval(query, relevant, counts, counts=counts).operating_points(score, weight, (0.3,))
    for figure in (points.precision[0], points.recall[0]):
        found = figure.estimate()
        expected = logit_interval(figure.value, figure.replicates, 20, freedom=figure.degrees(20))
        assert (found.low, found.high) == pytest.approx(expected)
        assert found.low is not None and found.low < np.percentile(figure.replicates, 2.5)
