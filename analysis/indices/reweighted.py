"""Indices of pairs whose weight, relevance and judgment all differ by replicate, as where raters are drawn anew.

Where queries are drawn, a pair counts more or less and stays what it is (`precision_recall`, `correlation`); where
raters are, its judgment is another mean of ratings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.indices import kernels
from relstudy.analysis.indices.correlation import group_ends, pearson_of_sums
from relstudy.analysis.resampling.bootstrap import chunks, in_threads
from relstudy.common.compiled import compiled


@compiled
def _retrieval_by_replicate(
    group_end: np.ndarray,
    weight: np.ndarray,
    own: np.ndarray,
    order: np.ndarray,
    mass: np.ndarray,
    hits: np.ndarray,
    start: int,
    stop: int,
) -> np.ndarray:
    """`kernels.retrieval` of each replicate's pairs; `order` is by descending score, as `weight` and `own` are."""
    pairs = len(weight)
    row, once = np.zeros(pairs, dtype=np.int64), np.ones((1, 1))
    w, alone, share = np.empty(pairs), np.empty(pairs), np.empty(pairs)
    figures = np.empty((2, stop - start))
    for b in range(start, stop):
        of_pairs, of_hits = mass[b], hits[b]
        for i in range(pairs):
            here = of_pairs[order[i]]
            w[i] = weight[i] * here
            alone[i] = own[i] * here
            share[i] = min(of_hits[order[i]] / here, 1.0) if here > 0.0 else 0.0
        figures[:, b - start] = kernels.retrieval(row, group_end, w, alone, share, once, 0, 1)[:, 0]
    return figures


@compiled
def _sums_by_bin(
    bin_of: np.ndarray, bins: int, weight: np.ndarray, amount: np.ndarray, start: int, stop: int
) -> np.ndarray:
    """Weight times `amount` [replicates, pairs] of the pairs in each bin, float64 [bins, stop - start]."""
    table = np.zeros((bins, stop - start))
    for b in range(start, stop):
        here = amount[b]
        for i in range(len(weight)):
            table[bin_of[i], b - start] += weight[i] * here[i]
    return table


@dataclass(frozen=True, eq=False)
class ReweightedPairs:
    """Pairs in every replicate.

    Parameters
    ----------
    mass : how much each pair counts, float [replicates, pairs], not negative
    hits : how much of that is relevant, float [replicates, pairs], at most `mass`
    pull : how much each pair's judgment counts, float [replicates, pairs]
    judgment : each pair's judgment less `middle`, float [replicates, pairs]; any value where `pull` is 0
    middle : near which judgments lie, so that they keep their digits in single precision
    """

    mass: np.ndarray
    hits: np.ndarray
    pull: np.ndarray
    judgment: np.ndarray
    middle: float = 0.0

    def part(self, used: np.ndarray) -> ReweightedPairs:
        """Some of the pairs, bool [pairs]."""
        if used.all():
            return self
        columns = [each[:, used] for each in (self.mass, self.hits, self.pull, self.judgment)]
        return ReweightedPairs(columns[0], columns[1], columns[2], columns[3], self.middle)

    def retrieval(self, score: np.ndarray, weight: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Average precision and normalised rank, float [2, replicates]; arguments as of `Retrieval.indices`."""
        order = np.argsort(-score, kind="stable")
        end, w = group_ends(score[order]), weight[order].astype(np.float64)
        alone = w if own is None else own[order].astype(np.float64)
        number = len(self.mass)

        def part_of(part: slice) -> np.ndarray:
            figures: np.ndarray = _retrieval_by_replicate(
                end, w, alone, order, self.mass, self.hits, part.start, part.stop
            )
            return figures

        figures = in_threads(part_of, chunks(number, max(1, min(64, -(-number // 2)))))
        return np.stack([figures[0], 1.0 - figures[1]])

    def points(self, score: np.ndarray, weight: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Precision and recall where pairs with at least each threshold are retrieved, float [thresholds, replicates].

        Parameters
        ----------
        score, weight : float [pairs]
        thresholds : float [thresholds]
        """
        ascending, threshold_of = np.unique(thresholds, return_inverse=True)
        bins = np.searchsorted(ascending, score, side="right")
        w = np.asarray(weight, dtype=np.float64)

        def above(amount: np.ndarray) -> np.ndarray:
            def part_of(part: slice) -> np.ndarray:
                return np.asarray(_sums_by_bin(bins, len(ascending) + 1, w, amount, part.start, part.stop))

            number = len(amount)
            sums = in_threads(part_of, chunks(number, max(1, min(64, -(-number // 2)))))
            return np.asarray(sums[::-1].cumsum(axis=0)[::-1])

        seen, hits = above(self.mass), above(self.hits)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (hits[1:] / seen[1:])[threshold_of], (hits[1:] / hits[:1])[threshold_of]


@dataclass(frozen=True, eq=False)
class ReweightedJudgments:
    """Judgments in every replicate, prepared for the correlations of many systems.

    Parameters
    ----------
    pull, product : how much each pair counts, and that times its judgment, float [replicates, pairs]
    sums : over pairs, of `pull`, of `product`, and of `pull` times the square of the judgment; float [replicates] each
    """

    pull: np.ndarray
    product: np.ndarray
    sums: tuple[np.ndarray, np.ndarray, np.ndarray]

    @classmethod
    def of(cls, pairs: ReweightedPairs, weight: np.ndarray) -> ReweightedJudgments:
        """The pairs, each counting `weight` (float [pairs]) times more."""
        pull = pairs.pull * weight.astype(pairs.pull.dtype)
        product = pull * pairs.judgment
        squares = np.einsum("ij,ij->i", product, pairs.judgment, dtype=np.float64)
        sums = (pull.sum(axis=1, dtype=np.float64), product.sum(axis=1, dtype=np.float64), squares)
        return cls(pull, product, sums)

    def pearson(self, score: np.ndarray) -> np.ndarray:
        """Pearson's r of a score, float [pairs], with the judgments, float [replicates]; NaN where one is constant."""
        x = score - score.mean()
        x = (x / max(np.abs(x).max(), np.finfo(np.float32).tiny)).astype(self.pull.dtype)
        total, of_judgment, squares = self.sums
        return pearson_of_sums(
            np.stack([total, self.pull @ x, of_judgment, self.pull @ x**2, squares, self.product @ x])
        )
