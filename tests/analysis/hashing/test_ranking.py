"""Rankings by real-valued distances stand beside hash codes: asymmetric distance, product quantisation, the vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, without_self
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.first_ranks import precision_at
from relstudy.analysis.hashing.ranking import (
    asymmetric_distances,
    euclidean_distances,
    quantised_distances,
    rank_levels,
    rank_table,
)
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy


def world(items: int, ties: bool) -> tuple[np.ndarray, LabelTruth]:
    rng = np.random.default_rng(items)
    kinds = [rng.integers(0, 3, size) for size in (6, items)]
    distance = rng.standard_normal((6, items)) + (kinds[0][:, None] != kinds[1])
    return distance.round(1) if ties else distance, LabelTruth(*(Labels(classes=k) for k in kinds))


def test_up_to_a_thousand_ranks_it_is_exact() -> None:
    distance, truth = world(900, ties=False)
    table = rank_table(distance, truth, "test")
    same = truth.queries.classes[:, None] == truth.database.classes
    expected = [average_precision_score(s, -d) for s, d in zip(same, distance, strict=True)]
    for tie in ("pessimistic", "expected", "optimistic"):
        np.testing.assert_allclose(average_precision(table, tie, None, "relevant"), expected, atol=1e-12)
    first = np.take_along_axis(same, np.argsort(distance, axis=1), axis=1)[:, :50]
    np.testing.assert_allclose(precision_at(table, 50), first.mean(axis=1), atol=1e-12)


def test_beyond_a_thousand_the_truth_lies_in_a_narrow_interval() -> None:
    distance, truth = world(20_000, ties=False)
    table = rank_table(distance, truth, "test")
    same = truth.queries.classes[:, None] == truth.database.classes
    expected = np.array([average_precision_score(s, -d) for s, d in zip(same, distance, strict=True)])
    low, high = (average_precision(table, tie, None, "relevant") for tie in ("pessimistic", "optimistic"))
    assert (low <= expected).all()
    assert (expected <= high).all()
    assert (high - low).max() < 0.005  # a level is a hundredth of the ranks before it
    assert table.total.shape[1] == len(rank_levels(20_000)) < 1400


def test_equal_distances_stay_ties() -> None:
    distance, truth = world(3000, ties=True)
    table = rank_table(distance, truth, "test")
    same = truth.queries.classes[:, None] == truth.database.classes
    # Every level is a whole number of groups of ties, so at its end as many are seen as lie within some distance.
    for row, values, wanted in zip(table.total, distance, same, strict=True):
        ends = np.cumsum(row)[row > 0]
        assert set(ends) <= {int((values <= v).sum()) for v in np.unique(values)}
        assert row.sum() == len(wanted)


def test_the_asymmetric_distance_is_the_squared_distance_from_the_codes_orthant() -> None:
    rng = np.random.default_rng(3)
    queries, bits = rng.standard_normal((5, 7)), rng.random((30, 7)) < 0.5
    for values, distance in zip(queries, asymmetric_distances(queries, Codes.from_bits(bits)), strict=True):
        nearest = np.where(bits == (values > 0), values, 0.0)  # of the orthant's points
        np.testing.assert_allclose(distance, ((values - nearest) ** 2).sum(axis=1), atol=1e-12)
    with pytest.raises(RelstudyError, match=r"queries of the shape \(n, 7\) are needed"):
        next(asymmetric_distances(queries[:, :4], Codes.from_bits(bits)))


def test_distances_of_vectors_far_from_the_origin_are_those_of_their_differences() -> None:
    rng = np.random.default_rng(5)
    # descriptors such as grey values: far from 0, close together; single precision squared lost the differences
    points = (rng.standard_normal((300, 32)) + 1000).astype(np.float32)
    queries = points[:4] + rng.standard_normal((4, 32)).astype(np.float32)
    for query, found in zip(queries.astype(float), euclidean_distances(queries, points), strict=True):
        apart = ((points.astype(float) - query) ** 2).sum(axis=1)
        np.testing.assert_allclose(found, apart, rtol=1e-9)  # double precision, of squares a thousandth of it
    with pytest.raises(
        RelstudyError, match=r"query vectors \(4, 31\) and database vectors \(300, 32\) need the same width"
    ):
        next(euclidean_distances(queries[:, 1:], points))
    # one row of a fault's size among them
    query, spoilt = rng.standard_normal((1, 7)), np.vstack([np.full((1, 7), 1e12), rng.standard_normal((156, 7))])
    found, apart = next(euclidean_distances(query, spoilt)), ((spoilt - query) ** 2).sum(axis=1)
    np.testing.assert_allclose(found, apart, rtol=1e-9)
    with pytest.raises(RelstudyError, match="too large for a number; scale the vectors down"):
        next(euclidean_distances(*(each.astype(float) * 1e200 for each in (queries, points))))


@pytest.mark.parametrize("number", [999, 1001])
def test_equal_vectors_and_equal_codes_are_equally_far(number: int) -> None:
    rng = np.random.default_rng(number)
    ten, queries = rng.standard_normal((10, 64)), rng.standard_normal((5, 64))
    points = np.tile(ten, (number // 10 + 1, 1))[:number]
    codes = Codes.from_bits(points > 0)
    # sums of the same numbers came out one way or another by where in the array a row stands
    for ranked in (euclidean_distances(queries, points), asymmetric_distances(queries, codes)):
        assert {len(np.unique(distances)) for distances in ranked} == {10}
    whole = rng.integers(0, 256, (500, 16)).astype(np.uint8)
    for query, found in zip(whole[:5].astype(int), euclidean_distances(whole[:5], whole), strict=True):
        assert (found == ((whole - query) ** 2).sum(axis=1)).all()


def test_quantisation_comes_near_to_the_distances_of_the_vectors() -> None:
    pytest.importorskip("faiss")
    rng = np.random.default_rng(4)
    points = rng.standard_normal((600, 10)).astype(np.float32)
    queries = points[:5] + 0.1
    exact = np.array(list(euclidean_distances(queries, points)))
    np.testing.assert_allclose(
        exact - exact.min(axis=1, keepdims=True),
        (d := ((queries[:, None] - points) ** 2).sum(axis=2)) - d.min(axis=1, keepdims=True),
        atol=1e-4,  # single precision
    )
    errors = []
    for bits in (8, 24):  # 24: three parts of four numbers, two of them filled up
        close = np.array(list(quantised_distances(points, queries, points, bits)))
        unit = max(np.abs(each - points.mean(axis=0)).max() for each in (points, queries))
        errors.append(np.abs(close * unit**2 - exact).mean())
    assert errors[1] < errors[0] / 2
    for size, bits, message in (
        (600, 12, "not a multiple of 8"),
        (100, 8, "256 centres"),
        (600, 96, "do not have 12 parts"),
    ):
        with pytest.raises(RelstudyError, match=message):
            next(quantised_distances(points[:size], queries, points, bits))


@pytest.mark.parametrize(("far", "unit"), [(1e7, 1.0), (0.0, 1e-60), (0.0, 1e60)])
def test_quantisation_does_not_depend_on_where_vectors_lie_or_on_their_unit(far: float, unit: float) -> None:
    """In single precision, which faiss takes, vectors around 1e7 were alike, those of 1e-60 zero, of 1e60 infinite."""
    pytest.importorskip("faiss")
    points = np.random.default_rng(5).integers(-64, 64, (400, 8)) / 64
    near, moved = (
        np.argsort(np.array(list(quantised_distances(each, each[:5], each, 16))), axis=1, kind="stable")
        for each in (points, points * unit + far)
    )
    assert (near == moved).mean() > 0.99  # the shift leaves nine digits of a double


def test_what_needs_a_hamming_radius_is_refused() -> None:
    distance, truth = world(50, ties=False)
    with pytest.raises(RelstudyError, match=r"ranked by distance \(test\): there is no Hamming radius"):
        without_self(rank_table(distance, truth, "test"))


@pytest.mark.slow
def test_a_ranking_stands_beside_codes_in_the_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 3, 400)
    vectors = rng.standard_normal((3, 12))[labels] * 2 + rng.standard_normal((400, 12))
    for name, rows in (("q", slice(0, 40)), ("db", slice(40, 400))):
        np.save(f"{name}.npy", vectors[rows])
        np.save(f"y{name}.npy", labels[rows])

    def run(words: str, code: int = 0) -> str:
        done = relstudy("hash", *words.split())
        assert done.exit_code == code, done.output
        return done.stdout if code == 0 else done.stderr

    truth = "--query-labels yq.npy --database-labels ydb.npy"
    run("encode lsh --bits 8 --train db.npy --encode q.npy qc.npy --encode db.npy dbc.npy --project q.npy qr.npy")
    run(f"count --queries qc.npy --database dbc.npy {truth} -o lsh.npz")
    run(f"rank asymmetric --queries qr.npy --database dbc.npy {truth} -o asymmetric.npz")
    run(f"rank vectors --queries q.npy --database db.npy {truth} -o vectors.npz")
    told = json.loads(run("compare lsh.npz asymmetric.npz vectors.npz --k 50 --json"))["systems"]
    assert told["lsh"]["map"]["expected"] < told["asymmetric"]["map"]["expected"] < told["vectors"]["map"]["expected"]
    assert told["vectors"]["bits"] is None
    assert told["vectors"]["ramap_2"] is None
    assert told["lsh"]["ramap_2"] is not None
    printed = run("evaluate asymmetric.npz --k 10 --figures drawn")
    assert "mAP@10" in printed
    assert "RAMAP" not in printed
    assert "no Hamming radius" in printed
    assert [path.name for path in Path("drawn").iterdir()] == ["ranking.svg"]
    for words in ("evaluate asymmetric.npz --radius 2", "buckets asymmetric.npz --bits 2 --tables 1"):
        assert "there is no Hamming radius" in " ".join(run(words, 1).split())
    assert "are for pq, which needs both" in run(f"rank pq --queries q.npy --database db.npy {truth} -o x.npz", 2)
    assert "there are 40 and 40" in run(f"rank vectors --queries q.npy --database q.npy {truth} -o x.npz", 1)
    pytest.importorskip("faiss")
    run(f"rank pq --bits 16 --train db.npy --queries q.npy --database db.npy {truth} -o pq.npz")
    assert CountTable.load("pq.npz").by_rank == "product quantisation, 16 bits"
