"""Rules of published evaluators that the count table can name, each against a small derivation of its own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, count, without_self
from relstudy.analysis.hashing.metrics.conventions import PRESETS, Conventions
from relstudy.analysis.hashing.metrics.evaluate import evaluate
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels, mask_words
from relstudy.analysis.hashing.truth.relevance import LabelTruth, ListedTruth
from relstudy.analysis.hashing.truth.vector_truth import nearest_neighbours
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy

ORDERS = 4_000
"""Random orders of ties; the mean of figures between 0 and 1 is then good to four standard errors of 0.008 at most."""


@pytest.fixture(scope="module")
def several() -> tuple[Codes, Codes, np.ndarray, np.ndarray, CountTable]:
    """Label sets: query 0 has no label, query 1 a label that no code has."""
    rng = np.random.default_rng(4)
    queries, database = (Codes.from_bits(rng.random((size, 6)) < 0.5) for size in (9, 40))
    own, theirs = rng.random((9, 5)) < 0.3, rng.random((40, 5)) < 0.2
    own[:, 4] = theirs[:, 4] = False
    own[0], own[1], own[1, 4] = False, False, True
    truth = LabelTruth.by(*(Labels(masks=mask_words(part)) for part in (own, theirs)))
    return queries, database, own, theirs, count(queries, database, truth, engine="numpy")


def one_order(several, rng: np.random.Generator) -> list[np.ndarray]:
    """The relevance of each query's ranking when ties fall in a random order."""
    queries, database, own, theirs, _ = several
    distance, shared = queries.distances(database), own.astype(int) @ theirs.T > 0
    order = [np.lexsort((rng.random(40), row)) for row in distance]
    return [row[rank] for row, rank in zip(shared, order, strict=True)]


@pytest.mark.slow
def test_csq_leaves_out_queries_without_a_label_and_no_others(several) -> None:
    own, table, k, rng = several[2], several[4], 12, np.random.default_rng(0)
    means = []
    for _ in range(ORDERS):
        values = []
        for labels, hits in zip(own, one_order(several, rng), strict=True):
            if labels.any():
                ranks = np.flatnonzero(hits[:k]) + 1
                values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks) if len(ranks) else 0.0)
        means.append(np.mean(values))
    ours = evaluate(table, k=[k], conventions=PRESETS["csq"])["map_at_k"][str(k)]
    assert 1 < len(values) < 9
    assert ours["expected"] == pytest.approx(np.mean(means), abs=4 * np.std(means) / np.sqrt(ORDERS))
    assert ours["pessimistic"] <= min(means)
    assert ours["optimistic"] >= max(means)


@pytest.mark.slow
def test_mean_average_precision_within_a_radius_is_over_what_the_ball_holds(several) -> None:
    queries, database, _, _, table = several
    distance, rng = queries.distances(database), np.random.default_rng(1)
    means = []
    for _ in range(ORDERS):
        values = []
        for row, hits in zip(distance, one_order(several, rng), strict=True):
            ranks = np.flatnonzero(hits[: (row <= 2).sum()]) + 1
            values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks) if len(ranks) else 0.0)
        means.append(np.mean(values))
    ours = evaluate(table, radius=[2], conventions=Conventions(no_relevant="zero"))["map_within_radius"]["2"]
    assert ours["expected"] == pytest.approx(np.mean(means), abs=4 * np.std(means) / np.sqrt(ORDERS))
    assert ours["pessimistic"] <= min(means) + 1e-12
    assert ours["optimistic"] >= max(means) - 1e-12


@pytest.mark.slow
def test_recall_at_k_is_the_share_of_relevant_codes_among_the_first_k(several) -> None:
    table, rng = several[4], np.random.default_rng(2)
    means = [
        np.mean([hits[:10].sum() / hits.sum() for hits in one_order(several, rng) if hits.any()]) for _ in range(ORDERS)
    ]
    ours = evaluate(table, k=[10])["recall_at_k"]["10"]
    assert ours["expected"] == pytest.approx(np.mean(means), abs=4 * np.std(means) / np.sqrt(ORDERS))
    assert ours["pessimistic"] <= min(means) + 1e-12
    assert ours["optimistic"] >= max(means) - 1e-12


def test_matlabs_trapezoid_begins_at_the_first_radius() -> None:
    precision, recall = np.array([0.8, 0.5, 0.2]), np.array([0.1, 0.4, 1.0])
    by_hand = (0.8 + 0.5) / 2 * 0.3 + (0.5 + 0.2) / 2 * 0.6
    assert area_under_curve(precision, recall, "matlab") == pytest.approx(by_hand, abs=1e-15)
    # The other trapezoid has the piece from recall 0 as well.
    assert area_under_curve(precision, recall, "trapezoid") == pytest.approx(by_hand + 0.08, abs=1e-15)
    assert PRESETS["moran"].area == "matlab"
    # The points of the printed sum begin at radius 1.
    assert area_under_curve(precision, recall, "matlab-1") == pytest.approx((0.5 + 0.2) / 2 * 0.6, abs=1e-15)


def test_the_literal_area_rewards_codes_shifted_by_one_bit_and_it_is_said() -> None:
    codes = CountTable(np.array([[5, 3, 2, 0]]), np.array([[5, 1, 0, 0]]))
    shifted = CountTable(np.array([[0, 5, 3, 2]]), np.array([[0, 5, 1, 0]]))

    def literal(table: CountTable) -> float | None:
        curve = precision_recall_by_radius(table)
        return area_under_curve(curve.precision_micro, curve.recall_micro, "literal")

    assert literal(shifted) > literal(codes)  # type: ignore[operator]
    assert "shifted" in evaluate(codes)["conventions"]["auprc_literal"]


def test_a_query_that_is_in_the_database_is_taken_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    bits, classes = rng.random((30, 8)) < 0.5, rng.integers(0, 3, 30)
    codes, labels = Codes.from_bits(bits), Labels(classes=classes)
    table = without_self(count(codes, codes, LabelTruth.by(labels, labels), engine="numpy"))
    distance, same = codes.distances(codes), classes[:, None] == classes
    others = ~np.eye(30, dtype=bool)
    for radius in range(9):
        assert (table.total[:, radius] == ((distance == radius) & others).sum(axis=1)).all()
        assert (table.relevant[:, radius] == ((distance == radius) & others & same).sum(axis=1)).all()
    vectors = rng.standard_normal((30, 4))
    truth = nearest_neighbours(vectors, vectors, 5, exclude_self=True)
    assert all(query not in truth.of(query) and len(truth.of(query)) == 5 for query in range(30))
    plain = nearest_neighbours(vectors, vectors, 6)
    assert all(set(plain.of(query)) == {*truth.of(query), query} for query in range(30))
    listed = without_self(count(codes, codes, truth, engine="numpy"))
    assert listed.relevant.sum() == 150
    assert listed.codes == 29
    apart = count(codes, codes, ListedTruth.from_lists([[0]] * 30, 30), engine="numpy")
    with pytest.raises(RelstudyError, match="query 2 is not among its own relevant codes at distance 0"):
        without_self(apart)
    count(codes, codes, LabelTruth.by(labels, labels), engine="numpy").save(tmp_path / "t.npz")
    answer = relstudy("hash", "evaluate", tmp_path / "t.npz", "--exclude-self", "--json")
    assert json.loads(answer.stdout)["codes"] == 29
    assert json.loads(answer.stdout)["conventions"]["exclude_self"] is True
