"""Graph-regularised hashing: regularise and project (Moran and Lavrenko 2015; Moran 2016, chapter 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from relstudy.analysis.hashing.encoders.base import Encoder, share_a_label
from relstudy.analysis.hashing.encoders.projections import ITQ
from relstudy.common.options.declaration import option

ALPHAS = (0.6, 0.7, 0.8, 0.9, 1.0)
"""Weights of the graph that are tried; at the first the codes are those of ITQ."""
MOST_TRIED = 1000
"""Training items on which the weight is chosen."""


@dataclass
class GRH(Encoder):
    """Smooth another encoder's bits over the graph of pairs that share a label, then learn hyperplanes.

    Each round sets L <- sign(alpha D^-1 S L + (1 - alpha) L0) and refits one linear classifier a bit. S links training
    points that share a class, or at least one label; D holds their degrees.

    Parameters
    ----------
    alpha : weight of the graph against the first bits L0, from 0 to 1; by default one of `ALPHAS`, chosen on a part of
        the training data that is held out for it. A point's bit follows its neighbours' mean m where alpha |m| is above
        1 - alpha; in a graph of whole classes |m| is seldom near 1, so that 0.6 changes next to nothing and the codes
        stay those of ITQ. More helps where the labels are what is looked for, and harms where they are not.
    rounds : of smoothing and refitting
    strength : C of the linear classifiers
    """

    alpha: float | None = option(None, "Weight of the graph.", at_least=0, at_most=1)
    rounds: int = option(4, "Rounds of smoothing and refitting.", at_least=1)
    strength: float = option(1.0, "C of the linear classifiers.", above=0)
    supervised: ClassVar[bool] = True
    about_learning: ClassVar[tuple[str, ...]] = ("held_out_",)

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        assert labels is not None
        self.held_out_: dict[float, tuple[float, float]] = {}
        if self.alpha is None:
            self.held_out_ = self._tried(vectors, labels)
        self.alpha_ = self.alpha if self.alpha is not None else one_standard_error(self.held_out_)
        self._fit_planes(vectors, labels)

    def choice(self) -> str:
        """The weight of the graph and where it comes from, as a sentence."""
        if not self.held_out_:
            return f"alpha {self.alpha_:g}, as given"
        tried = ", ".join(f"{alpha:g}: {mean:.4f}" for alpha, (mean, _) in self.held_out_.items())
        return (
            f"alpha {self.alpha_:g}, the smallest whose mAP on held-out training items lies within one standard error "
            f"of the best ({tried})"
        )

    def _tried(self, vectors: np.ndarray, labels: np.ndarray) -> dict[float, tuple[float, float]]:
        """Mean over held-out queries of average precision by shared labels, and how far its difference from the best
        may err, for each alpha."""
        order = np.random.default_rng(self.seed).permutation(len(vectors))[:MOST_TRIED]
        held_out, rest = np.split(order, [max(2, len(order) // 5)])
        if len(rest) < 2:
            return {ALPHAS[0]: (0.0, 0.0)}
        precision = {}
        for alpha in ALPHAS:
            encoder = replace(self, alpha=alpha).fit(vectors[rest], labels[rest])
            codes = [encoder.encode(vectors[rows]).unpacked() for rows in (held_out, rest)]
            precision[alpha] = _average_precision(codes[0], codes[1], share_a_label(labels[held_out], labels[rest]))
        means = {alpha: float(values.mean()) for alpha, values in precision.items()}
        best = precision[max(means, key=lambda alpha: means[alpha])]
        return {alpha: (means[alpha], _standard_error(best - own)) for alpha, own in precision.items()}

    def _fit_planes(self, vectors: np.ndarray, labels: np.ndarray) -> None:
        start = ITQ(min(self.bits, vectors.shape[1]), self.seed).fit(vectors)
        first = _more_bits(_signs(start.project(vectors)), self.bits, self.seed)
        self.mean_ = vectors.mean(axis=0)
        self.scale_ = float(vectors.std()) or 1.0
        scaled = (vectors - self.mean_) / self.scale_
        neighbourhood = Neighbourhood.of(labels)
        self.weights_, self.offsets_ = np.zeros((vectors.shape[1], self.bits)), np.zeros(self.bits)
        bits, targets = first, np.zeros_like(first)
        for _ in range(self.rounds):
            smooth = _signs(self.alpha_ * neighbourhood.mean(bits) + (1 - self.alpha_) * first)
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
    """Points that share a label, without an n x n matrix: points with the same labels are looked at together.

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


def one_standard_error(tried: dict[float, tuple[float, float]]) -> float:
    """The smallest setting whose mean lies within one standard error of the best (Breiman et al. 1984).

    Parameters
    ----------
    tried : setting -> mean, and the standard error of its difference from the best

    Examples
    --------
    >>> one_standard_error({0.6: (0.20, 0.01), 0.8: (0.24, 0.02), 1.0: (0.25, 0.0)})
    0.8
    """
    best = max(mean for mean, _ in tried.values())
    return min(setting for setting, (mean, error) in tried.items() if best - mean <= error)


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf


def _average_precision(queries: np.ndarray, database: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Of each query with a relevant item, ties at their last precision: float (queries,)."""
    some = relevant.any(axis=1)
    if not some.any():
        return np.zeros(1)
    signs = [np.where(bits, 1.0, -1.0) for bits in (queries[some], database)]
    side = queries.shape[1] + 1
    distance = ((side - 1 - signs[0] @ signs[1].T) / 2).astype(int)
    # Each query has numbers of its own for its distances, so that all are counted at once.
    cell = distance + side * np.arange(len(distance))[:, None]
    total, hits = (
        np.bincount(cells.ravel(), minlength=side * len(distance)).reshape(-1, side)
        for cells in (cell, cell[relevant[some]])
    )
    precision = np.cumsum(hits, axis=1) / np.maximum(np.cumsum(total, axis=1), 1)
    return np.asarray((hits * precision).sum(axis=1) / hits.sum(axis=1))


def _signs(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, 1.0, -1.0)


def _more_bits(bits: np.ndarray, number: int, seed: int) -> np.ndarray:
    if bits.shape[1] >= number:
        return bits
    rng = np.random.default_rng(seed)
    extra = _signs(bits @ rng.standard_normal((bits.shape[1], number - bits.shape[1])))
    return np.hstack([bits, extra])
