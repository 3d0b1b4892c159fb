"""Vectors as a system."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.scores.vectors import Similarity, read_vectors, vector_scores


def write(folder: Path, values: np.ndarray, ids: list[str]) -> Path:
    np.save(folder / "v.npy", values)
    (folder / "v.ids.txt").write_text("\n".join(ids))
    return folder / "v.npy"


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_scores_equal_scipys_distances(similarity: str) -> None:
    values = np.random.default_rng(0).normal(size=(5, 3))
    vectors = pd.DataFrame(values, index=list("abcde"))
    pairs = pd.DataFrame([(q, r) for q in "abc" for r in "cde"], columns=["query_id", "result_id"])
    ours = vector_scores(pairs, vectors, similarity=similarity).frame["score"].to_numpy().reshape(3, 3)
    if similarity == "dot":
        expected = values[:3] @ values[2:].T
    else:
        expected = (1 if similarity == "cosine" else 0) - cdist(values[:3], values[2:], similarity)
    np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_pairs_without_a_vector_are_left_out() -> None:
    vectors = pd.DataFrame([[1.0], [2.0]], index=["a", "b"])
    pairs = pd.DataFrame({"query_id": ["a", "a", "x"], "result_id": ["b", "x", "b"]})
    assert vector_scores(pairs, vectors).frame["result_id"].tolist() == ["b"]


def test_a_vector_of_length_zero_has_similarity_zero() -> None:
    vectors = pd.DataFrame([[0.0, 0.0], [1.0, 0.0]], index=["a", "b"])
    assert vector_scores(pd.DataFrame({"query_id": ["a"], "result_id": ["b"]}), vectors).frame["score"].tolist() == [
        0.0
    ]


def test_queries_may_have_vectors_of_their_own_and_dimensions_must_agree(tmp_path: Path) -> None:
    results = pd.DataFrame([[1.0, 0.0]], index=["r"])
    pairs = pd.DataFrame({"query_id": ["q"], "result_id": ["r"]})
    assert vector_scores(pairs, results, pd.DataFrame([[3.0, 4.0]], index=["q"])).frame["score"].tolist() == [0.6]
    with pytest.raises(RelstudyError, match="query vectors have 1 dimensions and result vectors 2"):
        vector_scores(pairs, results, pd.DataFrame([[3.0]], index=["q"]))


def test_a_matrix_of_scores_is_read_by_the_ids_of_its_rows_and_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "clip.npy", np.array([[0.5, np.nan, 0.25], [1.0, 0.0, -1.0]]))
    (tmp_path / "clip.queries.txt").write_text("q1\nq2\n")
    (tmp_path / "clip.results.txt").write_text("a\nb\nc\n")
    pairs = pd.DataFrame({"query_id": ["q2", "q1", "q1", "q3"], "result_id": ["c", "a", "b", "a"]})
    found = Similarity().scores(str(tmp_path / "clip.npy"), pairs).frame
    assert found.to_numpy().tolist() == [["clip", "q2", "c", -1.0], ["clip", "q1", "a", 0.5]]
    (tmp_path / "clip.results.txt").write_text("a\nb\n")
    with pytest.raises(RelstudyError, match=r"2 queries in clip.queries.txt and 2 results .* not \(2, 3\)"):
        Similarity().scores(str(tmp_path / "clip.npy"), pairs)
    (tmp_path / "clip.results.txt").write_text("a\nb\na\n")
    with pytest.raises(RelstudyError, match=r"clip.results.txt: the id 'a' appears more than once"):
        Similarity().scores(str(tmp_path / "clip.npy"), pairs)


def test_faulty_files_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(RelstudyError, match="file not found"):
        read_vectors(tmp_path / "absent.npy")
    np.save(tmp_path / "alone.npy", np.ones((1, 2)))
    with pytest.raises(RelstudyError, match=r"vectors need ids, one a line, in a file beside them \(alone.ids.txt"):
        read_vectors(tmp_path / "alone.npy")
    with pytest.raises(RelstudyError, match="2 vectors, but 1 ids"):
        read_vectors(write(tmp_path, np.ones((2, 2)), ["a"]))
    with pytest.raises(RelstudyError, match="the id 'a' appears more than once"):
        read_vectors(write(tmp_path, np.ones((2, 2)), ["a", "a"]))
    with pytest.raises(RelstudyError, match="the vector of 'b' holds a value that is not a finite number"):
        read_vectors(write(tmp_path, np.array([[1.0], [np.nan]]), ["a", "b"]))
    with pytest.raises(RelstudyError, match=r"an array of numbers \[items, dimensions\] is needed"):
        read_vectors(write(tmp_path, np.ones(3), ["a", "b", "c"]))
    (tmp_path / "v.npy").write_bytes(b"not an array")
    with pytest.raises(RelstudyError, match=r"this is not an array of numbers saved by numpy\.save"):
        read_vectors(tmp_path / "v.npy")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(RelstudyError, match="this is not an array of numbers saved by numpy"):
        read_vectors(tmp_path / "v.npy")
