"""Intervals from one sample, against the truth of a whole simulated collection."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.places import ROOT

pytestmark = pytest.mark.slow


def test_intervals_cover_the_truth_of_the_collection_about_as_often_as_they_say() -> None:
    """The table of docs/evidence/scoring.md with fewer studies; the full one has 300 and takes half a minute."""
    script = ROOT / "evidence" / "coverage.py"
    arguments = ["design", "--studies", "50", "--queries", "50"]
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, cwd=ROOT, check=True)
    rows = [line.split() for line in done.stdout.splitlines() if line[:4] in ("aver", "norm", "prec", "reca")]
    coverage = np.array([[float(cell.rstrip("*")) for cell in row[-7::2]] for row in rows])
    assert coverage.shape == (10, 4)
    # binomial standard error of 95 % in 50 studies: 3.1; of the mean over 40 cells, which share draws: below 1
    assert coverage.min() > 82
    assert 93 < coverage.mean() < 99
