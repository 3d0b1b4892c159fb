"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009) in their binary version; the one of Python is a pickle and is never read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from relstudy.analysis.hashing.datasets.published import Published, one_file
from relstudy.common.errors import RelstudyError

SIDE = 32
PARTS_10 = {"train": [f"data_batch_{number}.bin" for number in range(1, 6)], "test": ["test_batch.bin"]}
PARTS_100 = {"train": ["train.bin"], "test": ["test.bin"]}


def read_cifar_10(folder: str) -> Published:
    """Pictures and classes of data_batch_1.bin to data_batch_5.bin and test_batch.bin: a row is class, then pixels."""
    return _read(folder, PARTS_10, {"labels": 10})


def read_cifar_100(folder: str) -> Published:
    """Pictures, classes and superclasses of train.bin and test.bin: a row is superclass, class, then pixels.

    Raises
    ------
    RelstudyError
        where a class stands in two superclasses, too: then this is no CIFAR-100
    """
    data = _read(folder, PARTS_100, {"superclasses": 20, "labels": 100})
    for part in PARTS_100:
        pairs = np.unique(
            np.stack([data.arrays[f"{part}_labels"], data.arrays[f"{part}_superclasses"]], axis=1), axis=0
        )
        fine = pairs[:, 0]
        if len(np.unique(fine)) < len(fine):
            twice = fine[:-1][fine[1:] == fine[:-1]][0]
            raise RelstudyError(f"{folder}: class {twice} of the {part} part is in two superclasses")
    return data


def _read(folder: str, parts: dict[str, list[str]], columns: dict[str, int]) -> Published:
    arrays: dict[str, np.ndarray] = {}
    for part, names in parts.items():
        rows = np.concatenate([_rows(one_file(folder, name), columns) for name in names])
        planes = rows[:, len(columns) :].reshape(-1, 3, SIDE, SIDE)
        arrays[f"{part}_pictures"] = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        for column, name in enumerate(columns):
            arrays[f"{part}_{name}"] = rows[:, column].astype(np.int64)
    labels = np.concatenate([arrays[f"{part}_labels"] for part in parts])
    return Published(arrays, len(labels), 3 * SIDE * SIDE, labels)


def _rows(path: Path, columns: dict[str, int]) -> np.ndarray:
    width = len(columns) + 3 * SIDE * SIDE
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
