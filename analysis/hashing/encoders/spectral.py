"""Spectral hashing (Weiss, Torralba and Fergus 2009)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.encoders.base import Encoder, principal_directions


@dataclass
class SpectralHashing(Encoder):
    """Bits from the smoothest sine functions along the principal directions, as if the data were uniform in a box.

    A direction of range w has the analytic eigenfunctions sin(pi/2 + k pi x/w); the Q smallest eigenvalues
    (k/w)^2 over all directions give the bits.
    """

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        self.mean_ = vectors.mean(axis=0)
        number = min(self.bits, vectors.shape[1])
        self.directions_ = principal_directions(vectors - self.mean_, number)
        along = (vectors - self.mean_) @ self.directions_
        self.low_, high = along.min(axis=0), along.max(axis=0)
        width = np.maximum(high - self.low_, np.finfo(float).eps)
        modes = np.arange(1, self.bits + 1)[:, None]
        frequency = modes / width
        chosen = np.argsort(frequency, axis=None, kind="stable")[: self.bits]
        mode, self.axis_ = np.unravel_index(chosen, frequency.shape)
        self.frequency_ = np.pi * (mode + 1) / width[self.axis_]

    def project(self, vectors: np.ndarray) -> np.ndarray:
        along = (vectors - self.mean_) @ self.directions_ - self.low_
        return np.asarray(np.cos(along[:, self.axis_] * self.frequency_))
