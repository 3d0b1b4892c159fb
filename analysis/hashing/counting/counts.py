"""The count table: per query and radius, how many codes there are and how many of them are relevant.

Every metric is computed from this table; it adds over shards of the database, and is saved with a version.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from relstudy.analysis.hashing.codes.archive import Archive
from relstudy.analysis.hashing.codes.packed import Codes, check_lengths
from relstudy.analysis.hashing.options import Engine
from relstudy.analysis.hashing.truth.relevance import (
    SELF_LEFT_OUT,
    ByClass,
    LabelTruth,
    Truth,
    check_sizes,
    facts_of,
)
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.runtime.errors import RelstudyError

ARCHIVE = Archive("count table", "relstudy hash count")
FEW = 30_000_000
"""Comparisons that numpy has made before numba is imported."""
LONGEST = 1 << 13
"""Most bits of a code: twice a distance plus one fits 16 bits, and the size of every Hamming ball can be printed."""


@dataclass(frozen=True)
class CountTable:
    """Counts by radius.

    Parameters
    ----------
    total : int64 (M, Q + 1), database codes at each Hamming distance r = 0..Q from each query; M at least 1
    relevant : int64 (M, Q + 1), those of them that are relevant
    about : what was counted: truth kind, file names, hashes, notes on what was assumed of codes and labels; kept with
        the table

    Examples
    --------
    >>> table = CountTable(np.array([[1, 2]]), np.array([[1, 0]]))
    >>> (table + table).total.tolist(), table.bits, table.codes
    ([[2, 4]], 1, 3)
    """

    total: np.ndarray
    relevant: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in (self.total, self.relevant)):
            raise RelstudyError("a count table needs two arrays of whole numbers")
        if self.total.shape != self.relevant.shape or self.total.ndim != 2:
            raise RelstudyError("a count table needs two arrays of the same shape (queries, bits + 1)")
        if 0 in self.total.shape:
            raise RelstudyError("a count table needs at least one query")
        if bool((self.relevant > self.total).any()) or bool((self.relevant < 0).any()):
            raise RelstudyError("a count table cannot hold more relevant codes than codes, nor negative counts")
        if len(np.unique(self.total.sum(axis=1))) > 1:
            raise RelstudyError("a count table needs the same number of database codes for every query")

    def __repr__(self) -> str:
        what = f"codes of {self.bits} bits" if self.by_rank is None else f"items by {self.by_rank} distance"
        return (
            f"CountTable({self.queries} queries x {self.codes} {what}, "
            f"{int(self.relevant.sum())} relevant pairs by {self.truth})"
        )

    @property
    def queries(self) -> int:
        """Number of queries M."""
        return int(self.total.shape[0])

    @property
    def bits(self) -> int:
        """Code length Q."""
        return int(self.total.shape[1]) - 1

    @property
    def by_rank(self) -> str | None:
        """Name of a distance other than Hamming's that ranked: the columns are then levels of ranks, and no radii."""
        return self.about.get("distance")

    def need_radii(self) -> None:
        """Refuse a table whose columns are levels of ranks.

        Examples
        --------
        >>> CountTable(np.array([[1, 2]]), np.array([[1, 0]]), {"distance": "L1"}).need_radii()
        Traceback (most recent call last):
        ...
        relstudy.common.runtime.errors.RelstudyError: these items were ranked by distance (L1): there is no Hamming radius
        """  # noqa: E501
        if self.by_rank is not None:
            raise RelstudyError(f"these items were ranked by distance ({self.by_rank}): there is no Hamming radius")

    @property
    def codes(self) -> int:
        """Database size N."""
        return int(self.total[0].sum())

    @property
    def notes(self) -> list[str]:
        """What was assumed of codes and labels, one sentence each."""
        return list(self.about.get("notes", []))

    @property
    def truth(self) -> str:
        """The ground truth's kind, in a word or two."""
        return str(self.about.get("truth", "unknown"))

    def __add__(self, other: CountTable) -> CountTable:
        """The table of two shards of the database together."""
        if self.total.shape != other.total.shape:
            raise RelstudyError(
                f"tables of {self.queries} queries of {self.bits} bits and of {other.queries} queries of "
                f"{other.bits} bits do not belong together"
            )
        if self.about.get("queries_sha256") != other.about.get("queries_sha256"):
            raise RelstudyError("tables of different query codes cannot be merged")
        if self.truth != other.truth:
            raise RelstudyError("tables of different ground truth cannot be merged")
        return CountTable(
            self.total + other.total, self.relevant + other.relevant, _about_both(self.about, other.about)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as .npz: two integer arrays and a JSON header.

        Examples
        --------
        >>> import tempfile
        >>> table = CountTable(np.array([[1, 2]]), np.array([[1, 0]]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.save(f"{folder}/counts.npz")
        ...     CountTable.load(f"{folder}/counts.npz")
        CountTable(1 queries x 3 codes of 1 bits, 1 relevant pairs by unknown)
        """
        ARCHIVE.write(path, self.about, {"total": self.total, "relevant": self.relevant})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CountTable:
        """Read a table; anything else is refused in one sentence.

        Examples
        --------
        >>> import tempfile
        >>> table = CountTable(np.array([[1, 2]]), np.array([[1, 0]]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.save(f"{folder}/counts.npz")
        ...     CountTable.load(f"{folder}/counts.npz")
        CountTable(1 queries x 3 codes of 1 bits, 1 relevant pairs by unknown)
        """
        about, arrays = ARCHIVE.read(path, "total", "relevant")
        return cls(arrays["total"].astype(np.int64), arrays["relevant"].astype(np.int64), about)


def _about_both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    both = dict(first)
    both["database"] = [*first.get("database", []), *second.get("database", [])]
    return both


def merge(tables: Iterable[CountTable]) -> CountTable:
    """The sum of the tables of disjoint shards, at least one."""
    return reduce(CountTable.__add__, tables)


def without_self(table: CountTable) -> CountTable:
    """The table of queries that stand in the database themselves, each query's own code taken out.

    The query's own code lies at distance 0. It is one of its relevant codes, except where the truth left it out already
    (`nearest_neighbours` with `exclude_self`).

    Raises
    ------
    RelstudyError
        where a query has no (relevant) code at distance 0

    Examples
    --------
    >>> without_self(CountTable(np.array([[1, 1, 1]]), np.array([[1, 0, 1]]))).total.tolist()
    [[0, 1, 1]]
    """
    check_arguments(without_self, locals())
    table.need_radii()
    relevant_too = SELF_LEFT_OUT not in table.truth
    missing = np.flatnonzero((table.relevant if relevant_too else table.total)[:, 0] == 0)
    if len(missing):
        among = "its own relevant codes" if relevant_too else "the codes"
        raise RelstudyError(
            f"query {missing[0] + 1} is not among {among} at distance 0, so it is not in the database "
            f"({len(missing)} of {table.queries} queries are not)"
        )
    itself = np.eye(1, table.bits + 1, dtype=np.int64)
    relevant = table.relevant - itself if relevant_too else table.relevant
    return CountTable(table.total - itself, relevant, {**table.about, "exclude_self": True})


def has_numba() -> bool:
    """True if numba is installed; it is not imported."""
    try:
        return find_spec("numba") is not None
    except ImportError:
        return False


def usable_engine(engine: Engine = "auto", comparisons: float = np.inf) -> Literal["numba", "numpy"]:
    """`auto` is numba where it can be imported, and numpy elsewhere: the integers are the same, only slower to come.

    Parameters
    ----------
    comparisons : of 64 bits of two codes each; `FEW` or fewer are left to numpy
    """
    if engine == "numpy" or (engine == "auto" and comparisons <= FEW and "numba" not in sys.modules):
        return "numpy"
    try:
        import numba  # noqa: F401
    except ImportError as error:
        if engine == "auto":
            return "numpy"
        raise RelstudyError(
            f"numba cannot be imported ({error}); the engine numpy gives the same integers, slower"
        ) from None
    return "numba"


def count(
    queries: Codes, database: Codes, truth: Truth, *, engine: Engine = "auto", about: dict[str, Any] | None = None
) -> CountTable:
    """Count codes and relevant codes by Hamming distance from each query.

    Parameters
    ----------
    queries, database : codes of the same length
    truth : which codes are relevant to which query
    engine : `numba` (compiled, all cores), `numpy`, or `auto`, which is numba where it can be imported and the codes
        are many
    about : kept with the table

    Returns
    -------
    The count table. Memory: the database's codes once more, grouped by class, and the table itself.

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.labels import Labels
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 1], [1, 1]], dtype=bool))
    >>> truth = LabelTruth(Labels(classes=np.array([7])), Labels(classes=np.array([7, 8, 7])))
    >>> table = count(codes.take(slice(0, 1)), codes, truth, engine="numpy")
    >>> table.total.tolist(), table.relevant.tolist()
    ([[1, 1, 1]], [[1, 0, 1]])
    """
    check_lengths(queries, database)
    if queries.bits > LONGEST:
        raise RelstudyError(f"codes of {queries.bits} bits are too long to count; {LONGEST} bits are the most")
    check_sizes(truth, len(queries), len(database))
    comparisons = len(queries) * database.columns.size
    counter = _by_numba if usable_engine(engine, comparisons) == "numba" else _by_numpy
    total, relevant = counter(queries, database, truth)
    return CountTable(total, relevant, {**facts_of(truth), **(about or {})})


def scan(queries: Codes, database: Codes) -> np.ndarray:
    """Database codes at each distance from each query, whatever is relevant, on one thread: int64 (M, Q + 1)."""
    if usable_engine() == "numpy":
        return np.stack(
            [np.bincount(database.distances_from(row), minlength=queries.bits + 1) for row in queries.rows()]
        )
    import numba

    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        return _totals(queries, database)
    finally:
        numba.set_num_threads(threads)


def _by_numba(queries: Codes, database: Codes, truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    from relstudy.analysis.hashing.counting import kernels

    rows, bits = queries.rows(), queries.bits
    if isinstance(truth, LabelTruth) and truth.queries.masks is not None:
        assert truth.database.masks is not None
        marks = np.ascontiguousarray(truth.queries.masks.T)
        return kernels.count_by_labels(database.columns, truth.database.masks, rows, marks, bits)
    classes = ByClass.of(truth) if isinstance(truth, LabelTruth) else None
    # Each class costs a pass over a joint histogram; many small ones are counted each by its own queries.
    if classes is not None and len(classes.starts) * (bits + 1) ** 2 <= len(database):
        columns = database.take(classes.order).columns
        return _by_class(columns, classes.starts, rows, classes.query_class, bits)
    total = _totals(queries, database)
    if classes is None:
        return total, _relevant_apart(queries, database, truth.of)
    columns = database.take(classes.order).columns
    return total, kernels.count_own_class(columns, classes.starts, rows, classes.query_class, bits)


def _totals(queries: Codes, database: Codes) -> np.ndarray:
    one_class, nobodys = np.array([0, len(database)]), np.full(len(queries), -1)
    return _by_class(database.columns, one_class, queries.rows(), nobodys, queries.bits)[0]


def _by_class(
    columns: np.ndarray, starts: np.ndarray, queries: np.ndarray, classes: np.ndarray, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """By the kernel that is faster on this processor; both give the same integers."""
    from relstudy.analysis.hashing.counting import kernels, nibbles

    kernel = nibbles if nibbles.is_faster(len(queries), bits) else kernels
    return kernel.count_by_class(columns, starts, queries, classes, bits)


def _relevant_apart(queries: Codes, database: Codes, of: Callable[[int], np.ndarray]) -> np.ndarray:
    side = queries.bits + 1
    relevant = np.empty((len(queries), side), dtype=np.int64)
    for i, query in enumerate(queries.rows()):
        relevant[i] = np.bincount(database.take(of(i)).distances_from(query), minlength=side)
    return relevant


def _by_numpy(queries: Codes, database: Codes, truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    side = queries.bits + 1
    total, relevant = np.empty((2, len(queries), side), dtype=np.int64)
    for i, query in enumerate(queries.rows()):
        distance = database.distances_from(query)
        total[i] = np.bincount(distance, minlength=side)
        relevant[i] = np.bincount(distance[truth.of(i)], minlength=side)
    return total, relevant
