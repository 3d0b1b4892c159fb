"""`relstudy hash data` on files of published data sets that something has happened to: read, or refused."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

from tests.fuzz.ending import BYTES, changed, fuzzed, mutations, run
from tests.fuzz.excerpts import Excerpt
from tests.fuzz.mutations import Mutation

pytestmark = pytest.mark.slow

FILES = [
    *("nus-wide/BoW_int.dat", "nus-wide/AllLabels/Labels_sky.txt", "nus-wide/All_Tags.txt", "cifar-100/train.bin"),
    *("sift1m/sift_base.fvecs", "sift1m/sift_groundtruth.ivecs", "wiki/testset_txt_img_cat.list"),
]
"""No .mat: SciPy 1.17 reads them, and some damage to one ends its process."""
LINES = [*BYTES, "a cell", "rows dropped", "a row too long", "a row too short", "blank lines at the end"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each data set, as small as it can be."""
    root, rng = tmp_path_factory.mktemp("published"), np.random.default_rng(2)
    for name in ("nus-wide/AllLabels", "cifar-100", "sift1m", "wiki"):
        (root / name).mkdir(parents=True)
    (root / "nus-wide" / "BoW_int.dat").write_text("1 2 3 \n0 4 5 \n7 0 1 \n")
    (root / "nus-wide" / "AllLabels" / "Labels_sky.txt").write_text("1\n0\n1\n")
    (root / "nus-wide" / "Final_Tag_List.txt").write_text("blue\nfar\n")
    (root / "nus-wide" / "All_Tags.txt").write_text("1 blue\n2 far blue\n3\n")
    for part in ("train", "test"):
        rows = np.c_[[[3, 8], [4, 9]], rng.integers(0, 256, (2, 3072))].astype(np.uint8)
        (root / "cifar-100" / f"{part}.bin").write_bytes(rows.tobytes())
    for part in ("base", "learn", "query"):
        packed = b"".join(struct.pack("<i3f", 3, *row) for row in rng.random((4, 3)))
        (root / "sift1m" / f"sift_{part}.fvecs").write_bytes(packed)
    (root / "sift1m" / "sift_groundtruth.ivecs").write_bytes(struct.pack("<i2i", 2, 0, 3) * 4)
    savemat(root / "wiki" / "raw_features.mat", {f"{v}_{p}": rng.random((3, 2)) for v in "IT" for p in ("tr", "te")})
    for part in ("train", "test"):
        (root / "wiki" / f"{part}set_txt_img_cat.list").write_text("a\tb\t1\nc\td\t2\ne\tf\t1\n")
    return root


@given(st.sampled_from(FILES), mutations(LINES))
@fuzzed(0.2)
def test_a_damaged_file_is_refused_or_read(whole: Path, file: str, changes: list[Mutation]) -> None:
    name = file.split("/")[0]
    damaged = whole / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(whole / name, damaged)
    target = damaged / file.split("/", 1)[1]
    target.write_bytes(changed(Excerpt(target.name, target.read_bytes(), " "), changes))
    out = whole / "out"
    shutil.rmtree(out, ignore_errors=True)
    kinds = [name, "nus-wide-tags"] if name == "nus-wide" else [name]
    for kind in kinds:
        done = run("hash", "data", kind, damaged, "-o", out, "--json")
        if done.exit_code == 0:
            arrays = [np.load(path, allow_pickle=False) for path in out.glob("*.npy")]
            assert arrays and all(len(array) for array in arrays)
