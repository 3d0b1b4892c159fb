"""The maker of simulated worlds: what it says is true is what a large study of it finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.planning.simulated_worlds import MANNERS, Collection, Drawing, NormalShape, People, World

RANDOM = np.random.default_rng


def world(people: People, drawing: Drawing, queries: int = 80, items: int = 60) -> World:
    return World(NormalShape((0.7, 0.3), items=items).collection(queries, RANDOM(4)), drawing, people)


@pytest.mark.parametrize("scale", ["1-5", "binary", "1-9"])
def test_the_share_asked_for_is_the_share_of_ratings_above_the_cut(scale: str) -> None:
    made = world(People(relevant=0.2, scale=scale, leniency=0.2, base=0, raters=40), Drawing(results=60))
    ratings = made.draw(80, RANDOM(0)).ratings
    cut = made.people.on.cut
    # 4,800 ratings and 40 raters' offsets: standard error near .01
    assert float((ratings["rating"] > cut).mean()) == pytest.approx(0.2, abs=0.03)
    assert float(made.moments[0].mean()) == pytest.approx(0.2, abs=0.01)


@pytest.mark.slow
def test_the_truth_is_what_a_study_of_everything_by_many_raters_finds() -> None:
    people = People(raters=12, ratings_each=12, base=0, leniency=0.4, stretch=0.2, relevant=0.2)
    made = world(people, Drawing(results=30), queries=50, items=30)
    study = made.draw(50, RANDOM(1))
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    found = rs.score(study.scores, panel, method="none", measures=[], direction="higher", replicates=20)
    for (name, index), true in made.truth().items():
        # 1,500 pairs with 12 ratings each: what is left is mostly which 12 raters they were
        assert found.result[name].indices[index].value == pytest.approx(true, abs=0.02), (name, index)


@pytest.mark.slow
def test_pairs_are_drawn_with_the_probability_they_carry() -> None:
    made = world(People(base=0), Drawing(results=8, exponent=1.0, floor=0.1, depth=20), queries=40)
    counts = np.zeros(len(made.probability))
    for seed in range(60):
        counts[[int(each[1:]) for each in made.draw(40, RANDOM(seed)).pairs["result_id"]]] += 1
    error = np.sqrt(np.maximum(made.probability * (1 - made.probability), 1e-3) / 60)
    assert float(np.abs((counts / 60 - made.probability) / error).mean()) < 1.0  # normal errors would give .8
    assert not counts[made.probability == 0].any()


@pytest.mark.parametrize("manner", MANNERS)
def test_who_does_not_look_says_nothing_of_the_pairs(manner: str) -> None:
    made = world(People(raters=8, careless=0.25, manners=(manner,), noise=0.3), Drawing(results=20))
    study = made.draw(80, RANDOM(2))
    assert len(study.careless) == 2
    value = pd.Series(made.collection.value)[[int(each[1:]) for each in study.ratings["result_id"]]].to_numpy()
    for rater, own in study.ratings.assign(value=value).groupby("rater_id"):
        if own["rating"].nunique() > 1:
            agreement = float(np.corrcoef(own["rating"], own["value"])[0, 1])
            # about 230 ratings each: standard error .07
            assert (abs(agreement) < 0.25) == (rater in study.careless)
        else:
            assert rater in study.careless and manner == "constant"


def test_a_collection_made_by_hand_is_a_world_too() -> None:
    query = np.repeat(np.arange(6), 10)
    value = RANDOM(0).normal(size=60)
    made = World(Collection(query, value, {"right": value, "upside down": -value}), Drawing(results=5), People(base=5))
    true = made.truth()
    assert true["right", "normalised_rank"] < 0.1 < 0.9 < true["upside down", "normalised_rank"]
