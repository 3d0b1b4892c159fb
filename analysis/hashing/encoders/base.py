"""The base class of all encoders, and the linear algebra that several share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.truth.labels import Labels, labels_of
from relstudy.common.options.argument_checks import refusal
from relstudy.common.options.declaration import declared
from relstudy.common.options.limits import members, without_none
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import finite_numbers, plain_array

BLOCK = 1 << 16
"""Vectors that are encoded at once."""


@dataclass
class Encoder(ABC):
    """A map from vectors to binary codes, learned from training data alone.

    Parameters
    ----------
    bits : code length Q, at least 1
    seed : of everything random

    Examples
    --------
    >>> from relstudy.analysis.hashing.encoders.projections import LSH
    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    >>> codes = LSH(bits=16).fit(vectors).encode(vectors)
    >>> len(codes), codes.bits
    (3, 16)
    """

    bits: int
    seed: int = 0
    supervised: ClassVar[bool] = False
    takes_columns: ClassVar[bool] = True
    """Labels with a second axis are 0/1, a column a label."""
    about_learning: ClassVar[tuple[str, ...]] = ()
    """Attributes that describe how it learned and change no code."""
    width_: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if not any("option" in each.metadata for each in fields(self)):
            return
        for setting in declared(type(self)):
            value = getattr(self, setting.field)
            kept = value is None and NoneType in members(setting.kind)
            refused = None if kept else refusal(value, without_none(setting.kind), setting.said.limits)
            if refused is not None:
                raise RelstudyError(f"{setting.field} of {type(self).__name__}: {refused}")

    def fit(self, vectors: np.ndarray, labels: np.ndarray | Labels | None = None) -> Self:
        """Learn from training vectors.

        Parameters
        ----------
        vectors : finite numbers (n, D), n at least 2
        labels : classes (n,), or 0/1 labels (n, L) of which a point may have several, or either as `Labels`; where
            supervised
        """
        vectors = plain_array(vectors, "training vectors")
        if vectors.ndim != 2 or len(vectors) < 2 or vectors.shape[1] < 1:
            raise RelstudyError(
                f"training needs at least two vectors in the shape (n, D); this array has {vectors.shape}"
            )
        training = finite_numbers(vectors, "training vectors")
        if not np.isfinite(np.vdot(training, training)):
            raise RelstudyError("training vectors must be finite numbers whose squares can be added up")
        given = self._label_array(labels, len(vectors))
        self.width_ = vectors.shape[1]
        self.learn(training, given)
        return self

    def _label_array(self, labels: np.ndarray | Labels | None, vectors: int) -> np.ndarray | None:
        """The labels of so many training vectors as an array, refused where they do not fit or are needed."""
        if labels is None:
            if self.supervised:
                raise RelstudyError(
                    f"{type(self).__name__} learns from labels; give one class for each training vector"
                )
            return None
        if len(labels) != vectors:
            raise RelstudyError(f"{len(labels)} labels do not fit {vectors} training vectors")
        if isinstance(labels, Labels):
            return labels.as_array()
        array = plain_array(labels, "labels")
        return labels_of(array, names=("labels",))[0].as_array() if array.ndim != 2 or self.takes_columns else array

    @abstractmethod
    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        """Learn from what `fit` has checked."""

    @abstractmethod
    def project(self, vectors: np.ndarray) -> np.ndarray:
        """Real values, float (n, Q); a bit is set where its value is above 0."""

    def encode(self, vectors: np.ndarray) -> Codes:
        """The codes of vectors (n, D), block by block, so that they may lie in a file mapped into memory."""
        words = [Codes.from_signs(values).columns for values in self._projected(vectors)]
        return Codes(np.concatenate(words, axis=1), self.bits)

    def real_values(self, vectors: np.ndarray) -> np.ndarray:
        """The real values whose signs are the bits of the codes: float32 (n, Q)."""
        return np.concatenate([values.astype(np.float32) for values in self._projected(vectors)])

    def learned(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The shape of what it encodes, as JSON, and the arrays that its codes rest on, for a file."""
        arrays = {
            name: np.asarray(value)
            for name, value in vars(self).items()
            if name.endswith("_") and name not in ("width_", *self.about_learning)
        }
        return {"width": self.width_}, arrays

    def restore(self, shape: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take back what `learned` gave; raises what Python raises where it does not fit together."""
        self.width_ = int(shape["width"])
        for name, values in arrays.items():
            setattr(self, name, values)
        self.encode(np.zeros((1, self.width_)))

    def _projected(self, vectors: np.ndarray) -> Iterator[np.ndarray]:
        if not self.width_:
            raise RelstudyError(f"{type(self).__name__} encodes after it has learned: .fit(vectors)")
        vectors = plain_array(vectors, "vectors")
        if vectors.ndim != 2 or vectors.shape[1] != self.width_:
            raise RelstudyError(f"vectors of the shape (n, {self.width_}) are needed, this array has {vectors.shape}")
        for start in range(0, max(1, len(vectors)), BLOCK):
            yield self.project(finite_numbers(vectors[start : start + BLOCK], "vectors", start))


def principal_directions(centred: np.ndarray, number: int) -> np.ndarray:
    """The leading eigenvectors of the covariance, float (D, number), by falling variance, signed by `free_signs`."""
    if number > centred.shape[1]:
        raise RelstudyError(
            f"{number} bits from principal directions need vectors of at least {number} numbers, "
            f"these have {centred.shape[1]}"
        )
    _, vectors = np.linalg.eigh(centred.T @ centred)
    leading = vectors[:, ::-1][:, :number]
    return np.ascontiguousarray(leading * free_signs(leading))


def free_signs(directions: np.ndarray) -> np.ndarray:
    """The sign of each column of (D, number) with which its largest entry is positive: float (number,).

    A direction's sign is free; so chosen, codes do not hang on which library solved for it.
    """
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return np.where(largest < 0, -1.0, 1.0)


def random_rotation(size: int, rng: np.random.Generator) -> np.ndarray:
    """A uniformly random orthogonal matrix."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return np.asarray(q * np.sign(np.diag(r)))


def share_a_label(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Which items of classes (n,) or 0/1 labels (n, L) share one with which of others (m,) or (m, L): bool (n, m)."""
    if first.ndim == 1:
        return np.asarray(first[:, None] == second)
    return np.asarray((first != 0).astype(float) @ (second != 0).T > 0)
