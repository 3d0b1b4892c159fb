"""Variance components, negative ones pooled again as REML does; the noise ceiling."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import rater_noise
from relstudy.calibration.reliability.ceiling import noise_ceiling
from relstudy.calibration.reliability.generalizability import of_panel
from relstudy.calibration.reliability.variance_components import variances_of
from relstudy.calibration.simulation import simulate_panel


def balanced(seed: int, query: float, result: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    offset = 0.4 * rng.normal(size=4)
    rows = []
    for q in range(6):
        level = query * rng.normal()
        for i in range(5):
            worth = 3 + level + result * rng.normal()
            rows += [(f"r{r}", f"q{q}", f"x{i}", worth + offset[r] + 0.7 * rng.normal()) for r in range(4)]
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating"])


def reml(frame: pd.DataFrame) -> dict[str, float]:
    from statsmodels.regression.mixed_linear_model import MixedLM

    frame = frame.assign(pair=frame["query_id"] + frame["result_id"], one=1)
    parts = {name: f"0 + C({column})" for name, column in (("q", "query_id"), ("p", "pair"), ("r", "rater_id"))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MixedLM.from_formula("rating ~ 1", groups="one", vc_formula=parts, data=frame).fit(reml=True)
    return {**dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True)), "noise": float(fit.scale)}


@pytest.mark.slow
def test_a_negative_component_is_pooled_again_as_reml_does() -> None:
    negative = 0
    for seed in range(12):
        frame = balanced(seed, 0.0, 0.9)
        ours, theirs = variances_of(frame), reml(frame)
        negative += ours.query == 0
        # The optimiser of REML stops a little short of a zero.
        assert ours.query**2 == pytest.approx(theirs["q"], abs=0.02)
        assert ours.result**2 == pytest.approx(theirs["p"], abs=0.02)
        assert ours.noise**2 == pytest.approx(theirs["noise"], abs=0.01)
    assert negative >= 4


def test_pairs_that_do_not_differ_leave_their_squares_to_the_noise() -> None:
    frames = [balanced(seed, 0.0, 0.0) for seed in range(20)]
    for frame in frames:
        ours = variances_of(frame)
        if ours.query == ours.result == 0:
            values = frame.pivot_table(index=["query_id", "result_id"], columns="rater_id", values="rating")
            centred = values.to_numpy() - values.to_numpy().mean(axis=0)
            if ours.rater > 0 and not of_panel(Panel.from_frame(frame)).variances[4]:
                assert ours.noise**2 == pytest.approx((centred**2).sum() / (120 - 4), rel=1e-3)  # where the search ends
                return
    pytest.fail("no panel had both components at 0")


def test_the_ceiling_is_what_a_system_that_knows_the_truth_explains() -> None:
    explained, ceilings, held = [], [], 0
    for seed in range(12):
        simulated = simulate_panel(30, 20, 60, discrimination=0.0, ratings_per_pair=2, seed=seed)
        panel, quality = simulated.panel, simulated.quality
        noise = simulated.noise[panel.rater] * np.random.default_rng(seed).normal(size=len(panel.rating))
        panel = panel.with_rating(simulated.leniency[panel.rater] + quality[panel.pair] + noise)
        lines = fit_lines(panel, "pooled")
        calibrated = panel.with_rating(lines.calibrated(panel))
        errors = rater_noise(calibrated, lines)
        own = errors.weight[panel.rater]
        judgment = calibrated.by_pair(own * calibrated.rating) / np.maximum(calibrated.by_pair(own), 1e-9)
        rated = calibrated.by_pair() > 0
        explained.append(float(np.corrcoef(judgment[rated], quality[rated])[0, 1]) ** 2)
        ceiling = noise_ceiling(calibrated, errors)
        ceilings.append(ceiling.value or 0)
        held += (ceiling.low or 0) <= explained[-1] <= (ceiling.high or 0)
    assert np.mean(ceilings) == pytest.approx(np.mean(explained), abs=0.015)
    assert held >= 10


def test_raters_who_never_differ_leave_nothing_unexplained_and_no_error_to_be_uncertain_of() -> None:
    worth = np.repeat(np.arange(1.0, 6.0), 4)
    rows = [(f"r{r}", f"q{p}", f"x{p}", worth[p]) for p in range(20) for r in range(3)]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating"]))
    ceiling = noise_ceiling(panel, rater_noise(panel, fit_lines(panel, "none")))
    assert ceiling.value == pytest.approx(1.0, abs=1e-12)  # rounding
    assert ceiling.low is ceiling.high is None


def test_without_a_pair_of_two_ratings_there_is_no_ceiling_and_the_reason() -> None:
    panel = simulate_panel(6, 0, 20, ratings_per_pair=1, seed=1).panel
    lines = fit_lines(panel, "none")
    assert "no pair has two ratings" in (noise_ceiling(panel, rater_noise(panel, lines)).reason or "")
