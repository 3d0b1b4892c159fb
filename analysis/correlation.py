"""Correlation of scores with judgments, on the data and in every bootstrap replicate at once.

Paper 004, section 5.5.1. Pairs count equally: the correlation describes the pairs that were judged, as in the paper.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from analysis import kernels
from analysis.bootstrap import Figure, chunks, in_threads

INDICES = ("pearson", "spearman", "kendall")


class Judgments:
    """One set of judgments, prepared once for the correlations of many systems.

    Parameters
    ----------
    query : int64 [pairs], number of each pair's query
    judgment : float [pairs]
    counts : bootstrap draws, float64 [queries, replicates]

    Examples
    --------
    >>> query = np.array([0, 0, 1, 1])
    >>> judgments = Judgments(query, np.array([1.0, 2.0, 3.0, 5.0]), np.ones((2, 1)))
    >>> figures = judgments.correlate(np.array([0.1, 0.4, 0.3, 0.9]))
    >>> round(figures["kendall"].value, 4)
    0.6667
    """

    def __init__(self, query: np.ndarray, judgment: np.ndarray, counts: np.ndarray) -> None:
        self.query = query.astype(np.int64)
        self.counts = counts
        self.values, level = np.unique(judgment, return_inverse=True)
        self.level = level.astype(np.int64)
        self.centred = judgment - judgment.mean() if len(judgment) else judgment
        self._parts = list(chunks(counts, _width(len(self.values), counts.shape[1])))
        self.every = np.ones((counts.shape[0], 1))

    @cached_property
    def _point_ranks(self) -> np.ndarray:
        return self._ranks(self.every)

    @cached_property
    def _part_ranks(self) -> list[np.ndarray]:
        """Rank tables are kept between systems where they are small, else made anew for each."""
        small = len(self.values) * self.counts.shape[1] * 8 <= 256e6
        parts = self._parts if small else []
        return [self._ranks(np.ascontiguousarray(self.counts[:, part])) for part in parts]

    def _ranks(self, counts: np.ndarray) -> np.ndarray:
        ranks: np.ndarray = kernels.ranks_by_level(self.query, self.level, len(self.values), counts)
        return ranks

    def correlate(self, score: np.ndarray, indices: tuple[str, ...] = INDICES) -> dict[str, Figure]:
        """Each index of `indices` for one system's scores, float [pairs], all finite."""
        reason = None
        if len(score) < 3:
            reason = "fewer than three scored pairs"
        elif len(self.values) < 2:
            reason = "all judgments are equal"
        elif np.ptp(score) == 0:
            reason = "all scores are equal"
        if reason is not None:
            nothing = np.full(self.counts.shape[1], np.nan)
            return {index: Figure(np.nan, nothing, reason) for index in indices}
        compute = {"pearson": self._pearson, "spearman": self._spearman, "kendall": self._kendall}
        return {index: compute[index](score) for index in indices}

    def _pearson(self, score: np.ndarray) -> Figure:
        x = (score - score.mean()) / max(np.abs(score - score.mean()).max(), np.finfo(float).tiny)
        y = self.centred
        number = self.counts.shape[0]
        sums = np.stack(
            [np.bincount(self.query, column, number) for column in (np.ones_like(x), x, y, x * x, y * y, x * y)]
        )

        def correlation(counts: np.ndarray) -> np.ndarray:
            n, sx, sy, xx, yy, xy = sums @ counts
            with np.errstate(invalid="ignore", divide="ignore"):
                left, right = xx - sx * sx / n, yy - sy * sy / n
                flat = (left <= 1e-12 * xx) | (right <= 1e-12 * yy)
                figure = (xy - sx * sy / n) / (np.sqrt(left) * np.sqrt(right))
            return np.where(flat, np.nan, np.clip(figure, -1.0, 1.0))

        return Figure(float(correlation(self.every)[0]), correlation(self.counts))

    def _spearman(self, score: np.ndarray) -> Figure:
        query, end, level = self._by_score(score)
        point = kernels.spearman(query, end, level, self._point_ranks, self.every)[0]
        kept = self._part_ranks

        def part_of(part: slice) -> np.ndarray:
            counts = np.ascontiguousarray(self.counts[:, part])
            ranks = kept[self._parts.index(part)] if kept else self._ranks(counts)
            figures: np.ndarray = kernels.spearman(query, end, level, ranks, counts)
            return figures

        return Figure(float(point), in_threads(part_of, self._parts))

    def _kendall(self, score: np.ndarray) -> Figure:
        query, end, level = self._by_score(score)
        many = len(self.values)
        point = kernels.kendall(query, end, level, many, self.every)[0]

        def part_of(part: slice) -> np.ndarray:
            counts = np.ascontiguousarray(self.counts[:, part])
            figures: np.ndarray = kernels.kendall(query, end, level, many, counts)
            return figures

        return Figure(float(point), in_threads(part_of, self._parts))

    def _by_score(self, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        order = np.argsort(score, kind="stable")
        return self.query[order], group_ends(score[order]), self.level[order]


def group_ends(ordered: np.ndarray) -> np.ndarray:
    """True at the last entry of each run of equal values.

    Examples
    --------
    >>> group_ends(np.array([1.0, 1.0, 2.0])).tolist()
    [False, True, True]
    """
    ends = np.ones(len(ordered), dtype=bool)
    ends[:-1] = ordered[1:] != ordered[:-1]
    return ends


def _width(levels: int, replicates: int) -> int:
    """Replicates per pass: wide enough to vectorise, narrow enough that a table of levels stays near the cache."""
    return max(8, min(128, int(64e6 / (8 * max(levels, 1))), -(-replicates // 2) or 1))
