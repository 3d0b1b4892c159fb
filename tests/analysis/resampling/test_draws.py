"""The bootstrap of two stages: its variance against the design's, and what it must be at its ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.bootstrap import query_counts
from relstudy.analysis.resampling.draws import deviations, two_stages, whole_queries
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import inclusion_probabilities, simple_random_sample, systematic_sample
from tests.analysis.made import tables

FEW = ScoringOptions(replicates=200, measures=("P@5",))


def study(random: np.random.Generator, queries: int = 8, results: int = 5) -> dict[str, np.ndarray]:
    """A sample of pairs with probabilities given their query, and values of any sign."""
    query = np.repeat(np.arange(queries), results)
    size = np.exp(random.normal(size=(queries, 3 * results)))
    given = np.concatenate(
        [inclusion_probabilities(own, results)[random.permutation(len(own))[:results]] for own in size]
    )
    return {"query": query, "given": given, "value": random.normal(1, 2, queries * results)}


@given(st.integers(0, 10**6), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_with_a_vanishing_share_of_the_queries_it_is_the_bootstrap_of_whole_queries(seed: int, draw_seed: int) -> None:
    data = study(np.random.default_rng(seed))
    whole = whole_queries(data["query"], 8, 50, draw_seed)
    none = two_stages(data["query"], np.zeros(8), data["given"], 50, draw_seed)
    np.testing.assert_array_equal(none.times[none.row], whole.times[whole.row])
    # the factors differ from 1 by the square root of the share at most
    nearly = two_stages(data["query"], np.full(8, 1e-12), data["given"], 50, draw_seed)
    np.testing.assert_allclose(nearly.times[nearly.row], whole.times[whole.row], rtol=0, atol=1e-4)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_no_pair_counts_less_than_nothing_and_each_counts_once_on_average(seed: int, fraction: float) -> None:
    random = np.random.default_rng(seed)
    data = study(random, queries=6, results=int(random.integers(2, 9)))
    times = two_stages(data["query"], np.full(6, fraction), data["given"], 4000, seed).times
    assert times.min() >= 0
    # four standard errors of a mean of 4,000 draws, more for the largest of up to 48 pairs
    np.testing.assert_allclose(times.mean(axis=1), 1, rtol=0, atol=5 * times.std(axis=1).max() / np.sqrt(4000))


def test_with_all_queries_and_all_their_pairs_nothing_varies() -> None:
    data = study(np.random.default_rng(1))
    draws = two_stages(data["query"], np.ones(8), np.ones(40), 30, 0)
    assert (draws.times == 1).all()


def test_pairs_that_were_certain_vary_with_their_query_only() -> None:
    query = np.repeat([0, 1, 2], 4)
    given_query = np.tile([1.0, 1.0, 0.4, 0.6], 3)
    times = two_stages(query, np.full(3, 0.5), given_query, 60, 3).times
    counts = query_counts(3, 60, 3)
    np.testing.assert_allclose(times[given_query == 1], np.repeat(1 + np.sqrt(0.5) * (counts - 1), 2, axis=0))
    assert np.std(times[2] / times[0]) > 0.1


def test_a_query_that_shows_nothing_of_its_variance_keeps_the_whole_of_it() -> None:
    """One pair a query: nothing tells how another pair would have differed, so the queries' full variance stays."""
    draws = two_stages(np.arange(5), np.full(5, 0.5), np.full(5, 0.3), 40, 7)
    np.testing.assert_array_equal(draws.times, query_counts(5, 40, 7))


def test_deviations_are_none_where_only_one_pair_was_left_to_chance() -> None:
    random = np.random.default_rng(0)
    assert deviations(np.array([0.0, 0.0, 0.3]), 10, random) is None
    assert deviations(np.zeros(3), 10, random) == 0.0


@pytest.mark.slow
def test_the_variance_of_a_total_is_the_designs_over_all_samples_there_are() -> None:
    """Every sample of 3 of 6 queries and 2 of 4 results each, so that the design's variance is known without an error.

    Results are drawn with equal probability, where Deville's estimator is unbiased. A bootstrap of n queries is too
    narrow by 1 / n of the variance between them, in a finite population or not; that much is expected.
    """
    value = np.random.default_rng(5).normal(2, 1, (6, 4)) * np.exp(np.random.default_rng(6).normal(size=(6, 1)))
    two = list(combinations(range(4), 2))
    query, fraction, given_query = np.repeat([0, 1, 2], 2), np.full(3, 0.5), np.full(6, 0.5)
    totals, found, whole, between = [], [], [], []
    for number, (queries, *results) in enumerate(product(combinations(range(6), 3), two, two, two)):
        weighted = np.array([value[q, r] for q, own in zip(queries, results, strict=True) for r in own]) / 0.25
        totals.append(weighted.sum())
        between.append(np.var(weighted.reshape(3, 2).sum(axis=1), ddof=1))
        found.append(np.var(weighted @ two_stages(query, fraction, given_query, 100, number).times, ddof=1))
        whole.append(np.var(weighted @ whole_queries(query, 3, 100, number).times[query], ddof=1))
    true, too_narrow = np.var(totals), np.mean(between)
    # 4,320 variances of 100 replicates each: a standard error of 0.2 %
    assert np.mean(found) == pytest.approx(true - 0.5 * too_narrow, rel=0.01)
    assert np.mean(whole) > 1.2 * np.mean(found)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 2])
def test_the_standard_errors_of_the_indices_are_the_designs(rounds: int) -> None:
    """Samples of 30 of 40 queries with 10 of 40 results each, drawn as `relstudy sample` draws, against their scatter.

    A second round of the same queries draws by another size, and the union counts.
    """
    random = np.random.default_rng(8)
    truth = random.normal(size=(40, 40)) + random.normal(size=(40, 1))
    score = truth + random.normal(size=truth.shape)
    first = np.array([inclusion_probabilities(np.exp(own / 2), 10) for own in score])
    second = np.array([inclusion_probabilities(np.exp(own / 3), 5) for own in truth])
    probability = first if rounds == 1 else 1 - (1 - first) * (1 - second)
    values, found, whole = ([] for _ in range(3))
    for number in range(500):
        chosen = simple_random_sample(40, 30, random)
        drawn = [
            np.unique(np.concatenate([systematic_sample(each[q], random) for each in (first, second)[:rounds]]))
            for q in chosen
        ]
        query = np.repeat(np.arange(30), [len(own) for own in drawn])
        place = (chosen[query], np.concatenate(drawn))
        own, relevant, weight = score[place], truth[place] > 1, 1 / probability[place]
        two = two_stages(query, np.full(30, 0.75), probability[place], 100, number)
        for draws, kept in ((two, found), (whole_queries(query, 30, 100, number), whole)):
            retrieval = Retrieval(draws.row, relevant, draws.times, 30)
            points = retrieval.at_thresholds(own, weight, np.array([0.1]), np.array([1.5]))
            correlations = CorrelationBootstrap(draws.row, truth[place], draws.times).correlate(own)
            figures = [*retrieval.indices(own, weight).values(), *points.precision, *points.recall]
            figures += correlations.values()
            kept.append([np.std(figure.replicates) for figure in figures])
        values.append([figure.value for figure in figures])
    ratio = np.sqrt(np.mean(np.square(found), axis=0)) / np.std(values, axis=0)
    # the scatter of 500 samples has a standard error of 3.2 %, and a bootstrap of 30 queries is 1.7 % short
    np.testing.assert_allclose(ratio, 1, rtol=0, atol=0.1)
    assert (np.sqrt(np.mean(np.square(whole), axis=0)) / np.std(values, axis=0)).min() > 1.12


def with_fraction(judgments: pd.DataFrame, fraction: float) -> pd.DataFrame:
    probability = judgments["inclusion_probability"] * fraction
    return judgments.assign(query_probability=fraction, inclusion_probability=probability)


@pytest.mark.slow
def test_values_stay_and_intervals_shrink_where_much_of_the_collection_is_in_the_sample() -> None:
    """Nearly all pairs of most queries: what is left to chance is little, where queries differ from each other."""
    judgments, scores = tables(systems=(0.9, 0.6), queries=30)
    level = np.repeat(np.random.default_rng(2).normal(size=30), 15)
    judgments = judgments.assign(judgment=judgments["judgment"] + level, inclusion_probability=0.95)
    known = with_fraction(judgments, 0.8)
    few = replace(FEW, unjudged="skip")
    plain = score_systems(known.drop(columns="query_probability"), scores, options=few)
    corrected = score_systems(known, scores, options=few)
    assert plain.conventions["population"] == "not corrected: query_probability unknown for 30 of 30 queries"
    assert corrected.conventions["population"] == "finite population of queries: f = 0.8, corrected"
    for name in ("s0", "s1"):
        for index in ("pearson", "average_precision", "normalised_rank"):
            before, after = plain[name].indices[index], corrected[name].indices[index]
            assert after.value == pytest.approx(before.value, abs=1e-12)
            assert after.high - after.low < 0.7 * (before.high - before.low)
        assert corrected[name].measures == plain[name].measures
    for mine, theirs in zip(corrected.comparisons, plain.comparisons, strict=True):
        assert mine.difference.value == pytest.approx(theirs.difference.value, abs=1e-12)
        narrowed = mine.difference.high - mine.difference.low < 0.7 * (theirs.difference.high - theirs.difference.low)
        assert narrowed == (mine.index != "condensed P@5")  # a measure knows of no collection


def test_a_study_that_took_every_query_speaks_of_others_like_them_unless_asked_otherwise() -> None:
    judgments, scores = tables(systems=(0.8,))
    judged = with_fraction(judgments, 1.0)
    plain = score_systems(judgments, scores, options=FEW)
    auto = score_systems(judged, scores, options=FEW)
    assert auto["s0"].indices["average_precision"] == plain["s0"].indices["average_precision"]
    assert auto.conventions["population"] == (
        "not corrected: every query was taken (query_probability 1), so they represent others like them"
    )
    asked = score_systems(judged, scores, options=ScoringOptions(replicates=200, population="collection"))
    assert asked.conventions["population"] == "finite population of queries: f = 1, corrected"
    width = asked["s0"].indices["average_precision"].high - asked["s0"].indices["average_precision"].low
    assert 0 < width < auto["s0"].indices["average_precision"].high - auto["s0"].indices["average_precision"].low


def test_an_open_population_leaves_the_bootstrap_as_it_is() -> None:
    judgments, scores = tables(systems=(0.8,))
    plain = score_systems(judgments, scores, options=FEW)
    asked = score_systems(
        with_fraction(judgments, 0.5), scores, options=ScoringOptions(replicates=200, population="open")
    )
    assert asked["s0"].indices["normalised_rank"] == plain["s0"].indices["normalised_rank"]
    assert asked.conventions["population"] == "not corrected: by request"


def test_a_collection_is_refused_where_a_probability_is_missing_or_memory_would_not_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judgments, _ = tables(systems=(0.8,))
    with pytest.raises(RelstudyError, match="query_probability unknown for 20 of 20 queries"):
        JudgedPairs.of(judgments).draws(50, 0, "collection")
    unknown = with_fraction(judgments, 0.5)
    unknown.loc[3, "inclusion_probability"] = np.nan
    with pytest.raises(RelstudyError, match="inclusion_probability unknown"):
        JudgedPairs.of(unknown).draws(50, 0, "collection")
    assert JudgedPairs.of(unknown).population("auto", 50).reason == "inclusion_probability unknown"
    monkeypatch.setattr("relstudy.analysis.scoring.judged_pairs.MOST_CELLS", 300 * 20)
    known = JudgedPairs.of(with_fraction(judgments, 0.5))
    assert known.population("auto", 20).finite
    with pytest.raises(RelstudyError, match="300 pairs and 21 replicates need too much memory"):
        known.draws(21, 0, "collection")
    with pytest.raises(RelstudyError, match="population: choose 'auto', 'collection' or 'open', not 'all'"):
        ScoringOptions(population="all")


@pytest.mark.slow
@given(st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_the_order_of_rows_changes_no_draw(seed: int) -> None:
    judgments, _ = tables(seed=3)
    judged = with_fraction(judgments, 0.4)
    mixed = judged.sample(frac=1, random_state=seed)
    plain, other = (JudgedPairs.of(each).draws(20, 1) for each in (judged, mixed))
    np.testing.assert_array_equal(other.times[other.row], plain.times[plain.row][mixed.index])
