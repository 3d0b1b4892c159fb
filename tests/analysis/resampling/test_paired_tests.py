"""Paired tests against scipy, statsmodels and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from relstudy.analysis.resampling.paired_tests import PairedDifference, TukeyRange, bootstrap, letters, sign_flips

random = np.random.default_rng(4)
FIRST, SECOND = random.beta(2, 3, 31), random.beta(2, 4, 31)
EXACT = 1e-12  # sums of some tens of doubles in another order


def test_students_t_its_interval_and_effect_are_those_of_scipy() -> None:
    found = PairedDifference.of(FIRST - SECOND)
    theirs = stats.ttest_rel(FIRST, SECOND)
    assert found.p == pytest.approx(theirs.pvalue, abs=EXACT)
    ends = theirs.confidence_interval(0.9)
    assert found.interval(0.9) == pytest.approx((ends.low, ends.high), abs=EXACT)
    assert found.effect == pytest.approx((FIRST - SECOND).mean() / (FIRST - SECOND).std(ddof=1), abs=EXACT)


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.4])
def test_equivalence_is_that_of_statsmodels(margin: float) -> None:
    found = PairedDifference.of(FIRST - SECOND)
    assert found.equivalence(margin) == pytest.approx(ttost_paired(FIRST, SECOND, -margin, margin)[0], abs=EXACT)


@pytest.mark.parametrize(("alike", "chance"), [(0.0, 0.95**5), (0.03, 0.98**5), (0.06, 1.0)])
def test_few_queries_that_do_not_differ_show_no_equivalence(alike: float, chance: float) -> None:
    """Were the mean at a margin of .05, one query in twenty might differ by 1, and be missed by five."""
    assert PairedDifference.of(np.full(5, alike)).equivalence(0.05) == pytest.approx(chance, abs=EXACT)


def test_the_chance_above_a_margin_is_that_of_draws_from_the_posterior() -> None:
    differences, draws = FIRST - SECOND, np.random.default_rng(1)
    n, margin = len(differences), 0.05
    variance = (n - 1) * differences.var(ddof=1) / draws.chisquare(n - 1, 400_000)
    drawn = draws.normal(differences.mean(), np.sqrt(variance / n))
    # five standard errors of a share of 400,000 draws
    assert PairedDifference.of(differences).chance_above(margin) == pytest.approx((drawn > margin).mean(), abs=0.004)


def test_all_signs_are_taken_where_there_are_few_queries_as_scipy_does() -> None:
    differences = (FIRST - SECOND)[:9]
    theirs = stats.permutation_test(
        (differences,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert sign_flips(differences[:, None])[0] == pytest.approx(theirs.pvalue, abs=EXACT)


def test_drawn_signs_count_the_data_as_one_draw_and_are_near_all_signs() -> None:
    differences = (FIRST - SECOND)[:12, None]
    whole, drawn = sign_flips(differences, draws=4096)[0], sign_flips(differences, draws=4000)[0]
    assert drawn * 4001 == pytest.approx(round(drawn * 4001), abs=1e-6)
    assert drawn == pytest.approx(whole, abs=5 * np.sqrt(whole * (1 - whole) / 4000))
    assert sign_flips(np.full((30, 1), 1.0), draws=99)[0] == 0.01


def test_queries_without_a_value_of_both_have_no_part() -> None:
    differences = FIRST - SECOND
    with_gaps = np.insert(differences, [3, 17], np.nan)
    assert PairedDifference.of(with_gaps).p == PairedDifference.of(differences).p
    few = np.r_[differences[:8], np.nan]
    assert sign_flips(few[:, None]) == pytest.approx(sign_flips(few[:8, None]))
    assert bootstrap(with_gaps[:, None], 500) == bootstrap(differences[:, None], 500)


def test_the_bootstrap_is_that_of_a_loop_over_its_draws() -> None:
    """Reject at alpha where expanded percentiles would: Hesterberg 2015, section 5.4."""
    differences, draws = FIRST - SECOND, np.random.default_rng(0)
    n, mean = len(differences), (FIRST - SECOND).mean()
    reached = sum(abs((differences - mean)[chosen].mean()) >= abs(mean) for chosen in draws.integers(0, n, (300, n)))
    p = bootstrap(differences[:, None], 300)[0]
    alpha = 2 * stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(1 - p / 2, n - 1))
    assert alpha == pytest.approx((reached + 1) / 301)


def test_a_draw_that_is_as_far_off_as_the_data_counts_half() -> None:
    """Differences of one tenth and of none: by a loop over whole numbers of tenths."""
    tenths, draws = np.array([1, 0, 0, 1, 0, 1, -1, 0]), np.random.default_rng(0)
    n, total = len(tenths), int(tenths.sum())
    sums = [abs(n * int(tenths[chosen].sum()) - n * total) for chosen in draws.integers(0, n, (400, n))]
    reached = sum((each > n * total) + 0.5 * (each == n * total) for each in sums)
    p = bootstrap(tenths[:, None] / 10, 400)[0]
    alpha = 2 * stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(1 - p / 2, n - 1))
    assert alpha == pytest.approx((reached + 1) / 401) and n * total in sums


def test_a_query_of_weight_three_is_tested_as_its_own_difference_thrice_as_large() -> None:
    """Of signs, where that is exact; equal weights change no test."""
    differences, weight = (FIRST - SECOND)[:9], np.ones(9)
    heavy = np.where(np.arange(9) < 2, 3.0, 1.0)
    by_signs = sign_flips(differences[:, None], weight=heavy)[0]
    assert by_signs == sign_flips((differences * heavy)[:, None])[0] != sign_flips(differences[:, None])[0]
    alike, plain = PairedDifference.of(differences, weight), PairedDifference.of(differences)
    assert (alike.p, alike.effect) == pytest.approx((plain.p, plain.effect), abs=EXACT)
    assert bootstrap(differences[:, None], 500, weight=weight) == bootstrap(differences[:, None], 500)
    values = np.column_stack([FIRST, SECOND])[:9]
    for other in (weight, 5 * weight):
        tukey = TukeyRange.of(values, 500, weight=other)
        assert tukey.ranges == pytest.approx(TukeyRange.of(values, 500).ranges, abs=EXACT)


@pytest.mark.slow
def test_where_queries_count_unlike_the_bootstrap_rejects_as_often_as_students_t() -> None:
    """Of ten queries, equal systems: means of the weights drawn with them rejected half as often as they should."""
    draw = np.random.default_rng(2)
    differences, weight = draw.normal(size=(1500, 10)), np.exp(draw.normal(size=(1500, 10)))
    by_t = [PairedDifference.of(one, worth).p <= 0.05 for one, worth in zip(differences, weight, strict=True)]
    drawn = [bootstrap(one[:, None], 400, 1, worth)[0] <= 0.05 for one, worth in zip(differences, weight, strict=True)]
    # 5 % of 1,500 studies has a standard error of .6 points; drawn with their weights, they rejected in 2 % less
    assert np.mean(by_t) == pytest.approx(0.045, abs=0.012) and np.mean(drawn) == pytest.approx(np.mean(by_t), abs=0.01)


def test_the_error_of_a_weighted_mean_is_near_that_of_many_draws() -> None:
    """Over 4,000 sets of 40 differences: their variance is known to 3 %, and the jackknife's mean is near it."""
    draws, weight = np.random.default_rng(6), np.exp(np.random.default_rng(7).normal(size=40))
    found = [PairedDifference.of(draws.normal(size=40), weight) for _ in range(4000)]
    spread = np.var([each.mean for each in found])
    assert np.mean([each.error**2 for each in found]) == pytest.approx(spread, rel=0.1)
    assert found[0].degrees == pytest.approx(weight.sum() ** 2 / (weight**2).sum() - 1)


def test_the_range_of_few_systems_is_that_of_all_orders() -> None:
    values = random.random((3, 3))
    orders = list(itertools.permutations(range(3)))
    ranges = np.array(
        [np.ptp(np.mean([values[q, list(order)] for q, order in enumerate(chosen)], axis=0))
         for chosen in itertools.product(orders, repeat=3)]
    )  # fmt: skip
    found = TukeyRange.of(values, draws=40_000)
    for difference in (0.1, 0.2, 0.3):
        share = (ranges >= difference).mean()
        assert found.p(difference) == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 40_000) + 1e-4)


def test_of_two_systems_the_range_is_random_signs() -> None:
    values = np.column_stack([FIRST, SECOND])[:10]
    whole = sign_flips((values[:, 0] - values[:, 1])[:, None])[0]
    found = TukeyRange.of(values, draws=20_000).p(float(values[:, 0].mean() - values[:, 1].mean()))
    assert found == pytest.approx(whole, abs=5 * np.sqrt(whole * (1 - whole) / 20_000))


def test_systems_that_differ_alike_in_every_query_have_no_test() -> None:
    found = PairedDifference.of(np.full(8, 0.1))
    assert not found.tested and np.isnan(found.p) and np.isnan(bootstrap(np.full((8, 1), 0.1))[0])


@given(st.integers(2, 7).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_two_systems_share_a_letter_exactly_where_they_are_not_told_apart(drawn: list[bool]) -> None:
    number = int(len(drawn) ** 0.5)
    half = np.triu(np.reshape(drawn, (number, number)), 1)
    apart = half | half.T
    names = [f"s{k}" for k in range(number)]
    given_letters = letters(names, apart)
    for i, j in itertools.combinations(range(number), 2):
        assert bool(set(given_letters[names[i]]) & set(given_letters[names[j]])) == (not apart[i, j])
