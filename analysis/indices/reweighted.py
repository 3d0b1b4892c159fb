"""Indices of pairs whose weight, relevance and judgment all differ by replicate, as where raters are drawn again.

Where queries are drawn, a pair counts more or less and stays what it is (`precision_recall`, `correlation`); where
raters are, its judgment is another mean of ratings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from relstudy.analysis.indices.correlation import group_ends, pearson_of_sums
from relstudy.analysis.indices.kernels import retrieval_of_sums
from relstudy.analysis.resampling.bootstrap import chunks
from relstudy.common.runtime.compiled import choose, compiled_for_many, lanes

AHEAD = 16
"""Pairs whose rows are fetched together."""
BLOCK = 512
"""Pairs whose products are made at once: their tables stay in the cache while every system passes over them."""


@compiled_for_many
def _retrieval_by_replicate(
    order: np.ndarray,
    group_end: np.ndarray,
    weight: np.ndarray,
    own: np.ndarray,
    mass: np.ndarray,
    hits: np.ndarray,
) -> np.ndarray:
    """`kernels.retrieval` of each replicate's pairs.

    All that is summed up stands in one array, so that the compiler can prove it apart from what is read and has the
    replicates side by side. Pairs are fetched `AHEAD` at once: their rows lie anywhere in tables that no cache holds,
    and copies one after another are waited for together.

    Parameters
    ----------
    order : int64 [pairs], where the pairs stand in `mass` and `hits`, by descending score
    group_end, weight, own : as of `kernels.retrieval`
    mass, hits : float [pairs, replicates], as of `ReweightedPairs`
    """
    width = mass.shape[1]
    seen, good, precision, area, itself, seen_before, good_before = 0, 1, 2, 3, 4, 5, 6
    sums = np.zeros((7, width))
    near = np.empty((2, AHEAD, width), mass.dtype)
    first = 0
    for i in range(len(order)):
        if i % AHEAD == 0:
            for k in range(min(AHEAD, len(order) - i)):
                of_pair, of_good = mass[order[i + k]], hits[order[i + k]]
                for b in lanes(width):
                    near[0, k, b] = of_pair[b]
                for b in lanes(width):
                    near[1, k, b] = of_good[b]
        times, alone = weight[i], own[i]
        of_pair, of_good = near[0, i % AHEAD], near[1, i % AHEAD]
        if group_end[i] and first == i:
            for b in lanes(width):
                share = choose(of_pair[b] > 0.0, np.minimum(of_good[b] / of_pair[b], 1.0), 0.0)
                w = times * of_pair[b]
                seen_here, good_here = sums[seen, b] + w, sums[good, b] + w * share
                sums[itself, b] += w * share * w * (np.float64(1.0) - share)  # shares may be single precision
                gained = good_here - sums[good, b]
                missed = np.maximum((seen_here - sums[seen, b]) - gained, 0.0)
                sums[area, b] += missed * (sums[good, b] + 0.5 * gained)
                more = w - alone * of_pair[b]
                gain = w * share * (good_here - more * share) / (seen_here - more)
                sums[precision, b] += choose(share > 0.0, gain, 0.0)
                sums[seen, b] = seen_here
                sums[good, b] = good_here
            first = i + 1
            continue
        if first == i:
            sums[seen_before] = sums[seen]
            sums[good_before] = sums[good]
        for b in lanes(width):
            share = choose(of_pair[b] > 0.0, np.minimum(of_good[b] / of_pair[b], 1.0), 0.0)
            w = times * of_pair[b]
            sums[seen, b] += w
            sums[good, b] += w * share
            sums[itself, b] += w * share * w * (np.float64(1.0) - share)
        if group_end[i]:
            for b in lanes(width):
                gained = sums[good, b] - sums[good_before, b]
                missed = np.maximum((sums[seen, b] - sums[seen_before, b]) - gained, 0.0)
                sums[area, b] += missed * (sums[good_before, b] + 0.5 * gained)
            for j in range(first, i + 1):
                times, alone = weight[j], own[j]
                of_pair, of_good = mass[order[j]], hits[order[j]]
                for b in lanes(width):
                    share = choose(of_pair[b] > 0.0, np.minimum(of_good[b] / of_pair[b], 1.0), 0.0)
                    w = times * of_pair[b]
                    more = w - alone * of_pair[b]
                    gain = w * share * (sums[good, b] - more * share) / (sums[seen, b] - more)
                    sums[precision, b] += choose(share > 0.0, gain, 0.0)
            first = i + 1
    return sums[: itself + 1]


@compiled_for_many
def _sums_by_bin(bin_of: np.ndarray, bins: int, weight: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Weight times `amount` [pairs, replicates] of the pairs in each bin, float64 [bins, replicates]."""
    table = np.zeros((bins, amount.shape[1]))
    for i in range(len(weight)):
        number, w = bin_of[i], weight[i]
        for b in lanes(amount.shape[1]):
            table[number, b] += w * amount[i, b]
    return table


def part_of_the_way(weights: np.ndarray, step: float) -> np.ndarray:
    """Weights moved a share of the way from 1."""
    return np.asarray(1.0 + step * (weights - 1.0))


@dataclass(frozen=True, eq=False)
class ReweightedPairs:
    """Pairs in every replicate.

    Parameters
    ----------
    mass : how much each pair counts, float [pairs, replicates], not negative
    hits : how much of that is relevant, float [pairs, replicates], at most `mass`
    counted : how much each pair's ratings count in its judgment, float [pairs, replicates]; often `mass` itself
    judgment : each pair's judgment less `middle`, float [pairs, replicates]; any value where it does not count;
        of no replicate where only relevance is asked for
    middle : near which judgments lie, so that they keep their digits in single precision
    step : the share of the way from 1 to `counted` that a pair counts in figures of judgments
    """

    mass: np.ndarray
    hits: np.ndarray
    counted: np.ndarray
    judgment: np.ndarray
    middle: float = 0.0
    step: float = 1.0

    def part(self, used: np.ndarray) -> ReweightedPairs:
        """Some of the pairs, bool [pairs]."""
        if used.all():
            return self
        mass, hits, judgment = (each[used] for each in (self.mass, self.hits, self.judgment))
        counted = mass if self.counted is self.mass else self.counted[used]
        return replace(self, mass=mass, hits=hits, counted=counted, judgment=judgment)

    def judgments(self, weight: np.ndarray) -> ReweightedJudgments:
        """For correlations; `weight`: how many times more each pair counts, float [pairs]."""
        return ReweightedJudgments(self.counted, self.judgment, weight, self.step)

    @property
    def replicates(self) -> int:
        """Their number."""
        return int(self.mass.shape[1])

    def retrieval(self, score: np.ndarray, weight: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Average precision and normalised rank, float [2, replicates]; arguments as of `Retrieval.indices`."""
        order = np.argsort(-score, kind="stable")
        end, w = group_ends(score[order]), weight[order].astype(np.float64)
        alone = w if own is None else own[order].astype(np.float64)
        precision, area = retrieval_of_sums(_retrieval_by_replicate(order, end, w, alone, self.mass, self.hits))
        return np.stack([precision, 1.0 - area])

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
            sums = _sums_by_bin(bins, len(ascending) + 1, w, amount)
            return np.asarray(sums[::-1].cumsum(axis=0)[::-1])

        seen, hits = above(self.mass), above(self.hits)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (hits[1:] / seen[1:])[threshold_of], (hits[1:] / hits[:1])[threshold_of]


@dataclass(frozen=True, eq=False)
class ReweightedJudgments:
    """Judgments in every replicate, for the correlations of many systems; the pairs' tables are not copied.

    Parameters
    ----------
    counted, judgment, step : of the pairs in every replicate, as `ReweightedPairs` has them
    weight : how many times more each pair counts, float [pairs]
    """

    counted: np.ndarray
    judgment: np.ndarray
    weight: np.ndarray
    step: float

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Some pairs at once: which, how much they count, and that times their judgment, float [pairs, replicates]."""
        weight = self.weight.astype(self.counted.dtype)
        for block in chunks(len(weight), BLOCK):
            pull = part_of_the_way(self.counted[block], self.step) * weight[block, None]
            yield block, pull, pull * self.judgment[block]

    @cached_property
    def sums(self) -> np.ndarray:
        """Over pairs: how much they count, that times the judgment, and times its square; float [3, replicates]."""
        sums = np.zeros((3, self.counted.shape[1]))
        for block, pull, product in self._blocks():
            sums[0] += pull.sum(axis=0, dtype=np.float64)
            sums[1] += product.sum(axis=0, dtype=np.float64)
            sums[2] += np.einsum("ij,ij->j", product, self.judgment[block], dtype=np.float64)
        return sums

    def sum_of(self, values: np.ndarray) -> np.ndarray:
        """The sum of values, float [pairs], each as much as its pair counts; float [replicates]."""
        column = values.astype(self.counted.dtype)
        return np.asarray(sum((column[block] @ pull).astype(np.float64) for block, pull, _ in self._blocks()))

    def pearson(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Pearson's r of each score, float [pairs], with the judgments, float [scores, replicates]; NaN where one is
        constant."""
        centred = (score - score.mean() for score in scores)
        tiny = np.finfo(np.float64).tiny
        columns = [(x / max(np.abs(x).max(), tiny)).astype(self.counted.dtype) for x in centred]
        found = np.zeros((len(columns), 3, self.counted.shape[1]))
        for block, pull, product in self._blocks():
            for k, x in enumerate(columns):  # a product of matrices would have other digits with other systems
                found[k, 0] += x[block] @ pull
                found[k, 1] += x[block] ** 2 @ pull
                found[k, 2] += x[block] @ product
        total, of_judgment, squares = self.sums
        return np.stack([pearson_of_sums(np.stack([total, x, of_judgment, xx, squares, xy])) for x, xx, xy in found])
