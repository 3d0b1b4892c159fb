"""Judgments of a pool, and what the pairs from outside it tell; undecided pairs and what they could change."""

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.pipeline import calibrate, notes_on, summary
from relstudy.calibration.tables.judged_pool import pool_misses
from relstudy.calibration.tables.judgments import Judgments, check_judgments
from relstudy.calibration.tables.ratings import check_ratings
from relstudy.common.sampling.design_reach import REACH
from relstudy.common.tables.checked_table import Checked

TABLE = pd.DataFrame(
    {
        "query_id": ["q", "q", "p", "p"],
        "result_id": list("abcd"),
        "judgment": [5.0, 1.0, 5.0, 4.0],
        "inclusion_probability": [0.5, 0.5, 0.5, 0.01],
        "pool": ["inside", "inside", "inside", "outside"],
        REACH: 40.0,
    }
)


def test_pairs_from_outside_the_pool_are_no_part_of_what_is_estimated():
    for judgments in (check_judgments(Checked(TABLE, "judgments.csv")), Judgments.of(TABLE)):
        assert judgments.frame["result_id"].tolist() == list("abc") and judgments.outside_pool == 1
        assert "1 pair from outside it is judged and left out of them, 1 of them relevant" in judgments.notes[-1]


@pytest.mark.slow
@pytest.mark.parametrize("outside_share", [0.0, 0.002, 0.02])
def test_the_share_that_the_pool_misses_lies_in_its_interval(outside_share):
    rng = np.random.default_rng(1)
    queries, inside, beyond = 300, 40, 500
    relevant_in = rng.random((queries, inside)) < 0.2 * rng.random((queries, 1)) * 2
    relevant_out = rng.random((queries, beyond)) < outside_share
    truth = relevant_out.sum() / (relevant_in.sum() + relevant_out.sum())
    covered = []
    for _ in range(100):
        rows = []
        for query in rng.choice(queries, 40, replace=False):
            for result in rng.choice(inside, 8, replace=False):
                rows.append((query, relevant_in[query, result], 8 / inside, False))
            for result in rng.choice(beyond, 2, replace=False):
                rows.append((query, relevant_out[query, result], 2 / beyond, True))
        frame = pd.DataFrame(rows, columns=["query_id", "judgment", "inclusion_probability", "outside"])
        frame = frame.assign(judgment=frame["judgment"].astype(float))
        share = pool_misses(frame, frame["outside"].to_numpy(), 0.5).share
        covered.append(share.low <= truth <= share.high)
    # at least the nominal 95 %, less three standard errors of 100 studies
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 100)


def ratings_and_pairs():
    pairs = pd.DataFrame(
        {
            "pair_id": [f"p{n}" for n in range(6)],
            "query_id": ["q", "q", "q", "r", "r", "r"],
            "result_id": list("abcdef"),
            "source": ["one", "one", "random", "two", "two", "random"],
            "rank": [1, 50, None, 2, 200, None],
            "inclusion_probability": [0.5, 0.25, 0.1, 0.5, 0.25, 0.1],
        }
    )
    rated = [("x", 0, 5), ("x", 1, 4), ("x", 3, 2), ("x", 4, None), ("y", 0, 4), ("y", 1, 3), ("y", 3, 1), ("y", 5, 2)]
    ratings = pd.DataFrame(
        [(rater, pairs["query_id"][n], pairs["result_id"][n], value) for rater, n, value in rated],
        columns=["rater_id", "query_id", "result_id", "rating"],
    )
    return ratings, pairs


@pytest.mark.slow
def test_calibrate_says_what_is_not_judged_which_pairs_are_undecided_and_what_they_could_change():
    ratings, pairs = ratings_and_pairs()
    panel = check_ratings(Checked(ratings, "ratings.csv"))
    result = calibrate(panel, CalibrationOptions("none")).with_probabilities(Checked(pairs, "pairs.csv"))
    notes = " ".join(notes_on(result))
    assert "2 of 6 sampled pairs are not judged (round 1 unique: 2 of 6)" in notes
    told = summary(result)["drawn"]
    assert (told["drawn"], told["not_judged"], told["undecided"]["pairs"]) == (6, 2, 1)
    assert told["undecided"]["by_source"] == {
        "one": {"undecided": 0, "rated": 2},
        "random": {"undecided": 0, "rated": 1},
        "two": {"undecided": 1, "rated": 2},
    }
    assert told["undecided"]["by_rank"]["from 101"] == {"undecided": 1, "rated": 1}
    ends = told["undecided"]["mean_judgment"]
    # weights 2, 4, 2, 10 of judgments 4.5, 3.5, 1.5, 2; the undecided pair weighs 4
    assert ends["value"] == pytest.approx((2 * 4.5 + 4 * 3.5 + 2 * 1.5 + 10 * 2) / 18)
    assert ends["all_lowest"] == pytest.approx((46 + 4 * panel.scale.scale.low) / 22)
    assert ends["all_highest"] == pytest.approx((46 + 4 * panel.scale.scale.high) / 22)
    frame = result.judgments.frame
    np.testing.assert_allclose(frame["inclusion_probability"], np.array([0.5, 0.25, 0.5, 0.1]) * 4 / 6)
    assert set(frame["pairs_drawn"]) == {6}


@pytest.mark.slow
def test_what_the_design_says_reaches_the_judgments_with_the_ratings_alone():
    ratings, pairs = ratings_and_pairs()
    pairs["pool"] = ["inside", "inside", "outside", "inside", "inside", "outside"]
    columns = pairs[["query_id", "result_id", "pool", "inclusion_probability"]].assign(**{REACH: 22.5})
    panel = check_ratings(Checked(ratings.merge(columns, on=["query_id", "result_id"]), "ratings.csv"))
    frame = calibrate(panel, CalibrationOptions("none")).judgments.frame
    assert frame["pool"].tolist() == ["inside", "inside", "inside", "outside"] and set(frame[REACH]) == {22.5}
