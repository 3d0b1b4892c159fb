"""The published data sets by name, each with its reader, and vectors of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from relstudy.analysis.hashing.datasets.dataset_arrays import Published, one_file
from relstudy.analysis.hashing.truth.relevance import ListedTruth
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import load_array, text_lines

FREQUENT_CONCEPTS = 10
"""The most frequent concepts of NUS-WIDE, of which Moran (2016, section 3.2.2) keeps the pictures."""
COMPONENTS = 1000
"""Of the principal components of the tags, there."""
LINES = 1 << 14
"""Lines that are read at once."""
MOST = 2**31


def read_nus_wide(folder: str) -> Published:
    """NUS-WIDE (Chua et al. 2009) from its text files: bags of visual words and 81 concepts.

    BoW_int.dat has a line of 500 counts a picture, each Labels_CONCEPT.txt in AllLabels a line of 0 or 1 a picture.
    """
    vectors, labels = _word_counts(folder), _concepts(folder)
    return Published({"vectors": vectors, "labels": labels}, len(vectors), vectors.shape[1], labels)


def read_nus_wide_tags(folder: str) -> Published:
    """NUS-WIDE's pictures of the ten most frequent concepts, and their tags as 1,000 principal components.

    Reads Final_Tag_List.txt, one tag a line, and All_Tags.txt, a line per picture: its number and its tags. The
    components are those of all pictures' tags, mean-centred; fewer if there are fewer tags (Moran 2016, section
    3.2.2).
    """
    vectors, labels, tags = _word_counts(folder), _concepts(folder), _tags(folder)
    if tags.shape[0] != len(vectors):
        raise RelstudyError(f"{folder}: All_Tags.txt speaks of {tags.shape[0]} pictures, BoW_int.dat of {len(vectors)}")
    kept_labels = labels[:, np.sort(np.argsort(-labels.sum(axis=0), kind="stable")[:FREQUENT_CONCEPTS])]
    rows = kept_labels.any(axis=1)
    arrays = {"vectors": vectors[rows], "tags": _components(tags)[rows], "labels": kept_labels[rows]}
    return Published(arrays, int(rows.sum()), vectors.shape[1], kept_labels[rows])


def _word_counts(folder: str) -> np.ndarray:
    return _numbers(one_file(folder, "BoW_int.dat")).astype(np.float32)


def _concepts(folder: str) -> np.ndarray:
    files = sorted(path for path in Path(folder).rglob("Labels_*.txt") if path.parent.name == "AllLabels")
    if not files:
        raise RelstudyError(f"{folder}: no file AllLabels/Labels_*.txt in this folder")
    number = len(_numbers(one_file(folder, "BoW_int.dat"), first_column=True))
    labels = np.empty((number, len(files)), dtype=bool)
    for column, path in enumerate(files):
        values = _numbers(path)
        if values.shape != (number, 1) or not np.isin(values, (0, 1)).all():
            raise RelstudyError(f"{path}: a line of 0 or 1 is needed for each of the {number} pictures")
        labels[:, column] = values[:, 0] == 1
    return labels


def _numbers(path: Path, first_column: bool = False) -> np.ndarray:
    """The whole numbers of a text, int32 (lines, numbers of a line), read in blocks of lines."""
    faulty = RelstudyError(f"{path}: lines of equally many whole numbers are needed")
    parts = []
    try:
        columns = [0] if first_column else None
        with pd.read_csv(path, sep=r"\s+", header=None, dtype=float, usecols=columns, chunksize=LINES) as blocks:
            for block in blocks:
                values = block.to_numpy()
                if not (np.abs(values) < MOST).all() or (values % 1 != 0).any():
                    raise faulty
                parts.append(values.astype(np.int32))
    except (ValueError, OverflowError, IndexError):  # pandas' own errors are ValueErrors, of text too
        raise faulty from None
    if len({part.shape[1] for part in parts}) > 1:
        raise faulty
    return np.concatenate(parts)


def _tags(folder: str) -> sparse.csr_matrix:
    tags = one_file(folder, "Final_Tag_List.txt").read_text(encoding="utf-8", errors="replace").split()
    column = {tag: number for number, tag in enumerate(tags)}
    rows: list[int] = []
    columns: list[int] = []
    with one_file(folder, "All_Tags.txt").open(encoding="utf-8", errors="replace") as lines:
        number = 0
        for number, line in enumerate(lines, start=1):
            present = {column[tag] for tag in line.split()[1:] if tag in column}
            rows += [number - 1] * len(present)
            columns += sorted(present)
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(number, len(tags)))


def _components(tags: sparse.csr_matrix) -> np.ndarray:
    """Scores of the pictures on the leading principal components of the tags: float32 (n, at most 1,000)."""
    mean = np.asarray(tags.mean(axis=0)).ravel()
    covariance = (tags.T @ tags).toarray() - len(tags.indptr[1:]) * np.outer(mean, mean)
    directions = np.linalg.eigh(covariance)[1][:, ::-1][:, :COMPONENTS]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    directions = directions * np.where(largest < 0, -1.0, 1.0)
    return np.asarray(tags @ directions - mean @ directions, dtype=np.float32)


CIFAR_SIDE = 32
PARTS_10 = {"train": [f"data_batch_{number}.bin" for number in range(1, 6)], "test": ["test_batch.bin"]}
PARTS_100 = {"train": ["train.bin"], "test": ["test.bin"]}


def read_cifar_10(folder: str) -> Published:
    """CIFAR-10 (Krizhevsky 2009) in its binary version; the one of Python is a pickle and is never read.

    Pictures and classes of data_batch_1.bin to data_batch_5.bin and test_batch.bin: a row is class, then pixels.
    """
    return _cifar(folder, PARTS_10, {"labels": 10})


def read_cifar_100(folder: str) -> Published:
    """CIFAR-100 (Krizhevsky 2009) in its binary version.

    Pictures, classes and superclasses of train.bin and test.bin: a row is superclass, class, then pixels.

    Raises
    ------
    RelstudyError
        where a class stands in two superclasses, too: then this is no CIFAR-100
    """
    data = _cifar(folder, PARTS_100, {"superclasses": 20, "labels": 100})
    for part in PARTS_100:
        pairs = np.unique(
            np.stack([data.arrays[f"{part}_labels"], data.arrays[f"{part}_superclasses"]], axis=1), axis=0
        )
        fine = pairs[:, 0]
        if len(np.unique(fine)) < len(fine):
            twice = fine[:-1][fine[1:] == fine[:-1]][0]
            raise RelstudyError(f"{folder}: class {twice} of the {part} part is in two superclasses")
    return data


def _cifar(folder: str, parts: dict[str, list[str]], columns: dict[str, int]) -> Published:
    arrays: dict[str, np.ndarray] = {}
    for part, names in parts.items():
        rows = np.concatenate([_cifar_rows(one_file(folder, name), columns) for name in names])
        planes = rows[:, len(columns) :].reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE)
        arrays[f"{part}_pictures"] = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        for column, name in enumerate(columns):
            arrays[f"{part}_{name}"] = rows[:, column].astype(np.int64)
    labels = np.concatenate([arrays[f"{part}_labels"] for part in parts])
    return Published(arrays, len(labels), 3 * CIFAR_SIDE * CIFAR_SIDE, labels)


def _cifar_rows(path: Path, columns: dict[str, int]) -> np.ndarray:
    width = len(columns) + 3 * CIFAR_SIDE * CIFAR_SIDE
    octets = np.fromfile(path, dtype=np.uint8)
    if len(octets) == 0 or len(octets) % width:
        raise RelstudyError(f"{path}: {len(octets)} bytes are no whole number of rows of {width}")
    rows = octets.reshape(-1, width)
    for column, (name, number) in enumerate(columns.items()):
        wrong = np.flatnonzero(rows[:, column] >= number)
        if len(wrong):
            raise RelstudyError(
                f"{path}, row {int(wrong[0])} (counted from 0): {int(rows[wrong[0], column])} is none of the "
                f"{number} {name}, 0 to {number - 1}"
            )
    return rows


def read_labelme(folder: str) -> Published:
    """LabelMe_gist.mat, whose array `gist` has a descriptor of 512 numbers a picture (Torralba et al. 2008)."""
    vectors = load_array(f"{one_file(folder, 'LabelMe_gist.mat')}:gist")
    return Published({"vectors": vectors}, len(vectors), vectors.shape[1])


def read_sift1m(folder: str) -> Published:
    """sift_base.fvecs, sift_learn.fvecs, sift_query.fvecs and sift_groundtruth.ivecs (Jegou, Douze and Schmid 2011).

    The truth lists the base vectors that the last file names for each query.
    """
    parts = {part: load_array(str(one_file(folder, f"sift_{part}.fvecs"))) for part in ("base", "learn", "query")}
    listed = load_array(str(one_file(folder, "sift_groundtruth.ivecs")))
    base, queries = len(parts["base"]), len(parts["query"])
    if len(listed) != queries or listed.min() < 0 or listed.max() >= base:
        raise RelstudyError(
            f"{folder}: sift_groundtruth.ivecs must list rows of the {base} base vectors for {queries} queries"
        )
    truth = ListedTruth.from_lists(list(listed), base, f"{listed.shape[1]} nearest neighbours as published")
    return Published(parts, base, parts["base"].shape[1], truth=truth)


def read_wiki(folder: str) -> Published:
    """Wikipedia articles (Rasiwasia et al. 2010): raw_features.mat and the lists of their categories.

    I_tr, T_tr, I_te and T_te hold a row an article, of the picture and of the text; trainset_txt_img_cat.list and
    testset_txt_img_cat.list name text, picture and category.
    """
    file = one_file(folder, "raw_features.mat")
    arrays: dict[str, np.ndarray] = {}
    for part, short in (("train", "tr"), ("test", "te")):
        lines = [line.split() for line in text_lines(str(one_file(folder, f"{part}set_txt_img_cat.list"))) if line]
        if not all(len(line) == 3 and line[2].isdigit() for line in lines):
            raise RelstudyError(f"{folder}: a line of {part}set_txt_img_cat.list is not text, picture and category")
        arrays[f"{part}_labels"] = np.array([int(line[2]) for line in lines])
        for name, view in (("pictures", "I"), ("texts", "T")):
            arrays[f"{part}_{name}"] = vectors = load_array(f"{file}:{view}_{short}")
            if len(vectors) != len(lines):
                raise RelstudyError(f"{file} has {len(vectors)} rows in {view}_{short}, the list has {len(lines)}")
    labels = np.concatenate([arrays["train_labels"], arrays["test_labels"]])
    return Published(arrays, len(labels), arrays["train_pictures"].shape[1], labels)


def read_vectors(file: str) -> Published:
    """One file of vectors: .npy, .npz or .mat, .fvecs or .bvecs."""
    vectors = load_array(file)
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "fiu":
        raise RelstudyError(f"{file}: vectors need numbers in the shape (items, D), this array has {vectors.shape}")
    return Published({"vectors": vectors}, len(vectors), vectors.shape[1])


READERS: dict[str, Callable[[str], Published]] = {
    "labelme": read_labelme,
    "cifar-10": read_cifar_10,
    "cifar-100": read_cifar_100,
    "nus-wide": read_nus_wide,
    "nus-wide-tags": read_nus_wide_tags,
    "sift1m": read_sift1m,
    "wiki": read_wiki,
    "vectors": read_vectors,
}
UNIT_LENGTH = ("nus-wide", "nus-wide-tags")
"""Whose descriptors Moran (2016, section 3.2) scales to length one."""
DESCRIPTORS = ("vectors", "base", "learn", "query", "train_pictures", "test_pictures")
"""The arrays that hold descriptors, which can be scaled, where they have two axes."""
