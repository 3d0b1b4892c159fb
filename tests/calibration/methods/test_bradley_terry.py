"""The preference model: against other programs, against its likelihood, and on simulated truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from relstudy.calibration.methods.bradley_terry import EQUAL, LEFT, RIGHT, Couples, Preferences, fit_preferences
from relstudy.calibration.preferences import read_preferences, systems_preferred
from relstudy.common.tables.checked_table import Checked

ITEMS, SPREAD = 8, 1.0


def simulated(
    rng: np.random.Generator,
    *,
    queries: int = 30,
    results: int = 8,
    raters: int = 12,
    answers: int = 60,
    quality: float = 1.2,
    lean: tuple[float, float] = (0.2, 0.5),
    tie: tuple[float, float] = (-0.3, 0.5),
) -> tuple[Couples, np.ndarray]:
    """Couples and their true qualities; `lean` and `tie` are the panel's, and their spread over raters."""
    query = np.repeat(np.arange(queries), results)
    truth = rng.normal(0, quality, len(query))
    leans, ties = rng.normal(*lean, raters), rng.normal(*tie, raters)
    rater = np.repeat(np.arange(raters), answers)
    first = rng.integers(results, size=len(rater))
    second = (first + rng.integers(1, results, size=len(rater))) % results
    of_query = rng.integers(queries, size=len(rater)) * results
    left, right = of_query + first, of_query + second
    ahead = truth[left] - truth[right] + leans[rater]
    chance = np.exp(np.column_stack([ahead / 2, ties[rater], -ahead / 2]))
    chance /= chance.sum(axis=1, keepdims=True)
    answer = (rng.random(len(rater))[:, None] > chance.cumsum(axis=1)).sum(axis=1) - 1
    return Couples(rater, left, right, answer, query, raters), truth


def decided_couples() -> Couples:
    """150 couples of eight results of one query, by one rater who never calls two equal."""
    nobody_leans = {"lean": (0.0, 0.0), "tie": (-50.0, 0.0)}
    couples, _ = simulated(np.random.default_rng(11), queries=1, results=ITEMS, raters=1, answers=150, **nobody_leans)
    return couples


def mirrored(couples: Couples) -> Couples:
    """Each couple from both sides, so that no side is ahead of the other."""
    return replace(
        couples,
        rater=np.tile(couples.rater, 2),
        left=np.r_[couples.left, couples.right],
        right=np.r_[couples.right, couples.left],
        answer=np.r_[couples.answer, -couples.answer],
    )


def bradley_terry(couples: Couples, spread: float) -> np.ndarray:
    """Qualities without ties and leans; twice the couples stand against twice the prior."""
    found = fit_preferences(
        mirrored(couples), quality_spread=spread / np.sqrt(2), lean_spread=0.0, tie_spread=0.0, ties=False
    )
    return found.quality


# printed by evidence/preference_peers.py (choix 0.4.1, crowd-kit 1.4.2)
CHOIX_PENALISED = [-0.1306, 1.1254, 1.1417, -0.4372, -0.6357, -0.9807, 0.4841, -0.567]
CHOIX = [-0.1464, 1.3302, 1.3142, -0.5035, -0.7439, -1.1464, 0.5361, -0.6402]
CROWD_KIT = [-0.1464, 1.3302, 1.3142, -0.5035, -0.7439, -1.1464, 0.5361, -0.6402]
DIGITS = 6e-5  # they are printed to four digits


def test_qualities_are_those_of_choix_with_the_same_penalty() -> None:
    np.testing.assert_allclose(bradley_terry(decided_couples(), SPREAD), CHOIX_PENALISED, atol=DIGITS)


@pytest.mark.parametrize("peer", [CHOIX, CROWD_KIT])
def test_without_a_prior_qualities_are_those_of_choix_and_of_crowd_kit(peer: list[float]) -> None:
    # a prior of spread 1000 moves a log odds of 2 by less than 1e-4 of it
    np.testing.assert_allclose(bradley_terry(decided_couples(), 1000.0), peer, atol=2 * DIGITS)


def test_with_ties_and_a_side_qualities_are_the_best_of_davidsons_likelihood_by_brute_force() -> None:
    couples, _ = simulated(np.random.default_rng(2), queries=1, results=4, raters=1, answers=80, lean=(0.6, 0.0))

    def unlikely(at: np.ndarray) -> float:
        ahead = at[couples.left] - at[couples.right] + at[4]
        weights = np.column_stack([np.exp(ahead / 2), np.full(len(ahead), np.exp(at[5])), np.exp(-ahead / 2)])
        chosen = weights[np.arange(len(ahead)), couples.answer + 1] / weights.sum(axis=1)
        return -float(np.log(chosen).sum()) + 0.5 * float(np.sum(at[:4] ** 2))

    best = minimize(unlikely, np.zeros(6), method="BFGS", options={"gtol": 1e-8}).x
    found = fit_preferences(couples, quality_spread=1.0, lean_spread=0.0, tie_spread=0.0)
    np.testing.assert_allclose(found.quality, best[:4] - best[:4].mean(), atol=1e-4)  # BFGS by differences stops there
    np.testing.assert_allclose([found.mean_lean, found.mean_tie], best[4:], atol=1e-3)  # and a prior of spread 1000
    np.testing.assert_allclose([found.lean[0], found.tie[0]], best[4:], atol=1e-3)  # the one rater's are the panel's


def coverage(found: Preferences, couples: Couples, truth: np.ndarray) -> tuple[float, float]:
    """Shares of qualities, and of differences within queries, that their 95 % intervals hold."""
    centred = truth - (np.bincount(couples.query, truth) / np.bincount(couples.query))[couples.query]
    held = np.abs(found.quality - centred) < 1.96 * found.standard_error
    differences = []
    for query, (items, _) in found.covariance.items():
        for one, other in zip(items[::2], items[1::2], strict=True):
            figure, error = found.difference(int(one), int(other), query)
            differences.append(abs(figure - truth[one] + truth[other]) < 1.96 * error)
    return float(np.mean(held)), float(np.mean(differences))


@pytest.mark.slow
def test_intervals_hold_true_qualities_where_raters_lean_to_a_side_and_differ_in_ties() -> None:
    rng = np.random.default_rng(1)
    shares = []
    for _ in range(3):
        couples, truth = simulated(rng)
        shares.append(coverage(fit_preferences(couples), couples, truth))
    held, differences = np.mean(shares, axis=0)
    # 3 studies of 240 qualities, which hang together a little: one standard error is about 1 %
    assert 0.92 <= held <= 0.98 and 0.92 <= differences <= 0.98


@pytest.mark.slow
def test_the_spread_of_qualities_is_found_where_each_result_has_few_couples() -> None:
    """Three couples a result; the likeliest spread by itself is .71 in these studies."""
    found = []
    for seed in range(4):
        couples, _ = simulated(np.random.default_rng(100 + seed), answers=30, quality=1.0)
        found.append(np.log(fit_preferences(couples).spreads[0]))
    # the logs differ by .21 between studies, their mean by .105: twice that
    assert np.mean(found) == pytest.approx(0, abs=0.21)


@pytest.mark.slow
def test_a_panel_that_leans_to_the_left_is_found_to_and_does_not_move_qualities() -> None:
    couples, truth = simulated(np.random.default_rng(3), lean=(1.0, 0.3), queries=15)
    found = fit_preferences(couples)
    assert abs(found.mean_lean - 1.0) < 3 * found.lean_error
    assert np.corrcoef(found.quality, truth)[0, 1] > 0.7


def test_the_side_on_which_results_stood_does_not_matter() -> None:
    couples, _ = simulated(np.random.default_rng(4), queries=6)
    swapped = replace(couples, left=couples.right, right=couples.left, answer=-couples.answer)
    spreads = {"quality_spread": 1.0, "lean_spread": 0.5, "tie_spread": 0.5}
    one, other = fit_preferences(couples, **spreads), fit_preferences(swapped, **spreads)
    np.testing.assert_allclose(one.quality, other.quality, atol=1e-6)  # Newton's method stops at 1e-7
    np.testing.assert_allclose(one.lean, -other.lean, atol=1e-6)


def test_a_result_that_always_won_is_good_and_not_infinitely_good() -> None:
    couples = Couples(np.zeros(2, int), np.array([0, 0]), np.array([1, 2]), np.array([LEFT, LEFT]), np.zeros(3, int), 1)
    found = fit_preferences(couples)
    assert 0 < found.quality[0] < 5 and found.preferred[0] > 0.5
    assert set(couples.answer) <= {LEFT, EQUAL, RIGHT}


@pytest.mark.slow
def test_intervals_of_how_often_one_systems_lists_are_preferred_hold_the_truth() -> None:
    rng = np.random.default_rng(5)
    draws = rng.normal(0.5, np.sqrt(1.25), 200_000)
    truth, held, found = float(np.mean(expit(draws))), [], []
    for _ in range(300):
        ahead, of_rater = rng.normal(0.5, 1, 120), rng.normal(0, 0.5, 10)
        chance = np.where(ahead > 0.5, 0.8, 0.3)  # which queries are drawn has to do with who wins
        query = np.flatnonzero(rng.random(120) < chance)
        rater, query = (part.ravel() for part in np.meshgrid(np.arange(10), query))
        kept = rng.random(len(rater)) < 0.5
        rater, query = rater[kept], query[kept]
        wins = (rng.random(len(query)) < expit(ahead[query] + of_rater[rater])).astype(float)
        turned = rng.random(len(query)) < 0.5
        systems = [("b", "a") if each else ("a", "b") for each in turned]
        table = systems_preferred(systems, np.where(turned, 1 - wins, wins), 1 / chance[query], rater, query)
        row = table.iloc[0]
        held.append(row["preferred_low"] < truth < row["preferred_high"])
        found.append(row["preferred"])
    # one standard error of the coverage is 1.3 %, of the mean figure 0.3 %
    assert 0.92 <= np.mean(held) <= 0.98
    assert abs(np.mean(found) - truth) < 0.012


@pytest.mark.slow
def test_answers_that_do_not_tell_how_far_results_differ_give_no_standard_error() -> None:
    """One answer, and many in which nobody prefers anything: the search for the spread ends at one of its ends."""
    one = [("a", "q", "x", "y", "x", -1)]
    equal = [(rater, f"q{q}", "x", "y", "x", 0) for rater in "abcd" for q in range(20)]
    for rows in (one, equal):
        table = pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "other_id", "left", "rating"])
        found = read_preferences(Checked(table, "answers"))
        assert found.judgments.frame["standard_error"].isna().all()
        assert found.judgments.frame["judgment"].between(0, 1).all()
        assert any("no standard error" in note for note in found.notes)
