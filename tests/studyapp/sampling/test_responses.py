"""The plan of a later round, where the right one is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.pairs_table import COMBINED
from relstudy.mapping.fitted import FittedMapping
from relstudy.studyapp.sampling.response_model import (
    USED_UP,
    Judged,
    MappedTerm,
    bins_of,
    plan_round,
    predicted,
)

SCALE = (1, 2, 3, 4, 5)
LINE = {"one": FittedMapping(np.array([0.0, 1.0]), np.array([1.0, 5.0]), system="one")}


def world(rng, shares, judged=600, items=400, queries=30):
    """Scores that tell the judgment exactly, in a collection with these shares of the five categories.

    A score lies in the fifth of its category. Judged pairs hold all categories alike, with weights that put the shares
    right.
    """
    edges = np.arange(5) / 5
    category = np.repeat(np.arange(5), judged // 5)
    scores = edges[category] + 0.2 * rng.random(len(category))
    weights = np.asarray(shares)[category]
    candidates = [
        {"one": edges[kinds] + 0.2 * rng.random(items)} for kinds in rng.choice(5, (queries, items), p=shares)
    ]
    return Judged({"one": scores}, category + 1.0, weights), candidates


def expected_counts(plan, candidates, results, floor=0.05):
    """How many candidates of each bin a round draws per query, and how many there are."""
    shape = plan.shapes["one"]
    drawn, there = [], []
    for scores in candidates:
        values = shape.predicted(scores)
        probability = np.minimum(1, results * ((1 - floor) * shape.density(values) + floor / len(values)))
        place = bins_of(values, shape.edges)
        drawn.append(np.bincount(place, probability, minlength=len(shape.densities)))
        there.append(np.bincount(place, minlength=len(shape.densities)))
    return np.mean(drawn, axis=0), np.mean(there, axis=0)


def test_where_scores_tell_the_judgment_and_matches_abound_every_category_is_drawn_alike():
    rng = np.random.default_rng(0)
    judged, candidates = world(rng, (0.6, 0.2, 0.1, 0.06, 0.04))
    plan = plan_round(LINE, judged, candidates, SCALE, results=10, floor=0.05)
    assert np.abs(plan.expected["all"] - 0.2).max() < 0.02
    shape = plan.shapes["one"]
    drawn = np.zeros(5)
    for scores in candidates:
        values = shape.predicted(scores)
        probability = np.minimum(1, 10 * (0.95 * shape.density(values) + 0.05 / 400))
        drawn += np.bincount(np.minimum((scores["one"] * 5).astype(int), 4), probability, minlength=5)
    # What is drawn is what is expected, and about ten a query. Bins that straddle two categories cost a little.
    np.testing.assert_allclose(drawn / drawn.sum(), 0.2, atol=0.03)
    assert drawn.sum() / len(candidates) == pytest.approx(10, rel=0.03)


def test_no_bin_is_planned_to_be_used_up():
    rng = np.random.default_rng(1)
    judged, candidates = world(rng, (0.9, 0.06, 0.02, 0.015, 0.005))
    plan = plan_round(LINE, judged, candidates, SCALE, results=40, floor=0.0)
    drawn, there = expected_counts(plan, candidates, 40, floor=0.0)
    # two matches of the best category a query are not enough for eight: the limit is reached there, and nowhere passed
    assert (drawn <= USED_UP * there + 0.02 * there + 1e-6).all()
    assert plan.expected["all"][4] < 0.1
    # without the limit the round would be even
    assert np.abs(plan.expected["all"] - 0.2).max() > 0.08


def test_more_results_than_candidates_are_refused():
    rng = np.random.default_rng(2)
    judged, candidates = world(rng, (0.2,) * 5, items=20)
    with pytest.raises(RelstudyError, match="19 results per query are too many for a round by response"):
        plan_round(LINE, judged, candidates, SCALE, results=19, floor=0.0)


def test_responses_within_a_bin_count_by_weight():
    # one bin, half of its judged pairs good; by weight the good ones are one in ten
    judged = Judged({"one": np.full(20, 0.5)}, np.repeat([1.0, 5.0], 10), np.repeat([9.0, 1.0], 10))
    plan = plan_round(LINE, judged, [{"one": np.full(50, 0.5)}] * 3, SCALE, results=5, floor=0.0)
    # three pairs' worth of the overall response, half good, is mixed into the twenty
    expected = (20 * 0.1 + 3 * 0.5) / 23
    np.testing.assert_allclose(plan.expected["all"], [1 - expected, 0, 0, 0, expected], atol=1e-6)


def test_the_combination_weighs_systems_by_what_they_add():
    rng = np.random.default_rng(3)
    value = rng.random(800)
    scores = {"one": value + 0.05 * rng.standard_normal(800), "two": rng.random(800)}
    lines = {name: FittedMapping(np.array([0.0, 1.0]), np.array([1.0, 5.0]), system=name) for name in scores}
    judged = Judged(scores, 1 + 4 * value, np.ones(800))
    candidates = [{name: rng.random(100) for name in scores} for _ in range(10)]
    plan = plan_round(lines, judged, candidates, SCALE, results=10, floor=0.05)
    assert set(plan.shapes) == {"one", "two", COMBINED}
    terms = plan.shapes[COMBINED].terms
    assert terms["one"].weight == pytest.approx(1, abs=0.05)
    assert "two" not in terms or terms["two"].weight < 0.05
    assert sum(plan.parts.values()) == pytest.approx(1)
    # every source proposes at least half of an equal part
    assert min(plan.parts.values()) >= 0.5 / 3 - 1e-6


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=20), st.floats(0.1, 3))
@settings(max_examples=50, deadline=None)
def test_a_term_is_its_mapping_times_its_weight(scores, weight):
    mapping = FittedMapping(np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 5.0]))
    found = MappedTerm.of(mapping, weight)(np.array(scores))
    np.testing.assert_allclose(found, weight * mapping.predict(np.array(scores)))


def test_a_result_without_a_score_counts_as_the_worst_whichever_way_the_scores_run():
    falling = MappedTerm([0.0, 1.0], [5.0, 1.0])
    assert falling(np.array([np.nan, 0.0])).tolist() == [1.0, 5.0]
    assert predicted({"one": falling, "two": falling}, {"one": np.zeros(1)}) is None
