"""Graph-regularised hashing: regularise and project (Moran and Lavrenko 2015; Moran 2016, chapter 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.encoders.projections import ITQ
from relstudy.common.errors import RelstudyError


@dataclass
class GRH(Encoder):
    """Smooth another encoder's bits over the graph of pairs that share a label, then learn hyperplanes.

    Each round sets L <- sign(alpha D^-1 S L + (1 - alpha) L0) and refits one linear classifier a bit. S links training
    points that share a class, or at least one label; D holds their degrees.

    Parameters
    ----------
    alpha : weight of the graph against the first bits L0, from 0 to 1. A point's bit follows its neighbours' mean m
        where alpha |m| is above 1 - alpha; in a graph of whole classes |m| is seldom near 1, so that 0.6 changes next
        to nothing and the codes stay those of ITQ.
    rounds : of smoothing and refitting
    strength : C of the linear classifiers
    """

    alpha: float = 0.9
    rounds: int = 4
    strength: float = 1.0
    supervised: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise RelstudyError(f"alpha of grh must be from 0 to 1, not {self.alpha}")

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        assert labels is not None
        start = ITQ(min(self.bits, vectors.shape[1]), self.seed).fit(vectors)
        first = _more_bits(_signs(start.project(vectors)), self.bits, self.seed)
        self.mean_ = vectors.mean(axis=0)
        self.scale_ = float(vectors.std()) or 1.0
        scaled = (vectors - self.mean_) / self.scale_
        neighbourhood = Neighbourhood.of(labels)
        self.weights_, self.offsets_ = np.zeros((vectors.shape[1], self.bits)), np.zeros(self.bits)
        bits, targets = first, np.zeros_like(first)
        for _ in range(self.rounds):
            smooth = _signs(self.alpha * neighbourhood.mean(bits) + (1 - self.alpha) * first)
            # A bit whose targets are those of the round before has its classifier already.
            changed = np.flatnonzero((smooth != targets).any(axis=0))
            if not len(changed):
                break
            self._refit(scaled, smooth, changed)
            targets, bits = smooth, _signs(self.project(vectors))

    def _refit(self, scaled: np.ndarray, targets: np.ndarray, columns: np.ndarray) -> None:
        for bit in columns:
            target = targets[:, bit]
            if len(np.unique(target)) == 1:
                self.weights_[:, bit], self.offsets_[bit] = 0.0, target[0]
                continue
            plane = LinearSVC(C=self.strength, dual=False, random_state=self.seed).fit(scaled, target)
            self.weights_[:, bit], self.offsets_[bit] = plane.coef_[0], float(plane.intercept_[0])

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray((vectors - self.mean_) / self.scale_ @ self.weights_ + self.offsets_)


@dataclass(frozen=True)
class Neighbourhood:
    """Who shares a label with whom, without an n x n matrix: points with the same labels are looked at together.

    Parameters
    ----------
    group : int64 (n,), the set of labels of each point
    shares : float (groups, groups), 1 where two sets share a label
    sizes : float (groups,), points of each set
    """

    group: np.ndarray
    shares: sparse.csr_array
    sizes: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray) -> Neighbourhood:
        """From classes (n,) or 0/1 labels (n, L)."""
        if labels.ndim == 1:
            _, group = np.unique(labels, return_inverse=True)
            shares = sparse.eye_array(int(group.max()) + 1, format="csr")
        else:
            sets, group = np.unique(labels != 0, axis=0, return_inverse=True)
            members = sparse.csr_array(sets.astype(float))
            shares = sparse.csr_array((members @ members.T > 0).astype(float))
        return cls(group.ravel(), shares, np.bincount(group.ravel()).astype(float))

    def mean(self, bits: np.ndarray) -> np.ndarray:
        """D^-1 S bits: the mean over those who share a label with each point; 0 for a point without labels."""
        member = sparse.csr_array((np.ones(len(self.group)), (self.group, np.arange(len(self.group)))))
        degree = self.shares @ self.sizes
        total = self.shares @ (member @ bits)
        return np.asarray(np.divide(total, degree[:, None], out=np.zeros_like(total), where=degree[:, None] > 0))[
            self.group
        ]


def _signs(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, 1.0, -1.0)


def _more_bits(bits: np.ndarray, number: int, seed: int) -> np.ndarray:
    if bits.shape[1] >= number:
        return bits
    rng = np.random.default_rng(seed)
    extra = _signs(bits @ rng.standard_normal((bits.shape[1], number - bits.shape[1])))
    return np.hstack([bits, extra])
