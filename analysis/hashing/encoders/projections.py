"""Hyperplanes through the mean: random (LSH), principal (PCAH), rotated (PCA-RR), and rotated to fit (ITQ)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relstudy.analysis.hashing.encoders.base import Encoder, principal_directions, random_rotation
from relstudy.common.options.declaration import option


@dataclass
class _Hyperplanes(Encoder):
    def _set(self, mean: np.ndarray, directions: np.ndarray) -> None:
        self.mean_, self.directions_ = mean, directions

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray((vectors - self.mean_) @ self.directions_)


@dataclass
class LSH(_Hyperplanes):
    """Random hyperplanes (Charikar 2002): the chance that a bit differs is the angle over pi."""

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        rng = np.random.default_rng(self.seed)
        self._set(vectors.mean(axis=0), rng.standard_normal((vectors.shape[1], self.bits)))


@dataclass
class PCAH(_Hyperplanes):
    """The sign of each leading principal component (Wang, Kumar and Chang 2010). At most D bits."""

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        mean = vectors.mean(axis=0)
        self._set(mean, principal_directions(vectors - mean, self.bits))


@dataclass
class PCARR(_Hyperplanes):
    """Principal components under a random rotation, which spreads the variance over the bits (Gong et al. 2013)."""

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        mean = vectors.mean(axis=0)
        rotation = random_rotation(self.bits, np.random.default_rng(self.seed))
        self._set(mean, principal_directions(vectors - mean, self.bits) @ rotation)


@dataclass
class ITQ(_Hyperplanes):
    """Iterative quantisation (Gong et al. 2013): rotate the principal components to lie close to binary corners.

    Alternates codes B = sign(V R) with the orthogonal Procrustes solution for R; the loss |B - V R| never rises.
    """

    iterations: int = option(50, "Rotations that are tried.", at_least=0)
    about_learning: ClassVar[tuple[str, ...]] = ("losses_",)

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        mean = vectors.mean(axis=0)
        directions = principal_directions(vectors - mean, self.bits)
        components = (vectors - mean) @ directions
        rotation = random_rotation(self.bits, np.random.default_rng(self.seed))
        self.losses_ = []
        for _ in range(self.iterations):
            turned = components @ rotation
            corners = np.where(turned > 0, 1.0, -1.0)
            self.losses_.append(float(((corners - turned) ** 2).sum()))
            left, _, right = np.linalg.svd(components.T @ corners)
            rotation = left @ right
        self._set(mean, directions @ rotation)
