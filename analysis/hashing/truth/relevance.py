"""Relevance by class, by shared label, or by a list per query, which a file can hold. Never an N x M matrix."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from relstudy.analysis.hashing.codes.archive import Archive
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.common.runtime.errors import RelstudyError

SELF_LEFT_OUT = "the query itself left out"
"""Ends the name of a truth that never calls a query relevant to itself."""


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

    def __post_init__(self) -> None:
        words = [None if each.masks is None else len(each.masks) for each in (self.queries, self.database)]
        if words[0] != words[1]:
            raise RelstudyError(
                "labels of queries and database must both be classes, or both sets of the same labels: "
                "read or given together, they are"
            )

    @classmethod
    def by(cls, queries: Labels, database: Labels) -> LabelTruth:
        """Named by what is shared: a `class`, or a `shared label`.

        Examples
        --------
        >>> truth = LabelTruth.by(Labels(classes=np.array([1])), Labels(classes=np.array([1, 2, 1])))
        >>> truth.kind
        'class'
        """
        return cls(queries, database, "class" if queries.single else "shared label")

    @property
    def sizes(self) -> tuple[int, int]:
        """Queries and database codes that it speaks of."""
        return len(self.queries), len(self.database)

    def __repr__(self) -> str:
        return f"LabelTruth({self.sizes[0]} queries x {self.sizes[1]} codes by {self.kind})"

    def of(self, query: int) -> np.ndarray:
        """The relevant rows of one query.

        Examples
        --------
        >>> truth = LabelTruth.by(Labels(classes=np.array([1])), Labels(classes=np.array([1, 2, 1])))
        >>> truth.of(0).tolist()
        [0, 2]
        """
        if self.queries.classes is not None:
            return np.flatnonzero(self.database.classes == self.queries.classes[query])
        assert self.database.masks is not None and self.queries.masks is not None
        return np.flatnonzero((self.database.masks & self.queries.masks[:, query, None]).any(axis=0))

    def shard(self, rows: slice) -> LabelTruth:
        """The same truth for a slice of the database.

        Examples
        --------
        >>> truth = LabelTruth.by(Labels(classes=np.array([1])), Labels(classes=np.array([1, 2, 1])))
        >>> truth.shard(slice(1, 3)).of(0).tolist()
        [1]
        """
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
    codes : database size N
    kind : where the lists come from, with what decides it (a radius, a threshold)

    Examples
    --------
    >>> truth = ListedTruth.from_lists([[3, 1], []], codes=5)
    >>> truth.of(0).tolist(), truth.of(1).tolist()
    ([1, 3], [])
    >>> truth.shard(slice(2, 5)).of(0).tolist()
    [1]
    """

    starts: np.ndarray
    members: np.ndarray
    codes: int
    kind: str = "listed"

    @classmethod
    def from_lists(cls, lists: Sequence[np.ndarray | Sequence[int]], codes: int, kind: str = "listed") -> ListedTruth:
        """From one list of database rows per query."""
        unique = [np.unique(np.asarray(rows, dtype=np.int64)) for rows in lists]
        starts = np.concatenate([[0], np.cumsum([len(rows) for rows in unique])]).astype(np.int64)
        return cls(starts, np.concatenate([np.empty(0, dtype=np.int64), *unique]), codes, kind)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> tuple[int, int]:
        """Queries and database codes that it speaks of."""
        return len(self), self.codes

    def of(self, query: int) -> np.ndarray:
        """The relevant rows of one query."""
        return self.members[self.starts[query] : self.starts[query + 1]]

    def owners(self) -> np.ndarray:
        """The query that each entry of `members` belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def shard(self, rows: slice) -> ListedTruth:
        """The same truth for database rows `rows`, renumbered from 0."""
        low, high, _ = rows.indices(self.codes)
        inside = (self.members >= low) & (self.members < high)
        counts = np.bincount(self.owners()[inside], minlength=len(self))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return ListedTruth(starts, self.members[inside] - low, high - low, self.kind)


@dataclass(frozen=True)
class ByClass:
    """A single-class truth sorted once, so that the relevant codes of every query stand together.

    Parameters
    ----------
    order : int64 (N,), the database's rows class by class
    starts : int64 (classes + 1,): class c owns order[starts[c]:starts[c + 1]]
    query_class : int64 (M,), the class of each query, -1 where the database has none of it
    """

    order: np.ndarray
    starts: np.ndarray
    query_class: np.ndarray

    @classmethod
    def of(cls, truth: LabelTruth) -> ByClass:
        """Sort the database of a truth by single classes."""
        assert truth.database.classes is not None and truth.queries.classes is not None
        classes = np.asarray(truth.database.classes, dtype=np.int64)
        low, high = int(classes.min()), int(classes.max())
        # 16 bits are sorted by radix, ten times as fast.
        order = np.argsort((classes - low).astype(np.uint16) if high - low < 1 << 16 else classes, kind="stable")
        ordered = classes[order]
        firsts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        names, starts = ordered[firsts], np.r_[firsts, len(ordered)]
        query_class = np.minimum(np.searchsorted(names, truth.queries.classes), len(names) - 1)
        query_class = np.where(names[query_class] == truth.queries.classes, query_class, -1)
        return cls(order, starts, query_class)

    def rows(self, query: int) -> np.ndarray:
        """The relevant rows of one query."""
        number = self.query_class[query]
        return self.order[self.starts[number] : self.starts[number + 1]] if number >= 0 else self.order[:0]


Truth: TypeAlias = LabelTruth | ListedTruth


def fingerprint(truth: Truth) -> str:
    """Digest of the queries' side of a truth: equal for two systems on the same queries, however labels are spelled.

    Queries of one class each are identified by who shares a class with whom.
    """
    if isinstance(truth, ListedTruth):
        parts = [truth.starts, truth.members]
    elif truth.queries.classes is not None:
        _, first, inverse = np.unique(truth.queries.classes, return_index=True, return_inverse=True)
        parts = [first[inverse.ravel()]]
    else:
        assert truth.queries.masks is not None
        parts = [truth.queries.masks]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def unlabelled(truth: Truth) -> list[int]:
    """Numbers of the queries that have no label at all, which some evaluators leave out."""
    if isinstance(truth, ListedTruth) or truth.queries.masks is None:
        return []
    return [int(query) for query in np.flatnonzero(~truth.queries.masks.any(axis=0))]


def facts_of(truth: Truth) -> dict[str, Any]:
    """What a count table keeps of a truth: its kind, its fingerprint, and the queries without any label."""
    return {"truth": truth.kind, "truth_sha256": fingerprint(truth), "unlabelled": unlabelled(truth)}


def check_sizes(truth: Truth, queries: int, database: int) -> None:
    """Refuse a truth that does not fit the numbers of queries and codes."""
    if truth.sizes != (queries, database):
        of_queries, of_codes = truth.sizes
        raise RelstudyError(
            f"ground truth ({truth.kind}) of {of_queries} queries and {of_codes} codes does not fit "
            f"{queries} queries and {database} codes"
        )


LISTS = Archive("table of relevance lists", "relstudy hash truth")


def save_truth(truth: ListedTruth, path: str | os.PathLike[str]) -> None:
    """Write the lists as .npz: two integer arrays and a JSON header."""
    LISTS.write(path, {"kind": truth.kind, "codes": truth.codes}, {"starts": truth.starts, "members": truth.members})


def load_truth(path: str | os.PathLike[str]) -> ListedTruth:
    """Read relevance lists; anything else is refused in one sentence."""
    header, arrays = LISTS.read(path, "starts", "members")
    starts, members = arrays["starts"].astype(np.int64), arrays["members"].astype(np.int64)
    codes = header.get("codes", -1)
    if (
        len(starts) == 0
        or starts[0] != 0
        or starts[-1] != len(members)
        or bool((np.diff(starts) < 0).any())
        or bool(((members < 0) | (members >= codes)).any())
    ):
        raise RelstudyError(f"{os.fspath(path)}: the lists are damaged; make them again with `relstudy hash truth`")
    return ListedTruth(starts, members, codes, str(header["kind"]))
