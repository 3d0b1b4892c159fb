"""Density-sensitive hashing (Jin, Li, Lin and Cai 2014) on groups whose planes can be written down."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.analysis.hashing.encoders.density import DensitySensitive, _adjacent, _entropy
from relstudy.common.runtime.errors import RelstudyError

CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 10.0]])


def test_the_plane_that_halves_the_points_best_is_midway_between_two_neighbouring_groups() -> None:
    """Groups of 40, 20 and 40: y = 5 leaves 60 against 40, x = 2 leaves 80 against 20."""
    points = np.concatenate([np.repeat(CORNERS[[0]], 40, axis=0), np.repeat(CORNERS[1:], [20, 40], axis=0)])
    encoder = DensitySensitive(1, groups_per_bit=3, rounds=10, seed=_seed_with_all_corners(points)).fit(points)
    signs = encoder.encode(CORNERS).unpacked()[:, 0]
    assert signs[0] == signs[1] != signs[2]
    # The plane between (4, 0) and (0, 10) leaves 60 against 40 too; either goes through the middle of its two groups.
    assert np.isclose(encoder.project(np.array([[0.0, 5.0], [2.0, 5.0]])), 0).any()


def _seed_with_all_corners(points: np.ndarray) -> int:
    for seed in range(100):
        rows = np.random.default_rng(seed).choice(len(points), 3, replace=False)
        if len(np.unique(points[rows], axis=0)) == 3:
            return seed
    raise AssertionError


def test_groups_are_adjacent_where_one_is_among_the_nearest_of_the_other() -> None:
    line = np.array([[0.0], [1.0], [2.5], [10.0]])
    first, second = _adjacent(line, 1, 1)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 3)]
    assert len(_adjacent(line, 1, 5)[0]) >= 5


def test_entropy_is_greatest_for_halves_and_nothing_for_all() -> None:
    assert _entropy(np.array([0.5, 0.25, 1.0])).tolist() == pytest.approx([np.log(2), 0.5623351446, 0.0])


def test_too_few_training_vectors_are_refused_in_a_sentence() -> None:
    with pytest.raises(RelstudyError, match="8 bits need 8 pairs of groups; 3 training vectors give 3"):
        DensitySensitive(8).fit(CORNERS)
