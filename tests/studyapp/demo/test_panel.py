"""The simulated panel: its answers follow its own parameters, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.studyapp.demo.panel import PIVOT, SimulatedPanel, SimulatedRater, draw_raters
from relstudy.studyapp.example_pictures.collection import make_collection


@pytest.fixture(scope="module")
def panel():
    return SimulatedPanel(draw_raters(12, seed=1), make_collection(80, seed=1), seed=1)


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    ids = np.array([f"pic{number + 1:04d}" for number in range(80)])
    chosen = rng.choice(80 * 79, 1500, replace=False)
    query, result = chosen // 79, chosen % 79
    result = result + (result >= query)
    return pd.DataFrame(
        {
            "pair_id": [f"pair{number}" for number in range(1500)],
            "query_id": ids[query],
            "result_id": ids[result],
            "block": ["base"] * 300 + ["unique"] * 1200,
        }
    )


def test_an_answer_does_not_depend_on_what_was_asked_before(panel):
    first = [panel.answer(3, "pic0001", f"pic{number:04d}") for number in range(2, 40)]
    backwards = [panel.answer(3, "pic0001", f"pic{number:04d}") for number in range(39, 1, -1)]
    assert first == backwards[::-1]


@settings(max_examples=40, deadline=None)
@given(leniency=st.floats(-1, 1), spread=st.floats(0.6, 1.6), noise=st.floats(0.1, 1.0), relevance=st.floats(1.0, 5.0))
def test_the_expected_rating_is_the_mean_of_many_drawn_ratings(leniency, spread, noise, relevance):
    rater = SimulatedRater("one", leniency, spread, noise, doubt=0.0)
    felt = PIVOT + leniency + spread * (relevance - PIVOT) + noise * np.random.default_rng(0).standard_normal(40_000)
    drawn = np.clip(np.floor(felt + 0.5), 1, 5)
    # Five standard errors of a mean of 40,000 whole numbers.
    assert rater.expected(np.array([relevance]))[0] == pytest.approx(drawn.mean(), abs=5 * max(drawn.std(), 0.05) / 200)


def test_the_consensus_rises_with_true_relevance_and_stays_on_the_scale(panel):
    ladder = panel.consensus(np.linspace(1, 5, 200))
    assert (np.diff(ladder) > 0).all()
    assert 1 <= ladder[0] < 1.5
    assert 4.5 < ladder[-1] <= 5


@pytest.mark.slow
def test_base_pairs_are_rated_by_everyone_and_unique_pairs_by_exactly_k(panel, pairs):
    ratings = panel.rate(pairs, ratings_per_pair=3)
    counts = ratings.groupby(["block", "pair_id"]).rater_id.nunique()
    assert (counts["base"] == 12).all()
    assert (counts["unique"] == 3).all()
    assert not ratings.duplicated(["rater_id", "pair_id"]).any()
    load = ratings[ratings.block == "unique"].rater_id.value_counts()
    # 3,600 ratings over 12 raters: 300 each; hands are dealt at random, five binomial standard deviations are 83.
    assert load.sub(300).abs().max() < 83


@pytest.mark.slow
def test_the_share_of_undecided_is_each_raters_own(panel, pairs):
    ratings = panel.rate(pairs.assign(block="base"))
    undecided = ratings.rating.isna().groupby(ratings.rater_id).mean()
    for rater in panel.raters:
        # Four binomial standard deviations over 1,500 pairs.
        assert undecided[rater.name] == pytest.approx(rater.doubt, abs=4 * np.sqrt(rater.doubt / 1500))


@pytest.mark.slow
def test_offsets_can_be_read_off_the_base_block(panel, pairs):
    base = pairs[pairs.block == "base"]
    ratings = panel.rate(base)
    means = ratings.groupby("rater_id").rating.mean()
    found = (means - means.mean()).loc[[rater.name for rater in panel.raters]].to_numpy()
    truth = panel.true_offsets(panel.collection.relevance(list(base.query_id), list(base.result_id)))
    assert np.corrcoef(found, truth)[0, 1] > 0.98
    # Noise up to 0.65 with rounding, and 2-5 % left out, over 300 pairs: a standard error near 0.04.
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.06


def test_raters_differ_enough_to_need_calibration(panel):
    lenient = np.array([rater.leniency for rater in panel.raters])
    assert lenient.std() > 0.3
    assert np.ptp([rater.spread for rater in panel.raters]) > 0.3


def test_other_scales_are_felt_as_the_same_share_of_their_length(panel):
    five = [panel.answer(0, "pic0001", f"pic{number:04d}") for number in range(2, 60)]
    two = [panel.answer(0, "pic0001", f"pic{number:04d}", (0, 1)) for number in range(2, 60)]
    for long, short in zip(five, two, strict=True):
        assert (long is None) == (short is None)
        if long is not None and long != 3:
            assert short == (long > 3)
