"""ACG, nDCG and WAP against every order of ties, and against average precision where grades are 0 and 1."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.metrics.label_grades import graded_figures, shared_label_counts
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.truth.labels import Labels, mask_words
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from tests.commands import relstudy


def by_hand(ranking: tuple[int, ...], k: int) -> tuple[float, float, float]:
    """ACG, nDCG and WAP of one ranking of numbers of shared labels."""
    r = np.array(ranking[:k], dtype=float)
    ranks = np.arange(1, len(r) + 1)
    best = np.sort(np.array(ranking))[::-1][:k]
    discount = 1 / np.log2(1 + ranks)
    acg = np.cumsum(r) / ranks
    relevant = min(k, int((np.array(ranking) > 0).sum()))
    return r.sum() / k, ((2**r - 1) * discount).sum() / ((2.0**best - 1) * discount).sum(), acg[r > 0].sum() / relevant


@pytest.mark.parametrize("seed", range(5))
def test_every_order_of_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = [rng.integers(0, 4, size).tolist() for size in (3, 0, 4)]
    groups[0][0] = 2
    rankings = [
        tuple(itertools.chain(*each))
        for each in itertools.product(*(itertools.permutations(group) for group in groups))
    ]
    counts = np.array([[[group.count(grade) for group in groups] for grade in range(4)]])
    for k in (1, 2, 4, 7):
        values = np.array([by_hand(ranking, k) for ranking in rankings])
        figures = graded_figures(counts, k)
        for column, figure in enumerate((figures.acg, figures.ndcg, figures.wap)):
            expected = [values[:, column].min(), values[:, column].mean(), values[:, column].max()]
            three = [figure.pessimistic, figure.expected, figure.optimistic]
            assert three == pytest.approx(expected, abs=1e-12), (k, column)


def test_with_grades_of_0_and_1_wap_is_average_precision() -> None:
    rng = np.random.default_rng(1)
    queries, database = (Codes.from_bits(rng.random((size, 6)) < 0.5) for size in (9, 200))
    truth = LabelTruth(*(Labels(classes=rng.integers(0, 4, size)) for size in (9, 200)))
    counts = shared_label_counts(queries, database, truth)
    table = count(queries, database, truth, engine="numpy")
    for k in (5, 60, None):
        ours, theirs = graded_figures(counts, k).wap, mean_average_precision(table, k)
        assert ours.as_json() == pytest.approx(theirs.as_json(), abs=1e-12)


def test_queries_that_share_nothing_are_left_out_or_0_or_1_in_ndcg() -> None:
    counts = np.array([[[1, 1], [0, 1]], [[1, 2], [0, 0]]])  # one relevant code, and none
    skipped, zero, one = (graded_figures(counts, None, "exponential", rule) for rule in ("skip", "zero", "one"))
    assert zero.ndcg.expected == pytest.approx(skipped.ndcg.expected / 2, abs=1e-15)
    # MIHash's evaluator: both sums are set to 1.
    assert one.ndcg.expected == pytest.approx((skipped.ndcg.expected + 1) / 2, abs=1e-15)
    assert one.wap.expected == zero.wap.expected == pytest.approx(skipped.wap.expected / 2, abs=1e-15)


@pytest.mark.slow
def test_the_command_counts_shared_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    bits = {"q": rng.random((6, 8)) < 0.5, "db": rng.random((40, 8)) < 0.5}
    sets = {"q": rng.random((6, 70)) < 0.2, "db": rng.random((40, 70)) < 0.2}
    sets["q"][0] = False
    for name in bits:
        np.save(f"{name}.npy", bits[name])
        np.save(f"y{name}.npy", sets[name].astype(int))
    shared = sets["q"].astype(int) @ sets["db"].T
    distance = (bits["q"][:, None] != bits["db"]).sum(axis=2)
    truth = LabelTruth(*(Labels(masks=mask_words(part)) for part in sets.values()))
    counts = shared_label_counts(*(Codes.from_bits(part) for part in bits.values()), truth)
    for query, grade, radius in np.ndindex(counts.shape):
        assert counts[query, grade, radius] == ((shared[query] == grade) & (distance[query] == radius)).sum()
    words = "hash graded --queries q.npy --database db.npy --query-labels yq.npy --database-labels ydb.npy --k 10"
    told = json.loads(relstudy(*words.split(), "--json").stdout)
    assert told["queries_without_relevant"] == 1
    assert told["at"]["10"]["wap"] == graded_figures(counts, 10).wap.as_json()
    shown = relstudy(*words.split()).stdout
    assert "nDCG@10" in shown
    assert "share no label with any code: 1 of 6" in shown
