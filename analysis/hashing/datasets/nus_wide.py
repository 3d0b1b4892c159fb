"""NUS-WIDE (Chua et al. 2009) as its text files have it: bags of visual words, 81 concepts, tags."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from relstudy.analysis.hashing.datasets.published import Published, one_file
from relstudy.common.errors import RelstudyError

CLASSES = 10
"""The most frequent concepts, of which Moran (2016, section 3.2.2) keeps the pictures."""
COMPONENTS = 1000
"""Of the principal components of the tags, there."""
LINES = 1 << 14
"""Lines that are read at once."""
MOST = 2**31


def read_nus_wide(folder: str) -> Published:
    """BoW_int.dat, a line of 500 counts a picture, and Labels_CONCEPT.txt in AllLabels, a line of 0 or 1 a picture."""
    vectors, labels = _vectors(folder), _labels(folder)
    return Published({"vectors": vectors, "labels": labels}, len(vectors), vectors.shape[1], labels)


def read_nus_wide_tags(folder: str) -> Published:
    """Pictures of the ten most frequent concepts, and their tags as 1,000 principal components (section 3.2.2).

    Reads Final_Tag_List.txt, one tag a line, and All_Tags.txt, a line per picture: its number and its tags. The
    components are those of all pictures' tags, mean-centred; fewer where there are fewer tags.
    """
    vectors, labels, tags = _vectors(folder), _labels(folder), _tags(folder)
    if tags.shape[0] != len(vectors):
        raise RelstudyError(f"{folder}: All_Tags.txt speaks of {tags.shape[0]} pictures, BoW_int.dat of {len(vectors)}")
    kept_labels = labels[:, np.sort(np.argsort(-labels.sum(axis=0), kind="stable")[:CLASSES])]
    rows = kept_labels.any(axis=1)
    arrays = {"vectors": vectors[rows], "tags": _components(tags)[rows], "labels": kept_labels[rows]}
    return Published(arrays, int(rows.sum()), vectors.shape[1], kept_labels[rows])


def _vectors(folder: str) -> np.ndarray:
    return _numbers(one_file(folder, "BoW_int.dat")).astype(np.float32)


def _labels(folder: str) -> np.ndarray:
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
    known = one_file(folder, "Final_Tag_List.txt").read_text(encoding="utf-8", errors="replace").split()
    column = {tag: number for number, tag in enumerate(known)}
    rows: list[int] = []
    columns: list[int] = []
    with one_file(folder, "All_Tags.txt").open(encoding="utf-8", errors="replace") as lines:
        number = 0
        for number, line in enumerate(lines, start=1):
            present = {column[tag] for tag in line.split()[1:] if tag in column}
            rows += [number - 1] * len(present)
            columns += sorted(present)
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(number, len(known)))


def _components(tags: sparse.csr_matrix) -> np.ndarray:
    """Scores of the pictures on the leading principal components of the tags: float32 (n, at most 1,000)."""
    mean = np.asarray(tags.mean(axis=0)).ravel()
    covariance = (tags.T @ tags).toarray() - len(tags.indptr[1:]) * np.outer(mean, mean)
    directions = np.linalg.eigh(covariance)[1][:, ::-1][:, :COMPONENTS]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    directions = directions * np.where(largest < 0, -1.0, 1.0)
    return np.asarray(tags @ directions - mean @ directions, dtype=np.float32)
