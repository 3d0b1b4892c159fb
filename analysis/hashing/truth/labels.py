"""What is known of the items behind the codes: their labels and their ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.codes.code_files import load_array, row_blocks, text_lines
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.common.errors import Fault, RelstudyError, TableError

_LARGEST = 2.0**53
"""Whole numbers beyond this size are not all floats."""


@dataclass(frozen=True)
class Labels:
    """Class labels of items: one class each, or a set of labels each.

    Parameters
    ----------
    classes : whole numbers of shape (items,), or None for label sets
    masks : uint64 of shape (label words, items), one bit a label; None for single classes
    """

    classes: np.ndarray | None = None
    masks: np.ndarray | None = None

    def __len__(self) -> int:
        array = self.classes if self.classes is not None else self.masks
        assert array is not None
        return int(array.shape[-1])

    @property
    def single(self) -> bool:
        """Whether every item has exactly one class."""
        return self.classes is not None


def read_labels(*paths: str) -> list[Labels]:
    """Read the labels of several files over one vocabulary.

    Parameters
    ----------
    paths : .npy of shape (items,) (classes) or (items, labels) of 0/1; or text, one item a line, several labels
        separated by spaces or commas, an empty line for an item without any

    Returns
    -------
    One a file; all single-class or all label sets: two items are relevant to each other when they share a label.
    """
    raw = [_raw_labels(path) for path in paths]
    hot = [isinstance(part, np.ndarray) and part.ndim == 2 for part in raw]
    if all(hot):
        return _from_columns(paths, [np.asarray(part) for part in raw])
    if any(hot):
        raise RelstudyError(
            f"{paths[hot.index(True)]} holds a 0/1 column a label and {paths[hot.index(False)]} names labels; "
            "all label files must be of one kind"
        )
    if all(isinstance(part, np.ndarray) and part.dtype.kind != "U" for part in raw):
        return [Labels(classes=np.asarray(part)) for part in raw]
    return _from_names([[(str(x),) for x in part] if isinstance(part, np.ndarray) else part for part in raw])


def mask_words(table: np.ndarray) -> np.ndarray:
    """Label sets as bit masks: bool (items, labels) to uint64 (words, items)."""
    return Codes.from_bits(table).columns


def read_ids(path: str) -> list[str]:
    """Ids of codes, one a line, none empty or twice."""
    names = text_lines(path)
    faults = [Fault(path, row, None, "", "an id is required") for row, name in enumerate(names, 1) if not name]
    seen: set[str] = set()
    for row, name in enumerate(names, 1):
        if name in seen:
            faults.append(Fault(path, row, None, name, "ids must differ; this one stands above"))
        seen.add(name)
    if faults:
        raise TableError(faults)
    return names


def _raw_labels(path: str) -> np.ndarray | list[tuple[str, ...]]:
    if not path.endswith(".npy"):
        return [tuple(sorted(set(line.replace(",", " ").split()))) for line in text_lines(path)]
    array = load_array(path)
    if array.ndim == 2:
        return array
    if array.ndim != 1:
        raise RelstudyError(f"{path}: labels need the shape (items,) or (items, labels), this array has {array.shape}")
    if array.dtype.kind in "iU":
        return array
    if array.dtype.kind in "buf" and bool(np.all((array == np.round(array)) & (np.abs(array) <= _LARGEST))):
        return array.astype(np.int64)
    raise RelstudyError(f"{path}: labels must be whole numbers or text, this array is {array.dtype} with other values")


def _from_columns(paths: tuple[str, ...], tables: list[np.ndarray]) -> list[Labels]:
    width = tables[0].shape[1]
    for path, table in zip(paths, tables, strict=True):
        if table.shape[1] != width:
            raise RelstudyError(
                f"{paths[0]} has {width} label columns and {path} has {table.shape[1]}; they must be equal"
            )
    return [Labels(masks=_masks_of_columns(path, table)) for path, table in zip(paths, tables, strict=True)]


def _masks_of_columns(path: str, table: np.ndarray) -> np.ndarray:
    words = []
    for _, block in row_blocks(table):
        if block.dtype.kind not in "biuf" or not bool(np.isin(block, (0, 1)).all()):
            raise RelstudyError(
                f"{path}: an array of labels of shape (items, labels) holds 0 and 1 only; "
                "classes need the shape (items,)"
            )
        words.append(mask_words(block != 0))
    return np.concatenate(words, axis=1)


def _from_names(sets: list[list[tuple[str, ...]]]) -> list[Labels]:
    index = {name: i for i, name in enumerate(sorted({x for part in sets for names in part for x in names}))}
    if all(len(names) == 1 for part in sets for names in part):
        return [Labels(classes=np.array([index[names[0]] for names in part], dtype=np.int64)) for part in sets]
    return [Labels(masks=_masks_of_names(part, index)) for part in sets]


def _masks_of_names(part: list[tuple[str, ...]], index: dict[str, int]) -> np.ndarray:
    owner = np.repeat(np.arange(len(part)), [len(names) for names in part])
    label = np.array([index[name] for names in part for name in names], dtype=np.uint64)
    masks = np.zeros((max(1, -(-len(index) // 64)), len(part)), dtype=np.uint64)
    np.bitwise_or.at(masks, (label // 64, owner), np.uint64(1) << label % 64)
    return masks
