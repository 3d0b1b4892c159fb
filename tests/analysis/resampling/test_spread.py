"""Degrees of freedom: fewer where few queries decide, those of raters where raters do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from relstudy.analysis.indices.precision_recall import Retrieval, average_precision
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, RaterReplicates, query_counts
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.analysis.resampling.spread import (
    CORRELATION,
    DIFFERENCE,
    LEAST_FREEDOM,
    PAIRED,
    SHARE,
    Spread,
    degrees_of_freedom,
)
from relstudy.analysis.scoring.comparison import difference_estimate, p_value
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems


def without_each(influence: np.ndarray, value: float = 0.0) -> np.ndarray:
    """A mean of so many influences with each left out."""
    return value - influence / (len(influence) - 1)


def test_the_variance_of_a_variance_is_as_its_degrees_say() -> None:
    """2 / degrees is the relative variance of the variance of samples of 400 whose distribution is known: Laplace's."""
    random = np.random.default_rng(7)
    samples = random.laplace(size=(4000, 400))
    relative = np.var(samples.var(axis=1, ddof=1)) / 2.0**2
    degrees = [degrees_of_freedom(each - each.mean()) for each in samples[:400]]
    # 4,000 variances tell theirs within 2.5 %, and 400 fourth moments theirs, a little too low, within 3 %
    assert np.mean(2 / np.array(degrees)) == pytest.approx(relative, rel=0.1)
    assert 0.5 * relative > 2 / 399


def test_few_queries_one_that_decides_and_a_constant_have_their_bounds() -> None:
    assert degrees_of_freedom(np.array([-3.0, 1.0, 1.0, 1.0])) == 3
    assert degrees_of_freedom(np.r_[29.0, np.full(29, -1.0)]) == LEAST_FREEDOM
    assert degrees_of_freedom(np.zeros(30)) == 29
    assert degrees_of_freedom(np.resize([-1.0, 1.0], 30)) == 29


def test_queries_tell_fewer_degrees_the_less_of_the_variance_is_theirs() -> None:
    """Of a sum of two variances, one of which is known, the relative variance falls with the square of the share."""
    influence = np.r_[np.full(3, 5.0), np.full(3, -5.0), np.resize([-0.5, 0.5], 54)]
    whole = degrees_of_freedom(influence)
    assert degrees_of_freedom(influence, 0.9) == pytest.approx(whole / 0.81)
    assert degrees_of_freedom(influence, 0.1) == degrees_of_freedom(influence, 0.0) == 59
    replicates = 0.5 + np.random.default_rng(1).normal(size=400)  # of a collection all of whose queries were judged
    assert Spread(0.5, replicates, without_each(0.01 * influence), 60, DIFFERENCE).degrees == 59


def test_the_larger_of_bootstrap_and_jackknife_is_the_standard_error_on_every_scale() -> None:
    influence = np.resize([-0.6, 0.6], 20)
    by_hand = np.sqrt(np.sum(influence**2) / (20 * 19))  # the standard error of a mean
    for size in (0.5, 2.0):
        replicates = 0.3 + size * by_hand * np.sqrt(19 / 20) * np.resize([-1.0, 1.0], 400) * np.sqrt(399 / 400)
        for transform in (DIFFERENCE, CORRELATION):
            spread = Spread(0.3, replicates, without_each(influence, 0.3), 20, transform)
            assert spread.standard_error == pytest.approx(max(size, 1.0) * by_hand)
            stretch = 1.0 if transform is DIFFERENCE else 1 / (1 - 0.3**2)
            assert spread.reach(0.9) == pytest.approx(stats.t.ppf(0.95, 19) * max(size, 1.0) * by_hand * stretch)
    tuned = Spread(0.3, replicates, without_each(influence, 0.3), 20, DIFFERENCE, tuned=3)
    assert tuned.standard_error == pytest.approx(2.0 * by_hand * np.sqrt(19 / 16)) and tuned.degrees == 16
    least = replace(tuned, tuned=0, least=9 * by_hand)
    assert least.standard_error == pytest.approx(9 * by_hand)
    assert least.reach(0.9) == pytest.approx(stats.norm.ppf(0.95) * 9 * by_hand)
    least_bound = replicates - replicates.min()  # the least of them is 0, whose logit is none: the delta method
    assert Spread(0.3, least_bound, without_each(influence, 0.3), 20, SHARE).reach(0.9) == pytest.approx(
        stats.t.ppf(0.95, 19) * 2.0 * by_hand / (0.3 * 0.7)
    )
    undefined = Spread(0.3, replicates, np.r_[np.nan, without_each(influence[1:], 0.3)], 20, DIFFERENCE)
    assert undefined.standard_error == pytest.approx(2.0 * by_hand) and undefined.degrees == 19


@pytest.mark.slow
def test_average_precision_that_a_few_queries_decide_is_covered_more_often_than_by_the_bootstrap() -> None:
    """In a tenth of 20 queries much is relevant, in the others next to nothing: 40 studies, always the same."""

    def draw(random: np.random.Generator, queries: int) -> tuple[np.ndarray, np.ndarray]:
        share = np.where(random.random(queries) < 0.1, 0.7, 0.02).repeat(10)
        relevant = random.random(10 * queries) < share
        return relevant, relevant + random.normal(size=10 * queries)

    truth = average_precision(*draw(np.random.default_rng(1), 50_000))
    query, held = np.repeat(np.arange(20), 10), np.zeros(3)
    for study in range(40, 80):
        relevant, score = draw(np.random.default_rng([5, study]), 20)
        found = Retrieval(query, relevant, query_counts(20, 100, study), 20, LeftOut.of(query))
        figure = found.indices(score, np.ones(200))["average_precision"]
        for number, each in enumerate((replace(figure, left_out=None), replace(figure, freedom=19.0), figure)):
            low, high = each.spread(SHARE).interval()
            held[number] += low <= truth <= high
    bootstrap, larger, fewer_degrees = held
    assert bootstrap < larger < fewer_degrees and fewer_degrees >= bootstrap + 3


def test_interval_and_test_of_a_difference_take_the_degrees_of_few_queries_that_decide() -> None:
    """Half a dozen large influences: with 59 degrees of freedom a difference of two standard errors is significant."""
    influence = np.r_[np.full(3, 5.0), np.full(3, -5.0), np.resize([-0.5, 0.5], 54)]
    counts = query_counts(60, 2000, 3)
    one = BootstrapStatistic(0.0, influence @ counts / 60, clusters=60, left_out=without_each(influence))
    other = BootstrapStatistic(0.0, np.zeros(2000), clusters=60, left_out=np.zeros(60))
    error = (one - other).spread(DIFFERENCE, 60).standard_error
    difference = replace(one - other, value=2.05 * error)
    spread = difference.spread(PAIRED, 60)
    assert stats.t.sf(2.05, 59) * 2 < 0.05 < p_value(difference, spread)
    found = difference_estimate(difference, spread, 0.95)
    assert found.low is not None
    assert found.low < 0


def test_degrees_are_of_raters_where_raters_decide_and_of_queries_where_raters_show_nothing() -> None:
    random = np.random.default_rng(4)
    counts = query_counts(100, 1000, 1)
    by_query = np.resize([-0.1, 0.1], 100) @ counts / 100
    noise = 0.01 * random.normal(size=300)
    wide, narrow = random.normal(size=300), 0.001 * random.normal(size=300)
    left_out = without_each(np.resize([-0.1, 0.1], 100), 0.5)
    figure = BootstrapStatistic(0.5, by_query, clusters=100, left_out=left_out)

    def degrees(drawn: np.ndarray, both: np.ndarray) -> float:
        parts = RaterReplicates(drawn, both, 100, 12)
        found = BootstrapStatistic(0.5, by_query, clusters=100, left_out=left_out, raters=parts).over_raters()
        assert found.freedom is not None
        return found.freedom

    assert degrees(wide, noise) == pytest.approx(11, rel=0.01)
    assert degrees(narrow, noise) == figure.spread(DIFFERENCE).degrees == 99
    assert 11 < degrees(0.01 * wide, 0.1 * noise) < 99
    both = replace(figure, raters=RaterReplicates(wide, noise, 100, 12)).over_raters()
    # nearly all of the variance is that of 300 replicates over raters
    assert both.spread(DIFFERENCE).blurred == pytest.approx(np.sqrt(2 / 300), rel=0.02)


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
    points = Retrieval(query, relevant, counts, left_out=LeftOut.of(query)).operating_points(score, weight, (0.3,))
    for figure in (points.precision[0], points.recall[0]):
        found = figure.estimate()
        expected = figure.spread(SHARE).interval()
        assert (found.low, found.high) == pytest.approx(expected)
        assert found.low is not None and found.low < np.percentile(figure.replicates, 2.5)
