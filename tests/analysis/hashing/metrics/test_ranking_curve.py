"""P@N and R@N over N, and the mAP over the first k relevant codes, each against a brute force over orders of ties."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import first_relevant_precision
from relstudy.analysis.hashing.metrics.conventions import PRESETS
from relstudy.analysis.hashing.metrics.evaluate import evaluate
from relstudy.analysis.hashing.metrics.first_ranks import TIES
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.ranking_curve import ranking_curve
from tests.commands import relstudy, succeeds


def orders(total: list[int], relevant: list[int]) -> np.ndarray:
    """The relevance of every ranking that ties allow."""
    groups = []
    for n, m in zip(total, relevant, strict=True):
        places = itertools.combinations(range(n), m)
        groups.append([[i in chosen for i in range(n)] for chosen in map(set, places)])
    return np.array([list(itertools.chain(*each)) for each in itertools.product(*groups)])


def by_calc_map_k(ranking: np.ndarray, k: int) -> float:
    """As the published evaluator has it: the first min(k, all) relevant ranks, the mean of i / rank."""
    ranks = np.flatnonzero(ranking)[: min(k, ranking.sum())] + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))


@pytest.mark.parametrize("seed", range(8))
def test_the_first_k_relevant_in_every_order_of_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    total = rng.integers(0, 5, 4)
    relevant = rng.integers(0, total + 1)
    relevant[0] = min(total[0], 1) if relevant.sum() == 0 else relevant[0]
    if relevant.sum() == 0:
        total[1] = relevant[1] = 2
    rankings = orders(total.tolist(), relevant.tolist())
    table = CountTable(total[None], relevant[None])
    for k in range(1, int(relevant.sum()) + 3):
        values = [by_calc_map_k(ranking, k) for ranking in rankings]
        ours = [float(first_relevant_precision(table, k, tie)[0]) for tie in TIES]
        # sums of logarithms of factorials
        assert ours == pytest.approx([min(values), np.mean(values), max(values)], abs=1e-12)


def test_the_first_k_relevant_of_a_large_group_agrees_with_random_orders() -> None:
    rng = np.random.default_rng(0)
    table = CountTable(np.array([[3, 4000]]), np.array([[1, 900]]))
    values = []
    for _ in range(400):
        tail = np.zeros(4000, dtype=bool)
        tail[rng.choice(4000, 900, replace=False)] = True
        head = rng.permutation([True, False, False])
        values.append(by_calc_map_k(np.r_[head, tail], 100))
    ours = float(first_relevant_precision(table, 100)[0])
    assert ours == pytest.approx(np.mean(values), abs=4 * np.std(values) / 20)


def test_the_preset_calc_map_k_counts_queries_without_a_relevant_code_as_0() -> None:
    table = CountTable(np.array([[2, 4], [3, 3]]), np.array([[1, 2], [0, 0]]))
    rankings = orders([2, 4], [1, 2])
    expected = np.mean([by_calc_map_k(ranking, 2) for ranking in rankings]) / 2
    figures = evaluate(table, k=[2], conventions=PRESETS["calc-map-k"])
    assert figures["map_at_k"]["2"]["expected"] == pytest.approx(expected, abs=1e-12)
    skipping = mean_average_precision(table, 2, "first K relevant", "skip", "skip")
    assert skipping.expected == pytest.approx(2 * expected, abs=1e-12)


def test_the_curve_is_the_precision_and_recall_of_the_first_n() -> None:
    total, relevant = [2, 3, 2], [1, 2, 0]
    rankings = orders(total, relevant)
    for point in ranking_curve(CountTable(np.array([total]), np.array([relevant]))):
        hits = rankings[:, : point.n].sum(axis=1)
        for figure, values in ((point.precision, hits / point.n), (point.recall, hits / 3)):
            three = [figure.pessimistic, figure.expected, figure.optimistic]
            assert three == pytest.approx([values.min(), values.mean(), values.max()], abs=1e-12)
    assert point.n == 7


@pytest.mark.slow
def test_curves_of_several_systems_stand_in_one_picture(tmp_path: Path) -> None:
    for name, relevant in (("one", [2, 0]), ("two", [1, 1])):
        CountTable(np.array([[2, 3], [2, 3]]), np.array([relevant] * 2), {"truth": "class"}).save(
            tmp_path / f"{name}.npz"
        )
    tables = [str(tmp_path / f"{name}.npz") for name in ("one", "two")]
    done = succeeds("hash", "compare", *tables, "--radius", "1", "--figures", tmp_path / "drawn")
    for name in ("precision_recall.svg", "ranking.svg"):
        text = (tmp_path / "drawn" / name).read_text()
        assert ">one<" in text
        assert ">two<" in text
    by_radius = (tmp_path / "drawn" / "radius.svg").read_text()
    assert ">one (mAP " in by_radius and ">two (mAP " in by_radius and "RAMAP@R" in by_radius
    done = relstudy("hash", "evaluate", tables[0], "--figures", tmp_path / "alone", "--json")
    assert (tmp_path / "alone" / "ranking.svg").exists()
    assert [row["n"] for row in json.loads(done.stdout)["ranking"]] == [1, 2, 5]
