"""The count table: both engines, every truth, shards, files."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import LONGEST, CountTable, count, merge
from relstudy.analysis.hashing.truth.labels import Labels, mask_words
from relstudy.analysis.hashing.truth.relevance import ByClass, LabelTruth, ListedTruth, save_truth
from relstudy.common.runtime.errors import RelstudyError


def codes(number: int, bits: int, seed: int) -> Codes:
    table = np.random.default_rng(seed).random((number, bits)) < 0.4
    table[:3] = np.array([[True], [False], [True]])[
        :number
    ]  # so that the farthest distances occur, for two queries at once
    return Codes.from_bits(table)


def truths(queries: int, database: int, seed: int) -> dict[str, LabelTruth | ListedTruth]:
    rng = np.random.default_rng(seed)
    hot = [Codes.from_bits(rng.random((size, 81)) < 0.03).columns for size in (queries, database)]
    lists = [rng.choice(database, rng.integers(0, min(30, database)), replace=False) for _ in range(queries)]
    return {
        "class": LabelTruth(Labels(classes=rng.integers(-2, 5, queries)), Labels(classes=rng.integers(0, 4, database))),
        "labels": LabelTruth(Labels(masks=hot[0]), Labels(masks=hot[1])),
        "listed": ListedTruth.from_lists(lists, database),
    }


def relevance(truth: LabelTruth | ListedTruth, database: int) -> np.ndarray:
    if isinstance(truth, ListedTruth):
        matrix = np.zeros((len(truth), database), dtype=bool)
        matrix[truth.owners(), truth.members] = True
        return matrix
    if truth.queries.classes is not None:
        return truth.queries.classes[:, None] == truth.database.classes[None, :]
    return (truth.queries.masks[:, :, None] & truth.database.masks[:, None, :]).any(axis=0)


def enumerated(queries: Codes, database: Codes, truth: LabelTruth | ListedTruth) -> tuple[np.ndarray, np.ndarray]:
    distance, relevant = queries.distances(database), relevance(truth, len(database))
    side = queries.bits + 1
    total = [np.bincount(row, minlength=side) for row in distance]
    hits = [np.bincount(row[own], minlength=side) for row, own in zip(distance, relevant, strict=True)]
    return np.array(total), np.array(hits)


def assert_counts(queries: Codes, database: Codes, truth: LabelTruth | ListedTruth) -> None:
    total, hits = enumerated(queries, database, truth)
    for engine in ("numba", "numpy"):
        table = count(queries, database, truth, engine=engine)
        assert (table.total == total).all(), engine
        assert (table.relevant == hits).all(), engine


@pytest.mark.slow
@pytest.mark.parametrize("bits", [1, 12, 64, 65, 128, 200, 201, 256])
@pytest.mark.parametrize("kind", ["class", "labels", "listed"])
def test_both_engines_count_what_direct_enumeration_counts(bits: int, kind: str) -> None:
    queries, database = codes(13, bits, 1), codes(70, bits, 2)
    assert_counts(queries, database, truths(13, 70, bits)[kind])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "queries", "bits"), [(4000, 13, 12), (70_000, 3, 12), (90_000, 2, 64), (80_001, 1, 201), (9000, 9, 2000)]
)
@pytest.mark.parametrize("kind", ["class", "labels", "listed"])
def test_a_database_of_many_blocks_is_counted_as_enumerated(number: int, queries: int, bits: int, kind: str) -> None:
    own, database = codes(queries, bits, 3), codes(number, bits, 4)
    assert_counts(own, database, truths(queries, number, bits)[kind])


def test_a_class_for_every_code_is_counted_as_enumerated() -> None:
    queries, database = codes(9, 20, 5), codes(3000, 20, 6)
    own, theirs = np.arange(9) * 7, np.random.default_rng(0).permutation(3000)
    assert_counts(queries, database, LabelTruth(Labels(classes=own), Labels(classes=theirs)))


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 40), st.integers(1, 140), st.integers(1, 90), st.integers(0, 10**6))
def test_counts_equal_enumeration_for_every_size_of_anything(
    queries: int, database: int, bits: int, labels: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    own, theirs = (Codes.from_bits(rng.random((size, bits)) < rng.random()) for size in (queries, database))
    sets = [Labels(masks=mask_words(rng.random((size, labels)) < 0.1)) for size in (queries, database)]
    classes = [Labels(classes=rng.integers(-labels, labels, size)) for size in (queries, database)]
    for truth in (LabelTruth.by(*sets), LabelTruth.by(*classes)):
        assert_counts(own, theirs, truth)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(2, 60), st.lists(st.integers(0, 60), max_size=5), st.integers(0, 10**6))
def test_merging_any_shards_in_any_order_changes_nothing(
    queries: int, database: int, cuts: list[int], seed: int
) -> None:
    own, theirs = codes(queries, 17, seed), codes(database, 17, seed + 1)
    edges = sorted({0, database, *(cut for cut in cuts if cut < database)})
    shards = [slice(low, high) for low, high in itertools.pairwise(edges)]
    shards = [shards[i] for i in np.random.default_rng(seed).permutation(len(shards))]
    for truth in truths(queries, database, seed).values():
        whole = count(own, theirs, truth)
        parts = merge(count(own, theirs.take(shard), truth.shard(shard)) for shard in shards)
        assert (parts.total == whole.total).all()
        assert (parts.relevant == whole.relevant).all()


def test_blocks_larger_than_16_bits_of_equal_codes_do_not_overflow() -> None:
    database = Codes.from_bits(np.zeros((200_000, 8), dtype=bool))
    truth = LabelTruth(Labels(classes=np.zeros(3, dtype=int)), Labels(classes=np.zeros(200_000, dtype=int)))
    table = count(database.take(slice(0, 3)), database, truth)
    assert table.total[:, 0].tolist() == table.relevant[:, 0].tolist() == [200_000] * 3


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
    save_truth(ListedTruth.from_lists([[1]], 2), path)
    with pytest.raises(RelstudyError, match="is not a count table"):
        CountTable.load(path)


def test_a_table_of_another_version_or_with_other_numbers_is_refused(tmp_path) -> None:
    path = tmp_path / "table.npz"
    header = {"version": 1, "what": "count table", "truth": "class"}
    good = {"total": np.array([[2, 1]]), "relevant": np.array([[1, 1]])}

    def written(header: dict, **arrays: np.ndarray) -> CountTable:
        np.savez(path, header=np.array(json.dumps(header)), **(good | arrays))
        return CountTable.load(path)

    assert written(header).truth == "class"
    with pytest.raises(RelstudyError, match="version 2 of the count table is not known here, 1 is"):
        written(header | {"version": 2})
    with pytest.raises(RelstudyError, match="version None"):
        written({"what": "count table"})
    with pytest.raises(RelstudyError, match="holds whole numbers"):
        written(header, relevant=np.array([[0.5, 0.5]]))
    with pytest.raises(RelstudyError, match="more relevant codes than codes"):
        written(header, relevant=np.array([[3, 0]]))
    with pytest.raises(RelstudyError, match="nor negative counts"):
        written(header, relevant=np.array([[-1, 0]]))
    with pytest.raises(RelstudyError, match="same shape"):
        written(header, relevant=np.array([[1, 1, 0]]))
    with pytest.raises(RelstudyError, match="at least one query"):
        written(header, total=np.zeros((0, 2), dtype=int), relevant=np.zeros((0, 2), dtype=int))
    with pytest.raises(RelstudyError, match="same number of database codes"):
        written(header, total=np.array([[2, 1], [2, 2]]), relevant=np.array([[1, 1], [0, 0]]))


def test_a_failed_save_leaves_the_old_table(tmp_path) -> None:
    path = tmp_path / "table.npz"
    CountTable(np.array([[1]]), np.array([[1]])).save(path)
    with pytest.raises(TypeError):
        CountTable(np.array([[2]]), np.array([[1]]), {"truth": object()}).save(path)
    assert CountTable.load(path).total.tolist() == [[1]]
    assert [file.name for file in tmp_path.iterdir()] == ["table.npz"]


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
    for truth in truths(4, 51, 1).values():
        with pytest.raises(RelstudyError, match="of 4 queries and 51 codes does not fit 4 queries and 50 codes"):
            count(queries, database, truth)
    for truth in truths(5, 50, 1).values():
        with pytest.raises(RelstudyError, match="of 5 queries and 50 codes does not fit 4 queries and 50 codes"):
            count(queries, database, truth)


def test_the_longest_codes_are_counted_and_longer_ones_refused() -> None:
    ends = Codes.from_bits(np.array([[False] * LONGEST, [True] * LONGEST]))
    truth = LabelTruth(Labels(classes=np.zeros(2, dtype=int)), Labels(classes=np.zeros(2, dtype=int)))
    sets = LabelTruth(*[Labels(masks=np.ones((1, 2), dtype=np.uint64))] * 2)
    for engine, relevant in itertools.product(("numba", "numpy"), (truth, sets)):
        table = count(ends, ends, relevant, engine=engine)
        assert np.argwhere(table.relevant).tolist() == [[0, 0], [0, LONGEST], [1, 0], [1, LONGEST]]
    longer = Codes.from_bits(np.zeros((2, LONGEST + 1), dtype=bool))
    with pytest.raises(RelstudyError, match="codes of 8193 bits are too long to count; 8192 bits are the most"):
        count(longer, longer, truth)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_rows_are_found_by_class_whatever_the_range_of_the_numbers(dtype: type) -> None:
    ends = np.iinfo(dtype)
    theirs = np.array([ends.max, 0, ends.min, -3, ends.max, 0], dtype=dtype)
    own = np.array([0, ends.min, 7, ends.max], dtype=dtype)
    classes = ByClass.of(LabelTruth(Labels(classes=own), Labels(classes=theirs)))
    assert [classes.rows(query).tolist() for query in range(4)] == [[1, 5], [2], [], [0, 4]]
