"""Density-sensitive hashing (Jin, Li, Lin and Cai 2014), the `DSH` of figure 1 of Ding, Li and Li 2018."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.common.options.declaration import option
from relstudy.common.runtime.errors import RelstudyError


@dataclass
class DensitySensitive(Encoder):
    """Hyperplanes midway between neighbouring groups of points; those that halve the points best are kept.

    Parameters
    ----------
    groups_per_bit : groups of k-means for each bit, alpha in the source
    neighbours : two groups are adjacent where one is among so many nearest of the other, r in the source
    rounds : of k-means, p in the source, which stops it early

    Notes
    -----
    A plane's entropy is taken of the groups' sizes, each group on the side of its mean, as the source does.
    """

    groups_per_bit: float = option(1.5, "Groups of k-means for each bit.", above=0)
    neighbours: int = option(3, "Nearest groups to which one is adjacent.", at_least=1)
    rounds: int = option(3, "Rounds of k-means.", at_least=0)

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        number = min(max(2, round(self.groups_per_bit * self.bits)), len(vectors))
        centres, sizes = _grouped(vectors, number, self.rounds, np.random.default_rng(self.seed))
        first, second = _adjacent(centres, self.neighbours, self.bits)
        directions, middles = centres[first] - centres[second], (centres[first] + centres[second]) / 2
        beyond = centres @ directions.T > (middles * directions).sum(axis=1)
        share = sizes @ beyond / sizes.sum()
        kept = np.argsort(-_entropy(share), kind="stable")[: self.bits]
        self.directions_, self.thresholds_ = directions[kept].T, (middles * directions).sum(axis=1)[kept]

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray(vectors @ self.directions_ - self.thresholds_)


def _grouped(vectors: np.ndarray, number: int, rounds: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Means (groups, D) and sizes (groups,) after some rounds of k-means; a group that lost its points stays put."""
    centres = vectors[rng.choice(len(vectors), number, replace=False)].copy()
    for _ in range(rounds):
        squares = (centres**2).sum(axis=1) - 2 * vectors @ centres.T
        nearest = squares.argmin(axis=1)
        sizes = np.bincount(nearest, minlength=number).astype(float)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        filled = sizes > 0
        centres[filled] = sums[filled] / sizes[filled, None]
    return centres, sizes


def _adjacent(centres: np.ndarray, neighbours: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of groups of which one is among the nearest of the other, widened until there is a pair for each bit."""
    groups = len(centres)
    if groups * (groups - 1) // 2 < bits:
        raise RelstudyError(
            f"{bits} bits need {bits} pairs of groups; {groups} training vectors give {groups * (groups - 1) // 2}"
        )
    apart = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    order = apart.argsort(axis=1, kind="stable")
    for reach in range(min(neighbours, groups - 1), groups):
        near = np.zeros((groups, groups), dtype=bool)
        np.put_along_axis(near, order[:, :reach], True, axis=1)
        first, second = np.nonzero(np.triu(near | near.T, 1))
        if len(first) >= bits:
            break
    return first, second


def _entropy(share: np.ndarray) -> np.ndarray:
    parts = np.stack([share, 1 - share])
    logs = np.log(parts, out=np.zeros_like(parts), where=parts > 0)
    return np.asarray(-(parts * logs).sum(axis=0))
