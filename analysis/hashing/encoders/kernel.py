"""Codes in a kernel's space: random Fourier features (SKLSH), and labels fitted bit by bit (KSH)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from relstudy.analysis.hashing.encoders.base import Encoder, share_a_label
from relstudy.analysis.hashing.truth.vector_truth import epsilon_radius
from relstudy.common.options.declaration import option


@dataclass
class SKLSH(Encoder):
    """Locality-sensitive codes from shift-invariant kernels (Raginsky and Lazebnik 2009).

    A bit is sign(cos(w x + b) + t): w Gaussian, b uniform on a turn, t uniform on [-1, 1]. `width` is the Gaussian
    kernel's, by default the mean distance to the 50th neighbour of training points.
    """

    width: float | None = option(None, "Width of the Gaussian kernel.", above=0)

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        rng = np.random.default_rng(self.seed)
        width = self.width or _neighbour_distance(vectors, self.seed)
        self.mean_ = vectors.mean(axis=0)
        self.frequency_ = rng.standard_normal((vectors.shape[1], self.bits)) / width
        self.phase_ = rng.uniform(0, 2 * np.pi, self.bits)
        self.threshold_ = rng.uniform(-1, 1, self.bits)

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray(np.cos((vectors - self.mean_) @ self.frequency_ + self.phase_) + self.threshold_)


def _neighbour_distance(vectors: np.ndarray, seed: int) -> float:
    # The radius of an epsilon-ball, or the smallest number where all training vectors are equal.
    return epsilon_radius(vectors, neighbours=min(50, len(vectors) - 1), seed=seed) or np.finfo(float).tiny


@dataclass
class KSH(Encoder):
    """Supervised hashing with kernels (Liu et al. 2012).

    Each bit is the sign of a kernel expansion on `anchors` training points. Bit after bit, the inner products of codes
    are fitted to +Q for pairs that share a class (or a label) and -Q for others: a spectral
    relaxation, then gradient steps on the smooth objective. `labelled` training points make the pairs.
    """

    anchors: int = option(300, "Training points of the kernel expansion.", at_least=1)
    labelled: int = option(1000, "Training points that make the pairs.", at_least=1)
    supervised: ClassVar[bool] = True

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        assert labels is not None
        rng = np.random.default_rng(self.seed)
        number = len(vectors)
        self.anchors_ = vectors[rng.choice(number, min(self.anchors, number), replace=False)]
        chosen = rng.choice(number, min(self.labelled, number), replace=False)
        self.scale_ = float(np.mean(cdist(vectors[chosen], self.anchors_, "sqeuclidean"))) or 1.0
        raw = self._kernel(vectors)
        self.mean_ = raw.mean(axis=0)
        kernel = raw[chosen] - self.mean_
        residue = self.bits * np.where(share_a_label(labels[chosen], labels[chosen]), 1.0, -1.0)
        gram = kernel.T @ kernel
        gram += 1e-6 * (np.trace(gram) / len(gram) or 1.0) * np.eye(len(gram))
        weights = np.empty((kernel.shape[1], self.bits))
        for bit in range(self.bits):
            weights[:, bit] = _fit_bit(kernel, residue, gram)
            code = np.where(kernel @ weights[:, bit] > 0, 1.0, -1.0)
            residue -= np.outer(code, code)
        self.weights_ = weights

    def _kernel(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-cdist(vectors, self.anchors_, "sqeuclidean") / (2 * self.scale_)))

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray((self._kernel(vectors) - self.mean_) @ self.weights_)


def _fit_bit(kernel: np.ndarray, residue: np.ndarray, gram: np.ndarray) -> np.ndarray:
    size = len(gram)
    _, vector = eigh(kernel.T @ residue @ kernel, gram, subset_by_index=(size - 1, size - 1))
    relaxed = vector[:, 0] * np.sqrt(len(kernel))

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        smooth = np.tanh(0.5 * (kernel @ weight))
        pulled = residue @ smooth
        return -float(smooth @ pulled), -(kernel.T @ (pulled * (1 - smooth**2)))

    refined = minimize(loss, relaxed, jac=True, method="L-BFGS-B", options={"maxiter": 30}).x
    before, after = (np.where(kernel @ w > 0, 1.0, -1.0) for w in (relaxed, refined))
    return np.asarray(refined if after @ residue @ after >= before @ residue @ before else relaxed)
