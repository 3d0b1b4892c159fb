"""Small versions of `python evidence/coverage.py unseen`; the whole takes some forty minutes of a processor."""

from __future__ import annotations

import numpy as np
import pytest

from evidence.simulations import unseen

FEWEST = {"bands": 0.6, "changes": 0.7, "rasch": 0.8, "classes": 0.85, "g-theory": 0.5}
"""Least share that two studies hold of what they should: each is many errors below what the whole table has."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FEWEST)
def test_intervals_hold_in_worlds_of_another_shape(name: str) -> None:
    rows = list(unseen.TABLES[name](2)) if name != "changes" else list(unseen.summed("", 0.9, unseen._from_prior, 2))
    assert rows and all(0 < should < 1 for _, _, should, _, _ in rows)
    assert float(np.mean([share for _, _, _, share, _ in rows])) >= FEWEST[name]


@pytest.mark.slow
def test_equal_systems_rarely_get_a_winner_on_six_queries() -> None:
    """In the whole table no index does in more than 5 of 100 studies; here are three of each of two worlds."""
    found = [share for tied in (False, True) for seed in range(3) for share in unseen._equal(6, tied, seed).values()]
    assert len(found) == 24 and float(np.mean(found)) < 0.25
