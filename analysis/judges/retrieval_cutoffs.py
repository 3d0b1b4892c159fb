"""The scores at which shares of a collection are retrieved, known or as a sample tells them.

Where a sample tells them, they differ between replicates, and what is retrieved differs with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.analysis.indices.correlation import parts_of
from relstudy.analysis.indices.precision_recall import SHARES, Retrieval, thresholds_at
from relstudy.analysis.resampling.bootstrap import in_threads
from relstudy.common.runtime.compiled import choose, compiled_for_many, lanes, lanes_where

WIDTH = 128
"""Replicates that are counted side by side: their sums stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """The score of the last pair retrieved at each share of SHARES.

    Parameters
    ----------
    scores : float [shares]; the last is minus infinity: all pairs, also judged ones that the judge was not given
    varying : float [shares - 1, replicates], those of each replicate; None where the scores are known
    without : float [shares - 1, queries], those without each judged query; None where they are known, or not wanted
    """

    scores: np.ndarray
    varying: np.ndarray | None = None
    without: np.ndarray | None = None

    @classmethod
    def known(cls, ranking: np.ndarray, weight: np.ndarray) -> Cuts:
        """Of the whole collection, or of a sample so large that it counts as known."""
        scores = thresholds_at(ranking, weight, SHARES)
        scores[-1] = -np.inf
        return cls(scores)

    @classmethod
    def of_sample(cls, ranking: np.ndarray, weight: np.ndarray, row: np.ndarray, times: np.ndarray) -> Cuts:
        """As a sample tells them, in each replicate again.

        Parameters
        ----------
        ranking, weight : float [pairs]
        row, times : each pair's row of `times` (`relstudy.analysis.resampling.draws`), and that

        Examples
        --------
        >>> ranking, row = np.array([4.0, 3.0, 2.0, 1.0]), np.array([0, 0, 1, 1])
        >>> cuts = Cuts.of_sample(ranking, np.ones(4), row, np.array([[1.0, 2.0], [1.0, 0.0]]))
        >>> at = SHARES.index(0.5)
        >>> cuts.scores[at].tolist(), cuts.varying[at].tolist()
        (3.0, [3.0, 4.0])
        """
        order = np.argsort(-ranking, kind="stable")
        ordered, of_row, weights = ranking[order], row[order].astype(np.int64), weight[order].astype(np.float64)
        shares = np.asarray(SHARES[:-1]) * (1 - 1e-12)

        def part_of(part: slice) -> np.ndarray:
            cuts: np.ndarray = _scores_at_shares(ordered, of_row, weights, times, shares, part.start, part.stop)
            return cuts

        return cls(cls.known(ranking, weight).scores, in_threads(part_of, parts_of(len(row), times.shape[1], WIDTH)))


def at_varying_cuts(
    pairs: Retrieval, ranking: np.ndarray, weight: np.ndarray, varying: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Precision and recall in each replicate at the cuts of that replicate, float64 [shares, replicates] each.

    Parameters
    ----------
    ranking, weight : float [pairs]
    varying : float [shares, replicates]; `pairs` may have one replicate, which then stands for all
    """
    order = np.argsort(-ranking, kind="stable")
    row, weights, relevant = pairs.row[order], weight[order].astype(np.float64), pairs.relevant[order]
    retrieved = np.searchsorted(-ranking[order], -varying, side="right")  # pairs with a score of at least the cut
    retrieved[np.isnan(varying)] = 0
    if pairs.times.shape[1] == 1:
        counted = weights * pairs.times[row, 0]
        seen, hits = (np.r_[0.0, np.cumsum(each)] for each in (counted, counted * relevant))
        sums = np.stack([seen[retrieved], hits[retrieved], np.broadcast_to(hits[-1], retrieved.shape)])
    else:

        def part_of(part: slice) -> np.ndarray:
            at = np.ascontiguousarray(retrieved[:, part])
            order = np.argsort(at, axis=None, kind="stable")
            found: np.ndarray = _sums_of_first(row, weights, relevant, pairs.times, at, order, part.start, part.stop)
            return found

        sums = in_threads(part_of, parts_of(len(row), varying.shape[1], WIDTH))
    many, found, whole = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        return found / many, found / whole


@compiled_for_many
def _scores_at_shares(
    score: np.ndarray,
    row: np.ndarray,
    weight: np.ndarray,
    times: np.ndarray,
    shares: np.ndarray,
    start: int,
    stop: int,
) -> np.ndarray:
    """The score of the pair with which each share of the weight is reached, float64 [shares, stop - start].

    Parameters
    ----------
    score : float64 [pairs], from the highest down; `row` (int64) and `weight` (float64) of the same pairs
    times : float64 [rows, replicates]
    shares : float64 [shares], above 0, rising
    """
    width, number = stop - start, len(shares)
    cuts = np.full((number, width), np.nan)
    total, seen, wanted = np.zeros(width), np.zeros(width), np.empty(width)
    following = np.zeros(width, dtype=np.int64)
    for i in range(len(row)):
        counts, w = times[row[i], start:stop], weight[i]
        for b in lanes(width):
            total[b] += w * counts[b]
    for b in lanes(width):
        wanted[b] = choose(total[b] > 0.0, shares[0] * total[b], np.inf)
    for i in range(len(row)):
        counts, w = times[row[i], start:stop], weight[i]
        reached = 0
        for b in lanes(width):
            seen[b] += w * counts[b]
            reached += lanes_where(seen[b] >= wanted[b])
        if reached == 0:
            continue
        for b in np.flatnonzero(seen >= wanted):
            while following[b] < number and seen[b] >= wanted[b]:
                cuts[following[b], b] = score[i]
                following[b] += 1
                wanted[b] = shares[following[b]] * total[b] if following[b] < number else np.inf
    return cuts


@compiled_for_many
def _sums_of_first(
    row: np.ndarray,
    weight: np.ndarray,
    relevant: np.ndarray,
    times: np.ndarray,
    first: np.ndarray,
    order: np.ndarray,
    start: int,
    stop: int,
) -> np.ndarray:
    """Weight and relevant weight of the first so many pairs, and of all pairs.

    Parameters
    ----------
    row, weight, relevant : int64 and float64 [pairs]
    times : float64 [rows, replicates]
    first : int64 [shares, stop - start], numbers of pairs
    order : int64 [shares * (stop - start)], what sorts them

    Returns
    -------
    float64 [3, shares, stop - start]
    """
    width = stop - start
    table = np.zeros((3, len(first), width))
    seen, hits = np.zeros(width), np.zeros(width)
    done = 0
    for i in range(len(row) + 1):
        while done < len(order) and first[order[done] // width, order[done] % width] == i:
            share, b = order[done] // width, order[done] % width
            table[0, share, b], table[1, share, b] = seen[b], hits[b]
            done += 1
        if i < len(row):
            counts, w = times[row[i], start:stop], weight[i]
            hit = w * relevant[i]
            for b in lanes(width):
                seen[b] += w * counts[b]
                hits[b] += hit * counts[b]
    table[2] = hits
    return table
