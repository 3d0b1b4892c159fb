"""Files of labels and ids: one vocabulary over all files, and every fault has its sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.truth.labels import Labels, read_ids, read_labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.errors import RelstudyError


def saved(folder: Path, array: np.ndarray, name: str = "labels.npy") -> str:
    path = folder / name
    np.save(path, array)
    return str(path)


def test_labels_are_classes_or_sets_over_one_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("cat\ndog\n")
    (tmp_path / "b.txt").write_text("dog\nfish\ncat\n")
    own, theirs = read_labels(str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert own.single
    assert (own.classes[:, None] == theirs.classes[None]).tolist() == [[False, False, True], [True, False, False]]
    (tmp_path / "b.txt").write_text("dog, cat\n\nfish\n")
    own, theirs = read_labels(str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert not own.single
    shared = (own.masks[:, :, None] & theirs.masks[:, None, :]).any(axis=0)
    assert shared.tolist() == [[True, False, False], [True, False, False]]


def test_classes_from_arrays_and_text_share_names(tmp_path: Path) -> None:
    path = saved(tmp_path, np.array([3, 7]), "a.npy")
    (tmp_path / "b.txt").write_text("7\n3\n")
    own, theirs = read_labels(path, str(tmp_path / "b.txt"))
    assert (own.classes[::-1] == theirs.classes).all()


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64, float, np.float32])
def test_classes_of_every_number_type_are_the_same_classes(tmp_path: Path, dtype: type) -> None:
    own, theirs = read_labels(
        saved(tmp_path, np.array([3, 1, 0], dtype=dtype), "a.npy"), saved(tmp_path, np.array([0, 3]), "b.npy")
    )
    assert (own.classes[:, None] == theirs.classes[None]).tolist() == [[False, True], [False, False], [True, False]]


def test_columns_of_labels_become_one_bit_a_label(tmp_path: Path) -> None:
    tables = [np.random.default_rng(size).random((size, 70)) < 0.1 for size in (6, 9)]
    paths = [
        saved(tmp_path, table.astype(kind), f"{kind}.npy") for table, kind in zip(tables, ("i4", "f4"), strict=True)
    ]
    own, theirs = read_labels(*paths)
    shared = (own.masks[:, :, None] & theirs.masks[:, None, :]).any(axis=0)
    assert (shared == ((tables[0].astype(int) @ tables[1].T.astype(int)) > 0)).all()


def test_many_named_labels_share_one_vocabulary_over_all_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    tables = [rng.random((size, 150)) < 0.02 for size in (8, 30, 20)]
    tables[1][:] = np.eye(30, 150, dtype=bool)  # one file alone looks like single classes
    paths = []
    for k, table in enumerate(tables):
        (tmp_path / f"{k}.txt").write_text(
            "\n".join(" ".join(f"w{j}" for j in np.flatnonzero(row)) for row in table) + "\n"
        )
        paths.append(str(tmp_path / f"{k}.txt"))
    own, *database = read_labels(*paths)
    for theirs, table in zip(database, tables[1:], strict=True):
        shared = (own.masks[:, :, None] & theirs.masks[:, None, :]).any(axis=0)
        assert (shared == ((tables[0].astype(int) @ table.T.astype(int)) > 0)).all()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([3, 0.5]), r"must be whole numbers up to 2\^53 or text; item 1 .counted from 0. is 0.5"),
        (np.array([np.nan]), "must be whole numbers"),
        (np.array([np.inf]), "must be whole numbers"),
        (np.array([1e300]), "must be whole numbers"),
        (np.array([2**64 - 1], dtype=np.uint64), "must be whole numbers"),
        (np.array([1 + 1j]), "must be whole numbers"),
        (np.array([[1, 2]]), "holds 0 and 1 only"),
        (np.array([["a", "b"]]), "holds 0 and 1 only"),
        (np.zeros((2, 2, 2)), r"the shape \(items,\) or \(items, labels\)"),
    ],
)
def test_bad_labels_are_refused_in_one_sentence(tmp_path: Path, array: np.ndarray, message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        read_labels(saved(tmp_path, array))


def test_label_files_of_two_kinds_or_widths_are_refused(tmp_path: Path) -> None:
    columns = saved(tmp_path, np.eye(3, dtype=int), "columns.npy")
    with pytest.raises(RelstudyError, match=r"columns.npy holds a 0/1 column per label and .*classes.npy names labels"):
        read_labels(saved(tmp_path, np.arange(3), "classes.npy"), columns)
    with pytest.raises(RelstudyError, match=r"has 3 label columns and .*wide.npy has 4"):
        read_labels(columns, saved(tmp_path, np.eye(4, dtype=int), "wide.npy"))


def test_ids_must_be_there_and_differ(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("a\n\nb\na\n")
    with pytest.raises(
        RelstudyError, match=r"row 2: '' is not allowed; an id is required(.|\n)*row 4: 'a' is not allowed"
    ):
        read_ids(str(tmp_path / "ids.txt"))


def test_items_without_a_label_and_negative_classes_in_arrays_are_told(tmp_path: Path) -> None:
    np.save(tmp_path / "hot.npy", np.array([[1, 0], [0, 0], [0, 1]]))
    np.save(tmp_path / "classes.npy", np.array([2, -1, -1]))
    notes: list[str] = []
    read_labels(str(tmp_path / "hot.npy"), notes=notes)
    read_labels(str(tmp_path / "classes.npy"), notes=notes)
    assert "hot.npy: 1 row of zeros: an item without any label is relevant to nothing" in notes[0]
    assert "classes.npy: class -1 of 2 items is taken for a class like any other" in notes[1]


def test_an_empty_text_in_an_array_is_an_item_without_a_label_as_an_empty_line_is(tmp_path: Path) -> None:
    """Two items whose class is missing were relevant to each other, and a blank made another class."""
    names = ["cat", "", " cat", "", "dog"]
    (tmp_path / "y.txt").write_text("\n".join(names) + "\n")
    notes: list[str] = []
    files = (str(tmp_path / "y.txt"), saved(tmp_path, np.array(names)))
    from_text, from_array = (read_labels(file, notes=notes)[0] for file in files)
    assert (from_array.as_array() == from_text.as_array()).all()
    assert [note.split(": ", 1)[1] for note in notes] == [
        f"2 empty {what}s: an item without any label is relevant to nothing" for what in ("line", "text")
    ]


def test_labels_made_by_hand_are_refused_where_they_are_no_labels() -> None:
    classes, masks = np.array([1, 2]), np.ones((1, 2), dtype=np.uint64)
    for wrong in (
        {},
        {"classes": classes, "masks": masks},
        {"classes": classes * 1.0},
        {"classes": np.array(["a"])},
        {"masks": masks[0]},
    ):
        with pytest.raises(RelstudyError, match="Labels hold classes, whole numbers"):
            Labels(**wrong)
    for other in (Labels(classes=classes), Labels(masks=np.ones((2, 2), dtype=np.uint64))):
        with pytest.raises(RelstudyError, match="must both be classes, or both sets of the same labels"):
            LabelTruth(Labels(masks=masks), other)


def test_commas_between_labels_are_told_as_blanks_are(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("0,2\n1,2\n2,0,1\n")
    notes: list[str] = []
    read_labels(str(tmp_path / "y.csv"), notes=notes)
    assert notes[0].endswith(
        "commas separate labels, so '0,2' is 2 labels; --label-separator line takes each line for one label"
    )


@pytest.mark.parametrize("written", ["array", "text"])
def test_classes_that_count_from_0_in_one_file_and_from_1_in_the_other_are_told(tmp_path: Path, written: str) -> None:
    classes = np.arange(30) % 10
    files = [tmp_path / f"{name}.{'npy' if written == 'array' else 'txt'}" for name in ("queries", "database")]
    for file, part in zip(files, (classes, classes + 1), strict=True):
        np.save(file, part) if written == "array" else file.write_text("\n".join(map(str, part)))
    notes: list[str] = []
    read_labels(*files, notes=notes)
    assert [f"{files[0]} counts classes from 0 to 9 and {files[1]} from 1 to 10" in note for note in notes] == [True]
    notes.clear()
    read_labels(files[0], files[0], notes=notes)
    assert not notes


def test_two_columns_of_an_id_and_a_class_are_classes(tmp_path: Path) -> None:
    """Read as labels, item 3 would share one with every item of class 3."""
    file = tmp_path / "labels.csv"
    file.write_text("id,class\n" + "".join(f"{item},{item % 4}\n" for item in range(20, 60)))
    notes: list[str] = []
    (labels,) = read_labels(file, notes=notes)
    assert labels.single and len(labels) == 40 and len(np.unique(labels.as_array())) == 4
    assert "taken for an id and a class" in notes[0]
    assert "--label-separator comma takes both" in notes[0]
    assert not read_labels(file, separator="comma")[0].single
    file.write_text("".join(f"{item} {item % 4}\n" for item in range(20, 60)))
    notes.clear()
    assert read_labels(file, notes=notes)[0].single and "--label-separator space takes both" in notes[0]


def test_texts_of_0_and_1_without_blanks_are_told(tmp_path: Path) -> None:
    file = tmp_path / "labels.txt"
    file.write_text("".join(f"{item % 8:03b}\n" for item in range(20)))
    notes: list[str] = []
    read_labels(file, notes=notes)
    assert any("each text of 0 and 1 is taken for one class" in note for note in notes)
