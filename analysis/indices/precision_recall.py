"""Precision and recall over pooled pairs, each weighted by one over its inclusion probability.

Shirahatti and Barnard 2005, section 5.5.3: the pairs of all queries are pooled and sorted by score; with Hajek weights
the curve estimates that of the whole collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from relstudy.analysis.indices import kernels
from relstudy.analysis.indices.correlation import group_ends, parts_of
from relstudy.analysis.indices.leave_query_out import retrieval_without
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, in_threads
from relstudy.analysis.resampling.draws import LeftOut

SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *np.round(np.arange(0.1, 1.0001, 0.05), 2).tolist())
"""Shares of the collection retrieved at which precision and recall are given with intervals."""

RELEVANT = "relevant_share"
"""Name of the share of relevant pairs: precision where everything is retrieved."""

TIED = 0.1
"""Fewer equal scores are taken for what rounding leaves; a jump over them moves a share by no more than this of it."""

RETRIEVAL = ("average_precision", "normalised_rank")
"""Indices of one walk down a ranking (`Retrieval.indices`)."""

RARE = 15
"""With fewer sampled hits or misses, a proportion's interval is widened (see `BootstrapStatistic.effective`)."""


def at_share(what: str, share: float) -> str:
    """Name of precision or recall (`what`) at a share of the collection.

    Examples
    --------
    >>> at_share("recall", 0.2)
    'recall_at_0.2'
    """
    return f"{what}_at_{share:g}"


@dataclass(frozen=True, eq=False)
class Curve:
    """One point for each distinct score, from the highest down.

    Parameters
    ----------
    precision, recall : float64 [points], from 0 to 1
    threshold : a pair is retrieved where its score is at least this
    """

    precision: np.ndarray
    recall: np.ndarray
    threshold: np.ndarray


def precision_recall_curve(relevant: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None) -> Curve:
    """Weighted precision and recall at every distinct score.

    Parameters
    ----------
    relevant : bool [pairs], or float [pairs]: the share of people who call the pair relevant, 0 to 1
    score : float [pairs], higher is better
    weight : float [pairs], positive; None weighs all pairs alike

    Returns
    -------
    Curve; recall is NaN throughout where no pair is relevant. Cost: one sort.

    Examples
    --------
    >>> curve = precision_recall_curve(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    >>> curve.recall.tolist(), curve.precision.round(4).tolist()
    ([0.5, 1.0], [1.0, 0.6667])
    """
    order = np.argsort(score)[::-1]
    ordered = np.sort(score)[::-1]  # a second sort costs a tenth of a gather
    if relevant.dtype == bool:
        # the sign carries relevance, so that one gather brings both
        signed = np.where(relevant, 1.0, -1.0) if weight is None else np.where(relevant, weight, -weight)
        signed = signed[order]
        hits = np.maximum(signed, 0.0)
        seen = np.abs(signed, out=signed)
    else:
        seen = np.ones(len(score)) if weight is None else weight[order]
        hits = relevant[order] * seen
    np.cumsum(hits, out=hits)
    np.cumsum(seen, out=seen)
    ends = group_ends(ordered)
    if not ends.all():
        hits, seen, ordered = hits[ends], seen[ends], ordered[ends]
    total = hits[-1] if len(hits) else 0.0
    recall = hits / total if total > 0 else np.full(len(hits), np.nan)
    return Curve(hits / seen, recall, ordered)


def average_precision(relevant: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Mean precision over the recall gained at each distinct score; NaN where no pair is relevant.

    The sum of (recall_k - recall_(k-1)) * precision_k, without interpolation.
    """
    curve = precision_recall_curve(relevant, score, weight)
    return float(np.sum(np.diff(curve.recall, prepend=0.0) * curve.precision))


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Precision and recall when the best-scored share of the collection is retrieved.

    Parameters
    ----------
    share : nominal share of the (weighted) collection, float [points]
    retrieved : share truly retrieved, which ties make larger; precision, recall and their intervals are those at it
    threshold : score at the cut
    precision, recall : one Figure a point
    tied : bool [points], where more than `TIED` of what is retrieved has the score at the cut: figures and intervals
        are then those at that score, and not at the share
    """

    share: np.ndarray
    retrieved: np.ndarray
    threshold: np.ndarray
    precision: list[BootstrapStatistic]
    recall: list[BootstrapStatistic]
    tied: np.ndarray


def thresholds_at(score: np.ndarray, weight: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    """The score of the last pair retrieved, for each share of the weighted pairs, float [shares].

    Examples
    --------
    >>> thresholds_at(np.array([0.1, 0.9, 0.5]), np.ones(3), (0.3, 0.5, 1.0)).tolist()
    [0.9, 0.5, 0.1]
    """
    order = np.argsort(-score, kind="stable")
    seen = np.cumsum(weight[order])
    last = np.minimum(np.searchsorted(seen, np.asarray(shares) * seen[-1] * (1 - 1e-12)), len(seen) - 1)
    thresholds: np.ndarray = score[order][last]
    return thresholds


class Retrieval:
    """Judged pairs prepared for precision, recall and rank indices of one set of pairs.

    Parameters
    ----------
    row : int64 [pairs], each pair's row of `times`
    relevant : bool [pairs], or float [pairs]: the share of people who call the pair relevant, 0 to 1
    times : how much a pair counts in each replicate, float64 [rows, replicates] (`relstudy.analysis.resampling.draws`)
    queries : how many queries the pairs are of; None takes the number of rows in use
    left_out : each query of the pairs left out, for the jackknife; None: the bootstrap alone
    guard : whether intervals of proportions with few hits or misses are to be widened
    """

    def __init__(
        self,
        row: np.ndarray,
        relevant: np.ndarray,
        times: np.ndarray,
        queries: int | None = None,
        left_out: LeftOut | None = None,
        guard: bool = True,
    ) -> None:
        self.left_out = left_out
        self.guard = guard
        self.row = row.astype(np.int64)
        self.relevant = relevant.astype(np.float64)
        self.times = times
        self.queries = len(np.unique(row)) if queries is None else queries
        self._parts = parts_of(len(row), times.shape[1], 128)

    @property
    def undefined(self) -> str | None:
        """The reason why no index of retrieval exists for these pairs, or None."""
        if not len(self.relevant):
            return "no pair is scored"
        if not self.relevant.any():
            return "no pair is relevant"
        return None

    def indices(
        self, score: np.ndarray, weight: np.ndarray, own: np.ndarray | None = None
    ) -> dict[str, BootstrapStatistic]:
        """Average precision and normalised rank (one minus the weighted area under the ROC curve).

        Parameters
        ----------
        score : float [pairs], higher is better
        weight : float [pairs], positive
        own : float [pairs], the weight of a pair in its own precision, at most `weight`; None takes `weight`. A sampled
            pair stands for `weight` pairs of the collection, and only one of them is itself: given that it was drawn,
            the others' weights add up to what stands above it, and its own would put it there once more for each of
            the pairs it stands for. With one pair's weight in the collection as `own`, average precision is nearly free
            of that bias; the idea is that of statAP (Pavlu and Aslam 2007), whose ranks are known.
        """
        none_relevant = self.undefined
        nothing = np.full(self.times.shape[1], np.nan)
        if none_relevant is not None:
            return dict.fromkeys(RETRIEVAL, BootstrapStatistic(np.nan, nothing, none_relevant))
        order = np.argsort(-score, kind="stable")
        row, hit, w = self.row[order], self.relevant[order], weight[order].astype(np.float64)
        alone = w if own is None else own[order].astype(np.float64)
        end = group_ends(score[order])

        def figures(times: np.ndarray, part: slice) -> np.ndarray:
            sums = kernels.retrieval(row, end, w, alone, hit, times, part.start, part.stop)
            return kernels.retrieval_of_sums(sums)

        point = figures(np.ones((self.times.shape[0], 1)), slice(0, 1))
        replicates = in_threads(partial(figures, self.times), self._parts)
        all_relevant = "all pairs are relevant" if (self.relevant == 1.0).all() else None
        without = [None, None]
        if self.left_out is not None:
            precision, area = retrieval_without(self.left_out, order, end, w, alone, hit)
            without = [precision, 1.0 - area]
        statistics = (
            BootstrapStatistic(float(point[0, 0]), replicates[0]),
            BootstrapStatistic(1.0 - float(point[1, 0]), 1.0 - replicates[1], all_relevant),
        )
        return {
            name: replace(each, clusters=self.queries, left_out=own)
            for name, each, own in zip(RETRIEVAL, statistics, without, strict=True)
        }

    def operating_points(
        self, score: np.ndarray, weight: np.ndarray, shares: tuple[float, ...] = SHARES
    ) -> OperatingPoints:
        """Precision and recall where each share of the collection is retrieved, at the scores that these pairs tell."""
        thresholds = thresholds_at(score, weight, shares)
        return self.at_thresholds(score, weight, np.asarray(shares, dtype=float), thresholds, known=False)

    def at_thresholds(
        self, score: np.ndarray, weight: np.ndarray, shares: np.ndarray, thresholds: np.ndarray, known: bool = True
    ) -> OperatingPoints:
        """Precision and recall when pairs with a score of at least each threshold are retrieved.

        Parameters
        ----------
        known : whether the thresholds are known. Otherwise these pairs tell at which score a share is retrieved, and
            another sample would tell another. A replicate is then brought to the share that these pairs retrieve, by
            pairs of which as much is relevant as between the neighbouring thresholds: to cut each replicate anew would
            jump over equal scores, which the jackknife takes for a large error. If pairs with one score make up more
            than TIED of what is retrieved, replicates are at that score and not at the share
        """
        edges = np.unique(np.concatenate([thresholds, np.nextafter(thresholds, np.inf)]))
        at, over = (np.searchsorted(edges, each) + 1 for each in (thresholds, np.nextafter(thresholds, np.inf)))
        bins = np.searchsorted(edges, score, side="right").astype(np.int64)
        number = len(edges) + 1

        def part_of(times: np.ndarray, part: slice) -> np.ndarray:
            sums = kernels.sums_by_bin(self.row, bins, number, weight, self.relevant, times, part.start, part.stop)
            above: np.ndarray = sums[:, ::-1].cumsum(axis=1)[:, ::-1]
            return above

        plain = part_of(np.ones((self.times.shape[0], 1)), slice(0, 1))
        near = None if known else _relevant_near(plain[:, at, 0])[:, None]
        level = (plain[0, at] - plain[0, over] > TIED * plain[0, at]) & (
            np.bincount(bins, minlength=number)[at, None] > 1
        )
        share = plain[0, at] / plain[0, :1]

        def ratios(above: np.ndarray, drawn: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            (seen, hits), (whole, relevant) = above[:, at], above[:, :1]
            with np.errstate(invalid="ignore", divide="ignore"):
                if drawn and near is not None:
                    moved = np.where(level, seen, share * whole)
                    hits = np.clip(hits + near * (moved - seen), 0.0, np.minimum(moved, relevant))
                    seen = moved
                return hits / seen, hits / relevant, seen / whole

        precision, recall, retrieved = ratios(plain, drawn=False)
        p, r, _ = ratios(in_threads(partial(part_of, self.times), self._parts))
        without: Sequence[Sequence[np.ndarray | None] | np.ndarray] = [[None] * len(shares)] * 2
        if self.left_out is not None:
            of_all = (weight, weight * self.relevant)
            sums = np.stack([self.left_out.sums(each, bins, number) for each in of_all])
            without = ratios(sums[:, ::-1].cumsum(axis=1)[:, ::-1])[:2]
        proportions = []
        for k, threshold in enumerate(thresholds):
            if not self.guard:
                proportions.append(
                    (
                        self._unguarded(float(precision[k, 0]), p[k], without[0][k]),
                        self._unguarded(float(recall[k, 0]), r[k], without[1][k]),
                    )
                )
                continue
            above = score >= threshold
            proportions.append(
                (
                    self._proportion(float(precision[k, 0]), p[k], without[0][k], self.relevant, weight, above),
                    self._proportion(float(recall[k, 0]), r[k], without[1][k], above * 1.0, weight * self.relevant),
                )
            )
        return OperatingPoints(
            shares,
            retrieved[:, 0],
            thresholds,
            [pair[0] for pair in proportions],
            [pair[1] for pair in proportions],
            level[:, 0] & (shares < 1) & (not known),
        )

    def _unguarded(self, value: float, replicates: np.ndarray, left_out: np.ndarray | None) -> BootstrapStatistic:
        return BootstrapStatistic(value, replicates, self.undefined, clusters=self.queries, left_out=left_out)

    def _proportion(
        self,
        value: float,
        replicates: np.ndarray,
        left_out: np.ndarray | None,
        hit: np.ndarray,
        weight: np.ndarray,
        among: np.ndarray | None = None,
    ) -> BootstrapStatistic:
        """The share of hits among pairs, marked where either kind is too rare for the bootstrap to show it.

        Parameters
        ----------
        hit : float [pairs], how much of each pair is a hit, 0 to 1
        weight : float [pairs]; a pair of weight 0 is not among them
        among : bool [pairs], or None for all
        """
        inside = weight > 0 if among is None else among & (weight > 0)
        weights, hits = weight[inside], hit[inside]
        many, size = float(hits.sum()), len(weights)
        few = min(many, size - many) < RARE
        effective = float(weights.sum() ** 2 / np.sum(weights**2)) if few and size else None
        return BootstrapStatistic(
            value, replicates, self.undefined, effective, clusters=self.queries, left_out=left_out
        )


def _relevant_near(above: np.ndarray) -> np.ndarray:
    """The relevant share of the pairs from the next lower to the next higher threshold, float64 [thresholds].

    Parameters
    ----------
    above : float64 [2, thresholds], weight of pairs, and of what is relevant of them, from each threshold up
    """
    seen, first, which = np.unique(above[0], return_index=True, return_inverse=True)
    sums = np.concatenate([np.zeros((2, 1)), np.stack([seen, above[1, first]]), above[:, first[-1:]]], axis=1)
    many, hits = sums[:, 2:] - sums[:, :-2]
    return np.asarray((hits / many)[which])
