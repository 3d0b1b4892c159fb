"""A slider's ratings: any number between two ends is calibrated as the steps of a scale are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relstudy.calibration.methods import METHODS
from relstudy.calibration.methods.by_name import fit_lines, fit_method
from relstudy.calibration.panel import Panel
from relstudy.calibration.simulation import simulate_panel
from tests.commands import succeeds

METHOD_NAMES = [name for name in METHODS if name != "ordinal"]  # of categories, which a slider has none of


def on_slider(panel: Panel) -> Panel:
    """The same ratings, from 1-5 to 0-100."""
    return replace(panel, rating=(panel.rating - 1) * 25, low=0.0, high=100.0)


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_every_method_says_the_same_of_ratings_on_0_to_100_as_on_1_to_5(method: str) -> None:
    panel = simulate_panel(12, 20, 60, seed=3).panel
    calibrated = fit_method(panel, method).calibrated(panel)
    wide = fit_method(on_slider(panel), method).calibrated(on_slider(panel))
    # the methods' searches stop at 1e-9 of their unit, which is another power of two
    np.testing.assert_allclose(wide, (calibrated - 1) * 25, atol=25e-6)


def test_calibration_recovers_the_quality_of_pairs_on_a_slider_at_least_as_well_as_on_five_steps() -> None:
    found = {}
    for scale in ("1-5", "0-100"):
        simulated = simulate_panel(20, 30, 90, scale=scale, seed=5)
        panel = simulated.panel
        calibrated = fit_lines(panel, "pooled").calibrated(panel)
        mean = np.bincount(panel.pair, calibrated) / np.bincount(panel.pair)
        raw = np.bincount(panel.pair, panel.rating) / np.bincount(panel.pair)
        found[scale] = np.corrcoef(mean, simulated.quality)[0, 1]
        assert found[scale] > np.corrcoef(raw, simulated.quality)[0, 1]
    assert found["0-100"] > found["1-5"]  # steps of a fifth round off some of what raters saw


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "judgments"),
    [
        ("chorus_3agents/ratings.csv", 3188),
        ("video_mos/nflx_public_ratings.csv", 79),
        ("video_mos/vqeghd3_ratings.csv", 72),
    ],
)
def test_real_tables_of_grades_and_opinion_scores_are_calibrated_as_they_are(
    shared_data: Path, tmp_path: Path, name: str, judgments: int
) -> None:
    succeeds("calibrate", shared_data / name, "-o", tmp_path / "out")
    assert len((tmp_path / "out" / "judgments.csv").read_text().splitlines()) == judgments + 1
