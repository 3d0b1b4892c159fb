"""Interface of every retrieval system: fit a collection, then score all its items for one query."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item

Progress = Callable[[Iterable[int], str, int], Iterator[int]]


def silent(items: Iterable[int], what: str, total: int) -> Iterator[int]:
    """Report no progress."""
    return iter(items)


class System(Protocol):
    """A retrieval system over one collection.

    `score` answers for one query at a time, so that no table of all pairs is ever held. Systems whose score of an item
    depends on what the others are (how many have a word) have `by_all_items` True.
    """

    @property
    def name(self) -> str: ...

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        """Index the collection."""
        ...

    def score(self, query: Item) -> np.ndarray | None:
        """Similarity of every item to the query, float64 [items], higher is better, NaN for items it cannot score;
        None where the system cannot answer such a query at all."""
        ...


def index_folder(study: Path) -> Path:
    """The folder in which systems keep what they have computed for the items of a study."""
    return study / "scores" / ".index"


def extra(module: str) -> Any:
    """Import an optional library, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise RelstudyError(
            f"this system needs the library {module.partition('.')[0]}, which is not installed; "
            "install it with: pip install 'relstudy[systems]'"
        ) from None


def image_positions(collection: Collection, name: str) -> list[int]:
    """Positions of all pictures in the collection; refuses a collection without any."""
    positions = [position for position, item in enumerate(collection) if item.kind == "image"]
    if not positions:
        raise RelstudyError(f"system {name} compares pictures, and the collection has none")
    return positions


def spread(values: np.ndarray, positions: list[int], number: int) -> np.ndarray:
    """Scores of the pictures laid out over all items, NaN for the rest."""
    if len(positions) == number:
        return values.astype(np.float64)
    scores = np.full(number, np.nan)
    scores[positions] = values
    return scores


class PictureSystem:
    """A system that holds a picture of the collection against all pictures; subclasses give `name`, `fit` and
    `_scores`."""

    name: str

    def _take_pictures(self, collection: Collection) -> list[int]:
        """The positions of the collection's pictures, which `score` then answers for."""
        self._collection = collection
        self._positions = image_positions(collection, self.name)
        self._rows = {position: row for row, position in enumerate(self._positions)}
        return self._positions

    def score(self, query: Item) -> np.ndarray | None:
        """As `System.score`: None of a query that is not a picture of the collection."""
        if query.kind != "image" or query.id not in self._collection:
            return None
        row = self._rows[self._collection.position(query.id)]
        return spread(self._scores(row), self._positions, len(self._collection))

    def _scores(self, row: int) -> np.ndarray:
        """The likeness of every picture to that of this row, float [pictures]."""
        raise NotImplementedError
