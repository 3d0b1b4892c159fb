"""Noise by level: a small version of `python evidence/coverage.py levels --oracle`."""

from __future__ import annotations

import pytest

from evidence.simulations.levels import WORLDS, World, run_oracle


@pytest.mark.parametrize(("name", "ratings"), [("rare", 1), ("binary", 5)])
def test_no_interval_of_one_level_covers_clear_and_doubtful_pairs_alike(name: str, ratings: int) -> None:
    """Not even with the true distributions: in all about 95 %, in a doubtful fifth under 92, in a clear one over 98."""
    whole, *fifths = map(float, run_oracle(World.of(WORLDS[name]), ratings, 8_000, 0.95))
    # discrete answers make central intervals a little long: 95 to 98 % in all; standard error of a fifth .8
    assert 94.5 < whole < 98.5
    assert min(fifths) < 92 and max(fifths) > 98
