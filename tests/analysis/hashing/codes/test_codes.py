"""Files of codes and labels: every form reads to the same bits, and every fault has its sentence."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from relstudy.analysis.hashing.codes.code_files import CodeFile, read_codes
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.truth.labels import read_labels
from relstudy.common.runtime.errors import RelstudyError


def saved(folder: Path, array: np.ndarray, name: str = "codes.npy") -> str:
    path = folder / name
    np.save(path, array, allow_pickle=array.dtype == object)
    return str(path)


@pytest.mark.slow
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


@pytest.mark.parametrize("bits", [1, 5, 8, 12, 63, 64, 65, 130])
def test_packed_codes_are_in_the_bit_order_of_numpy_and_hexadecimal_codes_in_that_of_writing(
    tmp_path: Path, bits: int
) -> None:
    table = np.random.default_rng(bits).random((9, bits)) < 0.5
    table[0] = True
    packed = np.packbits(table, axis=1)
    from_bits = Codes.from_bits(table)
    assert (read_codes(saved(tmp_path, packed), "packed").columns == from_bits.columns).all()
    digits = -(-bits // 4)
    path = tmp_path / "codes.txt"
    path.write_text("\n".join(row.tobytes().hex()[:digits] for row in packed))
    written = read_codes(path)
    assert written.bits == 4 * digits
    assert (written.columns == from_bits.columns).all()


def test_uint8_of_0_and_1_alone_is_bits_unless_it_is_said_to_be_packed(tmp_path: Path) -> None:
    path = saved(tmp_path, np.array([[0, 1], [1, 1]], dtype=np.uint8))
    assert read_codes(path).bits == 2
    assert read_codes(path, "packed").bits == 16


def test_what_a_file_holds_is_settled_by_the_whole_file(tmp_path: Path) -> None:
    signs = np.ones((70_000, 4))
    signs[-1, 0] = -1
    file = CodeFile.of(saved(tmp_path, signs))
    assert (file.form, file.codes, file.bits) == ("-1/+1", 70_000, 4)
    assert file.read(slice(0, 2)).unpacked().all()
    assert not file.read(slice(69_999, 70_000)).unpacked()[0, 0]
    octets = np.zeros((70_000, 4), dtype=np.uint8)
    octets[-1, 0] = 2
    assert CodeFile.of(saved(tmp_path, octets)).form == "packed"


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[1.0, -1.0], [0.0, 1.0]]), r"row 1, column 0 \(counted from 0\): '0.0' is not allowed; -1 or \+1"),
        (np.array([[1.0, np.nan]]), "'nan' is not allowed; 0 or 1"),
        (np.array([[-1.0, np.nan]]), r"'nan' is not allowed; -1 or \+1"),
        (np.array([[1, 2]]), "'2' is not allowed; 0 or 1"),
        (np.full((30, 2), 7), r"and 40 more faults"),
        (np.array([1, 0]), r"the shape \(codes, bits\)"),
        (np.zeros((2, 2, 2), dtype=bool), r"the shape \(codes, bits\)"),
        (np.zeros((0, 8), dtype=bool), r"the shape \(codes, bits\)"),
        (np.zeros((8, 0), dtype=bool), r"the shape \(codes, bits\)"),
        (np.array([["a"]]), "codes must be bool"),
        (np.array([[1j]]), "codes must be bool"),
        (np.array([[None]], dtype=object), "pickled data is never loaded"),
    ],
)
def test_bad_arrays_are_refused_in_one_sentence(tmp_path: Path, array: np.ndarray, message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        read_codes(saved(tmp_path, array))


class Trap:
    """Unpickling this writes a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _spring, (str(self.target),)


def _spring(target: str) -> None:
    Path(target).write_text("unpickled")


def test_a_pickle_named_npy_is_refused_without_being_loaded(tmp_path: Path) -> None:
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    saved(tmp_path, np.array([Trap(tmp_path / "sprung")], dtype=object), "inside.npy")
    for name in ("raw.npy", "inside.npy"):
        for read in (read_codes, read_labels):
            with pytest.raises(RelstudyError, match="pickled data is never loaded"):
                read(str(tmp_path / name))
    assert not (tmp_path / "sprung").exists()
    np.load(tmp_path / "raw.npy", allow_pickle=True)
    assert (tmp_path / "sprung").exists(), "the trap would have shown a load"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("codes.npy", b"", "not a .npy array"),
        ("codes.npy", b"hello", "not a .npy array"),
        ("codes.npy", b"\x93NUMPY\x01\x00", "damaged"),
        ("codes.npy", b"\x93NUMPY\x01\x00\x05\x00junk\n", "damaged"),
        ("codes.txt", b"ff00\nff\n", "row 2: 'ff' is not allowed; 4 hexadecimal digits"),
        ("codes.txt", b"fg\n", "row 1: 'fg' is not allowed; only hexadecimal digits"),
        ("codes.txt", b"ff\n\nff\n", "row 2: '' is not allowed; only hexadecimal digits"),
        ("codes.txt", b"0xff\n", "only hexadecimal digits"),
        ("codes.txt", b"", "the file is empty"),
        ("codes.txt", bytes(range(256)), r"neither \.npy nor UTF-8 text"),
    ],
)
def test_damaged_arrays_and_bad_text_are_refused_by_row_where_there_are_rows(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RelstudyError, match=message):
        read_codes(tmp_path / name)


def test_files_that_are_not_there_or_are_folders_are_named(tmp_path: Path) -> None:
    for name in ("none.npy", "none.txt"):
        with pytest.raises(RelstudyError, match=f"{name}: file not found"):
            read_codes(tmp_path / name)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(RelstudyError, match=r"folder\.npy: cannot be read"):
        read_codes(tmp_path / "folder.npy")


def test_packed_codes_must_be_uint8(tmp_path: Path) -> None:
    with pytest.raises(RelstudyError, match="packed codes must be uint8, this array is int64"):
        read_codes(saved(tmp_path, np.array([[3]])), "packed")


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
