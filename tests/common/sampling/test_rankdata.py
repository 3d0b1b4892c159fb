"""Ranks are those of scipy.stats.rankdata."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from scipy.stats import rankdata

from relstudy.common.sampling.rankdata import ranks


@pytest.mark.parametrize("ties", ["average", "min", "max"])
def test_ranks_are_scipys_with_ties_gaps_infinities_and_nothing(ties: Literal["average", "min", "max"]) -> None:
    random = np.random.default_rng(3)
    values = random.integers(0, 5, (40, 3)).astype(float)
    values[0, 0], values[1, 0] = np.inf, -np.inf
    for column in values.T:
        assert ranks(column, ties).tolist() == rankdata(column, ties).tolist()
    values[random.random(values.shape) < 0.2] = np.nan
    assert np.array_equal(ranks(values, ties), rankdata(values, ties, axis=0, nan_policy="omit"), equal_nan=True)
    assert ranks(np.zeros((0, 3)), ties).shape == (0, 3) and ranks(np.zeros(0), ties).shape == (0,)
