"""`relstudy hash search`: settings by validation on data of one's own, figures on the test part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.metrics.validation import counted, expected_map
from relstudy.analysis.hashing.truth.splits import SPLITS, Split, read_splits
from tests.analysis.hashing.running import hash_json
from tests.commands import relstudy, succeeds

SPLIT = "split --labels y.npy --times 2 -o splits --size test_queries=20 --size test_database=60 "
SPLIT += "--size validation_queries=20 --size validation_database=60"
SEARCH = "search sklsh --bits 12 --vectors x.npy --labels y.npy --splits splits"


@pytest.fixture(params=["classes", "label sets"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """240 items of three classes, or of one or two of four labels, in the current folder, with two splits."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    sets = np.eye(3, dtype=int)[rng.integers(0, 3, 240)]
    if request.param == "label sets":
        sets = np.column_stack([sets, rng.random(240) < 0.3]).astype(int)
    np.save("x.npy", sets @ (3 * rng.standard_normal((sets.shape[1], 6))) + rng.standard_normal((240, 6)))
    np.save("y.npy", sets if request.param == "label sets" else sets.argmax(axis=1))
    hash_json(SPLIT)
    return tmp_path


def test_the_setting_that_validates_best_is_taken_and_tested_in_each_split(folder: Path) -> None:
    # a kernel far narrower than any distance gives codes of chance, which validation must not take
    found = hash_json(f"{SEARCH} --try width=1e-6,6 -o tables")
    vectors, labels = np.load("x.npy"), np.load("y.npy")
    splits = read_splits(folder / "splits", 240)
    assert list(splits) == found["splits"] == ["0", "1"]
    tested = []
    for split, searched in zip(splits.values(), found["settings"], strict=True):
        by_hand = []
        for width in (1e-6, 6):
            encoder = ENCODERS["sklsh"](12, 0, width=width).fit(vectors[split.training], labels[split.training])
            parts = (split.validation_queries, split.validation_database)
            by_hand.append(expected_map(counted(encoder, vectors, labels, parts)))
        assert [each["map"] for each in searched["validation_map"]] == pytest.approx(by_hand)
        assert searched["taken"] == {"width": 6} and by_hand[1] > by_hand[0]
        tested.append(expected_map(counted(encoder, vectors, labels, (split.test_queries, split.test_database))))
    assert found["systems"]["sklsh"]["map"]["mean"] == pytest.approx(np.mean(tested))
    assert expected_map(CountTable.load("tables/sklsh_1.npz")) == pytest.approx(tested[1])


def test_the_table_says_what_was_taken_how_often(folder: Path) -> None:
    shown = succeeds("hash", *SEARCH.split(), "--try", "width=1e-6,6")
    assert "mean (sd) of 2 splits" in shown.stdout
    [row] = [line.split() for line in shown.stdout.splitlines() if line.startswith("width 6 ")]
    assert row[-1] == "2"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--try anchors=3", "SKLSH has no setting 'anchors'; it has "),
        ("--try width=wide", "width: 'wide' is not a number"),
        ("--try width=-5", "width of SKLSH: a number above 0 is needed, not -5"),
        ("--try width=1 --try width=2,3", "width=... is given twice; list its values after one"),
        ("--try width", "NAME=V,V,... is needed"),
        ("--splits .", "there is no split_0.npz"),
        ("--vectors short.npy", "labels of 240 items and short.npy has 9 vectors"),
    ],
)
def test_bad_input_is_a_sentence(folder: Path, more: str, said: str) -> None:
    np.save("short.npy", np.load("x.npy")[:9])
    done = relstudy("hash", *SEARCH.split(), *more.split())
    assert done.exit_code in (1, 2) and said in done.stderr, done.output


def test_a_split_of_other_items_or_without_validation_is_refused(folder: Path) -> None:
    np.save("x.npy", np.load("x.npy")[:100])
    np.save("y.npy", np.load("y.npy")[:100])
    done = relstudy("hash", *SEARCH.split())
    assert done.exit_code == 1 and "of other items than the 100 there are" in done.stderr
    rows = dict(zip(Split.PARTS, np.split(np.arange(100), [20, 60, 60, 60]), strict=True))
    for number in range(2):
        SPLITS.write(f"splits/split_{number}.npz", {"strategy": "literature"}, rows)
    done = relstudy("hash", *SEARCH.split())
    assert done.exit_code == 1 and "needs splits with validation queries" in done.stderr


@pytest.mark.parametrize(("words", "file"), [(SPLIT, "splits/split_1.npz"), (f"{SEARCH} -o out", "out/sklsh_0.npz")])
def test_neither_splits_nor_tables_are_written_over_the_vectors(folder: Path, words: str, file: str) -> None:
    read = folder / file
    read.parent.mkdir(exist_ok=True)
    if words is not SPLIT:
        hash_json(SPLIT)
    np.savez(read, x=np.load("x.npy"))
    before = read.read_bytes()
    refused = relstudy("hash", *words.replace("--vectors x.npy", "").split(), "--vectors", f"{file}:x")
    assert refused.exit_code == 1 and "read" in refused.output
    assert read.read_bytes() == before
