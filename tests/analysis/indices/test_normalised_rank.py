"""Normalised rank in the paper's forms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from relstudy.analysis.indices.normalised_rank import (
    normalised_rank_fifth_power,
    normalised_rank_plain,
    random_assignment,
    sum_of_fifth_powers,
)


def test_sum_of_fifth_powers_is_the_papers_closed_form() -> None:
    assert [sum_of_fifth_powers(float(n)) for n in range(6)] == [sum(k**5 for k in range(n + 1)) for n in range(6)]


def test_eq_5_5_holds_where_its_sixth_powers_leave_64_bit_integers() -> None:
    """5,000^6 is 1.6e22 and 64 bits end at 9.2e18; Python's own integers have no end."""
    number, many = 5_000, 40
    rank = np.random.default_rng(3).permutation(number) + 1
    relevant = rank % (number // many) == 7
    fifth = [k**5 for k in range(1, number + 1)]
    best, worst = sum(fifth[:many]), sum(fifth[number - many :])
    expected = (sum(int(r) ** 5 for r in rank[relevant]) - best) / (worst - best)
    # sums of 5,000 terms in double precision
    assert normalised_rank_fifth_power(relevant, -rank) == pytest.approx(expected, rel=1e-12)
    at_random = (many * sum(fifth) / number - best) / (worst - best)
    assert random_assignment(relevant)["fifth_power"] == pytest.approx(at_random, rel=1e-12)
    assert sum_of_fifth_powers(np.array([number])) == pytest.approx(sum(fifth), rel=1e-12)


def test_every_form_is_0_for_the_best_order() -> None:
    relevant = np.array([True, True, False, False, False])
    score = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    assert normalised_rank_plain(relevant, score) == 0
    assert normalised_rank_fifth_power(relevant, score) == 0


def test_the_worst_order_gives_1_by_eq_5_5_and_the_share_of_irrelevant_pairs_by_eq_5_3() -> None:
    relevant = np.array([True, True, False, False, False])
    score = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert normalised_rank_plain(relevant, score) == pytest.approx(3 / 5)
    assert normalised_rank_fifth_power(relevant, score) == pytest.approx(1.0)


def test_the_divisor_as_printed_does_not_give_1_at_worst() -> None:
    """The printed D, (S5(N_R) - S5(N - N_R)), lacks S5(N) and even has the wrong sign."""
    number, many = 5.0, 2.0
    worst_sum = sum_of_fifth_powers(number) - sum_of_fifth_powers(number - many) - sum_of_fifth_powers(many)
    printed = sum_of_fifth_powers(many) - sum_of_fifth_powers(number - many)
    assert worst_sum / printed < 0


@pytest.mark.slow
def test_the_expectation_at_random_is_the_mean_over_random_orders() -> None:
    random = np.random.default_rng(4)
    relevant = random.random(800) < 0.05
    weight = np.exp(random.normal(size=800))
    drawn = []
    for _ in range(500):
        score = random.permutation(800).astype(float)
        area = roc_auc_score(relevant, score, sample_weight=weight)
        drawn.append((1 - area, normalised_rank_plain(relevant, score), normalised_rank_fifth_power(relevant, score)))
    expected = random_assignment(relevant)
    error = np.std(drawn, axis=0) / np.sqrt(500)
    for mean, own_error, name in zip(np.mean(drawn, axis=0), error, ("weighted", "plain", "fifth_power"), strict=True):
        assert mean == pytest.approx(expected[name], abs=4 * own_error)
    assert expected["fifth_power"] == pytest.approx(1 / 6, abs=0.03)


def test_no_relevant_pair_leaves_every_form_undefined() -> None:
    nothing = np.zeros(4, dtype=bool)
    assert np.isnan(normalised_rank_plain(nothing, np.arange(4.0)))
    assert np.isnan(normalised_rank_fifth_power(nothing, np.arange(4.0)))
    assert np.isnan(list(random_assignment(nothing).values())).all()
