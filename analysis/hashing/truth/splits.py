"""Random splits of a data set for training and testing hash functions (Moran 2016, section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np

from relstudy.analysis.hashing.codes.archive import Archive
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of

SPLITS = Archive("split", "relstudy hash split")
"""Files of splits."""


@dataclass(frozen=True)
class Split:
    """Row numbers of each part.

    Parameters
    ----------
    test_queries, test_database : used once, for the final figure
    validation_queries, validation_database : for choosing hyperparameters
    training : for learning the hash functions
    strategy : `improved` (five parts that share no row) or `literature` (the database is also trained on)
    """

    test_queries: np.ndarray
    test_database: np.ndarray
    validation_queries: np.ndarray
    validation_database: np.ndarray
    training: np.ndarray
    strategy: str

    PARTS: ClassVar[tuple[str, ...]] = (
        "test_queries",
        "test_database",
        "validation_queries",
        "validation_database",
        "training",
    )

    def leaks(self) -> list[str]:
        """Pairs of parts that share rows although the strategy promises that they do not, as sentences."""
        promised = [
            pair for pair in combinations(self.PARTS, 2) if self.strategy == "improved" or "test_queries" in pair
        ]
        sentences = []
        for one, other in promised:
            shared = len(np.intersect1d(getattr(self, one), getattr(self, other)))
            if shared:
                sentences.append(f"{one} and {other} share {shared} rows")
        return sentences


def duplicate_leaks(split: Split, vectors: np.ndarray) -> list[str]:
    """Test queries whose very vector was trained on: the same picture twice under two row numbers.

    Parameters
    ----------
    vectors : float (n, D), the whole data set
    """
    trained = {row.tobytes() for row in np.ascontiguousarray(vectors[split.training])}
    twins = [int(row) for row in split.test_queries if np.ascontiguousarray(vectors[row]).tobytes() in trained]
    equal = count_of(len(twins), "test query equals", "test queries equal")
    return [f"{equal} a training vector, the first in row {twins[0]}"] if twins else []


def improved_split(
    items: int,
    sizes: dict[str, int],
    *,
    labels: np.ndarray | None = None,
    seed: int = 0,
) -> Split:
    """Five parts that share no row, balanced over classes (Moran 2016, section 3.5.2).

    Parameters
    ----------
    items : size of the data set
    sizes : rows in each part of `Split.PARTS`; a part that is left out takes what remains (only one may be)
    labels : classes (items,), so that each part holds the classes in the proportions of the whole; or 0/1 labels
        (items, labels), of which each item counts for its rarest
    seed : of the draw

    Examples
    --------
    >>> split = improved_split(100, {"test_queries": 10, "test_database": 40, "validation_queries": 10,
    ...     "validation_database": 20})
    >>> len(split.training), split.leaks()
    (20, [])
    """
    full = _complete(sizes, items)
    order = _balanced_order(items, labels, np.random.default_rng(seed))
    ends = np.cumsum([full[part] for part in Split.PARTS])
    parts = np.split(order[: ends[-1]], ends[:-1])
    return Split(**{name: np.sort(part) for name, part in zip(Split.PARTS, parts, strict=True)}, strategy="improved")


def literature_split(
    items: int,
    sizes: dict[str, int],
    *,
    labels: np.ndarray | None = None,
    seed: int = 0,
) -> Split:
    """Test queries apart; everything else is the database, and part of it is trained on (section 3.5.1).

    Parameters
    ----------
    items, labels, seed : as in `improved_split`
    sizes : test_queries, training and, where hyperparameters are chosen, validation_queries; the latter two are drawn
        from the database, and what is left of it is the validation database
    """
    if not {"test_queries", "training"} <= set(sizes) <= {"test_queries", "training", "validation_queries"}:
        raise RelstudyError(
            "the literature's split needs sizes of test_queries and training, and takes one of validation_queries; "
            f"it was given {', '.join(sizes) or 'none'}"
        )
    queries, training, checking = (sizes.get(part, 0) for part in ("test_queries", "training", "validation_queries"))
    if queries + max(training, checking) > items or min(queries, training) < 1 or checking < 0:
        raise RelstudyError(f"{_listed(sizes)} do not fit {items} items")
    rng = np.random.default_rng(seed)
    order = _balanced_order(items, labels, rng)
    database = order[queries:]
    inner = database[_balanced_order(len(database), None if labels is None else labels[database], rng)]
    validation = inner[len(inner) - checking :]
    return Split(
        np.sort(order[:queries]),
        np.sort(database),
        np.sort(validation),
        np.sort(np.setdiff1d(database, validation)),
        np.sort(inner[:training]),
        "literature",
    )


STRATEGIES = {"improved": improved_split, "literature": literature_split}


def repeated(
    strategy: str,
    items: int,
    sizes: dict[str, int],
    *,
    labels: np.ndarray | None = None,
    times: int = 10,
    seed: int = 0,
) -> Iterator[Split]:
    """Independent splits by one of `STRATEGIES`, seeded one after another."""
    for run in range(times):
        yield STRATEGIES[strategy](items, sizes, labels=labels, seed=seed + run)


def _complete(sizes: dict[str, int], items: int) -> dict[str, int]:
    unknown = sorted(set(sizes) - set(Split.PARTS))
    if unknown:
        raise RelstudyError(f"{unknown[0]!r} is not a part of a split; the parts are {', '.join(Split.PARTS)}")
    missing = [part for part in Split.PARTS if part not in sizes]
    if len(missing) > 1:
        raise RelstudyError(f"sizes are needed for all parts but one; {', '.join(missing)} have none")
    full = {**sizes, **dict.fromkeys(missing, items - sum(sizes.values()))}
    if min(full.values()) < 1 or sum(full.values()) > items:
        raise RelstudyError(f"{_listed(full)} do not fit {items} items; each part needs at least one row")
    return {part: full[part] for part in Split.PARTS}


def _listed(sizes: dict[str, int]) -> str:
    return ", ".join(f"{rows} {part}" for part, rows in sizes.items())


def read_splits(folder: Path, items: int) -> dict[str, Split]:
    """The splits of a folder, as `relstudy hash split` wrote them: number -> split, in order.

    Parameters
    ----------
    items : how many there are; a split of others is refused

    Raises
    ------
    RelstudyError
        if there is none, or one is not of so many items
    """
    files = sorted(folder.glob("split_*.npz"), key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise RelstudyError(f"{folder}: there is no split_0.npz; `relstudy hash split -o {folder}` writes splits")
    splits = {}
    for file in files:
        header, parts = SPLITS.read(file, *Split.PARTS)
        whole = np.concatenate([parts[name] for name in Split.PARTS])
        if whole.min(initial=0) < 0 or whole.max(initial=0) >= items:
            raise RelstudyError(f"{file}: this split is of other items than the {items} there are")
        rows = {name: parts[name] for name in Split.PARTS}
        splits[file.stem.removeprefix("split_")] = Split(**rows, strategy=str(header["strategy"]))
    return splits


def rarest_label(labels: np.ndarray) -> np.ndarray:
    """One class an item: its own, or of several labels the rarest, which is the hardest to share out.

    Parameters
    ----------
    labels : classes (items,), or 0/1 (items, labels)

    Returns
    -------
    (items,); of several labels the number of a column, -1 for an item without any

    Examples
    --------
    >>> rarest_label(np.array([[1, 1], [1, 0], [0, 0]])).tolist()
    [1, 0, -1]
    """
    if labels.ndim == 1:
        return labels
    table = np.asarray(labels) != 0
    frequency = np.where(table, table.sum(axis=0), len(table) + 1)
    return np.where(table.any(axis=1), frequency.argmin(axis=1), -1)


def _balanced_order(items: int, labels: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    # Shuffled, then dealt class by class in turn, so that every stretch of the order is balanced.
    order = rng.permutation(items)
    if labels is None:
        return order
    if len(labels) != items:
        raise RelstudyError(f"{len(labels)} labels do not fit {items} items")
    _, dense = np.unique(rarest_label(labels), return_inverse=True)
    class_in_order = dense[order]
    by_class = np.argsort(class_in_order, kind="stable")
    sizes = np.bincount(class_in_order)
    turn = np.empty(items)
    turn[by_class] = np.arange(items) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # A class with more rows deals more often: position within class over its size spreads every class evenly.
    tie = rng.random(items)
    return order[np.lexsort((tie, (turn + 0.5) / sizes[class_in_order]))]
