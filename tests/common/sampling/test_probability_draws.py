"""Shaping, probabilities proportional to size, and the draw."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import (
    base_block,
    base_queries,
    inclusion_probabilities,
    rank_share,
    simple_random_sample,
    systematic_sample,
    systematic_samples,
)

sizes = arrays(float, st.integers(2, 60), elements=st.floats(1e-6, 1e3))
scores = arrays(float, st.integers(1, 60), elements=st.sampled_from([-1.0, 0.0, 0.5, 0.5, 2.0, np.nan]))


def chi_square_of_counts(counts: np.ndarray, probability: np.ndarray, draws: int) -> float:
    """p-value of the hypothesis that each cell was drawn with its probability (cells with 0 < p < 1).

    Fixed-size draws make the counts slightly dependent, which lowers the statistic, so the test errs to the safe side
    against false alarms only by a little; a wrong probability still shows.
    """
    open_ = (probability > 0) & (probability < 1)
    variance = draws * probability[open_] * (1 - probability[open_])
    return float(chi2.sf(((counts[open_] - draws * probability[open_]) ** 2 / variance).sum(), open_.sum()))


def test_shares_follow_rank_to_the_minus_p_as_in_the_paper():
    share, rank = rank_share(np.array([0.1, 0.9, 0.5]), 2.0)
    assert rank.tolist() == [3, 1, 2]
    np.testing.assert_allclose(share, np.array([1 / 9, 1, 1 / 4]) / (1 + 1 / 4 + 1 / 9), rtol=1e-12)


@pytest.mark.slow
@given(scores, st.floats(0, 6))
@settings(max_examples=60, deadline=None)
def test_shares_sum_to_one_fall_with_rank_and_are_equal_among_ties(values, exponent):
    share, rank = rank_share(values, exponent)
    assert share.sum() == pytest.approx(1, abs=1e-12)
    worth = np.where(np.isnan(values), -np.inf, values)
    for one in range(len(values)):
        assert rank[one] == 1 + (worth > worth[one]).sum()
        assert (share[worth < worth[one]] <= share[one] + 1e-15).all()
        assert np.allclose(share[worth == worth[one]], share[one], rtol=1e-12)


def test_the_order_of_tied_candidates_plays_no_part():
    values = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    order = np.array([4, 2, 0, 1, 3])
    np.testing.assert_array_equal(rank_share(values, 1.0)[0][order], rank_share(values[order], 1.0)[0])


@given(sizes, st.data())
@settings(max_examples=80, deadline=None)
def test_probabilities_sum_to_the_number_and_stay_proportional_below_one(size, data):
    number = data.draw(st.integers(1, len(size)))
    probability = inclusion_probabilities(size, number)
    assert probability.sum() == pytest.approx(number, rel=1e-9)
    assert (probability > 0).all() and (probability <= 1).all()
    free = probability < 1
    if free.any():
        np.testing.assert_allclose(probability[free] / size[free], (probability[free] / size[free])[0], rtol=1e-9)
        # whoever is certain is at least as large as whoever is not
        assert (~free).sum() == 0 or size[~free].min() >= size[free].max() * (1 - 1e-9)


def test_probabilities_equal_the_fixed_point_iteration_of_the_oracle():
    rng = np.random.default_rng(3)
    for _ in range(20):
        size = rng.random(200) ** 8 + 1e-4
        size /= size.sum()
        expected = np.minimum(1, 40 * size)
        for _ in range(200):
            full = expected >= 1
            rest = np.where(full, 0, size)
            expected = np.where(full, 1, np.minimum(1, (40 - full.sum()) * rest / rest.sum()))
        np.testing.assert_allclose(inclusion_probabilities(size, 40), expected, rtol=1e-10)


def test_a_candidate_without_a_chance_is_refused_by_number():
    with pytest.raises(RelstudyError, match="1 of 3 candidates have inclusion probability zero"):
        inclusion_probabilities(np.array([1.0, 0.0, 1.0]), 1)


@pytest.mark.slow
@given(sizes, st.data())
@settings(max_examples=80, deadline=None)
def test_a_draw_has_the_size_wanted_and_holds_whoever_is_certain(size, data):
    number = data.draw(st.integers(1, len(size)))
    probability = inclusion_probabilities(size, number)
    drawn = systematic_sample(probability, np.random.default_rng(data.draw(st.integers(0, 9))))
    assert len(drawn) == number == len(set(drawn.tolist()))
    assert set(np.flatnonzero(probability == 1)) <= set(drawn.tolist())


@pytest.mark.slow
def test_a_draw_of_fractional_size_takes_one_of_the_two_whole_numbers_around_it():
    rng = np.random.default_rng(0)
    taken = [len(systematic_sample(np.full(7, 0.35), rng)) for _ in range(4000)]
    assert set(taken) == {2, 3}
    # standard error of the mean of 4,000 values with variance 0.2475: 0.008
    assert np.mean(taken) == pytest.approx(2.45, abs=0.03)


@pytest.mark.slow
def test_every_candidate_is_drawn_with_its_probability():
    rng = np.random.default_rng(1)
    share = np.mean([rank_share(rng.normal(size=300), 1.0)[0] for _ in range(4)], axis=0)
    probability = inclusion_probabilities(0.95 * share + 0.05 / 300, 25)
    counts = np.zeros(300)
    for _ in range(4000):
        counts[systematic_sample(probability, rng)] += 1
    assert chi_square_of_counts(counts, probability, 4000) > 0.001
    # and the test would notice: the same counts against plain proportional-to-size probabilities
    assert chi_square_of_counts(counts, np.minimum(0.999, 0.9 * probability), 4000) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [3.0, 3.4, 0.0])
def test_draws_of_many_queries_at_once_are_those_of_one_after_another(wanted):
    size = np.random.default_rng(0).exponential(size=(200, 12)) ** 2
    probability = np.array([inclusion_probabilities(each, max(wanted, 1)) for each in size]) * (wanted > 0)
    one_by_one, at_once = np.random.default_rng(1), np.random.default_rng(1)
    expected = [systematic_sample(each, one_by_one).tolist() for each in probability]
    assert [row.nonzero()[0].tolist() for row in systematic_samples(probability, at_once)] == expected
    assert at_once.random() == one_by_one.random()


def test_any_two_candidates_can_be_drawn_together():
    # in a fixed order neighbours never would be, and no variance could be estimated
    rng = np.random.default_rng(5)
    together = np.zeros((8, 8))
    draws = 4000
    for _ in range(draws):
        chosen = systematic_sample(np.full(8, 0.25), rng)
        together[np.ix_(chosen, chosen)] += 1
    shares = together[~np.eye(8, dtype=bool)] / draws
    # two of eight equal candidates: 1 / 28 each, at five standard errors
    assert (abs(shares - 1 / 28) < 5 * np.sqrt(1 / 28 / draws)).all()


def test_the_queries_are_a_simple_random_sample():
    rng = np.random.default_rng(2)
    counts = np.zeros(40)
    for _ in range(3000):
        drawn = simple_random_sample(40, 10, rng)
        assert len(set(drawn.tolist())) == 10
        counts[drawn] += 1
    assert chi_square_of_counts(counts, np.full(40, 0.25), 3000) > 0.001


def test_every_pair_of_the_sample_is_in_the_base_block_with_the_same_probability():
    rng = np.random.default_rng(4)
    query = np.repeat(np.arange(12), 10)
    counts = np.zeros(len(query))
    for _ in range(3000):
        counts += base_block(query, 20, 4, rng)
    assert counts.sum() == 20 * 3000
    # pages put pairs of one query together, so counts of a query's pairs rise and fall together: each cell alone is
    # tested, at five standard errors
    expected = 20 / 120
    assert (abs(counts / 3000 - expected) < 5 * np.sqrt(expected * (1 - expected) / 3000)).all()


@given(st.integers(1, 9), st.integers(4, 12), st.integers(0, 40), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_base_pairs_come_as_whole_pages_of_one_query(queries, results, number, page):
    query = np.repeat(np.arange(queries), results)
    chosen = base_block(query, number, page, np.random.default_rng(0))
    assert chosen.sum() == min(number, len(query))
    taken = np.bincount(query[chosen], minlength=queries)
    # at most one page is cut short by the size of the block; others only where a query has no more results
    assert ((taken % page != 0) & (taken < results)).sum() <= 1


@pytest.mark.slow
def test_a_base_block_by_queries_is_whole_queries_each_with_the_same_chance():
    query = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 5, 4, 3, 2, 1])
    rng = np.random.default_rng(2)
    draws, counts = 4000, np.zeros(10)
    for _ in range(draws):
        base = base_queries(query, 3, rng)
        chosen = np.unique(query[base])
        assert len(chosen) == 3 and np.isin(query, chosen).sum() == base.sum()
        counts[chosen] += 1
    # standard error of a share .3 over 4,000 draws is .007; five of them
    assert np.abs(counts / draws - 0.3).max() < 5 * 0.0073
    assert base_queries(query, 99, rng).all() and not base_queries(query, 0, rng).any()
