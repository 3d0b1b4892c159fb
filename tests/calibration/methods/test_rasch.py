"""The Rasch model: published figures of the law school test, simulation, and its line of output."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.methods.rasch import Rasch, rasch
from relstudy.calibration.panel import Panel
from relstudy.calibration.simulation import simulate_panel

LSAT = [
    *(3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15),
    *(10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298),
]
"""Bock and Lieberman 1970, section 6 of the Law School Admission Test: how many of 1,000 people have each pattern of
right answers to five questions, 00000, 00001, 00010, ..., 11111."""


def graded(raters: int, pairs: int, seed: int, steps: tuple[float, ...] = (-1.5, 0.0, 1.5)) -> tuple[Panel, np.ndarray]:
    """Everyone rates everything by the model itself: a panel, and the severities."""
    random = np.random.default_rng(seed)
    worth, severity = random.normal(0, 1.5, pairs), random.normal(0, 0.8, raters)
    severity -= severity.mean()
    until = np.concatenate([[0], np.cumsum(steps)])
    logits = np.arange(len(until)) * (worth[:, None] - severity)[:, :, None] - until
    chances = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    rating = (random.random((pairs, raters, 1)) > chances.cumsum(axis=2)).sum(axis=2)
    pair, rater = np.indices(rating.shape)
    frame = pd.DataFrame({"rater_id": rater.ravel(), "pair_id": pair.ravel(), "rating": rating.ravel()})
    return Panel.from_frame(frame), severity


def test_the_law_school_test_has_the_difficulties_that_are_published() -> None:
    """Marginal maximum likelihood with one discrimination for all: Rizopoulos 2006, section 3.1 (ltm)."""
    answers = np.repeat([[int(digit) for digit in f"{pattern:05b}"] for pattern in range(32)], LSAT, axis=0)
    pair, rater = np.indices(answers.shape)
    frame = pd.DataFrame({"rater_id": rater.ravel(), "pair_id": pair.ravel(), "rating": answers.ravel()})
    model = Rasch(Panel.from_frame(frame), answers.ravel(), 2)
    severity, _, spread = model.mode()
    value, slope = model.negative(np.append(severity, np.log(spread)))
    # as many digits as are printed there
    assert severity / spread == pytest.approx([-3.615, -1.322, -0.318, -1.730, -2.780], abs=6e-4)
    assert spread == pytest.approx(0.755, abs=6e-4)
    assert value == pytest.approx(2466.938, abs=6e-4)
    assert np.abs(slope).max() < 1e-2


def test_the_gradient_is_that_of_the_likelihood() -> None:
    panel, _ = graded(4, 30, seed=2)
    model = Rasch(panel, panel.rating.astype(int), 4)
    at = np.random.default_rng(1).normal(0, 0.3, 4 + 3)
    _, gradient = model.negative(at)
    for number, step in enumerate(1e-5 * np.eye(len(at))):
        difference = (model.negative(at + step)[0] - model.negative(at - step)[0]) / 2e-5
        assert gradient[number] == pytest.approx(difference, abs=1e-4)  # second differences of a sum near 150


@pytest.mark.slow
def test_severities_are_found_and_lie_within_their_errors() -> None:
    """64 severities of eight panels; 95 % intervals hold 95 % of them but for a binomial error of 2.7 points."""
    within, squares = [], []
    for seed in range(8):
        panel, severity = graded(8, 150, seed)
        found = rasch(panel).of_raters
        order = np.argsort(panel.raters)
        off = (found["severity"][order] - severity) / found["severity_error"][order]
        within.append(np.abs(off) < 1.96)
        squares.append([found["infit"], found["outfit"]])
    assert 0.87 <= np.mean(within) <= 1
    # each mean square of 150 ratings has a standard error near .1, their mean of 64 near .02
    assert np.mean(squares, axis=(0, 2)) == pytest.approx([1, 1], abs=0.06)


def test_who_answers_at_random_has_a_large_outfit_and_is_named() -> None:
    panel, _ = graded(6, 120, seed=3)
    random = np.random.default_rng(3)
    careless = panel.with_rating(np.where(panel.rater == 2, random.integers(0, 4, len(panel.rating)), panel.rating))
    fitted = rasch(careless)
    assert int(np.argmax(fitted.of_raters["outfit"])) == 2
    assert fitted.of_raters["infit"][2] > 1.5
    assert "infit mean squares of 0.5 to 1.5 are productive, outside them: 2" in fitted.note


def test_a_rater_of_one_end_of_the_scale_has_a_severity_that_ends() -> None:
    panel, _ = graded(4, 40, seed=5)
    fitted = rasch(panel.with_rating(np.where(panel.rater == 1, 0.0, panel.rating)))
    assert np.isfinite(fitted.of_raters["severity"]).all() and int(np.argmax(fitted.of_raters["severity"])) == 1
    assert np.isfinite(fitted.scores).all()


def test_values_rise_with_the_rating_and_with_the_rater_s_severity() -> None:
    panel = simulate_panel(8, 10, 60, seed=1).panel
    fitted = rasch(panel)
    assert (np.diff(fitted.scores, axis=1) > 0).all()
    order = np.argsort(fitted.of_raters["severity"])
    assert (np.diff(fitted.scores[order], axis=0) > 0).all()
