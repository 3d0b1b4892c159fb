"""Rater models of classes: Dawid and Skene's published example, and likelihoods written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import digamma, expit

from relstudy.calibration.methods.by_name import fit_method
from relstudy.calibration.methods.dawid_skene import dawid_skene
from relstudy.calibration.methods.glad import glad
from relstudy.calibration.methods.mace import mace
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import rater_noise
from relstudy.common.runtime.errors import RelstudyError

ANAESTHETISTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 "
    "1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 "
    "1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 "
    "2322222 1211111 2222222"
)
"""Dawid and Skene 1979, table 1: 45 patients; observer 1 answers three times, observers 2 to 5 once."""


def panel_of(rows: list[tuple[str, str, float]]) -> Panel:
    return Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"]))


def anaesthetists() -> Panel:
    return panel_of(
        [
            (observer, f"{patient:02d}", float(answer))
            for patient, answers in enumerate(ANAESTHETISTS.split())
            for observer, answer in zip("1112345", answers, strict=True)
        ]
    )


def made(seed: int = 4, raters: int = 6, pairs: int = 30, categories: int = 3) -> Panel:
    """Raters of whom the last guesses and the first is nearly always right; each pair has four of them."""
    random = np.random.default_rng(seed)
    right = np.linspace(0.9, 1 / categories, raters)
    rows = []
    for pair in range(pairs):
        truth = int(random.integers(categories))
        for rater in random.choice(raters, 4, replace=False):
            others = [each for each in range(categories) if each != truth]
            answer = truth if random.random() < right[rater] else int(random.choice(others))
            rows.append((f"r{rater}", f"p{pair}", float(answer)))
    return panel_of(rows)


def answers_of(panel: Panel) -> list[list[tuple[int, int]]]:
    """Each pair's (rater, answer)."""
    return [
        [(int(panel.rater[row]), int(panel.rating[row])) for row in np.flatnonzero(panel.pair == pair)]
        for pair in range(panel.n_pairs)
    ]


def test_dawid_and_skene_s_own_example_has_the_marginals_that_they_print() -> None:
    """.40, .42, .11 and .07 of the patients are of the four classes."""
    fitted = dawid_skene(anaesthetists())
    consensus = fitted.of_pairs["consensus"]
    assert np.bincount(consensus.astype(int))[1:].tolist() == [18, 19, 5, 3]
    assert fitted.of_pairs["consensus_probability"].min() > 0.5
    shares = np.array([np.mean(consensus == each) for each in (1, 2, 3, 4)])
    assert shares == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)  # as they round, all but one patient being sure


def test_dawid_skene_s_fixed_point_is_that_of_its_equations_written_out() -> None:
    panel = made()
    fitted = dawid_skene(panel)
    answers, size, raters = answers_of(panel), 3, panel.n_raters
    classes = np.array([[sum(k == t for _, k in each) / len(each) for t in range(size)] for each in answers])
    for _ in range(400):
        prior = classes.mean(axis=0)
        rates = np.full((raters, size, size), 1e-300)
        for pair, each in enumerate(answers):
            for rater, answer in each:
                rates[rater, answer] += classes[pair]
        rates /= rates.sum(axis=1, keepdims=True)
        for pair, each in enumerate(answers):
            chance = prior * np.prod([rates[rater, answer] for rater, answer in each], axis=0)
            classes[pair] = chance / chance.sum()
    assert fitted.of_pairs["consensus"].tolist() == classes.argmax(axis=1).tolist()
    # steps end where none moves a class by 1e-9; those to come add up to some thousand times that
    assert fitted.of_pairs["consensus_probability"] == pytest.approx(classes.max(axis=1), abs=1e-5)


def test_glad_stands_where_its_posterior_is_level() -> None:
    """Its slope in every ability and difficulty by differences, classes summed out one by one."""
    panel = made(categories=3)
    fitted = glad(panel)
    answers = answers_of(panel)

    def log_posterior(ability: np.ndarray, ease: np.ndarray) -> float:
        total = -0.5 * (np.sum((ability - 1) ** 2) + np.sum((ease - 1) ** 2))
        for pair, each in enumerate(answers):
            chance = 0.0
            for truth in range(3):
                right = [expit(ability[rater] * np.exp(ease[pair])) for rater, _ in each]
                chance += np.prod([r if k == truth else (1 - r) / 2 for r, (_, k) in zip(right, each, strict=True)]) / 3
            total += np.log(chance)
        return float(total)

    ability, ease = fitted.of_raters["ability"], -fitted.of_pairs["difficulty"]
    top = log_posterior(ability, ease)
    for number in range(panel.n_raters):
        step = 1e-4 * np.eye(panel.n_raters)[number]
        slope = (log_posterior(ability + step, ease) - log_posterior(ability - step, ease)) / 2e-4
        assert abs(slope) < 1e-4  # differences of a sum of 40 logarithms; half an ability away it is some units
        assert log_posterior(ability + 5000 * step, ease) < top
    for number in range(5):
        step = 1e-4 * np.eye(panel.n_pairs)[number]
        assert abs(log_posterior(ability, ease + step) - log_posterior(ability, ease - step)) / 2e-4 < 1e-4


def test_mace_s_fixed_point_is_that_of_its_equations_written_out() -> None:
    """Variational Bayes by all classes of a few pairs, one by one."""
    panel = made(raters=4, pairs=6, categories=2)
    fitted = mace(panel)
    answers, raters = answers_of(panel), panel.n_raters
    competence = fitted.of_raters["competence"]
    given = np.bincount(panel.rater, minlength=raters)

    def step(knew: np.ndarray, guessed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        often = guessed.sum(axis=1)
        knows = np.exp(digamma(knew + 0.5) - digamma(given + 1.0))
        guesses = np.exp(digamma(often + 0.5) - digamma(given + 1.0))
        strategy = np.exp(digamma(guessed + 10) - digamma(often + 20)[:, None])
        new_knew, new_guessed = np.zeros(raters), np.zeros((raters, 2))
        for each in answers:
            chance = [
                0.5 * np.prod([guesses[r] * strategy[r, k] + knows[r] * (k == truth) for r, k in each])
                for truth in (0, 1)
            ]
            for truth, (r, k) in product((0, 1), each):
                share = chance[truth] / sum(chance)
                guess = guesses[r] * strategy[r, k] / (guesses[r] * strategy[r, k] + knows[r] * (k == truth))
                new_guessed[r, k] += share * guess
                new_knew[r] += share * (1 - guess)
        return new_knew, new_guessed

    knew, guessed = given / 2, np.tile(given[:, None] / 4, 2)
    for _ in range(500):
        knew, guessed = step(knew, guessed)
    assert competence == pytest.approx((knew + 0.5) / (given + 1), abs=1e-6)


@pytest.mark.parametrize("method", ["dawid-skene", "glad", "mace"])
def test_who_guesses_counts_for_little_and_who_is_right_for_much(method: str) -> None:
    panel = made(pairs=200, categories=2)
    fitted = fit_method(panel, method)
    values = fitted.calibrated(panel)
    slope = fitted.lines(panel).slope[np.argsort(panel.raters)]
    assert slope[0] > 1 and slope[0] > 2 * abs(slope[-1])
    assert values.mean() == pytest.approx(panel.rating.mean())


@pytest.mark.parametrize("method", ["dawid-skene", "glad", "mace", "rasch"])
def test_ratings_without_classes_are_refused(method: str) -> None:
    rows = [(rater, f"p{pair}", pair + 0.1 * place) for place, rater in enumerate("ab") for pair in range(20)]
    with pytest.raises(RelstudyError, match=f"the {method} method takes 2 to 20 distinct ratings, and these have 40"):
        fit_method(panel_of(rows), method)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["dawid-skene", "glad", "mace"])
def test_raters_who_agree_throughout_have_the_same_values_to_the_last_digit(method: str) -> None:
    """Else what is left of rounding passes for noise, whose ratios overflow."""
    panel = panel_of([(rater, f"p{pair}", float(pair % 3)) for rater in "abc" for pair in range(9)])
    values = fit_method(panel, method).calibrated(panel)
    assert len(np.unique(values)) == 3
    assert np.isfinite(rater_noise(panel.with_rating(values), fit_method(panel, method).lines(panel)).variance).all()
