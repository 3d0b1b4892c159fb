"""Graph-regularised hashing: regularise and project (Moran and Lavrenko 2015; Moran 2016, chapter 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.encoders.projections import ITQ


@dataclass
class GRH(Encoder):
    """Starting from another encoder's bits, smooth them over the graph of same-class pairs, then learn hyperplanes.

    Each round sets L <- sign(alpha D^-1 S L + (1 - alpha) L0) and refits one linear classifier a bit. S links training
    points of one class; D holds their degrees.
    """

    alpha: float = 0.6
    rounds: int = 4
    strength: float = 1.0
    supervised: ClassVar[bool] = True

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        assert labels is not None
        start = ITQ(min(self.bits, vectors.shape[1]), self.seed).fit(vectors)
        first = _more_bits(_signs(start.project(vectors)), self.bits, self.seed)
        self.mean_ = vectors.mean(axis=0)
        self.scale_ = float(vectors.std()) or 1.0
        scaled = (vectors - self.mean_) / self.scale_
        _, dense = np.unique(labels, return_inverse=True)
        member = sparse.csr_array((np.ones(len(dense)), (np.arange(len(dense)), dense)))
        sizes = np.bincount(dense)[dense][:, None]
        bits = first
        for _ in range(self.rounds):
            # S is block diagonal by class, so D^-1 S L is the mean of a class: no n x n matrix.
            smooth = self.alpha * (member @ (member.T @ bits)) / sizes + (1 - self.alpha) * first
            bits = _signs(smooth)
            self._refit(scaled, bits)
            bits = _signs(self.project(vectors))

    def _refit(self, scaled: np.ndarray, bits: np.ndarray) -> None:
        weights, offsets = [], []
        for column in bits.T:
            if len(np.unique(column)) == 1:
                weights.append(np.zeros(scaled.shape[1]))
                offsets.append(float(column[0]))
                continue
            plane = LinearSVC(C=self.strength, dual=False, random_state=self.seed).fit(scaled, column)
            weights.append(plane.coef_[0])
            offsets.append(float(plane.intercept_[0]))
        self.weights_, self.offsets_ = np.array(weights).T, np.array(offsets)

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray((vectors - self.mean_) / self.scale_ @ self.weights_ + self.offsets_)


def _signs(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, 1.0, -1.0)


def _more_bits(bits: np.ndarray, number: int, seed: int) -> np.ndarray:
    if bits.shape[1] >= number:
        return bits
    rng = np.random.default_rng(seed)
    extra = _signs(bits @ rng.standard_normal((bits.shape[1], number - bits.shape[1])))
    return np.hstack([bits, extra])
