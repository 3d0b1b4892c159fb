"""Ground truth without an N x M matrix, and splits that do not leak."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from relstudy.analysis.hashing.people.scores import judged_truth
from relstudy.analysis.hashing.truth import vector_truth
from relstudy.analysis.hashing.truth.relevance import ListedTruth, load_truth, save_truth
from relstudy.analysis.hashing.truth.splits import (
    Split,
    duplicate_leaks,
    improved_split,
    literature_split,
    rarest_label,
    repeated,
)
from relstudy.analysis.hashing.truth.vector_truth import epsilon_ball, epsilon_radius, nearest_neighbours
from relstudy.common.runtime.errors import RelstudyError

SIZES = {"test_queries": 20, "test_database": 60, "validation_queries": 10, "validation_database": 30}


@pytest.fixture
def points() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return rng.standard_normal((15, 6)), rng.standard_normal((400, 6))


def test_epsilon_ball_and_neighbours_equal_scikit_learns_across_blocks(points, monkeypatch) -> None:
    monkeypatch.setattr(vector_truth, "BLOCK", 37)
    queries, database = points
    oracle = NearestNeighbors(algorithm="brute").fit(database)
    ball = epsilon_ball(queries, database, 2.0)
    near = nearest_neighbours(queries, database, 9)
    expected = oracle.radius_neighbors(queries, 2.0, return_distance=False)
    for i in range(len(queries)):
        assert ball.of(i).tolist() == sorted(expected[i])
        assert near.of(i).tolist() == sorted(oracle.kneighbors(queries[i : i + 1], 9, return_distance=False)[0])


def test_the_epsilon_radius_is_the_mean_distance_to_the_50th_neighbour_itself_excluded(points, monkeypatch) -> None:
    monkeypatch.setattr(vector_truth, "BLOCK", 37)
    database = points[1]
    distances, _ = NearestNeighbors(n_neighbors=51).fit(database).kneighbors(database)
    ours = epsilon_radius(database, sample=len(database), neighbours=50)
    assert ours == pytest.approx(distances[:, 50].mean(), rel=1e-9)  # squares expanded, then rooted


def test_an_item_equal_to_the_query_is_at_distance_0_whatever_its_size() -> None:
    far = np.full((1, 3), 1e6)
    assert epsilon_ball(far, far, 1e-9).of(0).tolist() == [0]


def test_judged_truth_lists_the_results_people_valued() -> None:
    judged = pd.DataFrame(
        {"query_id": ["a", "a", "b", "zz"], "result_id": ["x", "y", "x", "x"], "judgment": [4, 3, 5, 5]}
    )
    truth = judged_truth(judged, ["b", "a"], ["y", "x"], 3.0)
    assert [truth.of(i).tolist() for i in range(2)] == [[1], [1]]
    with pytest.raises(RelstudyError, match="no pair judged above 9"):
        judged_truth(judged, ["b"], ["x"], 9.0)


def test_relevance_lists_come_back_from_a_file_and_damage_is_refused(tmp_path: Path) -> None:
    truth = ListedTruth.from_lists([[4, 1], [], [0]], 5, kind="3-NN")
    save_truth(truth, tmp_path / "t.npz")
    back = load_truth(tmp_path / "t.npz")
    assert [back.of(i).tolist() for i in range(3)] == [[1, 4], [], [0]]
    assert (back.kind, back.codes) == ("3-NN", 5)
    header = np.array('{"version": 1, "what": "table of relevance lists", "kind": "3-NN", "codes": 9}')
    np.savez(tmp_path / "bad.npz", starts=np.array([0, 5]), members=np.array([1]), header=header)
    with pytest.raises(RelstudyError, match="the lists are damaged"):
        load_truth(tmp_path / "bad.npz")
    (tmp_path / "no.npz").write_text("x")
    with pytest.raises(RelstudyError, match="is not a table of relevance lists"):
        load_truth(tmp_path / "no.npz")


@settings(max_examples=25, deadline=None)
@given(st.integers(130, 300), st.integers(2, 6), st.integers(0, 99))
def test_the_improved_split_shares_no_row_and_spreads_every_class(items: int, classes: int, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, classes, items)
    split = improved_split(items, SIZES, labels=labels, seed=seed)
    assert split.leaks() == []
    rows = np.concatenate([getattr(split, part) for part in Split.PARTS])
    assert sorted(rows.tolist()) == list(range(items))
    for part in Split.PARTS:
        own = getattr(split, part)
        expected = np.bincount(labels, minlength=classes) * len(own) / items
        found = np.bincount(labels[own], minlength=classes)
        assert np.abs(found - expected).max() <= 2  # dealt evenly: at most rounding at both ends of the stretch


def test_an_item_of_several_labels_counts_for_its_rarest() -> None:
    # the second label, which all have, and the first, which none has
    assert rarest_label(np.array([[0, 1], [0, 1]])).tolist() == [1, 1]
    assert rarest_label(np.array([[1, 1, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0]])).tolist() == [0, 2, 2, -1]


def test_the_literature_split_trains_on_its_database_but_never_on_a_test_query() -> None:
    split = literature_split(200, {"test_queries": 30, "training": 100, "validation_queries": 20}, seed=1)
    assert split.leaks() == []
    assert np.isin(split.training, split.test_database).all()
    assert len(np.intersect1d(split.training, split.test_queries)) == 0


def test_a_leak_is_found_and_named() -> None:
    split = improved_split(130, SIZES)
    leaky = Split(
        **{**{part: getattr(split, part) for part in Split.PARTS}, "training": split.test_queries[:3]},
        strategy="improved",
    )
    assert leaky.leaks() == ["test_queries and training share 3 rows"]


def test_the_same_picture_under_two_row_numbers_is_found() -> None:
    vectors = np.random.default_rng(0).random((130, 4))
    split = improved_split(130, SIZES)
    assert duplicate_leaks(split, vectors) == []
    vectors[split.training[0]] = vectors[split.test_queries[5]]
    assert duplicate_leaks(split, vectors) == [
        f"1 test query equals a training vector, the first in row {split.test_queries[5]}"
    ]


def test_ten_repeats_are_ten_different_splits() -> None:
    splits = list(repeated("improved", 130, SIZES))
    assert len({split.test_queries.tobytes() for split in splits}) == 10


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RelstudyError, match="do not fit 100 items"):
        improved_split(100, SIZES)
    with pytest.raises(RelstudyError, match="0 training do not fit 120 items; each part needs at least one row"):
        improved_split(120, SIZES)
    with pytest.raises(RelstudyError, match="'train' is not a part"):
        improved_split(100, {"train": 5})
