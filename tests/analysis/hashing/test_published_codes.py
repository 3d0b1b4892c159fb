"""A small version of `python evidence/published_codes.py`, on codes made here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.places import ROOT


@pytest.mark.slow
def test_an_order_of_equal_distances_lies_between_the_least_and_the_most(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    for name in ("UCF101", "HMDB51"):
        folder = tmp_path / name
        folder.mkdir()
        own, theirs = random.integers(0, 5, 40), random.integers(0, 5, 300)
        centres = random.normal(size=(5, 16))
        queries, database = (centres[each] + random.normal(size=(len(each), 16)) for each in (own, theirs))
        distance = ((queries >= 0)[:, None] != (database >= 0)[None]).sum(axis=2)
        parts = {"test_hash": queries, "database_hash": database, "test_label": own, "database_label": theirs}
        for part, array in (parts | {"ids": np.argsort(distance, axis=1, kind="stable").T}).items():
            np.save(folder / part, array)
    script = [sys.executable, ROOT / "evidence" / "published_codes.py", tmp_path]
    done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=ROOT)
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [row[:4] for row in rows] == [["UCF101", "16", "100", "87.38"], ["HMDB51", "16", "70", "57.67"]]
    for by_order, preset, least, most in ([float(cell) for cell in row[4:]] for row in rows):
        assert least < by_order < most and least < preset < most and by_order == pytest.approx(preset, abs=2)
