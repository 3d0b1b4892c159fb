"""The models of ITU-T P.910 and P.913 and the screening of ITU-R BT.500, against their definitions written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.methods.itu import p910, p913, screened
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import rater_noise
from relstudy.calibration.simulation import simulate_panel


def made(seed: int = 2, raters: int = 12, pairs: int = 50) -> tuple[Panel, np.ndarray]:
    """Everyone rates everything: a panel, and its ratings [pairs, raters]."""
    random = np.random.default_rng(seed)
    noise = random.uniform(0.2, 1.5, raters)
    table = (
        random.normal(3, 1, (pairs, 1)) + random.normal(0, 0.6, raters) + noise * random.normal(size=(pairs, raters))
    )
    rows = [(f"r{j}", f"p{i}", table[i, j]) for i in range(pairs) for j in range(raters)]
    return Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"])), table


def test_bias_removal_is_that_of_the_recommendation() -> None:
    panel, table = made()
    bias = (table - table.mean(axis=1, keepdims=True)).mean(axis=0)
    assert p913(panel).offset == pytest.approx(-bias)


def test_bias_and_inconsistency_are_where_the_likelihood_is_level() -> None:
    """Its slope in every quality, bias and inconsistency, by differences, beside that half a bias away."""
    panel, table = made()
    lines = p910(panel)
    pairs, raters = table.shape
    weight = 1 / lines.rater_variance
    quality = ((table + lines.offset) * weight).sum(axis=1) / weight.sum()

    def loss(parts: np.ndarray) -> float:
        q, b, s = parts[:pairs], parts[pairs : pairs + raters], np.exp(parts[pairs + raters :])
        return float(-stats.norm.logpdf(table, q[:, None] + b, s).sum())

    found = np.r_[quality, -lines.offset, 0.5 * np.log(lines.rater_variance)]
    slope = optimize.approx_fprime(found, loss, 1e-6)
    away = optimize.approx_fprime(found + 0.1, loss, 1e-6)
    assert np.abs(slope).max() < 1e-3 < 1 < np.abs(away).max()
    assert (-lines.offset).mean() == pytest.approx(0, abs=1e-9)


def test_ratings_weigh_one_over_their_raters_variance_in_any_unit() -> None:
    panel, _ = made()
    lines = fit_lines(panel, "p910")
    noise = rater_noise(panel.with_rating(lines.calibrated(panel)), lines)
    ratio = noise.weight * lines.rater_variance
    assert ratio == pytest.approx(np.full(len(ratio), ratio[0]))
    large = fit_lines(panel.with_rating(20 * panel.rating), "p910")
    assert large.rater_variance == pytest.approx(400 * lines.rater_variance, rel=1e-4)


def test_true_biases_and_inconsistencies_are_found() -> None:
    """60 raters of 80 pairs; a bias then has an error of a tenth of the noise, a log noise of .08."""
    simulated = simulate_panel(60, 80, 0, scale="0-100", noise_spread=0.5, discrimination=0.0, seed=4)
    lines = fit_lines(simulated.panel, "p910")
    assert np.corrcoef(-lines.offset, simulated.leniency)[0, 1] > 0.95
    assert np.corrcoef(np.log(lines.rater_variance), np.log(simulated.noise))[0, 1] > 0.9


def by_hand(table: np.ndarray) -> list[bool]:
    """BT.500's screening in loops."""
    above, below = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for scores in table:
        mean, spread = scores.mean(), scores.std()
        if spread == 0:
            continue
        far = 2 if 2 <= stats.kurtosis(scores, fisher=False) <= 4 else np.sqrt(20)
        for rater, score in enumerate(scores):
            above[rater] += score >= mean + far * spread - 1e-9
            below[rater] += score <= mean - far * spread + 1e-9
    found = []
    for p, q in zip(above, below, strict=True):
        found.append(bool(p + q > 0 and (p + q) / len(table) > 0.05 and abs(p - q) / (p + q) < 0.3))
    return found


def test_the_screening_is_that_of_the_recommendation() -> None:
    random = np.random.default_rng(7)
    table = np.clip(np.round(random.normal(3, 1, (60, 1)) + 0.5 * random.normal(size=(60, 18))), 1, 5)
    table[:, 4] = random.integers(1, 6, 60)
    rows = [(f"r{j}", f"p{i}", table[i, j]) for i in range(60) for j in range(18)]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"]))
    assert screened(panel).tolist() == by_hand(table)
    assert screened(panel)[4]


def test_a_small_table_has_the_figures_that_sureal_gives() -> None:
    """sureal 0.9.0, SubjectMLEModelProjectionSolver2 and BiasremvMosModel; the first rater is inconsistent by 0."""
    scores = [[5, 4, 5, 4], [2, 2, 3, 1], [4, 3, 4, 4], [1, 1, 2, 2]]
    scores += [[3, 3, 4, 2], [4, 4, 5, 3], [2, 1, 3, 3], [5, 5, 5, 4]]
    rows = [(f"r{j}", f"p{i}", score) for i, row in enumerate(scores) for j, score in enumerate(row)]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "pair_id", "rating"]))
    bias = [0.03125, -0.34375, 0.65625, -0.34375]
    lines = p910(panel)
    assert -lines.offset == pytest.approx(bias, abs=1e-6)
    assert -p913(panel).offset == pytest.approx(bias, abs=1e-6)
    assert np.sqrt(lines.rater_variance) == pytest.approx([0.0, 0.484123, 0.484123, 0.856957], abs=2e-4)
    weight = 1 / lines.rater_variance
    quality = ((np.array(scores) + lines.offset) * weight).sum(axis=1) / weight.sum()
    expected = [4.96875, 1.96875, 3.96875, 0.96875, 2.96875, 3.96875, 1.96875, 4.96875]
    assert quality == pytest.approx(expected, abs=1e-6)
