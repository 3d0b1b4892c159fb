"""Files that could be read in two ways: what was decided is said, and there is a way out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.code_files import CodeFile, read_codes
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.truth.labels import read_labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds

BITS = np.random.default_rng(5).random((40, 13)) < 0.5


def text(folder: Path, *lines: str, name: str = "codes.txt") -> str:
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return str(folder / name)


def saved(folder: Path, array: np.ndarray, name: str) -> str:
    np.save(folder / name, array)
    return str(folder / name)


@pytest.mark.parametrize("between", ["", " ", ",", "\t"])
def test_a_text_of_0_and_1_is_read_as_bits_and_it_is_said(tmp_path: Path, between: str) -> None:
    path = text(tmp_path, *(between.join("01"[bit] for bit in row) for row in BITS.astype(int)))
    codes = read_codes(path)
    assert codes.bits == 13
    assert (codes.columns == Codes.from_bits(BITS).columns).all()
    assert "one digit a bit" in CodeFile.of(path).notes[0]
    assert "--format hex" in CodeFile.of(path).notes[0]


def test_a_text_of_signs_is_read_as_bits(tmp_path: Path) -> None:
    path = text(tmp_path, *(" ".join(map(str, np.where(row, 1, -1))) for row in BITS))
    assert (read_codes(path).columns == Codes.from_bits(BITS).columns).all()


def test_hexadecimal_by_name_stays_hexadecimal_whatever_its_digits(tmp_path: Path) -> None:
    assert read_codes(text(tmp_path, "0101"), "hex").bits == 16
    assert read_codes(text(tmp_path, "0101"), "bits").bits == 4
    assert not CodeFile.of(text(tmp_path, "0101"), "hex").notes
    with pytest.raises(RelstudyError, match=r"row 2: '012' is not allowed; only 0 and 1"):
        read_codes(text(tmp_path, "011", "012"), "bits")


@pytest.mark.parametrize("form", ["packed", "hex"])
def test_codes_that_do_not_fill_their_last_byte_have_the_length_that_is_told(tmp_path: Path, form: str) -> None:
    packed = np.packbits(BITS, axis=1)
    path = (
        saved(tmp_path, packed, "codes.npy")
        if form == "packed"
        else text(tmp_path, *(row.tobytes().hex() for row in packed))
    )
    file = CodeFile.of(path)
    assert file.bits == 16
    assert "the last 3 bits are 0 in every code" in file.notes[0]
    assert "--code-bits 13" in file.notes[0]
    codes = read_codes(path, code_bits=13)
    assert codes.bits == 13
    assert (codes.columns == Codes.from_bits(BITS).columns).all()
    for wrong in (8, 17):
        with pytest.raises(RelstudyError, match=f"--code-bits {wrong} does not fit"):
            read_codes(path, code_bits=wrong)
    with pytest.raises(RelstudyError, match=r"a bit beyond --code-bits 9 is set in row"):
        read_codes(path, code_bits=9)


def test_bits_that_contradict_the_columns_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, BITS, "codes.npy")
    assert read_codes(path, code_bits=13).bits == 13
    with pytest.raises(RelstudyError, match=r"has codes of 13 bits, not of the 12 of --code-bits"):
        read_codes(path, code_bits=12)


def relevant_pairs(*paths: str, separator: str = "auto") -> list[list[int]]:
    truth = LabelTruth.by(*read_labels(*paths, separator=separator))
    return [truth.of(query).tolist() for query in range(truth.sizes[0])]


def test_one_column_of_labels_is_a_class_an_item(tmp_path: Path) -> None:
    queries = saved(tmp_path, np.array([[0], [1]]), "yq.npy")
    database = saved(tmp_path, np.array([[1], [0], [0]]), "y.npy")
    assert relevant_pairs(queries, database) == [[1, 2], [0]]
    assert relevant_pairs(queries, saved(tmp_path, np.array([1, 0, 0]), "flat.npy")) == [[1, 2], [0]]
    notes: list[str] = []
    read_labels(queries, database, notes=notes)
    assert "yq.npy has one column: it is taken for one class an item" in notes[0]


def test_labels_without_anything_in_common_are_refused(tmp_path: Path) -> None:
    queries = saved(tmp_path, np.array([3, 5]), "yq.npy")
    with pytest.raises(RelstudyError, match=r"no label of .*yq\.npy \(3, 5\) occurs in .*y\.txt \(cat, dog\)"):
        read_labels(queries, text(tmp_path, "cat", "dog", name="y.txt"))
    with pytest.raises(RelstudyError, match="no label of"):
        read_labels(queries, saved(tmp_path, np.array([1, 2, 2]), "y.npy"))


def test_names_of_several_words_have_a_way_out(tmp_path: Path) -> None:
    queries = text(tmp_path, "polar bear", "cat", name="q.txt")
    database = text(tmp_path, "grizzly bear", "polar bear", "cat", name="d.txt")
    notes: list[str] = []
    read_labels(queries, database, notes=notes)
    assert "'polar bear' is 2 labels" in notes[0]
    assert "--label-separator line" in notes[0]
    assert relevant_pairs(queries, database) == [[0, 1], [2]]
    assert relevant_pairs(queries, database, separator="line") == [[1], [2]]
    with_commas = text(tmp_path, "polar bear, cat", "grizzly bear", name="c.txt")
    assert relevant_pairs(queries, with_commas) == [[0], [0]]
    assert relevant_pairs(queries, with_commas, separator="space") == [[0, 1], [0]]


@pytest.mark.slow
def test_the_command_says_what_it_decided_and_takes_the_way_out(tmp_path: Path) -> None:
    codes = text(tmp_path, *("".join("01"[bit] for bit in row) for row in BITS.astype(int)))
    labels = text(tmp_path, *["polar bear", "grizzly bear"] * 20, name="y.txt")
    files = ["--queries", codes, "--database", codes, "--query-labels", labels, "--database-labels", labels]
    table = str(tmp_path / "table.npz")
    count = ["hash", "count", *files, "-o", table]
    said = succeeds(*count)
    assert "one digit a bit" in said.stdout
    assert "'polar bear' is 2 labels" in said.stdout
    assert "one label is on every item" in " ".join(said.stdout.split())
    answer = json.loads(relstudy(*count, "--json").stdout)
    assert (answer["bits"], answer["relevant"], len(answer["notes"])) == (13, 1600, 3)
    told = relstudy(*count, "--label-separator", "line", "--format", "bits", "--code-bits", "13", "--json")
    answer = json.loads(told.stdout)
    assert (answer["bits"], answer["relevant"], answer["notes"]) == (13, 800, [])


@pytest.mark.parametrize("other", [0, 1])
def test_a_byte_for_each_bit_is_not_taken_for_packed_codes(tmp_path: Path, other: int) -> None:
    """Bits as bytes of 0 and 255, or -1 cast to uint8: every distance was eight (or seven) times what it is."""
    bits = np.random.default_rng(3).random((9, 16)) < 0.5
    np.save(tmp_path / "c.npy", np.where(bits, 255, other).astype(np.uint8))
    with pytest.raises(RelstudyError, match=f"all bytes are {other} or 255, so each looks like one bit"):
        read_codes(tmp_path / "c.npy")
    assert read_codes(tmp_path / "c.npy", "packed").bits == 128


def test_decimal_numbers_are_not_taken_for_hexadecimal_codes(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("".join(f"{number:05d}\n" for number in range(34569, 34582)))
    with pytest.raises(RelstudyError, match="no line has a letter, so these look like decimal numbers"):
        read_codes(tmp_path / "c.txt")
    assert read_codes(tmp_path / "c.txt", "hex").bits == 20
