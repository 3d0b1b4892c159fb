"""How a budget is parted between people and a judge."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.studyapp.judging.judge_budget import best_split, standard_error

MANY = 10**7


@pytest.mark.parametrize("r_squared", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("question", [0.001, 0.02])
def test_the_best_split_is_cochrans_where_the_collection_has_no_end(r_squared: float, question: float) -> None:
    """N / n = sqrt(R^2 / (1 - R^2) person / question), Cochran 1977, 12.3."""
    split = best_split(1000.0, 1.0, question, r_squared, MANY)
    ratio = np.sqrt(r_squared / (1 - r_squared) / question)
    people = 1000 / (1 + ratio * question)
    # the grid of questions is one of 2,000 steps; the error is flat about its least
    assert split.people == pytest.approx(people, rel=0.01)
    assert split.questions == pytest.approx(ratio * people, rel=0.02)
    best = standard_error(people, ratio * people, r_squared, MANY)
    assert split.error == pytest.approx(best / standard_error(1000, 0, r_squared, MANY), abs=1e-3)
    for share in (0.25, 0.5, 0.75):
        other = standard_error(1000 * share, 1000 * (1 - share) / question, r_squared, MANY)
        assert best <= other


def test_the_standard_error_is_that_of_the_difference_estimator_in_samples_of_two_phases() -> None:
    random = np.random.default_rng(0)
    people, questions, candidates, r_squared = 40, 200, 1000, 0.6
    judge = random.normal(size=candidates)
    rest = random.normal(size=candidates)
    truth = np.sqrt(r_squared) * judge + np.sqrt(1 - r_squared) * rest
    worth = np.sqrt(r_squared) * judge
    errors = []
    for _ in range(4000):
        asked = random.choice(candidates, questions, replace=False)
        both = asked[:people]
        errors.append(truth[both].mean() - worth[both].mean() + worth[asked].mean() - truth.mean())
    # the first phase has a finite collection, the second one too, which the formula leaves out: 1 - 40 / 1000 at most;
    # 4,000 draws leave 1.1 % of a standard deviation, and the 1,000 pairs are themselves drawn, 2.2 %
    assert np.std(errors) == pytest.approx(standard_error(people, questions, r_squared, candidates), rel=0.06)


def test_a_judge_that_knows_nothing_or_costs_as_much_as_people_gets_nothing() -> None:
    assert best_split(100, 1.0, 0.01, 0.0, MANY).questions == 0
    assert best_split(100, 1.0, 1.0, 0.5, MANY) == best_split(100, 1.0, 1.0, 0.0, MANY)


def test_where_the_whole_collection_can_be_paid_the_rest_goes_to_people() -> None:
    split = best_split(100, 1.0, 0.001, 0.8, 2000)
    assert split.questions == 2000 and split.people == 98


def test_people_who_judged_already_leave_more_to_the_judge() -> None:
    fresh, later = (best_split(50, 1.0, 0.02, 0.5, MANY, judged) for judged in (0, 400))
    assert later.questions > fresh.questions and later.people < fresh.people
