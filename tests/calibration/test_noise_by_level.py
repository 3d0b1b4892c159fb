"""Noise that depends on a pair's level: the model against brute force, and what becomes of judgments' errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special

from relstudy.api.calibrating import calibrate
from relstudy.calibration.noise_by_level import TAIL, _Levels, noise_by_level
from relstudy.calibration.panel import Panel


def ratings_of(u: np.ndarray, raters: int, thresholds: np.ndarray, seed: int) -> Panel:
    """Every rater rates every pair, by the model itself."""
    random = np.random.default_rng(seed)
    felt = np.repeat(u, raters) + random.normal(size=raters * len(u))
    return Panel.from_frame(
        pd.DataFrame(
            {
                "rater_id": np.tile(np.arange(raters), len(u)),
                "pair_id": np.repeat(np.arange(len(u)), raters),
                "rating": 1.0 + (felt[:, None] > thresholds).sum(axis=1),
            }
        ),
        1,
        5,
    )


def test_expected_noise_and_interval_are_those_of_the_posterior_by_brute_force() -> None:
    grid, thresholds = np.linspace(-2, 2, 5), np.array([-0.5, 1.0])
    prior = np.array([[0.1, 0.2, 0.4, 0.2, 0.1], [0.5, 0.2, 0.1, 0.1, 0.1]])
    votes, value = np.array([[2.0, 1.0, 0.0]]), np.array([1.0, 2.0, 3.0])
    noise, low, high = _Levels(grid, thresholds, prior).moments(np.array([1]), votes, value)[:, 0]
    chances = [
        [special.ndtr(-0.5 - u), special.ndtr(1.0 - u) - special.ndtr(-0.5 - u), special.ndtr(u - 1.0)] for u in grid
    ]
    weight = np.array([p * c[0] ** 2 * c[1] for p, c in zip(prior[1], chances, strict=True)])
    weight /= weight.sum()
    means = np.array([np.dot(c, value) for c in chances])
    variances = [np.dot(c, value**2) - m**2 for c, m in zip(chances, means, strict=True)]
    assert noise == pytest.approx(weight @ variances)
    assert low == means[np.flatnonzero(np.cumsum(weight) >= TAIL)[0]]
    assert high == means[np.flatnonzero(np.cumsum(weight) >= 1 - TAIL)[0]]


def test_the_noise_of_each_level_is_found() -> None:
    u = np.random.default_rng(1).choice([-4.0, 0.0, 4.0], size=600, p=[0.5, 0.3, 0.2])
    thresholds = np.array([-1.5, -0.5, 0.5, 1.5])
    panel = ratings_of(u, 6, thresholds, 2)
    found = noise_by_level(panel, panel.rating)
    assert found is not None
    chances = np.diff(special.ndtr(np.r_[-np.inf, thresholds, np.inf][:, None] - np.array([-4.0, 0.0, 4.0])), axis=0)
    values = np.arange(1.0, 6.0)
    true = values**2 @ chances - (values @ chances) ** 2
    true = true / (np.array([(u == level).mean() for level in (-4, 0, 4)]) @ true)
    # 600 pairs with six ratings each tell the share of each level's noise within a tenth of the mean
    for level, expected in zip((-4.0, 0.0, 4.0), true, strict=True):
        assert found.noise[u == level].mean() == pytest.approx(expected, abs=0.1)


def test_what_a_pair_may_be_worth_has_a_low_end_and_a_high_end() -> None:
    u = np.random.default_rng(6).choice([-3.0, 0.0, 3.0], size=300)
    panel = ratings_of(u, 3, np.array([-1.5, -0.5, 0.5, 1.5]), 7)
    found = noise_by_level(panel, panel.rating)
    assert found is not None
    # three ratings leave open what a pair in the middle is worth, and most intervals hold the true mean, 3
    assert (found.low[u == 0] < found.high[u == 0]).all()
    assert ((found.low <= 3) & (found.high >= 3))[u == 0].mean() > 0.9


def test_too_few_pairs_with_two_ratings_say_nothing_of_levels() -> None:
    panel = ratings_of(np.linspace(-2, 2, 9), 3, np.array([0.0]), 3)
    assert noise_by_level(panel, panel.rating) is None
    same = replace(panel, rating=np.full(len(panel.rating), 3.0))
    assert noise_by_level(same, same.rating) is None


def test_clear_pairs_have_small_errors_and_doubtful_ones_large() -> None:
    random = np.random.default_rng(4)
    u = random.choice([-3.5, 0.0], size=400)
    panel = ratings_of(u, 8, np.array([-1.0, -0.3, 0.4, 1.2]), 5)
    frame = pd.DataFrame({"rater_id": panel.rater, "query_id": "q", "result_id": panel.pair, "rating": panel.rating})
    kept = frame["result_id"].lt(60) | frame["rater_id"].eq(random.integers(0, 8, 400)[panel.pair])
    judged = calibrate(frame[kept], method="none").judgments
    unique = (judged["n_ratings"] == 1).to_numpy()
    clear = u[judged["result_id"].astype(int)] < 0
    error = judged["standard_error"].to_numpy()
    assert error[unique & clear].mean() < 0.5 * error[unique & ~clear].mean()
    assert (judged["judgment_low"] <= judged["judgment"]).all() and (
        judged["judgment"] <= judged["judgment_high"]
    ).all()
    assert judged["judgment_low"].min() >= 1 and judged["judgment_high"].max() <= 5
