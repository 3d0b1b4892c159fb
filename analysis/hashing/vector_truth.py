"""Ground truth from distances between vectors, in blocks: epsilon-balls and nearest neighbours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.hashing.truth import ListedTruth
from calibration.errors import RelstudyError

BLOCK = 1 << 14
"""Database rows in one block of distances."""


def epsilon_radius(training: np.ndarray, *, sample: int = 100, neighbours: int = 50, seed: int = 0) -> float:
    """The radius at which a training point has `neighbours` others on average (paper 002, section 3.3).

    Parameters
    ----------
    training : float (n, D), n above `neighbours`
    sample : how many training points are looked at
    neighbours : R, the point itself not counted

    Returns
    -------
    The mean distance from the sampled points to their R-th neighbour.

    Examples
    --------
    >>> epsilon_radius(np.arange(100.0)[:, None], sample=100, neighbours=1)
    1.0
    """
    if len(training) <= neighbours:
        raise RelstudyError(
            f"{neighbours} neighbours need more than {neighbours} training vectors, there are {len(training)}"
        )
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(training), min(sample, len(training)), replace=False)
    nearest = np.full((len(chosen), neighbours), np.inf)
    for start, distances in _blocks(training[chosen], training):
        here = np.arange(start, start + distances.shape[1])
        distances[chosen[:, None] == here[None, :]] = np.inf
        nearest = np.sort(np.hstack([nearest, distances]), axis=1)[:, :neighbours]
    return float(np.sqrt(nearest[:, -1]).mean())


def epsilon_ball(queries: np.ndarray, database: np.ndarray, radius: float) -> ListedTruth:
    """Relevant within `radius` (Euclidean) of the query.

    Parameters
    ----------
    queries, database : float (M, D) and (N, D)
    """
    found: list[list[np.ndarray]] = [[] for _ in range(len(queries))]
    for start, distances in _blocks(queries, database):
        for query, row in np.argwhere(distances <= radius**2):
            found[query].append(row + start)
    return ListedTruth.from_lists([np.array(rows, dtype=np.int64) for rows in found], kind="epsilon-ball")


def nearest_neighbours(queries: np.ndarray, database: np.ndarray, k: int) -> ListedTruth:
    """Relevant when among the k nearest (Euclidean); ties by the lower row number.

    Examples
    --------
    >>> nearest_neighbours(np.array([[0.0]]), np.array([[3.0], [1.0], [2.0]]), 2).of(0).tolist()
    [1, 2]
    """
    if not 1 <= k <= len(database):
        raise RelstudyError(f"k must be from 1 to the database size {len(database)}")
    best = np.full((len(queries), k), np.inf)
    rows = np.full((len(queries), k), -1, dtype=np.int64)
    for start, distances in _blocks(queries, database):
        every = np.hstack([best, distances])
        names = np.hstack([rows, np.broadcast_to(np.arange(start, start + distances.shape[1]), distances.shape)])
        order = np.argsort(every, axis=1, kind="stable")[:, :k]
        best, rows = np.take_along_axis(every, order, axis=1), np.take_along_axis(names, order, axis=1)
    return ListedTruth.from_lists(list(rows), kind="k-NN")


def _blocks(queries: np.ndarray, database: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    if queries.ndim != 2 or database.ndim != 2 or queries.shape[1] != database.shape[1]:
        raise RelstudyError(f"query vectors {queries.shape} and database vectors {database.shape} need the same width")
    mine = np.asarray(queries, dtype=float)
    own = (mine**2).sum(axis=1)[:, None]
    for start in range(0, len(database), BLOCK):
        theirs = np.asarray(database[start : start + BLOCK], dtype=float)
        squared = own - 2 * mine @ theirs.T + (theirs**2).sum(axis=1)
        # Rounding of the expanded square is relative to the norms; near pairs are measured again, exactly.
        near = squared < 1e-6 * (own + (theirs**2).sum(axis=1))
        for query, row in np.argwhere(near):
            squared[query, row] = ((mine[query] - theirs[row]) ** 2).sum()
        yield start, squared
