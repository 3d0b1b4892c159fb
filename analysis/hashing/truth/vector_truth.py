"""Ground truth from distances between vectors, in blocks: epsilon-balls and nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from relstudy.analysis.hashing.truth.relevance import SELF_LEFT_OUT, ListedTruth
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import finite_numbers, plain_array

BLOCK = 1 << 14
"""Database rows in one block of distances."""
QUERIES = 1 << 8
"""Queries in one block: with `BLOCK` rows, 32 MB of distances."""

TOO_LARGE = "the squares of these vectors are too large for a number; scale the vectors down"

Watch = Callable[[range], Iterator[int]]


def epsilon_radius(training: np.ndarray, *, sample: int = 100, neighbours: int = 50, seed: int = 0) -> float:
    """The radius at which a training point has `neighbours` others on average (Moran 2016, section 3.3.1).

    Parameters
    ----------
    training : float (n, D), n above `neighbours`
    sample : how many training points are looked at
    neighbours : R, the point itself not counted
    seed : of the sample

    Returns
    -------
    The mean distance from the sampled points to their R-th neighbour.

    Raises
    ------
    RelstudyError
        if there are no more training vectors than `neighbours`, or one of the two counts is below 1

    Examples
    --------
    >>> epsilon_radius(np.arange(100.0)[:, None], sample=100, neighbours=1)
    1.0
    """
    check_arguments(epsilon_radius, locals())
    training = plain_array(training, "training")
    if sample < 1 or neighbours < 1:
        raise RelstudyError("a sample and a number of neighbours from 1 are needed")
    if len(training) <= neighbours:
        raise RelstudyError(
            f"{neighbours} neighbours need more than {neighbours} training vectors, there are {len(training)}"
        )
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(training), min(sample, len(training)), replace=False)
    nearest = np.full((len(chosen), neighbours), np.inf)
    for start, distances in _blocks(training[chosen], training):
        rows = np.arange(start, start + distances.shape[1])
        distances[chosen[:, None] == rows[None, :]] = np.inf
        nearest = np.sort(np.hstack([nearest, distances]), axis=1)[:, :neighbours]
    return float(np.sqrt(nearest[:, -1]).mean())


def epsilon_ball(
    queries: np.ndarray, database: np.ndarray, radius: float, watch: Watch = iter, *, exclude_self: bool = False
) -> ListedTruth:
    """Relevant within `radius` (Euclidean) of the query, Eq. 3.1 of Moran 2016.

    Parameters
    ----------
    queries, database : float (M, D) and (N, D)
    watch : wraps the blocks of queries as they are done, to show progress
    exclude_self : queries stand in the database too; the first row that equals a query is not relevant to it

    Raises
    ------
    RelstudyError
        for a radius below 0, or vectors of other widths

    Examples
    --------
    >>> epsilon_ball(np.array([[0.0]]), np.array([[0.5], [2.0]]), radius=1.0).of(0).tolist()
    [0]
    """
    check_arguments(epsilon_ball, locals())
    queries, database = plain_array(queries, "queries"), plain_array(database, "database")
    if not 0 <= radius < np.inf:
        raise RelstudyError(f"the radius of an epsilon-ball must be a number from 0, not {radius}")
    lists: list[np.ndarray] = []
    for first in watch(range(0, len(queries), QUERIES)):
        some = queries[first : first + QUERIES]
        members: list[list[np.ndarray]] = [[] for _ in some]
        for start, distances in _blocks(some, database):
            for rows, row in zip(members, distances, strict=True):
                rows.append(np.flatnonzero(row <= radius**2) + start)
        lists += [np.concatenate([np.empty(0, dtype=np.int64), *rows]) for rows in members]
    kind = f"epsilon-ball of radius {radius:g}"
    return _without_self(lists, queries, database, kind) if exclude_self else _listed(lists, database, kind)


def nearest_neighbours(
    queries: np.ndarray, database: np.ndarray, k: int, watch: Watch = iter, *, exclude_self: bool = False
) -> ListedTruth:
    """Relevant when among the k nearest (Euclidean); ties by the lower row number.

    Parameters
    ----------
    queries, database : float (M, D) and (N, D)
    watch, exclude_self : as in `epsilon_ball`

    Raises
    ------
    RelstudyError
        for k above the size of the database or below 1, or vectors of other widths

    Examples
    --------
    >>> nearest_neighbours(np.array([[0.0]]), np.array([[3.0], [1.0], [2.0]]), 2).of(0).tolist()
    [1, 2]
    """
    check_arguments(nearest_neighbours, locals())
    queries, database = plain_array(queries, "queries"), plain_array(database, "database")
    if not 1 <= k <= len(database) - exclude_self:
        less = " less the query itself" if exclude_self else ""
        raise RelstudyError(f"k must be from 1 to the database size {len(database)}{less}")
    nearest = k + exclude_self
    lists: list[np.ndarray] = []
    for first in watch(range(0, len(queries), QUERIES)):
        some = queries[first : first + QUERIES]
        best, rows = [np.empty(0)] * len(some), [np.empty(0, dtype=np.int64)] * len(some)
        for start, distances in _blocks(some, database):
            for query, row in enumerate(distances):
                # What was kept stands first and has the lower row numbers, so that a stable sort breaks ties by them.
                every = np.concatenate([best[query], row])
                near = _smallest(every, nearest)
                names = np.concatenate([rows[query], np.arange(start, start + len(row))])
                best[query], rows[query] = every[near], names[near]
        lists += rows
    kind = f"{k}-NN"
    return _without_self(lists, queries, database, kind) if exclude_self else _listed(lists, database, kind)


def _listed(lists: list[np.ndarray], database: np.ndarray, kind: str) -> ListedTruth:
    return ListedTruth.from_lists(lists, len(database), kind)


def _without_self(lists: list[np.ndarray], queries: np.ndarray, database: np.ndarray, kind: str) -> ListedTruth:
    shorter = []
    for number, (query, rows) in enumerate(zip(queries, lists, strict=True)):
        same = rows[(database[rows] == query).all(axis=1)]
        if not len(same):
            raise RelstudyError(
                f"query {number + 1} is not in the database, so it cannot be left out of its neighbours"
            )
        # Of several equal rows one is the query itself; which one changes no figure.
        shorter.append(rows[rows != same.min()])
    return _listed(shorter, database, f"{kind}, {SELF_LEFT_OUT}")


def _smallest(values: np.ndarray, k: int) -> np.ndarray:
    """Places of the k smallest values in order, equal ones by place."""
    candidates = (
        np.arange(len(values)) if len(values) <= k else np.flatnonzero(values <= np.partition(values, k - 1)[k - 1])
    )
    return np.asarray(candidates[np.argsort(values[candidates], kind="stable")[:k]])


def _blocks(queries: np.ndarray, database: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The first row of each block of the database, and its squared distances from the queries."""
    if queries.ndim != 2 or database.ndim != 2 or queries.shape[1] != database.shape[1]:
        raise RelstudyError(f"query vectors {queries.shape} and database vectors {database.shape} need the same width")
    query_points = finite_numbers(queries, "query vectors")
    query_norms = np.einsum("ij,ij->i", query_points, query_points)[:, None]
    for start in range(0, len(database), BLOCK):
        points = finite_numbers(database[start : start + BLOCK], "database vectors", start)
        norms = query_norms + np.einsum("ij,ij->i", points, points)
        if not np.isfinite(norms).all():
            raise RelstudyError(TOO_LARGE)
        squared = norms - 2 * query_points @ points.T
        # Rounding of the expanded square is relative to the norms; near pairs are measured again, exactly.
        near = squared < 1e-6 * norms
        for query in np.flatnonzero(near.any(axis=1)):
            rows = near[query]
            squared[query, rows] = ((points[rows] - query_points[query]) ** 2).sum(axis=1)
        yield start, squared
