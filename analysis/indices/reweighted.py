"""Indices of pairs whose weight, relevance and judgment all differ by replicate, as where raters are drawn anew.

Where queries are drawn, a pair counts more or less and stays what it is (`precision_recall`, `correlation`); where
raters are, its judgment is another mean of ratings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relstudy.analysis.indices.correlation import group_ends, parts_of, pearson_of_sums
from relstudy.analysis.resampling.bootstrap import chunks, in_threads
from relstudy.common.compiled import choose, compiled_for_many, lanes

BLOCK = 512
"""Pairs whose products are made at once: their tables stay in the cache while every system passes over them."""


@compiled_for_many
def _in_order(
    order: np.ndarray, mass: np.ndarray, hits: np.ndarray, start: int, stop: int
) -> tuple[np.ndarray, np.ndarray]:
    """How much pairs count and the relevant share of that in some replicates, in an order; float [pairs, replicates]
    each, copies whose rows are side by side."""
    of_pairs, shares = (
        np.empty((len(order), stop - start), mass.dtype),
        np.empty((len(order), stop - start), mass.dtype),
    )
    for i in range(len(order)):
        here, good = mass[order[i], start:stop], hits[order[i], start:stop]
        for b in lanes(stop - start):
            of_pairs[i, b] = here[b]
            shares[i, b] = choose(here[b] > 0.0, np.minimum(good[b] / here[b], 1.0), 0.0)
    return of_pairs, shares


@compiled_for_many
def _retrieval_by_replicate(
    group_end: np.ndarray, weight: np.ndarray, own: np.ndarray, mass: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """`kernels.retrieval` of each replicate's pairs, all arguments in order of descending score.

    Each loop over the replicates writes one array and reads few, so that the compiler can prove them apart and has the
    replicates side by side.
    """
    width = mass.shape[1]
    seen, good, seen_before, good_before = np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width)
    precision, area, itself = np.zeros(width), np.zeros(width), np.zeros(width)
    first = 0
    for i in range(len(weight)):
        times = weight[i]
        for b in lanes(width):
            seen[b] += times * mass[i, b]
        for b in lanes(width):
            good[b] += times * mass[i, b] * share[i, b]
        for b in lanes(width):
            w = times * mass[i, b]
            itself[b] += w * share[i, b] * w * (np.float64(1.0) - share[i, b])  # shares may be single precision
        if group_end[i]:
            for b in lanes(width):
                gained = good[b] - good_before[b]
                missed = np.maximum((seen[b] - seen_before[b]) - gained, 0.0)
                area[b] += missed * (good_before[b] + 0.5 * gained)
            for b in lanes(width):
                seen_before[b] = seen[b]
            for b in lanes(width):
                good_before[b] = good[b]
            for j in range(first, i + 1):
                times, alone = weight[j], own[j]
                for b in lanes(width):
                    w = times * mass[j, b]
                    more = w - alone * mass[j, b]
                    gain = w * share[j, b] * (good[b] - more * share[j, b]) / (seen[b] - more)
                    precision[b] += choose(share[j, b] > 0.0, gain, 0.0)
            first = i + 1
    figures = np.empty((2, width))
    for b in lanes(width):
        figures[0, b] = choose(good[b] > 0.0, precision[b] / good[b], np.nan)
        misses = seen[b] - good[b]
        whole = good[b] * misses - itself[b]
        enough = (good[b] > 0.0) & (misses > 1e-12 * seen[b]) & (whole > 1e-12 * seen[b] * seen[b])
        figures[1, b] = choose(enough, (area[b] - 0.5 * itself[b]) / whole, np.nan)
    return figures


@compiled_for_many
def _sums_by_bin(bin_of: np.ndarray, bins: int, weight: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Weight times `amount` [pairs, replicates] of the pairs in each bin, float64 [bins, replicates]."""
    table = np.zeros((bins, amount.shape[1]))
    for i in range(len(weight)):
        number, w = bin_of[i], weight[i]
        for b in lanes(amount.shape[1]):
            table[number, b] += w * amount[i, b]
    return table


@dataclass(frozen=True, eq=False)
class ReweightedPairs:
    """Pairs in every replicate.

    Parameters
    ----------
    mass : how much each pair counts, float [pairs, replicates], not negative
    hits : how much of that is relevant, float [pairs, replicates], at most `mass`
    pull : how much each pair's judgment counts, float [pairs, replicates]
    judgment : each pair's judgment less `middle`, float [pairs, replicates]; any value where `pull` is 0
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
        rows = [each[used] for each in (self.mass, self.hits, self.pull, self.judgment)]
        return ReweightedPairs(rows[0], rows[1], rows[2], rows[3], self.middle)

    @property
    def replicates(self) -> int:
        """Their number."""
        return int(self.mass.shape[1])

    @property
    def _parts(self) -> list[slice]:
        return parts_of(len(self.mass), self.replicates, 64)

    def retrieval(self, score: np.ndarray, weight: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Average precision and normalised rank, float [2, replicates]; arguments as of `Retrieval.indices`."""
        order = np.argsort(-score, kind="stable")
        end, w = group_ends(score[order]), weight[order].astype(np.float64)
        alone = w if own is None else own[order].astype(np.float64)

        def part_of(part: slice) -> np.ndarray:
            mass, share = _in_order(order, self.mass, self.hits, part.start, part.stop)
            return np.asarray(_retrieval_by_replicate(end, w, alone, mass, share))

        figures = in_threads(part_of, self._parts)
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
                return np.asarray(_sums_by_bin(bins, len(ascending) + 1, w, np.ascontiguousarray(amount[:, part])))

            sums = in_threads(part_of, self._parts)
            return np.asarray(sums[::-1].cumsum(axis=0)[::-1])

        seen, hits = above(self.mass), above(self.hits)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (hits[1:] / seen[1:])[threshold_of], (hits[1:] / hits[:1])[threshold_of]


@dataclass(frozen=True, eq=False)
class ReweightedJudgments:
    """Judgments in every replicate, for the correlations of many systems; the pairs' tables are not copied.

    Parameters
    ----------
    pull, judgment : of the pairs in every replicate, float [pairs, replicates], as `ReweightedPairs` has them
    weight : how many times more each pair counts, float [pairs]
    """

    pull: np.ndarray
    judgment: np.ndarray
    weight: np.ndarray

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Some pairs at once: which, how much they count, and that times their judgment, float [pairs, replicates]."""
        weight = self.weight.astype(self.pull.dtype)
        for block in chunks(len(weight), BLOCK):
            pull = self.pull[block] * weight[block, None]
            yield block, pull, pull * self.judgment[block]

    @cached_property
    def sums(self) -> np.ndarray:
        """Over pairs: how much they count, that times the judgment, and times its square; float [3, replicates]."""
        sums = np.zeros((3, self.pull.shape[1]))
        for block, pull, product in self._blocks():
            sums[0] += pull.sum(axis=0, dtype=np.float64)
            sums[1] += product.sum(axis=0, dtype=np.float64)
            sums[2] += np.einsum("ij,ij->j", product, self.judgment[block], dtype=np.float64)
        return sums

    def sum_of(self, values: np.ndarray) -> np.ndarray:
        """The sum of values, float [pairs], each as much as its pair counts; float [replicates]."""
        column = values.astype(self.pull.dtype)
        return np.asarray(sum((column[block] @ pull).astype(np.float64) for block, pull, _ in self._blocks()))

    def pearson(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Pearson's r of each score, float [pairs], with the judgments, float [scores, replicates]; NaN where one is
        constant."""
        columns = [score - score.mean() for score in scores]
        tiny = np.finfo(np.float32).tiny
        columns = [(x / max(np.abs(x).max(), tiny)).astype(self.pull.dtype) for x in columns]
        found = np.zeros((len(columns), 3, self.pull.shape[1]))
        for block, pull, product in self._blocks():
            for k, x in enumerate(columns):  # a product of matrices would have other digits with other systems
                found[k, 0] += x[block] @ pull
                found[k, 1] += x[block] ** 2 @ pull
                found[k, 2] += x[block] @ product
        total, of_judgment, squares = self.sums
        return np.stack([pearson_of_sums(np.stack([total, x, of_judgment, xx, squares, xy])) for x, xx, xy in found])
