"""Where further judgments tell most: derivatives of the indices, and sizes in proportion to what they add."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import Retrieval, thresholds_at
from relstudy.analysis.judges.allocation import aims, derivative, expected_square, sizes
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from tests.analysis.judges.made import World

PAIRS = 30
SOME = ("relevant_share", "average_precision", "normalised_rank", "pearson", "precision_at_0.2", "recall_at_0.2")
EVERY = np.ones((1, 1))


def figure(aim: str, score: np.ndarray, people: np.ndarray, weight: np.ndarray) -> float:
    """The index as scoring computes it."""
    row = np.zeros(len(score), dtype=np.int64)
    if aim == "pearson":
        return CorrelationBootstrap(row, people, EVERY, weight).correlate(score, ("pearson",))["pearson"].value
    pairs = Retrieval(row, people, EVERY)
    if "_at_" not in aim and aim != "relevant_share":
        return pairs.indices(score, weight)[aim].value
    share = 1.0 if aim == "relevant_share" else float(aim.rpartition("_")[2])
    points = pairs.at_thresholds(score, weight, np.array([share]), thresholds_at(score, weight, (share,)))
    return (points.recall if aim.startswith("recall") else points.precision)[0].value


@pytest.mark.parametrize("aim", SOME)
@pytest.mark.parametrize("decimals", [8, 0], ids=["scores differ", "scores are tied"])
def test_a_derivative_is_the_change_of_the_index(aim: str, decimals: int) -> None:
    random = np.random.default_rng(7)
    score, weight = random.normal(size=PAIRS).round(decimals), random.uniform(1, 5, PAIRS)
    people = random.uniform(0.1, 0.9, PAIRS)
    expected = np.empty(PAIRS)
    for pair in range(PAIRS):
        step = 1e-5 * (np.arange(PAIRS) == pair)
        after, before = (figure(aim, score, people + sign * step, weight) for sign in (1, -1))
        expected[pair] = (after - before) / 2e-5
    # a central difference of step 1e-5 is off by 1e-10 of the third derivative, and by rounding over the step
    assert derivative(aim, score, people, weight) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("aim", SOME)
def test_where_nothing_is_relevant_nothing_moves_or_all_does(aim: str) -> None:
    moved = derivative(aim, np.arange(4.0), np.zeros(4), np.ones(4))
    assert np.isfinite(moved).all()


def test_every_index_at_the_usual_shares_can_be_aimed_at() -> None:
    assert {*SOME, "precision_at_0.05", "recall_at_0.05"} <= set(aims())


def test_systems_count_alike_whatever_the_scale_of_their_errors() -> None:
    one, other = np.array([4.0, 1.0, 0.0]), np.array([0.0, 1.0, 4.0])
    both = sizes(np.stack([one, other]))
    assert both == pytest.approx(sizes(np.stack([100 * one, other])))
    assert both[0] == pytest.approx(both[2]) and both.mean() == pytest.approx(1)
    assert sizes(np.zeros((2, 3))).tolist() == [1, 1, 1]


@pytest.mark.parametrize("aim", ["relevant_share", "average_precision", "pearson"])
def test_pairs_drawn_where_the_judge_is_unsure_leave_less_of_the_true_error(aim: str) -> None:
    """The variance by design of what the judge leaves open, with people's true answers, which the sizes do not know."""
    world = World.made(seed=5, queries=12, results=40)
    study = world.study(3, queries=12, results=12)
    judge = read_judge(world.judge(0.4))
    universe = Universe.of(JudgedPairs.of(study), judge, ScoringOptions(replicates=2, measures=()))
    score, people = world.pairs["score"].to_numpy(), world.pairs["people"].to_numpy()
    size = sizes(expected_square(universe, aim, score)[None])
    worth = universe.worth.judgment if aim == "pearson" else universe.worth.relevance
    left = derivative(aim, score, people, np.ones(len(people))) * (people - worth)

    def error(size: np.ndarray) -> float:
        mixed = 0.8 * size / size.mean() + 0.2  # as the command's --floor
        return float(np.sum(left**2 / np.minimum(1, 0.2 * mixed)))

    by_rank = 1 / (world.pairs.groupby("query_id")["score"].rank(ascending=False).to_numpy() + 8)
    # the least gains of the three are 15 % on pairs drawn as before and 7 % on pairs drawn alike
    assert error(size) < 0.9 * error(by_rank)
    assert error(size) < 0.95 * error(np.ones(len(size)))
