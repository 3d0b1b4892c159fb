"""Files of codes and labels: every form reads to the same bits, and every fault has its sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.hashing.code_files import read_codes
from analysis.hashing.codes import Codes
from analysis.hashing.labels import Labels, read_labels, same_length
from calibration.errors import RelstudyError


def saved(folder: Path, array: np.ndarray, name: str = "codes.npy") -> str:
    path = folder / name
    np.save(path, array, allow_pickle=array.dtype == object)
    return str(path)


@given(arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 140))))
def test_packing_and_unpacking_gives_the_same_bits(bits: np.ndarray) -> None:
    codes = Codes.from_bits(bits)
    assert (codes.unpacked() == bits).all()
    assert (codes.distances(codes) == (bits[:, None] != bits[None]).sum(-1)).all()


def test_every_form_of_the_same_codes_reads_to_the_same_words(tmp_path: Path) -> None:
    bits = np.random.default_rng(0).random((30, 24)) < 0.5
    bits[0, :8] = True
    forms = [bits, bits.astype(np.uint8), bits.astype(float), np.where(bits, 1, -1), np.where(bits, 1.0, -1.0)]
    packed = np.packbits(bits, axis=1)
    paths = [saved(tmp_path, form, f"{i}.npy") for i, form in enumerate([*forms, packed])]
    text = tmp_path / "codes.txt"
    text.write_text("\n".join(row.tobytes().hex() for row in packed))
    for path in [*paths, str(text)]:
        codes = read_codes(path)
        assert codes.bits == 24
        assert (codes.columns == Codes.from_bits(bits).columns).all(), path


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[1.0, -1.0], [0.0, 1.0]]), r"row 1, column 0 \(counted from 0\): '0.0' is not allowed; -1 or \+1"),
        (np.array([[1.0, np.nan]]), "'nan' is not allowed; 0 or 1"),
        (np.array([[1, 2]]), "'2' is not allowed; 0 or 1"),
        (np.array([1, 0]), r"the shape \(codes, bits\)"),
        (np.zeros((0, 8), dtype=bool), r"the shape \(codes, bits\)"),
        (np.array([["a"]]), "codes must be bool"),
        (np.array([[None]], dtype=object), "pickled data is never loaded"),
    ],
)
def test_bad_arrays_are_refused_in_one_sentence(tmp_path: Path, array: np.ndarray, message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        read_codes(saved(tmp_path, array))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ff00\nff\n", "row 2: 'ff' is not allowed; 4 hexadecimal digits"),
        ("fg\n", "even number of hexadecimal digits"),
        ("", "the file is empty"),
    ],
)
def test_bad_hexadecimal_codes_are_refused_with_their_row(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "codes.txt"
    path.write_text(text)
    with pytest.raises(RelstudyError, match=message):
        read_codes(path)


def test_labels_are_classes_or_sets_over_one_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("cat\ndog\n")
    (tmp_path / "b.txt").write_text("dog\nfish\ncat\n")
    own, theirs = read_labels(str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert own.single
    assert (own.classes[:, None] == theirs.classes[None]).tolist() == [[False, False, True], [True, False, False]]
    (tmp_path / "b.txt").write_text("dog, cat\n\nfish\n")
    own, theirs = read_labels(str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert not own.single
    shared = (own.masks[:, :, None] & theirs.masks[:, None, :]).any(axis=0)
    assert shared.tolist() == [[True, False, False], [True, False, False]]


def test_classes_from_arrays_and_text_share_names(tmp_path: Path) -> None:
    path = saved(tmp_path, np.array([3, 7]), "a.npy")
    (tmp_path / "b.txt").write_text("7\n3\n")
    own, theirs = read_labels(path, str(tmp_path / "b.txt"))
    assert (own.classes[::-1] == theirs.classes).all()


def test_labels_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(RelstudyError, match=r"b.txt has 3 labels for the 2 codes of a.npy"):
        same_length(Codes.from_bits(np.eye(2, dtype=bool)), Labels(classes=np.zeros(3)), "a.npy", "b.txt")


@pytest.mark.real_data
def test_the_published_distance_and_norm_of_pdq_hashes(shared_data: Path, tmp_path: Path) -> None:
    first = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22"
    second = "30a10efd71cc3d429013d48d0ffffc52e34e0e17ada952a9d29685211ea9e5af"
    third = "9c151c3af838278e3ef57c180c7d031c07aefd12f2ccc1e18f2a1e1c7d0ff163"
    assert first in (shared_data / "pdq_hashes" / "README.md").read_text()
    path = tmp_path / "hashes.txt"
    path.write_text("\n".join([first, second, third, "0" * 64]))
    codes = read_codes(path)
    distance = codes.distances(codes)
    assert distance[0, 1] == 120
    assert distance[2, 3] == 128


@pytest.mark.real_data
def test_the_counts_of_pdq_hashes_within_31_bits(shared_data: Path, tmp_path: Path) -> None:
    for name in ("haystack", "needles"):
        table = pd.read_csv(shared_data / "pdq_hashes" / f"{name}.csv")
        (tmp_path / f"{name}.txt").write_text("\n".join(table["hash_hex"]))
    haystack, needles = read_codes(tmp_path / "haystack.txt"), read_codes(tmp_path / "needles.txt")
    near = needles.distances(haystack) <= 31
    assert near.sum() == 250
    assert near.any(axis=1).all()
    among = haystack.distances(haystack) <= 31
    assert (among.sum() - len(haystack)) // 2 == 857
