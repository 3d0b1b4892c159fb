"""Precision and recall over pooled pairs, each weighted by one over its inclusion probability.

Paper 004, section 5.5.3: the pairs of all queries are pooled and sorted by score; with Hajek weights the curve estimates
that of the whole collection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis import kernels
from analysis.bootstrap import Figure, chunks, in_threads
from analysis.correlation import group_ends

SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *np.round(np.arange(0.1, 1.0001, 0.05), 2).tolist())
"""Shares of the collection retrieved at which precision and recall are given with intervals."""


RARE = 15
"""With fewer sampled hits or misses than this, a proportion's interval is widened (see `Figure.effective`)."""


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
    relevant : bool [pairs]
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
    # a second sort costs a tenth of a gather; the sign carries relevance, so that one gather brings both
    ordered = np.sort(score)[::-1]
    signed = np.where(relevant, 1.0, -1.0) if weight is None else np.where(relevant, weight, -weight)
    signed = signed[order]
    hits = np.maximum(signed, 0.0)
    np.cumsum(hits, out=hits)
    seen = np.abs(signed, out=signed)
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
    retrieved : share truly retrieved, which ties make larger
    threshold : score at the cut
    precision, recall : one Figure a point
    """

    share: np.ndarray
    retrieved: np.ndarray
    threshold: np.ndarray
    precision: list[Figure]
    recall: list[Figure]


class Retrieval:
    """Judged pairs prepared for precision, recall and rank indices of one set of pairs.

    Parameters
    ----------
    query : int64 [pairs]
    relevant : bool [pairs]
    counts : bootstrap draws, float64 [queries, replicates]
    """

    def __init__(self, query: np.ndarray, relevant: np.ndarray, counts: np.ndarray) -> None:
        self.query = query.astype(np.int64)
        self.relevant = relevant
        self.counts = counts
        self._parts = list(chunks(counts, max(1, min(128, -(-counts.shape[1] // 2)))))

    @property
    def undefined(self) -> str | None:
        """Why no index of retrieval exists for these pairs, or None."""
        if not len(self.relevant):
            return "no pair is scored"
        if not self.relevant.any():
            return "no pair is relevant"
        return None

    def indices(self, score: np.ndarray, weight: np.ndarray) -> dict[str, Figure]:
        """Average precision and normalised rank (one minus the weighted area under the ROC curve)."""
        none_relevant = self.undefined
        nothing = np.full(self.counts.shape[1], np.nan)
        if none_relevant is not None:
            missing = Figure(np.nan, nothing, none_relevant)
            return {"average_precision": missing, "normalised_rank": missing}
        order = np.argsort(-score, kind="stable")
        query, hit, w = self.query[order], self.relevant[order], weight[order]
        end = group_ends(score[order])
        point = kernels.retrieval(query, end, w, hit, np.ones((self.counts.shape[0], 1)))

        def part_of(part: slice) -> np.ndarray:
            figures: np.ndarray = kernels.retrieval(query, end, w, hit, np.ascontiguousarray(self.counts[:, part]))
            return figures

        replicates = in_threads(part_of, self._parts)
        clusters = len(np.unique(self.query))
        all_relevant = "all pairs are relevant" if self.relevant.all() else None
        return {
            "average_precision": Figure(float(point[0, 0]), replicates[0], clusters=clusters),
            "normalised_rank": Figure(1.0 - float(point[1, 0]), 1.0 - replicates[1], all_relevant, clusters=clusters),
        }

    def operating_points(
        self, score: np.ndarray, weight: np.ndarray, shares: tuple[float, ...] = SHARES
    ) -> OperatingPoints:
        """Precision and recall at fixed scores, chosen so that each share of the weighted pairs is retrieved."""
        order = np.argsort(-score, kind="stable")
        seen = np.cumsum(weight[order])
        place = np.minimum(np.searchsorted(seen, np.asarray(shares) * seen[-1] * (1 - 1e-12)), len(seen) - 1)
        return self.at_thresholds(score, weight, np.asarray(shares, dtype=float), score[order][place])

    def at_thresholds(
        self, score: np.ndarray, weight: np.ndarray, shares: np.ndarray, thresholds: np.ndarray
    ) -> OperatingPoints:
        """Precision and recall when pairs with a score of at least each threshold are retrieved.

        Both are ratios of sums over queries, so the replicates are matrix products.
        """
        number = self.counts.shape[0]
        ascending, place = np.unique(thresholds, return_inverse=True)
        bins = np.searchsorted(ascending, score, side="right")
        cells = self.query * (len(ascending) + 1) + bins

        def table(weights: np.ndarray) -> np.ndarray:
            sums = np.bincount(cells, weights, number * (len(ascending) + 1)).reshape(number, -1)
            above: np.ndarray = sums[:, ::-1].cumsum(axis=1)[:, ::-1]
            return above

        seen, hits = table(weight), table(weight * self.relevant)

        def ratios(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            all_seen, all_hits = counts.T @ seen, counts.T @ hits
            with np.errstate(invalid="ignore", divide="ignore"):
                precision = all_hits[:, 1:] / all_seen[:, 1:]
                recall = all_hits[:, 1:] / all_hits[:, :1]
                return precision[:, place], recall[:, place], (all_seen[:, 1:] / all_seen[:, :1])[:, place]

        precision, recall, retrieved = ratios(np.ones((number, 1)))
        p, r, _ = ratios(self.counts)
        found = [
            (
                self._proportion(float(precision[0, k]), p[:, k], score >= threshold, self.relevant, weight),
                self._proportion(float(recall[0, k]), r[:, k], self.relevant, score >= threshold, weight),
            )
            for k, threshold in enumerate(thresholds)
        ]
        return OperatingPoints(
            shares, retrieved[0], thresholds, [pair[0] for pair in found], [pair[1] for pair in found]
        )

    def _proportion(
        self, value: float, replicates: np.ndarray, among: np.ndarray, hit: np.ndarray, weight: np.ndarray
    ) -> Figure:
        """The share of hits among some pairs, marked where either kind is too rare for the bootstrap to show it."""
        own = weight[among]
        hits = int(np.count_nonzero(among & hit))
        few = min(hits, len(own) - hits) < RARE
        effective = float(own.sum() ** 2 / np.sum(own**2)) if few and len(own) else None
        return Figure(value, replicates, self.undefined, effective)
