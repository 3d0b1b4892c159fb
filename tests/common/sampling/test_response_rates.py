"""Weights follow what was rated: rounds that are not rated lend no probability."""

import numpy as np
import pandas as pd
import pytest

from relstudy.common.sampling.response_rates import response_of
from relstudy.common.tables.meaning.pairs_table import round_column
from relstudy.studyapp.sampling.sampling_design import Design, Round

QUERIES, RESULTS = 60, 30


def two_rounds(rng):
    """A population with two designs, and a draw of each: relevance, given probabilities, and what was drawn."""
    relevant = rng.random((QUERIES, RESULTS)) < np.linspace(0.6, 0.02, RESULTS)
    one = np.clip(8 / (1 + np.arange(RESULTS)), 0.05, 1.0)
    two = np.clip(np.linspace(0.02, 0.5, RESULTS), 0.05, 1.0)
    return relevant, one, two


def rounds(same_queries):
    options = {"systems": {}, "results": 5, "exponent": 1.0, "floor": 0.05, "population": {"image": QUERIES}, "seed": 0}
    return tuple(
        Round(number=n, query_draw=1 if same_queries else n, query_probability={"image": 0.5}, **options)
        for n in (1, 2)
    )


def draw(rng, one, two, same_queries):
    """pairs.csv of a study of two rounds, drawn pair by pair."""
    first = rng.random(QUERIES) < 0.5
    second = first if same_queries else rng.random(QUERIES) < 0.5
    in_one = first[:, None] & (rng.random((QUERIES, RESULTS)) < one)
    in_two = second[:, None] & (rng.random((QUERIES, RESULTS)) < two)
    query, result = np.nonzero(in_one | in_two)
    design = Design(rounds(same_queries))
    given = {1: one[result], 2: two[result]}
    firsts = design.by_round(given, "image")
    return pd.DataFrame(
        {
            "query_id": [f"q{n}" for n in query],
            "result_id": [f"r{n}" for n in result],
            "paradigm": "image",
            "block": np.where(in_one[query, result] & (rng.random(len(query)) < 0.2), "base", "unique"),
            "round": np.where(in_one[query, result], 1, 2),
            "inclusion_probability": design.combine(given, "image"),
            **{round_column(number): each for number, each in firsts.items()},
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("same_queries", [False, True], ids=["new queries", "same queries"])
@pytest.mark.parametrize("rated", [(1.0, 0.0), (1.0, 0.4), (0.7, 1.0), (1.0, 1.0)])
def test_the_weighted_sum_over_judged_pairs_is_that_of_the_population_whatever_part_of_the_rounds_is_rated(
    same_queries, rated
):
    rng = np.random.default_rng(3)
    relevant, one, two = two_rounds(rng)
    sums, without = [], []
    for _ in range(60):
        pairs = draw(rng, one, two, same_queries)
        judged = rng.random(len(pairs)) < np.array(rated)[pairs["round"] - 1]
        response = response_of(pairs, pairs[judged])
        hit = relevant[pairs["query_id"].str[1:].astype(int), pairs["result_id"].str[1:].astype(int)]
        sums.append((hit / response.probability)[judged].sum())
        without.append((hit / pairs["inclusion_probability"])[judged].sum())
    error = np.std(sums, ddof=1) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - relevant.sum()) < 4 * error
    if rated[1] == 0.0:
        # what the union's probabilities would say
        assert np.mean(without) < 0.95 * relevant.sum()


def test_until_a_round_is_rated_its_pairs_lend_the_old_ones_no_probability():
    rng = np.random.default_rng(0)
    _, one, two = two_rounds(rng)
    pairs = draw(rng, one, two, False)
    old = pairs[pairs["round"] == 1]
    response = response_of(pairs, old)
    result = old["result_id"].str[1:].astype(int)
    np.testing.assert_allclose(response.probability[pairs["round"] == 1], 0.5 * one[result], rtol=1e-12)
    assert (old["inclusion_probability"] > 0.5 * one[result]).all()
    assert response.missing == (pairs["round"] == 2).sum() and "round 2 unique: " in response.sentence()
    # all rated: the union's
    everything = response_of(pairs, pairs)
    np.testing.assert_allclose(everything.probability, pairs["inclusion_probability"], rtol=1e-12)
    assert everything.sentence() is None


def test_in_one_round_all_probabilities_are_multiplied_by_the_share_that_is_judged():
    pairs = pd.DataFrame(
        {
            "query_id": ["q"] * 4,
            "result_id": list("abcd"),
            "paradigm": ["image"] * 3 + ["text"],
            "round": 1,
            "block": ["base", "unique", "unique", "unique"],
            "inclusion_probability": [0.9, 0.6, 0.3, 0.5],
        }
    )
    response = response_of(pairs, pairs.iloc[[0, 1, 3]])
    # by way of asking: two of three pictures, the one text
    np.testing.assert_allclose(response.probability, [0.6, 0.4, 0.2, 0.5])
    assert response.as_json()["by_round_and_block"] == [
        {"round": 1, "block": "base", "drawn": 1, "judged": 1},
        {"round": 1, "block": "unique", "drawn": 3, "judged": 2},
    ]


def test_pairs_of_several_rounds_whose_first_draws_are_not_known_take_the_overall_rate():
    pairs = pd.DataFrame(
        {
            "query_id": ["q"] * 4,
            "result_id": list("abcd"),
            "paradigm": "",
            "round": [1, 1, 2, 2],
            "block": "unique",
            "inclusion_probability": 0.8,
        }
    )
    np.testing.assert_allclose(response_of(pairs, pairs.iloc[:2]).probability[:2], 0.4)
