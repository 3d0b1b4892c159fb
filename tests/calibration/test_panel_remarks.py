"""Two raters who may be one person, and one who gave much of all ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.api.calibrating import calibrate
from relstudy.api.scoring import score
from relstudy.calibration.panel_remarks import panel_remarks
from relstudy.calibration.simulation import simulate_panel


def table(seed: int, raters: int = 8) -> pd.DataFrame:
    panel = simulate_panel(raters, 40, 40, seed=seed).panel
    names = np.array([f"rater {k}" for k in range(raters)])
    return pd.DataFrame(
        {
            "rater_id": names[panel.rater],
            "query_id": [f"q{each % 10}" for each in panel.pair],
            "result_id": [f"r{each}" for each in panel.pair],
            "rating": panel.rating,
        }
    )


def with_twin(frame: pd.DataFrame) -> pd.DataFrame:
    first = frame[frame["rater_id"] == "rater 0"].set_index("result_id")["rating"]
    twin = frame["rater_id"].eq("rater 1") & frame["result_id"].isin(first.index)
    return frame.assign(rating=frame["rating"].mask(twin, frame["result_id"].map(first)))


@pytest.mark.slow
def test_honest_panels_draw_no_remark() -> None:
    # the bound is .001 a panel
    assert [remark for seed in range(40) for remark in panel_remarks(table(seed))] == []


def test_one_person_under_two_names_is_named_where_the_verdict_is_given() -> None:
    frame = with_twin(table(1))
    (said,) = panel_remarks(frame)
    assert said.startswith("rater 0 and rater 1 gave the same answer to all 51 pairs")
    panel = calibrate(frame)
    assert any(said in str(each) for each in panel.remarks())
    pairs = panel.judgments[["query_id", "result_id"]]
    scores = pairs.assign(system="one", score=np.random.default_rng(0).random(len(pairs)))
    found = score(scores, panel, replicates=20)
    assert f"{said}." in found.verdict.as_json()["on_raters"]
    assert f"{said}." in found.verdict.sentences()


def test_equal_answers_to_a_question_that_all_answer_alike_are_no_sign() -> None:
    frame = with_twin(table(2))
    assert panel_remarks(frame.assign(rating=frame["rating"].mask(frame["rating"].notna(), 1.0))) == []


def test_a_rater_who_gave_over_a_third_of_all_ratings_is_named() -> None:
    frame = table(3)
    more = pd.DataFrame(
        {"rater_id": "rater 7", "query_id": "q", "result_id": [f"more {k}" for k in range(600)], "rating": 2.0}
    )
    assert panel_remarks(pd.concat([frame, more])) == ["rater 7 gave 56 % of all ratings"]
