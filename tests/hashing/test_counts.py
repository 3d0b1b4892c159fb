"""The count table: both engines, every truth, shards, files."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.hashing.codes import Codes
from analysis.hashing.counts import CountTable, count, merge
from analysis.hashing.labels import Labels
from analysis.hashing.truth import LabelTruth, ListedTruth
from analysis.hashing.truth_file import save_truth
from calibration.errors import RelstudyError


def codes(number: int, bits: int, seed: int) -> Codes:
    return Codes.from_bits(np.random.default_rng(seed).random((number, bits)) < 0.4)


def truths(queries: int, database: int, seed: int) -> dict[str, LabelTruth | ListedTruth]:
    rng = np.random.default_rng(seed)
    hot = [Codes.from_bits(rng.random((size, 81)) < 0.03).columns for size in (queries, database)]
    lists = [rng.choice(database, rng.integers(0, 30), replace=False) for _ in range(queries)]
    return {
        "class": LabelTruth(Labels(classes=rng.integers(-2, 5, queries)), Labels(classes=rng.integers(0, 4, database))),
        "labels": LabelTruth(Labels(masks=hot[0]), Labels(masks=hot[1])),
        "listed": ListedTruth.from_lists(lists, kind="listed"),
    }


def relevance(truth: LabelTruth | ListedTruth, database: int) -> np.ndarray:
    if isinstance(truth, ListedTruth):
        matrix = np.zeros((len(truth), database), dtype=bool)
        matrix[truth.owners(), truth.members] = True
        return matrix
    if truth.queries.classes is not None:
        return truth.queries.classes[:, None] == truth.database.classes[None, :]
    return (truth.queries.masks[:, :, None] & truth.database.masks[:, None, :]).any(axis=0)


@pytest.mark.parametrize("bits", [1, 12, 64, 65, 128, 200, 256])
@pytest.mark.parametrize("kind", ["class", "labels", "listed"])
def test_both_engines_count_what_direct_enumeration_counts(bits: int, kind: str) -> None:
    queries, database = codes(13, bits, 1), codes(70, bits, 2)
    truth = truths(13, 70, bits)[kind]
    distance, relevant = queries.distances(database), relevance(truth, 70)
    total = np.array([np.bincount(row, minlength=bits + 1) for row in distance])
    hits = np.array([np.bincount(row[own], minlength=bits + 1) for row, own in zip(distance, relevant, strict=True)])
    for engine in ("numba", "numpy"):
        table = count(queries, database, truth, engine=engine)
        assert (table.total == total).all(), engine
        assert (table.relevant == hits).all(), engine


def test_blocks_larger_than_16_bits_of_equal_codes_do_not_overflow() -> None:
    database = Codes.from_bits(np.zeros((200_000, 8), dtype=bool))
    truth = LabelTruth(Labels(classes=np.zeros(3, dtype=int)), Labels(classes=np.zeros(200_000, dtype=int)))
    table = count(database.take(slice(0, 3)), database, truth)
    assert table.total[:, 0].tolist() == table.relevant[:, 0].tolist() == [200_000] * 3


@pytest.mark.parametrize("kind", ["class", "labels", "listed"])
def test_the_sum_over_shards_is_the_whole(kind: str) -> None:
    queries, database = codes(9, 20, 3), codes(500, 20, 4)
    truth = truths(9, 500, 5)[kind]
    whole = count(queries, database, truth)
    cuts = [slice(0, 100), slice(100, 101), slice(101, 380), slice(380, 500)]
    parts = merge(count(queries, database.take(cut), truth.shard(cut)) for cut in cuts)
    assert (parts.total == whole.total).all()
    assert (parts.relevant == whole.relevant).all()


def test_a_saved_table_comes_back_equal(tmp_path) -> None:
    queries, database = codes(4, 12, 6), codes(50, 12, 7)
    table = count(queries, database, truths(4, 50, 8)["class"], about={"database": ["a"]})
    table.save(tmp_path / "table.npz")
    back = CountTable.load(tmp_path / "table.npz")
    assert (back.total == table.total).all()
    assert (back.relevant == table.relevant).all()
    assert back.about == table.about


def test_something_else_than_a_count_table_is_refused(tmp_path) -> None:
    path = tmp_path / "table.npz"
    path.write_text("no")
    with pytest.raises(RelstudyError, match="is not a count table"):
        CountTable.load(path)
    np.savez(path, total=np.array([[1]], dtype=object), allow_pickle=True)
    with pytest.raises(RelstudyError, match="is not a count table"):
        CountTable.load(path)
    save_truth(ListedTruth.from_lists([[1]]), path)
    with pytest.raises(RelstudyError, match="is not a count table"):
        CountTable.load(path)


def test_tables_of_different_queries_or_truth_are_not_merged() -> None:
    one = CountTable(np.array([[1]]), np.array([[1]]), {"truth": "class", "queries_sha256": "a"})
    with pytest.raises(RelstudyError, match="query codes"):
        one + CountTable(one.total, one.relevant, {"truth": "class", "queries_sha256": "b"})
    with pytest.raises(RelstudyError, match="ground truth"):
        one + CountTable(one.total, one.relevant, {"truth": "k-NN", "queries_sha256": "a"})
    with pytest.raises(RelstudyError, match="do not belong together"):
        one + CountTable(np.array([[1, 0]]), np.array([[1, 0]]), one.about)


def test_sizes_that_do_not_fit_are_refused() -> None:
    queries, database = codes(4, 12, 6), codes(50, 12, 7)
    with pytest.raises(RelstudyError, match="12 bits and database codes 13"):
        count(queries, codes(50, 13, 1), truths(4, 50, 1)["class"])
    with pytest.raises(RelstudyError, match="do not fit"):
        count(queries, database, truths(4, 51, 1)["class"])
