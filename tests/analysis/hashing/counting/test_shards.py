"""Counting from files: parts, several files, truth over all of them, and what does not belong together."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.code_files import read_codes
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.counting.distributed import count_files
from relstudy.analysis.hashing.counting.shards import Job, parts_of
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth, ListedTruth, save_truth
from relstudy.common.runtime.errors import RelstudyError, TableError


@pytest.fixture
def job(tmp_path: Path) -> Job:
    rng = np.random.default_rng(2)
    np.save(tmp_path / "q.npy", rng.random((7, 20)) < 0.5)
    np.save(tmp_path / "yq.npy", rng.integers(0, 3, 7))
    for name, size in (("a", 300), ("b", 41)):
        np.save(tmp_path / f"{name}.npy", rng.random((size, 20)) < 0.5)
        np.save(tmp_path / f"y{name}.npy", rng.integers(0, 3, size))
    path = {name: str(tmp_path / f"{name}.npy") for name in ("q", "a", "b", "yq", "ya", "yb")}
    return Job(path["q"], (path["a"], path["b"]), path["yq"], (path["ya"], path["yb"]), None)


def whole(job: Job) -> tuple[Codes, Codes]:
    database = np.concatenate([np.load(path) for path in job.database])
    return read_codes(job.queries), Codes.from_bits(database)


def same(one: CountTable, other: CountTable) -> bool:
    return bool((one.total == other.total).all() and (one.relevant == other.relevant).all())


def test_parts_cover_every_row_of_every_file_once(job: Job) -> None:
    parts = [(Path(part.file.path).name, part.start, part.stop, part.offset) for part in parts_of(job, 120)]
    assert parts == [("a.npy", 0, 120, 0), ("a.npy", 120, 240, 0), ("a.npy", 240, 300, 0), ("b.npy", 0, 41, 300)]


@pytest.mark.parametrize("size", [1000, 120, 7])
@pytest.mark.parametrize("engine", [pytest.param("numba", marks=pytest.mark.slow), "numpy"])
def test_parts_of_any_size_add_up_to_the_whole(job: Job, size: int, engine) -> None:
    queries, database = whole(job)
    assert job.query_labels is not None
    classes = np.concatenate([np.load(path) for path in job.database_labels])
    direct = count(queries, database, LabelTruth(Labels(classes=np.load(job.query_labels)), Labels(classes=classes)))
    counted = count_files(job, size=size, engine=engine)
    assert same(counted, direct)
    assert counted.about["database"] == ["a.npy", "b.npy"]
    assert counted.truth == "class"


def test_relevance_lists_speak_of_all_files_together(job: Job, tmp_path: Path) -> None:
    queries, database = whole(job)
    rng = np.random.default_rng(1)
    truth = ListedTruth.from_lists([rng.choice(341, 40, replace=False) for _ in range(7)], 341, "40-NN")
    save_truth(truth, tmp_path / "t.npz")
    listed = replace(job, query_labels=None, database_labels=(), truth_file=str(tmp_path / "t.npz"))
    for size in (1000, 50):
        assert same(count_files(listed, size=size), count(queries, database, truth))
    with pytest.raises(RelstudyError, match=r"t.npz speaks of 7 queries and 341 codes; there are 7 and 300"):
        count_files(replace(listed, database=job.database[:1]))


def test_a_file_with_one_label_each_and_one_with_several_share_one_kind_of_truth(job: Job, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("cat\n" * 7)
    (tmp_path / "a.txt").write_text("cat\n" * 300)
    (tmp_path / "b.txt").write_text("cat dog\n" * 41)
    labels = (str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    counted = count_files(replace(job, query_labels=str(tmp_path / "q.txt"), database_labels=labels))
    assert counted.truth == "shared label"
    assert (counted.relevant == counted.total).all()


def test_labels_that_changed_since_the_last_count_are_read_again(job: Job) -> None:
    before = count_files(job)
    assert before.relevant.any()
    np.save(job.database_labels[0], np.full(300, 9))
    np.save(job.database_labels[1], np.full(41, 9))
    os.utime(job.database_labels[1], ns=(1, 1))
    with pytest.raises(RelstudyError, match=r"no label of .*yq\.npy .* occurs in .*ya\.npy"):
        count_files(job)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query_labels": "ya"}, r"ya.npy has 300 labels for the 7 codes of .*q.npy"),
        ({"database_labels": ("yb", "yb")}, r"yb.npy has 41 labels for the 300 codes of .*a.npy"),
        ({"database": ("a", "yq")}, r"codes need the shape \(codes, bits\)"),
        ({"queries": "wide"}, r"wide.npy has codes of 21 bits and .*a.npy of 20; they must be equal"),
        ({"database": ("a", "wide")}, r"q.npy has codes of 20 bits and .*wide.npy of 21"),
        ({"query_labels": "missing"}, r"missing.npy: file not found"),
    ],
)
def test_files_that_do_not_belong_together_are_refused_before_counting(
    job: Job, tmp_path: Path, change: dict, message: str
) -> None:
    np.save(tmp_path / "wide.npy", np.zeros((7, 21), dtype=bool))
    paths = {
        field: tuple(str(tmp_path / f"{name}.npy") for name in value)
        if isinstance(value, tuple)
        else str(tmp_path / f"{value}.npy")
        for field, value in change.items()
    }
    with pytest.raises(RelstudyError, match=message):
        count_files(replace(job, **paths))


def test_a_fault_deep_in_a_file_is_named_by_its_own_row_also_from_another_process(job: Job) -> None:
    signs = np.where(np.load(job.database[0]), 1, -1)
    signs[222, 5] = 0
    np.save(job.database[0], signs)
    with pytest.raises(TableError, match=r"a\.npy, row 222, column 5 \(counted from 0\): '0' is not allowed") as caught:
        count_files(job, size=100)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
