"""What counts as relevant: a class, a shared label, or a list per query. Never an N x M matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analysis.hashing.labels import Labels
from calibration.errors import RelstudyError


@dataclass(frozen=True)
class LabelTruth:
    """Relevant where query and code share a class, or at least one label.

    Parameters
    ----------
    queries, database : both single-class or both label sets
    """

    queries: Labels
    database: Labels
    kind: str = "class"

    def shares(self, query: int) -> np.ndarray:
        """Which codes are relevant to one query, bool (N,)."""
        if self.queries.classes is not None:
            return np.asarray(self.database.classes == self.queries.classes[query])
        assert self.database.masks is not None and self.queries.masks is not None
        return np.asarray((self.database.masks & self.queries.masks[:, query, None]).any(axis=0))

    def shard(self, rows: slice) -> LabelTruth:
        """The same truth for a slice of the database."""
        if self.database.classes is not None:
            return LabelTruth(self.queries, Labels(classes=self.database.classes[rows]), self.kind)
        assert self.database.masks is not None
        return LabelTruth(self.queries, Labels(masks=np.ascontiguousarray(self.database.masks[:, rows])), self.kind)


@dataclass(frozen=True)
class ListedTruth:
    """The relevant codes of each query by number: what epsilon-balls, neighbours and people give.

    Parameters
    ----------
    starts : int64 (M + 1,): query i owns members[starts[i]:starts[i + 1]]
    members : int64, row numbers in the database, ascending and distinct within a query
    kind : where the lists come from

    Examples
    --------
    >>> truth = ListedTruth.from_lists([[3, 1], []], kind="epsilon-ball")
    >>> truth.of(0).tolist(), truth.of(1).tolist()
    ([1, 3], [])
    >>> truth.shard(slice(2, 5)).of(0).tolist()
    [1]
    """

    starts: np.ndarray
    members: np.ndarray
    kind: str = "listed"

    @classmethod
    def from_lists(cls, lists: list[np.ndarray] | list[list[int]], kind: str = "listed") -> ListedTruth:
        """From one list of database rows a query."""
        unique = [np.unique(np.asarray(rows, dtype=np.int64)) for rows in lists]
        starts = np.concatenate([[0], np.cumsum([len(rows) for rows in unique])]).astype(np.int64)
        return cls(starts, np.concatenate([np.empty(0, dtype=np.int64), *unique]), kind)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, query: int) -> np.ndarray:
        """The relevant rows of one query."""
        return self.members[self.starts[query] : self.starts[query + 1]]

    def owners(self) -> np.ndarray:
        """The query that each entry of `members` belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def shard(self, rows: slice) -> ListedTruth:
        """The same truth for database rows `rows`, renumbered from 0."""
        low, high = rows.start or 0, rows.stop
        inside = (self.members >= low) & (self.members < high)
        counts = np.bincount(self.owners()[inside], minlength=len(self))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return ListedTruth(starts, self.members[inside] - low, self.kind)


Truth: TypeAlias = LabelTruth | ListedTruth


def check_sizes(truth: Truth, queries: int, database: int) -> None:
    """Refuse a truth that does not fit the numbers of queries and codes."""
    if isinstance(truth, LabelTruth):
        have = (len(truth.queries), len(truth.database))
        if have != (queries, database):
            raise RelstudyError(
                f"labels for {have[0]} queries and {have[1]} codes do not fit {queries} queries and {database} codes"
            )
    elif len(truth) != queries or (len(truth.members) and int(truth.members.max()) >= database):
        raise RelstudyError(
            f"relevance lists of {len(truth)} queries do not fit {queries} queries and {database} codes"
        )
