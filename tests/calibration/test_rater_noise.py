"""Raters' noise: recovered, weighed, and in the standard errors of judgments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.averaging import make_judgments
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.methods.linear import none
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import RaterNoise, others_mean, rater_noise
from relstudy.calibration.simulation import SimulatedPanel, simulate_panel


def continuous(simulated: SimulatedPanel, seed: int) -> Panel:
    """The panel's ratings before they are rounded to a scale."""
    panel = simulated.panel
    own = simulated.noise[panel.rater] * np.random.default_rng(seed).normal(size=len(panel.rating))
    return panel.with_rating(simulated.leniency[panel.rater] + simulated.quality[panel.pair] + own)


def test_noise_is_recovered_rater_by_rater() -> None:
    simulated = simulate_panel(20, 0, 400, ratings_per_pair=4, noise_spread=0.5, discrimination=0.0, seed=4)
    panel = continuous(simulated, 4)
    noise = rater_noise(panel, none(panel))
    ratio = np.sqrt(noise.variance) / simulated.noise
    # Of 400 ratings three quarters tell: the log sd is known to .04. The quietest raters' own part is a tenth of what
    # is seen of them; theirs is known to .2 and shrunk.
    loud = simulated.noise > np.median(simulated.noise)
    assert ratio[loud] == pytest.approx(np.ones(10), abs=0.12)
    assert ratio == pytest.approx(np.ones(20), abs=0.4)


def test_the_mean_of_the_others_is_weighed_and_leaves_the_rater_out() -> None:
    frame = pd.DataFrame({"rater_id": list("abc"), "pair_id": "p", "rating": [1.0, 2.0, 4.0]})
    assert others_mean(Panel.from_frame(frame), np.array([1.0, 1.0, 3.0])).tolist() == [3.5, 3.25, 1.5]


def test_a_judgment_is_the_weighted_mean_and_its_error_that_of_independent_ratings_and_offsets() -> None:
    frame = pd.DataFrame({"rater_id": list("ab"), "query_id": "q", "result_id": "x", "rating": [2.0, 5.0]})
    noise = RaterNoise(np.array([1.0, 4.0]), np.array([0.1, 0.2]), np.array([4.0, 1.0]), 1.0)
    row = make_judgments(Panel.from_frame(frame), frame["rating"].to_numpy(), None, noise).frame.iloc[0]
    assert row["judgment"] == pytest.approx(2.6)
    # Noise (16 + 4) / 25; squares .36 / 1 + 5.76 / 4 = 1.8; offsets (16 * .1 + .2) / 25.
    assert row["standard_error"] == pytest.approx(np.sqrt(0.8 * (8 + 1.8) / 9 + 1.8 / 25))


@pytest.mark.slow
def test_weighing_raters_pays_where_noise_differs_and_costs_nothing_where_it_is_alike() -> None:
    gains: dict[float, list[float]] = {0.0: [], 0.5: []}
    for spread, values in gains.items():
        for seed in range(8):
            simulated = simulate_panel(30, 20, 60, noise_spread=spread, seed=40 + seed)
            panel = simulated.panel
            lines = fit_lines(panel, "pooled")
            calibrated = lines.calibrated(panel)
            noise = rater_noise(panel.with_rating(calibrated), lines)
            truth = []
            for each in (None, noise):
                frame = make_judgments(panel, calibrated, None, each).frame
                code = frame["result_id"].str[1:].astype(int).to_numpy()
                unique = ~panel.base[code]
                truth.append(np.corrcoef(frame["judgment"][unique], simulated.quality[code[unique]])[0, 1])
            values.append(truth[1] - truth[0])
    assert np.mean(gains[0.5]) > 0.008  # +.015 and more was measured
    assert np.mean(gains[0.0]) > -0.001


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mean", "shrunk", "crossed"])
def test_with_a_short_base_block_standard_errors_count_what_is_not_known_of_the_offsets(method: str) -> None:
    covered, ratio, known = [], [], []
    for seed in range(10):
        simulated = simulate_panel(12, 5, 60, ratings_per_pair=1, discrimination=0.0, seed=60 + seed)
        panel = continuous(simulated, seed)
        lines = fit_lines(panel, method)
        calibrated = lines.calibrated(panel)
        noise = rater_noise(panel.with_rating(calibrated), lines)
        frame = make_judgments(panel, calibrated, None, noise).frame
        code = frame["result_id"].str[1:].astype(int).to_numpy()
        error = frame["judgment"].to_numpy() - simulated.quality[code]
        unique = ~panel.base[code]
        error, claimed = (error - error.mean())[unique], frame["standard_error"][unique]
        covered.append(np.mean(np.abs(error) < 1.96 * claimed))
        ratio.append(np.mean(error**2) / np.mean(claimed**2))
        taken_for_known = make_judgments(panel, calibrated).frame["standard_error"][unique]
        known.append(np.mean(error**2) / np.mean(taken_for_known**2))
    # Twelve offsets a panel leave each panel's own ratio uncertain by half, and the mean of ten by .15.
    assert np.mean(covered) > 0.89
    assert np.mean(ratio) < 1.45
    assert np.mean(ratio) < 0.85 * np.mean(known)


def test_a_rater_at_random_is_not_believed() -> None:
    simulated = simulate_panel(12, 30, 60, ratings_per_pair=1, discrimination=0.0, seed=3)
    panel = continuous(simulated, 3)
    at_random = panel.rater == 0
    rating = np.where(at_random, np.random.default_rng(0).normal(0, 1.2, len(panel.rating)), panel.rating)
    panel = panel.with_rating(rating)
    lines = fit_lines(panel, "pooled")
    calibrated = lines.calibrated(panel)
    noise = rater_noise(panel.with_rating(calibrated), lines)
    own = np.sqrt(noise.variance)
    assert own[0] > 1.7 * np.median(own)
    assert noise.weight[0] == noise.weight.min()
    frame = make_judgments(panel, calibrated, None, noise).frame
    mine = frame["result_id"].isin(panel.pairs["result_id"].to_numpy()[panel.pair[at_random]]) & (
        frame["n_ratings"] == 1
    )
    assert frame.loc[mine, "standard_error"].mean() > 1.6 * frame.loc[~mine, "standard_error"].median()


def test_raters_are_counted_alike_where_nothing_tells_them_apart() -> None:
    panel = simulate_panel(6, 0, 20, ratings_per_pair=1, seed=1).panel
    noise = rater_noise(panel, none(panel))
    assert (noise.weight == 1).all()
    assert np.isnan(noise.variance).all()
    equal = rater_noise(simulate_panel(6, 20, 0, seed=1).panel, none(panel), weighted=False)
    assert (equal.weight == 1).all()


def test_the_order_of_rows_changes_no_weight() -> None:
    panel = simulate_panel(10, 8, 40, noise_spread=0.5, seed=2).panel
    order = np.random.default_rng(0).permutation(len(panel.rating))
    shuffled = replace(panel, rater=panel.rater[order], pair=panel.pair[order], rating=panel.rating[order])
    one, other = (rater_noise(each, none(panel)).weight for each in (panel, shuffled))
    assert one == pytest.approx(other, rel=1e-9)
