"""Codes for two kinds of descriptors of the same items: canonical correlation analysis, bit by bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.encoders.base import Encoder, free_signs
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import finite_numbers, plain_array


@dataclass
class View(Encoder):
    """One side of a `CrossModal`: the sign of its descriptors along each canonical direction."""

    mean_: np.ndarray | None = None
    directions_: np.ndarray | None = None

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        raise RelstudyError("the two views of a cross-modal encoder are learned together; see CrossModal")

    def project(self, vectors: np.ndarray) -> np.ndarray:
        assert self.mean_ is not None and self.directions_ is not None
        return np.asarray((vectors - self.mean_) @ self.directions_)


@dataclass
class CrossModal:
    """Codes that compare pictures with texts, or any two kinds of descriptors of the same items.

    Kumar and Udupa (2011) minimise the Hamming distances of similar items over both views, relaxed to a generalised
    eigenproblem. Where each item is similar to itself alone, as here, every distance within a view vanishes, what is
    left is the distance of an item's two codes, and the solution is that of canonical correlation analysis.

    Parameters
    ----------
    bits : code length, at most the numbers of the shorter descriptor
    ridge : added to each covariance, as a share of its mean variance, so that it can be inverted

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal((200, 2))
    >>> first, second = shared @ rng.standard_normal((2, 5)), shared @ rng.standard_normal((2, 3))
    >>> encoder = CrossModal(bits=2).fit(first, second)
    >>> bool((encoder.first.encode(first).columns == encoder.second.encode(second).columns).mean() > 0.9)
    True
    """

    bits: int
    ridge: float = 1e-4

    def fit(self, first: np.ndarray, second: np.ndarray) -> CrossModal:
        """Learn from descriptors (n, D1) and (n, D2) of the same n items, in the same order.

        Raises
        ------
        RelstudyError
            for different numbers of items, more bits than numbers, or numbers that are not finite
        """
        first, second = plain_array(first, "first"), plain_array(second, "second")
        for side in (first, second):
            if side.ndim != 2:
                raise RelstudyError(f"descriptors of the shape (n, D) are needed, not {side.shape}")
        if len(first) != len(second):
            raise RelstudyError(f"{len(first)} and {len(second)} descriptors: each item needs one of both kinds")
        if self.bits < 1:
            raise RelstudyError(f"at least one bit is needed, not {self.bits}")
        if len(first) < 2 or self.bits > (most := min(first.shape[1], second.shape[1])):
            raise RelstudyError(
                f"{self.bits} bits from canonical directions need at least two items and descriptors of {self.bits} "
                f"numbers; there are {len(first)} items, and the shorter descriptor has {most if len(first) > 1 else 0}"
            )
        sides = [finite_numbers(side, "training descriptors") for side in (first, second)]
        if not all(np.isfinite(np.vdot(side, side)) for side in sides):
            raise RelstudyError("training descriptors must be finite numbers whose squares can be added up")
        means = [side.mean(axis=0) for side in sides]
        centred = [side - mean for side, mean in zip(sides, means, strict=True)]
        whiteners = [_whitener(side, self.ridge) for side in centred]
        left, values, right = np.linalg.svd(whiteners[0].T @ (centred[0].T @ centred[1]) @ whiteners[1] / len(first))
        self.correlations_ = values[: self.bits]
        turned = [whiteners[0] @ left[:, : self.bits], whiteners[1] @ right.T[:, : self.bits]]
        signs = free_signs(turned[0])
        self.first, self.second = (self._view(mean, part * signs) for mean, part in zip(means, turned, strict=True))
        return self

    def _view(self, mean: np.ndarray, directions: np.ndarray) -> View:
        view = View(self.bits, mean_=mean, directions_=directions)
        view.width_ = len(mean)
        return view

    def encode(self, first: np.ndarray, second: np.ndarray) -> tuple[Codes, Codes]:
        """The codes of both views."""
        return self.first.encode(first), self.second.encode(second)


def _whitener(centred: np.ndarray, ridge: float) -> np.ndarray:
    """W (D, D) with W.T C W = 1 for the covariance C, its mean variance times `ridge` added."""
    covariance = centred.T @ centred / len(centred)
    variance = np.trace(covariance) / len(covariance)
    more = ridge * variance if variance > 0 else 1.0  # descriptors that are all equal have no direction
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance + more * np.eye(len(covariance)))).T)
