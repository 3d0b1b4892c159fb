"""Spherical hashing (Heo et al. 2012)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.common.options.declaration import option


@dataclass
class SphericalHashing(Encoder):
    """One hypersphere a bit: set inside. Each holds half of the training data, each two share a quarter.

    Pivots push each other apart where they share more than a quarter and pull together where less, until the mean
    deviation is below `mean_tolerance` and its spread below `spread_tolerance` of a quarter, or `iterations` are done.
    """

    iterations: int = option(50, "Most moves of the spheres.", at_least=0)
    mean_tolerance: float = option(
        0.10, "Tolerance of the mean overlap, as a share of a quarter of the points.", at_least=0
    )
    spread_tolerance: float = option(0.15, "Tolerance of the overlaps' spread, likewise.", at_least=0)

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        rng = np.random.default_rng(self.seed)
        number, quarter = len(vectors), len(vectors) / 4
        pivots = np.array(
            [vectors[rng.choice(number, min(5, number), replace=False)].mean(axis=0) for _ in range(self.bits)]
        )
        others = np.triu_indices(self.bits, 1)
        for _ in range(self.iterations if self.bits > 1 else 0):
            inside, _ = _inside(vectors, pivots)
            shared = inside.T.astype(float) @ inside
            off = np.abs(shared[others] - quarter)
            done = (
                off.mean() <= self.mean_tolerance * quarter and shared[others].std() <= self.spread_tolerance * quarter
            )
            if done:
                break
            force = 0.5 * (shared - quarter) / quarter
            np.fill_diagonal(force, 0.0)
            pivots = pivots + (force.sum(axis=1, keepdims=True) * pivots - force @ pivots) / self.bits
        self.pivots_ = pivots
        self.squared_radius_ = _inside(vectors, pivots)[1]

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray(self.squared_radius_ - _squared_distances(vectors, self.pivots_))


def _squared_distances(vectors: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    products = (vectors**2).sum(axis=1)[:, None] - 2 * vectors @ pivots.T + (pivots**2).sum(axis=1)
    return np.asarray(products)


def _inside(vectors: np.ndarray, pivots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distances = _squared_distances(vectors, pivots)
    radius = np.median(distances, axis=0)
    return distances < radius, radius
