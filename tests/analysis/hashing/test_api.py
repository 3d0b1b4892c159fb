"""What a notebook uses gives what the commands give."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.hashing import api as hashing
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api")
    rng = np.random.default_rng(3)
    for name, size in (("q", 12), ("db", 300)):
        np.save(path / f"{name}.npy", rng.random((size, 16)) < 0.4)
        np.save(path / f"y{name}.npy", rng.integers(0, 4, size))
    return path


@pytest.fixture(scope="module")
def counts(folder: Path) -> hashing.CountTable:
    arrays = [np.load(folder / f"{name}.npy") for name in ("q", "db", "yq", "ydb")]
    return hashing.count(*arrays)


def run(*words: object) -> dict:
    outcome = succeeds(*words, "--json")
    return json.loads(outcome.stdout)


def test_arrays_give_the_figures_of_the_commands(folder: Path, counts: hashing.CountTable) -> None:
    table = folder / "table.npz"
    files = ["--queries", folder / "q.npy", "--database", folder / "db.npy"]
    run(
        "hash",
        "count",
        *files,
        "--query-labels",
        folder / "yq.npy",
        "--database-labels",
        folder / "ydb.npy",
        "-o",
        table,
    )
    by_command = run("hash", "evaluate", table, "--k", 10, "--preset", "hashnet")
    result = hashing.evaluate(counts, k=10, preset="hashnet")
    assert result.as_json() == by_command
    assert result.table.loc["mAP@10", "expected"] == by_command["map_at_k"]["10"]["expected"]
    assert result.by_radius.loc[2, "precision_micro"] == by_command["radius"][2]["precision_micro"]
    assert result.conventions["denominator"] == "hits"
    compared = hashing.compare({"a": counts, "b": counts})
    assert isinstance(compared.table, pd.DataFrame)
    assert compared.table.loc["a", "mAP"] == pytest.approx(by_command["map"]["expected"])
    assert compared.comparisons.loc[0, "map_difference"] == 0.0


def test_codes_of_every_form_and_files_are_taken(folder: Path, counts: hashing.CountTable) -> None:
    bits, labels = np.load(folder / "q.npy"), (np.load(folder / "yq.npy"), np.load(folder / "ydb.npy"))
    signs, packed = np.where(bits, 1, -1), np.packbits(bits, axis=1)
    database = hashing.read_codes(folder / "db.npy")
    for queries in (bits, signs, bits.astype(float), packed, hashing.read_codes(folder / "q.npy")):
        again = hashing.count(queries, database, *labels)
        assert (again.relevant == counts.relevant).all()
    names = [np.array(list("abcd"))[part] for part in labels]
    assert (hashing.count(bits, database, *names).relevant == counts.relevant).all()


def test_a_truth_takes_the_place_of_labels(folder: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((60, 5))
    codes = hashing.encoder("lsh", bits=8, seed=1).fit(vectors).encode(vectors)
    truth = hashing.nearest_neighbours(vectors, vectors, 5)
    assert hashing.count(codes, codes, truth=truth).relevant.sum() == 300
    with pytest.raises(RelstudyError, match="labels of queries and database, or a truth"):
        hashing.count(codes, codes)


def test_what_is_wrong_is_one_sentence() -> None:
    with pytest.raises(RelstudyError, match="'best' is not an encoder; there are lsh, pcah"):
        hashing.encoder("best", bits=8)
    with pytest.raises(RelstudyError, match="'best' is not a preset; there are default, moran"):
        hashing.evaluate(hashing.CountTable(np.array([[1, 1]]), np.array([[1, 0]])), preset="best")
    with pytest.raises(RelstudyError, match=r"queries, row 0, column 1 \(counted from 0\): '2' is not allowed"):
        hashing.count(np.array([[0, 2]]), np.array([[0, 1]]), [1], [1])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda truth: hashing.rank([[0.1, 0.2]], truth, "cosine"), "distances of query 1: numbers of shape"),
        (lambda truth: hashing.rank([[0.1, np.nan, 0.3]], truth, "cosine"), "distances of query 1"),
        (lambda truth: hashing.rank([np.arange(3.0)] * 2, truth, "cosine"), "for each of 1 queries"),
        (lambda _: hashing.unit_length([1.0, 2.0]), "shape .n, D. are needed"),  # type: ignore[arg-type]
        (lambda _: hashing.compare({}), "there is none"),
        (lambda _: hashing.encoder("itq", 0), "at least one, not 0"),
        (lambda _: hashing.epsilon_radius(np.ones((9, 2)), neighbours=0), "from 1 are needed"),
        (lambda _: hashing.evaluate(None), "counts: a CountTable is needed, not None"),  # type: ignore[arg-type]
        (lambda _: hashing.encoder("ksh", 4, anchors=0), "anchors of KSH: a whole number from 1 is needed, not 0"),
        (lambda _: hashing.encoder("ksh", 4, anchors=2.5), "anchors of KSH: a whole number from 1 is needed, not 2.5"),
        (lambda _: hashing.encoder("grh", 4, strength=-1), "strength of GRH: a number above 0 is needed, not -1"),
        (lambda _: hashing.encoder("lsh", 4, width=3), "LSH has no setting 'width'; it has none"),
        (lambda _: hashing.encoder("lsh", 4).encode(np.eye(3)), "LSH encodes after it has learned"),
        (lambda _: hashing.encoder("ksh", 4).fit(np.eye(2), [1, np.nan]), "labels: labels must be whole numbers"),
        (lambda _: hashing.save_encoder(hashing.cross_modal(np.eye(3), np.eye(3), 2).first, "x"), "View is not kept"),
        (lambda _: hashing.cross_modal([1.0, 2.0], np.eye(2), 1), "shape .n, D. are needed, not .2,."),
        (lambda _: hashing.unit_length(np.array([[1.0], [np.nan]])), "vectors, row 1 .counted from 0.: finite"),
        (lambda _: hashing.CountTable([[1]], [[0]]), "two arrays of whole numbers"),  # type: ignore[arg-type]
        (lambda _: hashing.CountTable(np.array([[0.5]]), np.array([[0.5]])), "two arrays of whole numbers"),
        (lambda _: hashing.count(np.eye(2), np.eye(2), [["a"], ["a", "b"]], ["a", "b"]), "query_labels: an array is n"),
        (lambda _: hashing.count(np.eye(2), np.eye(2), [2**70, 1], [1, 2]), "query_labels: labels must be whole"),
        (lambda _: hashing.count(np.eye(2), np.eye(2), ["a", None], ["a", "b"]), "item 1 .counted from 0. is None"),
    ],
)
def test_arrays_of_another_shape_and_numbers_out_of_range_are_one_sentence(call: Callable, said: str) -> None:
    truth = hashing.nearest_neighbours([[0.0]], [[0.0], [1.0], [2.0]], 1)  # type: ignore[arg-type]
    with pytest.raises(RelstudyError, match=said):
        call(truth)


@pytest.mark.parametrize(("name", "wrong", "least"), [("flips", -1, 0), ("tables", 0, 1), ("bits", 0, 1)])
def test_a_look_up_refuses_numbers_of_tables_that_there_are_not(name: str, wrong: int, least: int) -> None:
    """flips=(-1,) was taken: a look-up into no bucket, which found nothing."""
    codes = hashing.Codes.from_bits(np.eye(6, dtype=bool))
    truth = hashing.nearest_neighbours(np.eye(6), np.eye(6), 2)
    with pytest.raises(RelstudyError, match=f"{name}: a whole number from {least} is needed, not {wrong}"):
        hashing.look_up(codes, codes, truth, **{"bits": (3,), name: (1, wrong)})
    table = hashing.look_up(codes, codes, truth, bits=(3, 4), tables=(2,))
    assert "1 setting left out (bits/tables/flips 4/2/0)" in table.attrs["notes"][0]


@pytest.mark.parametrize("wide", [5, 70])
def test_codes_of_two_lengths_have_no_figures(wide: int) -> None:
    """`graded` gave figures for queries of 8 bits in a database of 5."""
    one, other = (hashing.Codes.from_bits(np.ones((4, bits), dtype=bool)) for bits in (8, wide))
    classes = hashing.Labels(classes=np.array([0, 0, 1, 1]))
    truth = hashing.LabelTruth.by(classes, classes)
    for attempt in (
        lambda: hashing.graded(one, other, truth=truth),
        lambda: hashing.look_up(one, other, truth),
        lambda: hashing.count(one, other, truth=truth),
    ):
        with pytest.raises(RelstudyError, match=f"query codes have 8 bits and database codes {wide}"):
            attempt()


def test_codes_made_by_hand_hold_no_bit_beyond_their_length() -> None:
    """Such a bit counted in every distance."""
    with pytest.raises(RelstudyError, match="a bit beyond the 3 of these codes is set"):
        hashing.Codes.from_packed(np.array([[0b11111000]], dtype=np.uint8), bits=3)
    for words, bits in ((np.ones((1, 4)), 8), (np.ones((1, 4), dtype=np.uint64), 65), (np.ones(4, dtype=np.uint64), 8)):
        with pytest.raises(RelstudyError, match=f"codes of {bits} bits need uint64 of the shape"):
            hashing.Codes(words, bits)
    for bits in (1, 63, 64, 65):
        assert hashing.Codes.from_bits(np.ones((2, bits), dtype=bool)).unpacked().all()


@pytest.mark.parametrize("name", ["lsh", "itq", "ksh", "grh"])
def test_encoders_take_lists_and_labels_as_files_hold_them(name: str) -> None:
    """A list ended in an AttributeError, and a text without letters was a class in Python and no label in a file."""
    rng = np.random.default_rng(1)
    vectors, kinds = rng.standard_normal((40, 6)), rng.integers(0, 2, 40)
    learned = hashing.encoder(name, 4).fit(vectors, kinds)
    again = hashing.encoder(name, 4).fit(vectors.tolist(), kinds.tolist())
    assert (again.encode(vectors.tolist()).columns == learned.encode(vectors).columns).all()
    assert again.real_values(vectors).shape == (40, 4)
    if learned.supervised:
        hot = np.eye(2)[kinds]
        hot[kinds == 0] = 0
        by_text = hashing.encoder(name, 4).fit(vectors, np.array(["", "cat"])[kinds])
        by_columns = hashing.encoder(name, 4).fit(vectors, hot)
        assert (by_text.encode(vectors).columns == by_columns.encode(vectors).columns).all()


def test_a_database_without_vectors_has_no_neighbour() -> None:
    truth = hashing.epsilon_ball(np.eye(3), np.empty((0, 3)), 1.0)
    assert (truth.sizes, len(truth.members)) == ((3, 0), 0)


@pytest.mark.filterwarnings("error")
def test_one_sphere_overlaps_with_none() -> None:
    vectors = np.random.default_rng(0).standard_normal((20, 3))
    assert hashing.encoder("spherical", 1).fit(vectors).encode(vectors).unpacked().sum() == 10


def test_what_is_shown_fits_a_screen(counts: hashing.CountTable) -> None:
    result = hashing.evaluate(counts, k=[10])
    compared = hashing.compare({"a": counts, "b": counts})
    for shown in (counts, result, compared):
        text = repr(shown)
        assert len(text.splitlines()) <= 40
        assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, repr(hashing.Conventions()).splitlines())) <= 80
    pairs = int(counts.relevant.sum())
    assert repr(counts) == f"CountTable(12 queries x 300 codes of 16 bits, {pairs} relevant pairs by class)"
    assert "<table" in result._repr_html_()
    assert "<table" in compared._repr_html_()
    assert len(result.plot().axes) == 2


def test_a_cut_off_below_1_is_refused_by_every_function_that_takes_one() -> None:
    codes, labels = np.array([[0, 1], [1, 1]]), [1, 2]
    counts = hashing.count(codes, codes, labels, labels)
    packed, classes = hashing.Codes.from_bits(codes > 0), hashing.Labels(classes=np.array(labels))
    for attempt in (
        lambda: hashing.evaluate(counts, k=0),
        lambda: mean_average_precision(counts, 0),
        lambda: hashing.compare({"one": counts}, k=0),
        lambda: hashing.graded(packed, packed, classes, classes, k=[0]),
    ):
        with pytest.raises(RelstudyError, match="a cut-off k must be at least 1"):
            attempt()


@pytest.mark.slow
def test_searches_and_kept_encoders_give_what_the_commands_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    vectors, classes = rng.standard_normal((80, 10)), rng.integers(0, 3, 80)
    for name, rows in (("q", slice(0, 20)), ("db", slice(20, 80))):
        np.save(f"{name}.npy", vectors[rows])
        np.save(f"y{name}.npy", classes[rows])
    words = "hash encode lsh --bits 8 --train db.npy --encode q.npy qc.npy --encode db.npy dbc.npy --save lsh.npz"
    succeeds(*words.split())
    fitted = hashing.load_encoder("lsh.npz")
    queries, database = fitted.encode(vectors[:20]), fitted.encode(vectors[20:])
    assert (queries.unpacked() == np.load("qc.npy")).all()
    hashing.save_encoder(fitted, "again.npz")
    assert (hashing.load_encoder("again.npz").encode(vectors[:20]).columns == queries.columns).all()
    truth = hashing.LabelTruth(*(hashing.Labels(classes=part) for part in (classes[:20], classes[20:])))
    pairs = [
        "--queries",
        "qc.npy",
        "--database",
        "dbc.npy",
        "--query-labels",
        "yq.npy",
        "--database-labels",
        "ydb.npy",
        "--json",
    ]

    def told(*command: str) -> dict:
        return json.loads(relstudy("hash", *command, *pairs).stdout)

    ours = hashing.look_up(queries, database, truth, bits=(4,), tables=(2,), flips=(0, 1)).drop(columns="milliseconds")
    theirs = told("look-up", "--bits", "4", "--tables", "2", "--flips", "0", "--flips", "1")["look_ups"]
    assert ours.equals(pd.DataFrame(theirs).drop(columns="milliseconds"))
    graded = told("graded", "--k", "5")["at"]
    assert hashing.graded(queries, database, truth=truth, k=[5]).loc["WAP@5"].to_dict() == graded["5"]["wap"]
    distances = [np.linalg.norm(vectors[20:] - query, axis=1) for query in vectors[:20]]
    table = hashing.rank(distances, truth, "Euclidean")
    assert hashing.evaluate(table, k=5).by_radius.empty
    assert hashing.evaluate(table).by_rank.loc[60, "recall"] == 1.0


def test_columns_of_python_objects_are_labels_and_codes_and_what_is_masked_is_refused() -> None:
    codes, classes = np.array([[0, 1], [1, 1], [0, 0]]), np.array(["cat", "dog", "cat"])
    plain = hashing.count(codes, codes, classes, classes)
    table, column = pd.DataFrame(codes).astype("Int64"), pd.Series(classes, dtype=object)
    assert (hashing.count(table, table, column, column.astype("category")).relevant == plain.relevant).all()
    masked = np.ma.masked_array(codes, mask=codes == 0)
    with pytest.raises(RelstudyError, match="queries: 3 values masked, and every one is needed"):
        hashing.count(masked, codes, classes, classes)
    with pytest.raises(RelstudyError, match="database_labels: 1 value masked"):
        hashing.count(codes, codes, [1, 2, 3], np.ma.masked_equal([1, 2, 3], 2))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (np.nan, "vectors, row 2 .counted from 0.: finite numbers are needed"),
        (1j, "vectors: real numbers are needed, this array is complex128"),
        (np.ma.masked, "1 value masked, and every one is needed"),
    ],
)
def test_vectors_with_values_that_are_no_numbers_get_no_codes_and_no_neighbours(wrong: object, said: str) -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 3))
    holed = np.ma.masked_array(vectors, mask=False) if wrong is np.ma.masked else vectors.astype(type(wrong))
    holed[2, 1] = wrong
    learned = hashing.encoder("lsh", 4).fit(vectors)
    for attempt in (
        lambda: learned.encode(holed),
        lambda: hashing.encoder("lsh", 4).fit(holed),
        lambda: hashing.nearest_neighbours(vectors, holed, 2),
    ):
        with pytest.raises(RelstudyError, match=said):
            attempt()


def test_graded_takes_arrays_as_count_does() -> None:
    random = np.random.default_rng(2)
    codes, labels = random.random((30, 16)) < 0.5, (random.random((30, 5)) < 0.4) * 1
    of_arrays = hashing.graded(codes[:6], codes, labels[:6], labels, k=5)
    packed = hashing.Codes.from_bits(codes)
    counted = hashing.count(codes[:6], codes, labels[:6], labels)
    assert of_arrays.attrs["queries_without_relevant"] == int((counted.relevant.sum(axis=1) == 0).sum())
    assert of_arrays.equals(hashing.graded(packed.take(slice(0, 6)), packed, labels[:6], labels, k=[5]))
    with pytest.raises(RelstudyError, match="labels of queries and database, or a truth"):
        hashing.graded(codes, codes)
