"""The examples that the three papers work out by hand, with what their print cannot mean.

Moran 2016 (figure 3.4 and footnote 9), Ding, Li and Li 2018 (Eq. 2 to 9, proposition 1), Jiang, Li and Li 2019
(figures 2 and 3 by the numbers of their text, for the pictures do not say theirs).
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.demonstration import extended
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.ball import ramap
from relstudy.analysis.hashing.metrics.buckets import Buckets
from relstudy.analysis.hashing.metrics.conventions import PRESETS
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth


def one_by_one(relevant: list[int]) -> CountTable:
    """A ranking without ties."""
    return CountTable(np.ones((1, len(relevant)), dtype=int), np.array([relevant]))


def test_moran_figure_3_4_average_precision_is_087() -> None:
    assert round(float(average_precision(one_by_one([1, 1, 0, 0, 1]))[0]), 2) == 0.87


def test_moran_figure_3_4_prints_an_f1_that_no_beta_gives() -> None:
    """TP 3, FP 1, FN 2. The printed .78 is above both precision and recall, between which every F-beta lies."""
    within = precision_recall_by_radius(CountTable(np.array([[4, 2]]), np.array([[3, 2]])))
    assert within.f_micro[0] == pytest.approx(2 / 3, abs=1e-15)
    buckets = Buckets(np.array([4.0]), np.array([3.0]), np.array([5]))
    figures = buckets.micro()
    assert (figures["precision"], figures["recall"]) == (0.75, 0.6)
    assert figures["f"] == pytest.approx(2 / 3, abs=1e-15)
    assert max(buckets.micro(beta)["f"] for beta in (0.01, 0.5, 1, 2, 100)) < 0.78


def test_morans_footnote_9_differs_from_equation_3_11_by_half_steps_and_the_first_piece() -> None:
    """MATLAB's trapz of the micro curve, from the pairs themselves.

    Of the two figures for one set of codes, by the sum and by the trapezoid, neither stands in the thesis; which is
    larger hangs on the first piece, P(0) R(0), which the trapezoid lacks, against half of every fall in precision.
    """
    rng = np.random.default_rng(9)
    centres = rng.random((5, 16)) < 0.5
    kinds = [rng.integers(0, 5, size) for size in (50, 2000)]
    for flipped, larger in ((0.35, "matlab"), (0.02, "sum")):
        bits = [centres[k] ^ (rng.random((len(k), 16)) < flipped) for k in kinds]
        queries, database = map(Codes.from_bits, bits)
        table = count(queries, database, LabelTruth(*(Labels(classes=k) for k in kinds)), engine="numpy")
        distance, same = queries.distances(database), kinds[0][:, None] == kinds[1]
        seen = np.array([(distance <= d).sum() for d in range(17)])
        hits = np.array([((distance <= d) & same).sum() for d in range(17)])
        precision, recall = hits / np.maximum(seen, 1), hits / same.sum()
        curve = precision_recall_by_radius(table)
        areas = {rule: area_under_curve(curve.precision_micro, curve.recall_micro, rule) for rule in ("sum", "matlab")}
        assert areas["matlab"] == pytest.approx(np.trapezoid(precision, recall), abs=1e-12)
        half_steps = (-np.diff(precision) / 2 * np.diff(recall)).sum()
        assert areas["matlab"] - areas["sum"] == pytest.approx(half_steps - precision[0] * recall[0], abs=1e-12)
        assert max(areas, key=lambda rule: areas[rule]) == larger
    assert PRESETS["moran"].area == "matlab"


def test_ding_li_and_li_equations_2_to_6_divide_by_the_hits() -> None:
    """The two rankings of Eq. 2 and 3 have precision .5 at 2 both, and average precision 1 and .5."""
    first, second = one_by_one([1, 0]), one_by_one([0, 1])
    assert [float(average_precision(t, "expected", 2, "hits")[0]) for t in (first, second)] == [1.0, 0.5]
    # Eq. 4 divides by the hits among the first K: a third relevant item beyond them changes nothing.
    assert float(average_precision(one_by_one([1, 0, 1, 1]), "expected", 2, "hits")[0]) == 1.0


def test_ding_li_and_li_equation_9_goes_out_and_back_in_the_same_order() -> None:
    """The text flips the bits 2, 4, 1, 3 on the way to the farthest point, and in the same order on the way back."""
    path = ["----", "-+--", "-+-+", "++-+", "++++", "+-++", "+-+-", "--+-", "----"]
    flipped = [
        next(bit for bit, (a, b) in enumerate(zip(one, other, strict=True), 1) if a != b)
        for one, other in pairwise(path)
    ]
    assert flipped == [2, 4, 1, 3] * 2
    assert len(set(path)) == 8  # an orthodrome of 4 bits has 2 k points


def classes_of_perfect_map(bits: int, diameter: int) -> tuple[int, float, float]:
    """As many classes of a code and one at the diameter's distance as fit with h_d > h_s, their use, and their mAP."""
    everything = np.array([[code >> bit & 1 for bit in range(bits)] for code in range(2**bits)], dtype=bool)
    apart = (everything[:, None] != everything[None]).sum(axis=2)
    taken: list[tuple[int, int]] = []
    for one, other in combinations(range(2**bits), 2):
        members = [code for pair in taken for code in pair]
        if apart[one, other] == diameter and all(
            apart[[one, other]][:, members].min(axis=None, initial=99) > diameter for _ in "1"
        ):
            taken.append((one, other))
    rows = [code for pair in taken for code in pair]
    labels = Labels(classes=np.repeat(np.arange(len(taken)), 2))
    codes = Codes.from_bits(everything[rows])
    table = count(codes, codes, LabelTruth(labels, labels), engine="numpy")
    return len(taken), len(rows) / 2**bits, float(average_precision(table, "pessimistic").mean())


@pytest.mark.parametrize(("bits", "diameter"), [(4, 1), (6, 1), (6, 2), (8, 1)])
def test_ding_li_and_li_proposition_1_a_perfect_map_leaves_a_third_of_codes_unused(bits: int, diameter: int) -> None:
    """Eq. 7 and 8: with every class's diameter h_s below its distance h_d from the others, mAP is 1 in every order of
    ties, and at most 2/3 of the codes are in use."""
    classes, use, perfect = classes_of_perfect_map(bits, diameter)
    assert classes > 1
    assert perfect == 1.0
    assert use <= 2 / 3


def test_ding_li_and_li_proposition_1_needs_its_assumption_on_diameters() -> None:
    """That h_s > 0 is assumed in the proof alone. Without it a code of its own for every item uses all codes and has a
    perfect mAP, so the proposition as worded does not hold."""
    everything = Codes.from_bits(np.array([[code >> bit & 1 for bit in range(6)] for code in range(64)], dtype=bool))
    labels = Labels(classes=np.arange(64))
    table = count(everything, everything, LabelTruth(labels, labels), engine="numpy")
    assert (average_precision(table, "pessimistic") == 1).all()


def test_jiang_li_and_li_figure_2_map_depends_on_the_order_of_distances_alone() -> None:
    """Seven items; moving the last two from the fourth to the fifth circle changes no average precision.

    Nor must RAMAP fall, which the paper leaves out: it does where what moves is relevant, and rises where it is not.
    """
    one = CountTable(np.array([[2, 2, 1, 2, 0, 0, 0, 0, 0]]), np.array([[2, 1, 0, 2, 0, 0, 0, 0, 0]]))
    moved = CountTable(np.array([[2, 2, 1, 0, 2, 0, 0, 0, 0]]), np.array([[2, 1, 0, 0, 2, 0, 0, 0, 0]]))
    shifted = CountTable(np.array([[0, 2, 2, 1, 2, 0, 0, 0, 0]]), np.array([[0, 2, 1, 0, 2, 0, 0, 0, 0]]))
    for tie in ("pessimistic", "expected", "optimistic"):
        values = [float(average_precision(table, tie)[0]) for table in (one, moved, shifted)]
        assert values[0] == values[1] == values[2]
    low, high = (float(average_precision(one, tie)[0]) for tie in ("pessimistic", "optimistic"))
    assert low < high  # the first problem: the order within a ball is nobody's
    assert ramap(one, 3) > ramap(moved, 3)
    assert ramap(one, 3) > ramap(shifted, 3)
    misses = [
        CountTable(table.total, np.minimum(table.relevant, [2, 1, 1, 0, 0, 0, 0, 0, 0])) for table in (one, moved)
    ]
    assert ramap(misses[0], 3) < ramap(misses[1], 3)


def test_jiang_li_and_li_figure_3_precision_and_recall_at_1_do_not_tell_the_codes_apart() -> None:
    """ "N+ at 0 and 1 are 2 and 5, and 3 and 4; precision@1 = .5 and recall@1 = .7 with N+ = 10": so 14 items lie
    within radius 1. How many of them at 0 is not printed; 4 are taken for both."""
    first = CountTable(np.array([[4, 10, 6, 0, 0]]), np.array([[2, 5, 3, 0, 0]]))
    second = CountTable(np.array([[4, 10, 6, 0, 0]]), np.array([[3, 4, 3, 0, 0]]))
    for table in (first, second):
        curve = precision_recall_by_radius(table)
        assert (curve.precision_macro[1], curve.recall_macro[1]) == (0.5, pytest.approx(0.7, abs=1e-15))
    assert ramap(second, 1) > ramap(first, 1)
    # Redundant bits, the same in all: precision and recall stay, RAMAP falls.
    rng = np.random.default_rng(0)
    queries, database = (Codes.from_bits(rng.random((size, 4)) < 0.5) for size in (3, 60))
    truth = LabelTruth(*(Labels(classes=rng.integers(0, 2, size)) for size in (3, 60)))
    plain = count(queries, database, truth, engine="numpy")
    longer = count(*extended(queries, database, 5, same=True), truth, engine="numpy")
    curves = [precision_recall_by_radius(table) for table in (plain, longer)]
    np.testing.assert_allclose(curves[0].precision_macro, curves[1].precision_macro[:5], atol=1e-15)
    assert ramap(longer, 2) < ramap(plain, 2)
