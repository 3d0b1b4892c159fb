"""Intervals from one sample, against the truth of a whole simulated collection."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulations import simulation

pytestmark = pytest.mark.slow


def test_intervals_cover_the_truth_of_the_collection_about_as_often_as_they_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The table of docs/evidence/scoring.md with fewer studies; the full one has 300 and takes half a minute."""
    simulation("design").main(["--studies", "50", "--queries", "50"])
    rows = [
        line.split() for line in capsys.readouterr().out.splitlines() if line[:4] in ("aver", "norm", "prec", "reca")
    ]
    coverage = np.array([[float(cell.rstrip("*")) for cell in row[-7::2]] for row in rows])
    assert coverage.shape == (10, 4)
    # binomial standard error of 95 % in 50 studies: 3.1; of the mean over 40 cells, which share draws: below 1
    assert coverage.min() > 82
    assert 93 < coverage.mean() < 99
