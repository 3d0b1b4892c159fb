"""Relevance graded by the number of shared labels: ACG, nDCG and WAP at k, over every order of ties.

The measures of multi-label retrieval (Zhao et al. 2015): with r(i) labels shared by the result at rank i,

    ACG@k   the mean of r over the first k,
    nDCG@k  the sum of (2^r - 1) / log2(1 + i) over the first k, over its largest value,
    WAP@k   the mean of ACG@i over the relevant ranks i among the first k.

A group of n ties with m relevant codes and S shared labels in all, N codes and G shared labels before it, adds to the
sum of WAP, with T of it among the first k and a = (m - 1)/(n - 1), on average over its orders

    (1/n) { S a T + [m G + S - S a (N + 1)] (H(N + T) - H(N)) },

which for grades of 0 and 1 is the group's part of average precision. Within ties the best order is by falling grade and
the worst by rising: then each grade is a group of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes, check_lengths
from relstudy.analysis.hashing.metrics.average_precision import harmonic_difference
from relstudy.analysis.hashing.metrics.first_ranks import TIES, Tie, check_cut
from relstudy.analysis.hashing.metrics.mean_average_precision import TieInterval
from relstudy.analysis.hashing.options import Empty, Gain
from relstudy.analysis.hashing.truth.relevance import LabelTruth, check_sizes


def shared_label_counts(queries: Codes, database: Codes, truth: LabelTruth) -> np.ndarray:
    """Codes by query, number of shared labels and distance: int64 (M, most shared + 1, Q + 1).

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.labels import Labels, mask_words
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 1], [1, 1]], dtype=bool))
    >>> sets = Labels(masks=mask_words(np.array([[1, 1], [1, 1], [0, 1]], dtype=bool)))
    >>> shared_label_counts(codes, codes, LabelTruth(sets, sets))[0].tolist()
    [[0, 0, 0], [0, 0, 1], [1, 1, 0]]
    """
    check_lengths(queries, database)
    check_sizes(truth, len(queries), len(database))
    grades = _most_shared(truth) + 1
    side = queries.bits + 1
    counts = np.zeros((len(queries), grades, side), dtype=np.int64)
    for query, words in enumerate(queries.rows()):
        cell = _shared(truth, query) * side + database.distances_from(words)
        counts[query] = np.bincount(cell, minlength=grades * side).reshape(grades, side)
    return counts


def _shared(truth: LabelTruth, query: int) -> np.ndarray:
    if truth.queries.masks is None or truth.database.masks is None:
        return np.asarray(truth.database.classes == np.asarray(truth.queries.classes)[query], dtype=np.int64)
    both = truth.database.masks & truth.queries.masks[:, query, None]
    return np.asarray(np.bitwise_count(both).sum(axis=0), dtype=np.int64)


def _most_shared(truth: LabelTruth) -> int:
    return max(int(_shared(truth, query).max(initial=0)) for query in range(len(truth.queries)))


@dataclass(frozen=True)
class GradedFigures:
    """Means over queries at one cut-off, each over every order of ties."""

    acg: TieInterval
    ndcg: TieInterval
    wap: TieInterval

    def as_json(self) -> dict[str, dict[str, float | None]]:
        """acg, ndcg and wap by name, each with its ends over ties."""
        return {"acg": self.acg.as_json(), "ndcg": self.ndcg.as_json(), "wap": self.wap.as_json()}

    def named(self, k: int | None) -> dict[str, dict[str, float | None]]:
        """The same by the names of tables, such as WAP@100, or WAP for the whole ranking."""
        names = {"acg": "ACG", "ndcg": "nDCG", "wap": "WAP"}
        return {names[key] + ("" if k is None else f"@{k}"): figure for key, figure in self.as_json().items()}


def graded_figures(
    counts: np.ndarray, k: int | None = None, gain: Gain = "exponential", no_relevant: Empty = "skip"
) -> GradedFigures:
    """ACG, nDCG and WAP at k.

    Parameters
    ----------
    counts : int64 (M, grades, Q + 1), codes by query, number of shared labels and distance
    k : cut-off; None for the whole ranking
    gain : of nDCG: 2^r - 1, or r

    Examples
    --------
    >>> figures = graded_figures(np.array([[[0, 2], [1, 0], [1, 0]]]), k=2)
    >>> figures.acg.expected, round(figures.wap.optimistic, 4), figures.ndcg.optimistic
    (1.5, 1.75, 1.0)
    """
    check_cut(k)
    codes = int(counts[0].sum())
    cut = codes if k is None else min(k, codes)
    grades = np.arange(counts.shape[1])
    gains = 2.0**grades - 1 if gain == "exponential" else grades.astype(float)
    discount = np.r_[0.0, np.cumsum(1 / np.log2(np.arange(2, codes + 2)))]
    relevant = counts[:, 1:].sum(axis=(1, 2))
    best = _Groups.of(counts.sum(axis=2)[:, :, None], "optimistic", gains).discounted(cut, discount)
    values: dict[str, list[float | None]] = {"acg": [], "ndcg": [], "wap": []}
    for tie in TIES:
        groups = _Groups.of(counts, tie, gains)
        figures = {
            "acg": groups.labels_shared(cut) / (cut if k is None else k),
            "ndcg": groups.discounted(cut, discount) / np.where(relevant > 0, best, 1.0),
            "wap": groups.weighted_precisions(cut) / np.maximum(np.minimum(relevant, cut), 1),
        }
        for name, per_query in figures.items():
            values[name].append(_mean(per_query, relevant > 0, no_relevant, name == "ndcg"))
    return GradedFigures(**{name: TieInterval(*three) for name, three in values.items()})


def _mean(values: np.ndarray, some: np.ndarray, no_relevant: Empty, is_ndcg: bool) -> float | None:
    if no_relevant == "skip":
        return float(values[some].mean()) if some.any() else None
    return float(np.where(some, values, 1.0 if no_relevant == "one" and is_ndcg else 0.0).mean())


@dataclass(frozen=True)
class _Groups:
    """Tied groups in their order, float (M, groups) each: codes, relevant ones, labels shared, gains."""

    codes: np.ndarray
    relevant: np.ndarray
    shared: np.ndarray
    gain: np.ndarray

    @classmethod
    def of(cls, counts: np.ndarray, tie: Tie, gains: np.ndarray) -> _Groups:
        grades = np.arange(counts.shape[1])
        if tie == "expected":
            n = counts.sum(axis=1)
            return cls(
                n, counts[:, 1:].sum(axis=1), np.tensordot(counts, grades, (1, 0)), np.tensordot(counts, gains, (1, 0))
            )
        order = grades[::-1] if tie == "optimistic" else grades
        flat = counts[:, order].transpose(0, 2, 1).reshape(len(counts), -1)
        grade = np.tile(order, counts.shape[2])
        return cls(flat, flat * (grade > 0), flat * grade, flat * gains[grade])

    @property
    def before(self) -> np.ndarray:
        """Codes ranked before each group."""
        return np.asarray(np.cumsum(self.codes, axis=1) - self.codes, dtype=float)

    def taken(self, cut: int) -> np.ndarray:
        """Number of each group among the first."""
        return np.clip(cut - self.before, 0, self.codes)

    def labels_shared(self, cut: int) -> np.ndarray:
        """Labels shared by the first codes, float (M,)."""
        return np.asarray((self.taken(cut) * _share(self.shared, self.codes)).sum(axis=1))

    def discounted(self, cut: int, discount: np.ndarray) -> np.ndarray:
        """Discounted gain of the first codes, float (M,)."""
        first = self.before.astype(int)
        last = first + self.taken(cut).astype(int)
        return np.asarray((_share(self.gain, self.codes) * (discount[last] - discount[first])).sum(axis=1))

    def weighted_precisions(self, cut: int) -> np.ndarray:
        """The sum of ACG at the relevant ranks among the first, float (M,)."""
        n, m, shared = (part.astype(float) for part in (self.codes, self.relevant, self.shared))
        before, taken = self.before, self.taken(cut)
        earlier = np.cumsum(shared, axis=1) - shared
        slope = np.divide(m - 1, n - 1, out=np.zeros_like(n), where=n > 1)
        harmonic = harmonic_difference(before, taken)
        added = shared * slope * taken + (m * earlier + shared - shared * slope * (before + 1)) * harmonic
        return np.asarray(_share(added, n).sum(axis=1))


def _share(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    return np.divide(top, bottom, out=np.zeros(np.shape(top)), where=bottom > 0)
