"""One bound for everything that unpacks: a small file does not take the memory of a large one."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

import relstudy as rs
from relstudy.analysis.hashing.codes.archive import Archive, held_by
from relstudy.common.results.serialization import _restored_array
from relstudy.common.runtime import compression
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import load_array


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    """The same proportions at a thousandth of the size."""
    monkeypatch.setattr(compression, "MOST_UNPACKED", 1 << 20)


@pytest.mark.parametrize("shape", [[10**9], [10**5, 10**5]])
def test_an_array_of_objects_has_the_values_that_its_shape_says(shape):
    with pytest.raises(ValueError, match="1 values for"):
        _restored_array({"shape": shape, "values": ["a"]})


def test_a_result_with_more_numbers_than_bytes_is_refused(tmp_path):
    with pytest.raises(ValueError, match="numbers in"):
        _restored_array({"@array": "float64", "shape": [10**9], "bytes": "eJwDAAAAAAE="})
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"kind": "relstudy scores", "shape": [10**9]}))
    with pytest.raises(RelstudyError):
        rs.read(path)


def test_a_count_table_that_swells_is_refused(tmp_path):
    path = tmp_path / "table.npz"
    np.savez_compressed(path, header=np.array(json.dumps({"what": "count table"})), counts=np.zeros(10**6))
    with pytest.raises(RelstudyError, match="this swells to"):
        Archive("count table", "relstudy hash count").read(path)
    with pytest.raises(RelstudyError, match="this swells to"):
        held_by(path)


def test_a_mat_file_that_swells_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "codes.mat"
    savemat(path, {"codes": np.zeros((1000, 1000))}, do_compression=True)
    with pytest.raises(RelstudyError, match="this swells to"):
        load_array(str(path))


def test_a_zip_counts_its_entries_together(tmp_path):
    path = tmp_path / "many.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"a{number}.npy", bytes(10**5))
    with pytest.raises(RelstudyError, match="this swells to"):
        compression.refuse_swelling_zip(str(path))
