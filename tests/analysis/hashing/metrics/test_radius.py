"""Figures by radius: Moran's definitions, the RAMAP paper's tables, local groups, and look-up cost."""

from __future__ import annotations

import itertools
import math
from typing import get_args

import numpy as np
import pytest
from sklearn.metrics import auc

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.metrics.ball import (
    ball_sizes,
    collision_probability,
    lookup_cost,
    ramap,
    ramap_by_radius,
)
from relstudy.analysis.hashing.metrics.lgap import UniqueCodes, largest_bins, local_group_average_precision
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.analysis.hashing.options import AreaRule
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth

ROUNDING = 1e-12


@pytest.fixture(scope="module")
def world() -> tuple[Codes, Codes, np.ndarray, CountTable]:
    rng = np.random.default_rng(11)
    codes = Codes.from_bits(rng.random((3000, 16)) < rng.uniform(0.1, 0.9, 16))
    queries = Codes.from_bits(rng.random((40, 16)) < 0.5)
    own, theirs = rng.integers(0, 5, 40), rng.integers(0, 5, 3000)
    table = count(queries, codes, LabelTruth(Labels(classes=own), Labels(classes=theirs)))
    return queries, codes, own[:, None] == theirs[None, :], table


@pytest.mark.parametrize("radius", [0, 3, 8, 16])
@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_micro_figures_equal_direct_enumeration(world, radius: int, beta: float) -> None:
    queries, codes, relevant, table = world
    near = queries.distances(codes) <= radius
    tp, fp, fn = (near & relevant).sum(), (near & ~relevant).sum(), (~near & relevant).sum()
    curve = precision_recall_by_radius(table, beta=beta)
    precision, recall = tp / (tp + fp) if tp + fp else math.nan, tp / (tp + fn)
    assert curve.recall_micro[radius] == pytest.approx(recall, abs=ROUNDING)
    assert curve.precision_micro[radius] == pytest.approx(precision, abs=ROUNDING, nan_ok=True)
    f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if tp else 0.0
    assert curve.f_micro[radius] == pytest.approx(f, abs=ROUNDING)


@pytest.mark.parametrize("rule", ["zero", "skip"])
def test_macro_figures_equal_direct_enumeration_under_each_empty_ball_rule(world, rule) -> None:
    queries, codes, relevant, table = world
    near = queries.distances(codes) <= 2
    own = [
        (near[i] & relevant[i]).sum() / near[i].sum() if near[i].any() else (0.0 if rule == "zero" else math.nan)
        for i in range(len(queries))
    ]
    curve = precision_recall_by_radius(table, empty_ball=rule)
    assert curve.empty_balls[2] == (~near.any(axis=1)).sum() > 0
    assert curve.precision_macro[2] == pytest.approx(np.nanmean(own), abs=ROUNDING)


@pytest.mark.parametrize("rule", ["zero", "skip"])
@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_macro_recall_and_f_equal_direct_enumeration_under_each_rule_for_queries_without_relevant(
    world, rule, beta: float
) -> None:
    queries, codes, _, _ = world
    rng = np.random.default_rng(5)
    own, theirs = rng.integers(0, 7, 40), rng.integers(0, 4, 3000)  # classes 4, 5 and 6 have no relevant code
    relevant = own[:, None] == theirs[None, :]
    near = queries.distances(codes) <= 4
    recalls, fs = [], []
    for hit, all_near, wanted in zip((near & relevant).sum(1), near.sum(1), relevant.sum(1), strict=True):
        if wanted:
            recalls.append(hit / wanted)
            precision, recall = hit / max(all_near, 1), hit / wanted
            fs.append((1 + beta**2) * precision * recall / (beta**2 * precision + recall) if hit else 0.0)
        elif rule == "zero":
            recalls.append(0.0)
            fs.append(0.0)
    assert len(fs) > 20 if rule == "zero" else 20 < len(fs) < 40
    table = count(queries, codes, LabelTruth(Labels(classes=own), Labels(classes=theirs)))
    curve = precision_recall_by_radius(table, beta=beta, no_relevant=rule)
    assert curve.recall_macro[4] == pytest.approx(np.mean(recalls), abs=ROUNDING)
    assert curve.f_macro[4] == pytest.approx(np.mean(fs), abs=ROUNDING)


def test_areas_over_radii_equal_sums_over_the_points_of_the_curve(world) -> None:
    queries, codes, relevant, table = world
    distance = queries.distances(codes)
    points = [
        ((near & relevant).sum() / max(near.sum(), 1), (near & relevant).sum() / relevant.sum())
        for near in (distance <= radius for radius in range(17))
    ]
    curve = precision_recall_by_radius(table)
    areas = {rule: area_under_curve(curve.precision_micro, curve.recall_micro, rule) for rule in get_args(AreaRule)}
    steps = [points[d][0] * (points[d][1] - points[d - 1][1]) for d in range(1, 17)]
    assert areas["literal"] == pytest.approx(sum(steps), abs=ROUNDING)
    assert areas["sum"] == pytest.approx(points[0][0] * points[0][1] + sum(steps), abs=ROUNDING)
    precision, recall = np.array([(points[0][0], 0.0), *points]).T
    assert areas["trapezoid"] == pytest.approx(auc(recall, precision), abs=ROUNDING)


def test_the_printed_area_starts_at_radius_1_and_gives_a_perfect_code_0() -> None:
    curve = precision_recall_by_radius(CountTable(np.array([[5, 0, 20]]), np.array([[5, 0, 0]])))
    areas = [
        area_under_curve(curve.precision_micro, curve.recall_micro, rule) for rule in ("literal", "sum", "trapezoid")
    ]
    assert areas == [0.0, 1.0, 1.0]


def test_area_without_any_relevant_code_is_missing() -> None:
    curve = precision_recall_by_radius(CountTable(np.array([[5, 2]]), np.array([[0, 0]])))
    assert area_under_curve(curve.precision_micro, curve.recall_micro) is None


PRECISION = [0.1896, 0.1651, 0.1433, 0.1261]


@pytest.mark.parametrize(
    ("precision", "bits", "row", "printed"),
    [
        # Table 3. The precisions are printed to four digits, each off by up to 5e-5, and so are the results.
        (PRECISION, 8, (0.1896, 0.1040, 0.0706, 0.0533), 1.05e-4),
        (PRECISION, 9, (0.1896, 0.1030, 0.0697, 0.0525), 1.05e-4),
        (PRECISION, 16, (0.1896, 0.0996, 0.0668, 0.0501), 1.05e-4),
        # Table 2, where an empty ball counts as 0, to four printed digits.
        ([0.0, *PRECISION], 9, (0, 0.0095, 0.0075, 0.0059, 0.0048), 6e-5),
    ],
)
def test_ramap_is_that_of_jiang_li_and_lis_tables_2_and_3(
    precision: list[float], bits: int, row: tuple[float, ...], printed: float
) -> None:
    assert ramap_by_radius(np.array(precision[: len(row)]), bits) == pytest.approx(row, abs=printed)


def test_ramap_from_a_table_is_the_formula_on_its_macro_precision(world) -> None:
    table = world[3]
    precision = np.nan_to_num(precision_recall_by_radius(table).precision_macro)
    by_hand = sum(precision[r] / sum(math.comb(16, k) for k in range(r + 1)) for r in range(4)) / 4
    assert ramap(table, 3) == pytest.approx(by_hand, abs=ROUNDING)


@pytest.mark.parametrize("rule", ["zero", "skip"])
def test_ramap_equals_enumeration_under_each_rule_for_empty_balls(world, rule) -> None:
    queries, codes, relevant, table = world
    distance = queries.distances(codes)
    added = 0.0
    for radius in range(4):
        near = distance <= radius
        own = [(n & r).sum() / n.sum() for n, r in zip(near, relevant, strict=True) if n.any()]
        mean = sum(own) / (len(queries) if rule == "zero" else max(len(own), 1))
        added += mean / sum(math.comb(16, k) for k in range(radius + 1))
    assert ramap(table, 3, rule) == pytest.approx(added / 4, abs=ROUNDING)


def test_lookup_cost_counts_probes_candidates_and_empty_balls(world) -> None:
    queries, codes, _, table = world
    cost = lookup_cost(table)[2]
    near = queries.distances(codes) <= 2
    assert cost == {"r": 2, "probes": 137, "candidates": near.sum() / 40, "empty": int((~near.any(axis=1)).sum())}


def test_ding_li_and_lis_worked_example_has_lgap_at_2_of_0_5424() -> None:
    table = CountTable(np.array([[2, 4, 4, 0, 0]]), np.array([[2, 2, 1, 0, 0]]))
    value = local_group_average_precision(table, np.full((1, 5), 2), 2)[0]
    assert value == pytest.approx((1 + 4 / 6 * 6 / (2 * 5) + 5 / 10 * 10 / (2 * 11)) / 3, abs=ROUNDING)
    assert round(float(value), 4) == 0.5424


def test_lgap_equals_the_enumeration_of_every_code(world) -> None:
    queries, codes, _, table = world
    bins = largest_bins(queries, UniqueCodes.of(codes))
    every = Codes(np.arange(2**16, dtype=np.uint64)[None, :], 16)
    population = np.bincount(codes.columns[0].astype(int), minlength=2**16)
    hits = table.relevant.cumsum(axis=1)
    for query, radius in itertools.product(range(4), range(4)):
        distance = queries.take(slice(query, query + 1)).distances(every)[0]
        by_hand = 0.0
        for k in range(radius + 1):
            ball = distance <= k
            points = population[ball].sum()
            if points:
                by_hand += hits[query, k] / points * points / (population[ball].max() * ball.sum())
        ours = local_group_average_precision(table, bins, radius)[query]
        assert ours == pytest.approx(by_hand / (radius + 1), abs=ROUNDING)


def test_both_engines_find_the_same_largest_bins(world) -> None:
    queries, codes, _, _ = world
    unique = UniqueCodes.of(codes)
    assert (largest_bins(queries, unique, "numba") == largest_bins(queries, unique, "numpy")).all()


def test_shards_cut_by_code_merge_by_maximum_and_shards_cut_by_row_do_not(world) -> None:
    queries, codes, _, _ = world
    whole = largest_bins(queries, UniqueCodes.of(codes))
    key = codes.columns[0] % 4
    by_code = [largest_bins(queries, UniqueCodes.of(codes.take(np.flatnonzero(key == k)))) for k in range(4)]
    by_row = [largest_bins(queries, UniqueCodes.of(codes.take(slice(k, None, 4)))) for k in range(4)]
    assert (np.maximum.reduce(by_code) == whole).all()
    assert (np.maximum.reduce(by_row) != whole).any()


@pytest.mark.parametrize(("bits", "paper"), [(64, 0.355), (128, 0.345)])
def test_long_codes_without_collisions_lose_lgap_unless_the_ball_is_capped(bits: int, paper: float) -> None:
    total = np.zeros((1, bits + 1), dtype=np.int64)
    total[0, :3] = (1, 3, 6)
    bins = np.ones_like(total)
    table = CountTable(total, total)
    by_hand = (1 + 4 / (1 + bits) + 10 / ball_sizes(bits, 2)[2]) / 3
    value = float(local_group_average_precision(table, bins, 2)[0])
    assert value == pytest.approx(by_hand, abs=ROUNDING)
    assert value == pytest.approx(paper, abs=2e-3)  # the specification prints three digits
    assert local_group_average_precision(table, bins, 2, ball="attainable")[0] == 1.0


def test_collision_probability_equals_the_count_over_every_set_of_differing_bits() -> None:
    for distance in range(9):
        sets = list(itertools.combinations(range(8), distance))
        hit = sum(any(not set(chosen) & {2 * s, 2 * s + 1} for s in range(4)) for chosen in sets)
        assert collision_probability(8, 2, 4, distance) == pytest.approx(hit / len(sets), abs=ROUNDING)
