"""Raters who look careless: who they are, that they are named, and that they can be left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.methods.linear import none
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate, notes_on
from relstudy.calibration.raters import careless
from relstudy.calibration.ratings import check_ratings
from relstudy.common.checked import Checked

HONEST = [f"honest {number}" for number in range(8)]


def study(seed: int, odd: dict[str, str], pairs: int = 120, each: int = 60) -> pd.DataFrame:
    """Ratings of eight honest raters and of odd ones, each of `each` pairs at random; their true values beside them."""
    rng = np.random.default_rng(seed)
    truth = 1 + 4 * rng.beta(0.6, 1.4, pairs)
    frames = []
    for rater in [*HONEST, *odd]:
        seen = np.sort(rng.choice(pairs, each, replace=False))
        kind = odd.get(rater)
        given = np.clip(np.round(truth[seen] + 0.6 * rng.standard_normal(each)), 1, 5)
        if kind == "random":
            given = rng.integers(1, 6, each).astype(float)
        elif kind == "constant":
            given = np.full(each, 4.0)
        elif kind == "alternating":
            given = np.where(np.arange(each) % 2 == 0, 1.0, 5.0)
        frames.append(
            pd.DataFrame(
                {"rater_id": rater, "query_id": "q", "result_id": [f"r{p}" for p in seen], "rating": given}
            ).assign(truth=truth[seen])
        )
    return pd.concat(frames, ignore_index=True)


def suspects(frame: pd.DataFrame) -> set[str]:
    panel = Panel.from_frame(frame)
    return set(panel.raters[careless(panel, none(panel))])


@pytest.mark.parametrize("kind", ["random", "constant", "alternating"])
def test_who_rates_carelessly_is_found(kind: str) -> None:
    found = [suspects(study(seed, {"one": kind, "two": kind})) for seed in range(20)]
    # sixty ratings: 95 % of a test of one side; 20 studies of two
    assert sum(len(each & {"one", "two"}) for each in found) >= 34


def test_honest_raters_of_few_pairs_are_not_taken_for_careless_ones() -> None:
    found = [suspects(study(seed, {}, pairs=24, each=12)) for seed in range(20)]
    # 160 honest raters; both tests have to err for each
    assert sum(map(len, found)) <= 5


def test_careless_raters_are_named_and_count_unless_they_are_to_be_left_out() -> None:
    frame = study(3, {"one": "random", "two": "constant"})
    ratings = check_ratings(Checked(frame.drop(columns="truth"), "ratings.csv"))
    kept = calibrate(ratings)
    assert set(kept.careless) == {"one", "two"}
    assert any("2 raters without a sign of agreement (one, two)" in note for note in notes_on(kept))
    dropped = calibrate(ratings, CalibrationOptions(careless="drop"))
    assert set(dropped.raters["rater_id"]) == set(HONEST)
    assert any("120 ratings of 2 raters" in note and "left out, as stated" in note for note in notes_on(dropped))
    truth = frame.groupby("result_id")["truth"].first()
    relevant = [
        float(np.mean(np.abs(each.frame["relevant_share"] - (truth[each.frame["result_id"]] > 3.5).to_numpy())))
        for each in (kept.judgments, dropped.judgments)
    ]
    assert relevant[1] < relevant[0]


def test_where_nobody_is_careless_leaving_out_changes_nothing() -> None:
    ratings = check_ratings(Checked(study(1, {}).drop(columns="truth"), "ratings.csv"))
    kept, dropped = calibrate(ratings), calibrate(ratings, CalibrationOptions(careless="drop"))
    assert kept.careless == ()
    pd.testing.assert_frame_equal(kept.judgments.frame, dropped.judgments.frame)
    assert notes_on(kept) == notes_on(dropped)
