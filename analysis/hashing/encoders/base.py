"""What every encoder shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from analysis.hashing.codes import Codes
from calibration.errors import RelstudyError


@dataclass
class Encoder(ABC):
    """A map from vectors to binary codes.

    Parameters
    ----------
    bits : code length Q, at least 1
    seed : of everything random
    """

    bits: int
    seed: int = 0
    supervised: ClassVar[bool] = False

    @abstractmethod
    def fit(self, vectors: np.ndarray, labels: np.ndarray | None = None) -> Encoder:
        """Learn from training vectors, float (n, D), and class labels (n,) where the encoder is supervised."""

    @abstractmethod
    def project(self, vectors: np.ndarray) -> np.ndarray:
        """Real values, float (n, Q); a bit is set where its value is above 0."""

    def encode(self, vectors: np.ndarray) -> Codes:
        """The codes of vectors, float (n, D)."""
        return Codes.from_signs(self.project(np.asarray(vectors, dtype=float)))


def train(encoder: Encoder, vectors: np.ndarray, labels: np.ndarray | None = None) -> Encoder:
    """Fit after checking what is given: finite vectors, labels where they are needed."""
    if vectors.ndim != 2 or len(vectors) < 2:
        raise RelstudyError(f"training needs at least two vectors in the shape (n, D); this array has {vectors.shape}")
    if not np.isfinite(vectors).all():
        row, column = np.argwhere(~np.isfinite(vectors))[0]
        raise RelstudyError(
            f"training vectors, row {row}, column {column}: {vectors[row, column]} is not a finite number"
        )
    name = type(encoder).__name__
    if encoder.supervised and labels is None:
        raise RelstudyError(f"{name} learns from labels; give one class for each training vector")
    if labels is not None and len(labels) != len(vectors):
        raise RelstudyError(f"{len(labels)} labels do not fit {len(vectors)} training vectors")
    return encoder.fit(np.asarray(vectors, dtype=float), labels)


def principal_directions(centred: np.ndarray, number: int) -> np.ndarray:
    """The leading eigenvectors of the covariance, float (D, number), by falling variance."""
    if number > centred.shape[1]:
        raise RelstudyError(
            f"{number} bits from principal directions need vectors of at least {number} numbers, these have {centred.shape[1]}"
        )
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return np.ascontiguousarray(vectors[:, ::-1][:, :number])


def random_rotation(size: int, rng: np.random.Generator) -> np.ndarray:
    """A uniformly random orthogonal matrix."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return np.asarray(q * np.sign(np.diag(r)))
