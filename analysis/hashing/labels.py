"""What is known of the items behind the codes: their labels and their ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.hashing.code_files import load_array, text_lines
from analysis.hashing.codes import Codes
from calibration.errors import Fault, RelstudyError, TableError


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


def read_labels(query_path: str, database_path: str) -> tuple[Labels, Labels]:
    """Read the labels of queries and database over one vocabulary.

    Parameters
    ----------
    query_path, database_path : .npy of shape (items,) (classes) or (items, labels) of 0/1; or text, one item a line,
        several labels separated by spaces or commas, an empty line for an item without any

    Returns
    -------
    The two, both single-class or both label sets: two items are relevant to each other when they share a label.
    """
    raw = [_raw_labels(path) for path in (query_path, database_path)]
    kinds = [isinstance(part, np.ndarray) and part.ndim == 2 for part in raw]
    if kinds[0] != kinds[1] and any(isinstance(part, np.ndarray) for part in raw):
        raise RelstudyError(f"{query_path} and {database_path}: both must be classes, or both 0/1 arrays of labels")
    if kinds[0]:
        first, second = np.asarray(raw[0], dtype=bool), np.asarray(raw[1], dtype=bool)
        if first.shape[1] != second.shape[1]:
            raise RelstudyError(
                f"{query_path} has {first.shape[1]} label columns and {database_path} has {second.shape[1]}; "
                "they must be equal"
            )
        return Labels(masks=mask_words(first)), Labels(masks=mask_words(second))
    if all(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in raw):
        return Labels(classes=raw[0]), Labels(classes=raw[1])  # type: ignore[arg-type]
    sets = [[(str(x),) for x in part] if isinstance(part, np.ndarray) else part for part in raw]
    index = {name: i for i, name in enumerate(sorted({x for part in sets for names in part for x in names}))}
    if all(len(names) == 1 for part in sets for names in part):
        coded = [np.array([index[names[0]] for names in part], dtype=np.int64) for part in sets]
        return Labels(classes=coded[0]), Labels(classes=coded[1])
    hot = []
    for part in sets:
        table = np.zeros((len(part), max(1, len(index))), dtype=bool)
        for row, names in enumerate(part):
            table[row, [index[name] for name in names]] = True
        hot.append(mask_words(table))
    return Labels(masks=hot[0]), Labels(masks=hot[1])


def mask_words(table: np.ndarray) -> np.ndarray:
    """Label sets as bit masks: bool (items, labels) to uint64 (words, items)."""
    return Codes.from_bits(table).columns


def _raw_labels(path: str) -> np.ndarray | list[tuple[str, ...]]:
    if not path.endswith(".npy"):
        return [tuple(sorted(set(line.replace(",", " ").split()))) for line in text_lines(path)]
    array = load_array(path)
    if array.dtype.kind not in "iubUS" and not (array.dtype.kind == "f" and bool(np.all(array == np.round(array)))):
        raise RelstudyError(
            f"{path}: labels must be whole numbers or text, this array is {array.dtype} with other values"
        )
    if array.ndim == 1:
        return array.astype(np.int64) if array.dtype.kind in "bf" else array
    if array.ndim == 2 and bool(np.isin(array, (0, 1)).all()):
        return array
    raise RelstudyError(
        f"{path}: labels need the shape (items,) or (items, labels) of 0/1, this array has {array.shape}"
    )


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


def same_length(codes: Codes, labels: Labels, code_path: str, label_path: str) -> None:
    """Refuse labels that do not match their codes one to one."""
    if len(codes) != len(labels):
        raise RelstudyError(
            f"{label_path} has {len(labels)} labels for the {len(codes)} codes of {code_path}; one each is needed"
        )
