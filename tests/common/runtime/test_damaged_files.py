"""Files of arrays that are damaged in their compressed parts or their header are told in a sentence by every reader."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.archive import Archive
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json
from relstudy.common.tables.formats.array_files import load_array
from relstudy.mapping.scores.vectors import read_vectors
from relstudy.studyapp.systems.features import _read as read_features
from relstudy.studyapp.systems.vectors import Vectors

ARCHIVE = Archive("thing", "relstudy thing", numbers="numbers", dtypes=("f8",))
OF_NPZ: dict[str, Callable[[Path], object]] = {
    "archive": ARCHIVE.read,
    "array": lambda path: load_array(f"{path}:values"),
}
OF_NPY: dict[str, Callable[[Path], object]] = {
    "array": lambda path: load_array(str(path)),
    "scored vectors": read_vectors,
    "vectors of a system": lambda path: Vectors(path)._read(),
}


def _damaged(path: Path, method: int, encrypted: bool) -> Path:
    """A .npz whose entry `values` is damaged, or said to be encrypted."""
    parts = {"fingerprint": np.array("f"), "header": np.array(json.dumps({"what": "thing", "version": 1}))}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, array in {"values": np.arange(300.0), **parts}.items():
            content = io.BytesIO()
            np.save(content, array)
            archive.writestr(f"{name}.npy", content.getvalue())
    file, start = bytearray(path.read_bytes()), 30 + len("values.npy")  # after the entry's header
    if encrypted:
        file[file.index(b"PK\x01\x02") + 8] |= 1
        file[6] |= 1
    else:
        file[start + 9 : start + 29] = b"\xff" * 20
    path.write_bytes(file)
    return path


@pytest.mark.parametrize("reader", OF_NPZ)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_damaged_npz_is_told_in_a_sentence(tmp_path: Path, reader: str, method: int, encrypted: bool) -> None:
    path = _damaged(tmp_path / "damaged.npz", method, encrypted)
    with pytest.raises(RelstudyError, match=r"damaged\.npz"):
        OF_NPZ[reader](path)
    assert read_features(path, "f") is None, "features are computed again"


@pytest.mark.parametrize("reader", OF_NPY)
def test_a_damaged_npy_is_told_in_a_sentence(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "damaged.npy"
    np.save(path, np.zeros((3, 2)))
    path.with_suffix(".ids.txt").write_text("a\nb\nc\n", encoding="utf-8")
    whole = path.read_bytes()
    for damage in (whole.replace(b"}", b" "), whole.replace(b"'descr'", b"b'desc'"), whole[:8], b""):
        path.write_bytes(damage)
        with pytest.raises(RelstudyError, match=r"damaged\.npy"):
            OF_NPY[reader](path)


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "[NaN]", "é"])
def test_a_description_that_is_no_json_is_told_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "comparison.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(RelstudyError, match=r"comparison\.json: this is not JSON"):
        read_json(tmp_path / "comparison.json")
