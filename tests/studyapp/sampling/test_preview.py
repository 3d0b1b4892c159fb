"""What the preview promises: the share of good matches, the smallest probability, and hours."""

import numpy as np
import pytest
from scipy.stats import norm

from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.sampling.first_round import draw_sample_from
from relstudy.studyapp.sampling.options import SampleOptions
from relstudy.studyapp.sampling.preview import Expectation, chance_of_good, rater_hours
from relstudy.studyapp.sampling.sampling_design import Round, candidate_probabilities
from tests.studyapp.sampling.worlds import MatrixSource, noise_world


def test_the_chance_of_being_good_at_a_rank_is_that_of_two_correlated_normals():
    rng = np.random.default_rng(0)
    items, repeats, good, skill = 200, 3000, 0.05, 0.6
    value = rng.standard_normal((repeats, items))
    score = skill * value + np.sqrt(1 - skill**2) * rng.standard_normal(value.shape)
    by_rank = np.take_along_axis(value > norm.isf(good), np.argsort(-score, axis=1), axis=1).mean(axis=0)
    expected = chance_of_good(np.arange(1, items + 1), good, skill)
    # five standard errors of a share over 3,000 repeats, and what the middle of a place differs from the place itself
    error = np.sqrt(expected * (1 - expected) / repeats)
    assert (abs(by_rank - expected) < 5 * error + 0.01).all()
    # Chances fall with rank, and on the whole are the share of good matches.
    assert (np.diff(expected) < 0).all()
    assert expected.mean() == pytest.approx(good, rel=0.02)


def test_tied_ranks_share_their_chances():
    apart = chance_of_good(np.array([1, 2, 3, 4]), 0.1, 0.5)
    together = chance_of_good(np.array([1, 2, 2, 4]), 0.1, 0.5)
    np.testing.assert_allclose(together, [apart[0], apart[1:3].mean(), apart[1:3].mean(), apart[3]])


@pytest.mark.parametrize("floor", [0.05, 0.6])
def test_the_expected_share_of_good_matches_is_the_one_that_is_drawn_when_the_assumption_holds(floor):
    number, good, skill = 400, 0.02, 0.5
    rng = np.random.default_rng(1)
    value = rng.standard_normal((number, number))
    collection = Collection([Item(f"i{place}", "image") for place in range(number)])
    noise = np.sqrt(1 - skill**2)
    sources = [
        MatrixSource(name, collection, skill * value + noise * rng.standard_normal(value.shape)) for name in ("a", "b")
    ]
    relevant = value > norm.isf(good)
    this = Round(1, {}, 20, 1.0, floor, 1, {"image": 1.0}, {"image": number}, 0)
    expectation, hits = Expectation(), 0.0
    for place, query in enumerate(collection):
        found = candidate_probabilities(this, query, collection, sources)
        expectation.add(found, "image", 1.0)
        hits += (found.probability * relevant[place, found.candidates]).sum()
    drawn = hits / (20 * number)
    assert drawn > 1.5 * good
    # Two systems that agree on a pair each add their part of its size, and the model takes one at a time: what both
    # rank high is better than either says. A tenth covers that and the scatter of 400 queries.
    assert expectation.good_share(good, skill) == pytest.approx(drawn, rel=0.1)


def test_the_smallest_probability_is_over_all_candidates_and_not_only_those_drawn():
    collection, sources = noise_world(60, 2)
    chosen = draw_sample_from(collection, sources, SampleOptions(queries=12, results=5, base=8))
    this = chosen.design.rounds[0]
    queries = {collection[name].id: collection[name] for name in chosen.pairs["query_id"]}
    smallest = min(
        candidate_probabilities(this, query, collection, sources).probability.min() for query in queries.values()
    )
    assert chosen.expectation.smallest == pytest.approx(12 / 60 * smallest, rel=1e-12)
    assert chosen.expectation.smallest < chosen.pairs["inclusion_probability"].min()


def test_everyone_rates_the_base_block_and_each_unique_pair_has_its_number_of_ratings():
    hours = rater_hours(base=60, unique=1940, raters=12, per_pair=3, seconds=9)
    assert hours["ratings"] == 60 * 12 + 1940 * 3
    assert hours["total"] == pytest.approx(hours["ratings"] * 9 / 3600, abs=0.005)
    assert hours["each"] == pytest.approx(hours["total"] / 12, abs=0.005)
