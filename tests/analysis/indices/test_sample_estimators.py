"""Measures estimated from a sample: those of ir-measures where all is judged, right on average, and by definition."""

from __future__ import annotations

import itertools

import ir_measures
import numpy as np
import pytest

from relstudy.analysis.indices.sample_estimators import (
    SampledList,
    Strata,
    error_of_drawing,
    estimated,
    is_estimable,
    room,
    uncertainty,
)

MEASURES = ("P@5", "P(rel=2)@10", "R@10", "AP", "AP@8", "nDCG@10", "nDCG", "RBP(p=0.8,rel=1)")
EXACT = 1e-9  # sums of some tens of doubles in another order


def whole(seed: int, results: int = 40, retrieved: int = 30) -> SampledList:
    """All results of a query judged, some not retrieved."""
    random = np.random.default_rng(seed)
    gain = random.choice([0.0, 0, 0, 1, 2, 3], results)
    rank = np.zeros(results, dtype=np.int64)
    rank[random.permutation(results)[:retrieved]] = np.arange(1, retrieved + 1)
    return SampledList(rank, gain, (gain >= 1) * 1.0, np.ones(results), retrieved)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_all_is_judged_values_are_those_of_ir_measures_without_error(name: str, seed: int) -> None:
    judged = whole(seed)
    qrels = [ir_measures.Qrel("q", f"d{k}", int(gain)) for k, gain in enumerate(judged.gain)]
    run = [ir_measures.ScoredDoc("q", f"d{k}", -float(rank)) for k, rank in enumerate(judged.rank) if rank]
    measure = ir_measures.parse_measure(name)
    theirs = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    assert estimated(name, judged) == pytest.approx(theirs, abs=EXACT)
    assert error_of_drawing(name, judged) == pytest.approx(0, abs=EXACT)


@pytest.mark.parametrize("name", ["P@3", "RBP(p=0.7,rel=1)"])
def test_precision_is_right_on_average_and_its_error_is_the_true_one(name: str) -> None:
    """Over all samples of 3 of 7 results, each as likely."""
    gain = np.array([2.0, 0, 1, 0, 3, 0, 0])
    every = SampledList(np.arange(1, 8), gain, (gain >= 1) * 1.0, np.ones(7), 7)
    samples = [
        SampledList(every.rank[k], gain[k], every.relevance[k], np.full(3, 3 / 7), 7)
        for k in map(list, itertools.combinations(range(7), 3))
    ]
    values = np.array([estimated(name, each) for each in samples])
    assert values.mean() == pytest.approx(estimated(name, every), abs=EXACT)
    variances = [error_of_drawing(name, each) ** 2 for each in samples]
    assert np.mean(variances) == pytest.approx(values.var(), abs=EXACT)


def test_recall_leans_by_less_than_half_of_what_the_ratio_of_the_two_sums_does() -> None:
    """Over all samples of five judged for sure and 4 of 12 others, each as likely, of which three are relevant, as are
    three of the five; where both sums are of the same results it is 1."""
    gain = np.array([1.0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
    chance = np.r_[np.ones(5), np.full(12, 1 / 3)]
    found, ratio = [], []
    for others in itertools.combinations(range(5, 17), 4):
        k = [*range(5), *others]
        relevant, seen = gain[k] / chance[k], np.array(k) < 5
        total, varies = relevant.sum(), (1 - chance[k]) * relevant**2
        ratio.append((relevant * seen).sum() / total)
        judged = SampledList(np.array(k) + 1, gain[k], gain[k], chance[k], 17)
        found.append(estimated("R@5", judged))
        # Beale 1962, with the Poisson variances that `uncertainty` has
        by_hand = ratio[-1] * (1 + (varies * seen).sum() / (ratio[-1] * total**2)) / (1 + varies.sum() / total**2)
        assert found[-1] == pytest.approx(by_hand, abs=EXACT)
        assert estimated("R@17", judged) == pytest.approx(1, abs=EXACT)
    truth = 3 / 6
    assert abs(np.mean(found) - truth) < 0.5 * abs(np.mean(ratio) - truth)


def test_average_precision_is_that_of_its_definition() -> None:
    """statAP, result by result, with the chance of couples as Hajek approximates it."""
    rank, gain = np.array([2, 5, 9, 14, 0]), np.array([1.0, 0, 2, 1, 1])
    chance = np.array([0.9, 0.5, 0.4, 0.2, 0.1])
    judged = SampledList(rank, gain, (gain >= 1) * 1.0, chance, 20)
    varies = (1 - chance).sum()
    total = sum((gain[i] >= 1) / chance[i] for i in range(5))
    found = 0.0
    for i in range(4):
        if gain[i] < 1:
            continue
        above = 0.0
        for j in range(i):
            both = chance[i] * chance[j] * (1 - (1 - chance[i]) * (1 - chance[j]) / varies)
            above += (gain[j] >= 1) * chance[i] / both
        found += (1 + above) / rank[i] / chance[i]
    assert estimated("AP", judged) == pytest.approx(found / total, abs=EXACT)


def test_the_best_order_has_as_many_results_of_each_gain_as_the_sample_stands_for() -> None:
    """Two of gain 2 and four of gain 1, by hand."""
    rank, gain, chance = np.array([1, 3, 4]), np.array([2.0, 1, 0]), np.array([0.5, 0.25, 0.5])
    judged = SampledList(rank, gain, (gain >= 1) * 1.0, chance, 10)
    discount = 1 / np.log2(np.arange(2, 12))
    ideal = 2 * discount[:2].sum() + discount[2:6].sum()
    expected = (2 / 0.5 * discount[0] + 1 / 0.25 * discount[2]) / ideal
    assert estimated("nDCG@10", judged) == pytest.approx(expected, abs=EXACT)
    assert uncertainty("nDCG@10", judged) == pytest.approx(np.sqrt(0.5 * 4 + 0.75 * 16) / 6)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "apart"), [("nDCG@20", 0.12), ("R@20", 0.12), ("AP", 0.15)])
def test_an_error_of_a_ratio_is_near_the_spread_of_samples(name: str, apart: float) -> None:
    """1,500 draws of 40 of 120 results; their spread is known to 2 %, and the jackknife of AP is 8 to 13 % above it.

    The error of every fifth is computed, which varies little: the root of their mean square is known to 1 %.
    """
    random = np.random.default_rng(5)
    gain = random.choice([0.0, 0, 0, 1, 2], 120)
    values, errors = [], []
    for number in range(1500):
        drawn = random.choice(120, 40, replace=False)
        one = gain[drawn]
        sample = SampledList(drawn + 1, one, (one >= 1) * 1.0, np.full(40, 1 / 3), 120)
        values.append(estimated(name, sample))
        if number % 5 == 0:
            errors.append(error_of_drawing(name, sample) ** 2)
    assert np.sqrt(np.mean(errors)) == pytest.approx(np.std(values), rel=apart)


def test_what_a_sample_does_not_tell_is_empty() -> None:
    none = SampledList(np.array([1, 2]), np.zeros(2), np.zeros(2), np.full(2, 0.5), 9)
    assert np.isnan([estimated("AP", none), error_of_drawing("AP", none)]).all(), "none of those judged is relevant"
    assert estimated("P@5", none) == 0
    nothing = SampledList(*(np.empty(0) for _ in range(4)), 9)
    assert np.isnan([estimated("P@5", nothing), error_of_drawing("P@5", nothing)]).all()
    assert [is_estimable(name) for name in ("ERR@5", "P(judged_only=True)@5", "R@9")] == [False, False, True]


@pytest.mark.parametrize("name", ["P@5", "RBP(p=0.8,rel=1)", "R@5", "nDCG@5", "AP"])
def test_what_results_outside_the_pool_could_add_is_the_measure_with_them_judged_good(name: str) -> None:
    gain, rank = np.array([2.0, 0, 1, 0]), np.array([1, 3, 4, 7])
    one = SampledList(rank, gain, (gain >= 1) * 1.0, np.ones(4), 9, beyond=np.array([2, 5, 9, 30]))
    looked = [2, 5] if "@5" in name else [2, 5, 9]
    grades = dict(zip(rank, gain, strict=True)) | dict.fromkeys(looked, 3.0)
    run = [ir_measures.ScoredDoc("q", f"d{k}", -float(k)) for k in range(1, 10)]
    measure = ir_measures.parse_measure(name)
    poor, good = (
        ir_measures.calc_aggregate([measure], [ir_measures.Qrel("q", f"d{k}", int(g)) for k, g in those.items()], run)
        for those in (dict(zip(rank, gain, strict=True)), grades)
    )
    assert room(name, one, 3.0) == pytest.approx(abs(good[measure] - poor[measure]), abs=EXACT)


def test_of_a_stratum_of_which_none_is_judged_above_the_cutoff_nothing_speaks() -> None:
    """Of five results of a stratum, two stand in the first ten, and one of the others is judged."""
    stratum, ranks = np.repeat([0, 1], [8, 5]), np.r_[np.arange(1, 9), 9, 10, 20, 21, 22]
    chance = np.r_[np.ones(8), 0.2]
    judged = SampledList(
        np.r_[np.arange(1, 9), 21], np.zeros(9), np.zeros(9), chance, 40,
        Strata(ranks, stratum, np.repeat([0, 1], [8, 1])), np.arange(30, 40),
    )  # fmt: skip
    assert judged.unseen(10).tolist() == [9, 10] and judged.unseen(31).tolist() == [30, 31]
    # TREC's program counts results of a stratum without any judged as a third relevant
    assert room("P@10", judged, 1.0) == pytest.approx(0.2 - 0.2 / 3, abs=1e-4)
