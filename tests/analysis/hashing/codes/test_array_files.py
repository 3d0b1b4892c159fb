"""Arrays in .npz and .mat: read like .npy, one of several by name, and a sentence for what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from relstudy.analysis.hashing.codes.code_files import read_codes
from relstudy.analysis.hashing.truth.labels import read_labels
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import load_array
from tests.commands import succeeds

RNG = np.random.default_rng(3)
BITS, CLASSES = RNG.random((12, 20)) < 0.5, RNG.integers(0, 3, 12)
TAGS = RNG.random((12, 70)) < 0.3


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.savez("all.npz", codes=BITS, classes=CLASSES, tags=TAGS)
    np.savez_compressed("one.npz", codes=BITS)
    np.savez("none.npz")
    signs = np.where(BITS, 1.0, -1.0)  # as MATLAB has codes
    savemat("all.mat", {"codes": signs, "classes": CLASSES, "tags": sparse.csc_matrix(TAGS.astype(float))})
    savemat("one.mat", {"B": signs})
    np.savez("objects.npz", codes=np.array([{1}, {2}], dtype=object))
    Path("text.npz").write_text("no archive")
    Path("text.mat").write_text("no archive")
    # what MATLAB writes with -v7.3 is HDF5, and says so at the start
    Path("new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(200))
    return tmp_path


@pytest.mark.parametrize("file", ["all.npz:codes", "one.npz", "one.npz:codes", "all.mat:codes", "one.mat", "one.mat:B"])
def test_codes_read_alike_from_every_file(folder: Path, file: str) -> None:
    assert (read_codes(file).unpacked() == BITS).all()


@pytest.mark.parametrize("kind", ["npz", "mat"])
def test_labels_too_also_a_row_of_matlab_and_a_sparse_table(folder: Path, kind: str) -> None:
    classes = read_labels(f"all.{kind}:classes")[0]
    assert classes.single
    assert (classes.as_array() == CLASSES).all()
    tags = read_labels(f"all.{kind}:tags")[0].as_array()
    assert (tags[:, :70] == TAGS).all()
    assert not tags[:, 70:].any()


def test_a_table_counted_from_them_is_that_of_npy(folder: Path) -> None:
    np.save("codes.npy", BITS)
    np.save("classes.npy", CLASSES)
    tables = []
    for codes, classes in (("codes.npy", "classes.npy"), ("all.npz:codes", "all.mat:classes")):
        words = ["hash", "count", "--queries", codes, "--database", codes, "--query-labels", classes]
        done = succeeds(*words, "--database-labels", classes, "-o", "t.npz", "--json")
        assert json.loads(done.stdout)["queries"] == 12
        with np.load("t.npz") as archive:
            tables.append([archive["total"], archive["relevant"]])
    assert all((one == other).all() for one, other in zip(*tables, strict=True))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("all.npz", "all.npz holds codes, classes, tags; name one, such as all.npz:NAME"),
        ("all.mat", "all.mat holds codes, classes, tags; name one"),
        ("all.npz:nope", "all.npz has no array nope; it holds codes, classes, tags"),
        ("none.npz", "none.npz holds no array"),
        ("nowhere.npz:codes", "nowhere.npz: file not found"),
        ("nowhere.mat", "nowhere.mat: file not found"),
        ("objects.npz", "pickled data is never loaded"),
        ("text.npz", "text.npz"),
        ("text.mat", "text.mat: this is not a .mat file"),
        ("new.mat", "format 7.3 is not read; save it there with the flag -v7"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(folder: Path, file: str, message: str) -> None:
    with pytest.raises(RelstudyError) as caught:
        load_array(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mat_file_that_ends_in_its_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short.mat").write_bytes(b"MATLAB 5.0".ljust(125))
    with pytest.raises(RelstudyError, match="this is not a \\.mat file"):
        load_array(str(tmp_path / "short.mat"))
