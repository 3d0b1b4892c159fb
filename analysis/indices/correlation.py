"""Correlation of scores with judgments, on the data and in every bootstrap replicate at once.

Shirahatti and Barnard 2005, section 5.5.1. Where pairs count equally, as in the paper, the correlation describes the
pairs that were judged; where each counts as one over its inclusion probability, it estimates that of the whole
collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from relstudy.analysis.indices import kernels
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, chunks, in_threads
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.analysis.resampling.spread import CORRELATION
from relstudy.common.runtime.compiled import FEW

INDICES = ("pearson", "spearman", "kendall")
MOST_LEFT_OUT = 200
"""With more queries Spearman's rho, whose ranks no sum gives, goes without the jackknife: each query costs a replicate,
and the jackknife's variance differs from the bootstrap's by something like one over the number of queries."""
MOST_KEPT = 64_000_000
"""Bytes of rank tables that are kept between one system and the next."""
AT_ONCE = 1000
"""Replicates that numpy has side by side where pairs are few: enough that a call costs little, and not too many to stay
in the cache."""


Ranked = tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]


class CorrelationBootstrap:
    """One set of judgments, prepared once for the correlations of many systems.

    Parameters
    ----------
    row : int64 [pairs], each pair's row of `times`
    judgment : float [pairs]
    times : how much a pair counts in each replicate, float64 [rows, replicates] (`relstudy.analysis.resampling.draws`)
    weight : float [pairs], positive; None counts pairs alike
    spread : float [pairs], the variance of what each `judgment` is the mean of, for Pearson's correlation with what is
        known in distribution only; None where judgments are known
    queries : how many queries the pairs are of, for intervals by Student's t; None takes percentiles
    left_out : each query of the pairs left out, for the jackknife; None: the bootstrap alone

    Examples
    --------
    >>> row = np.array([0, 0, 1, 1])
    >>> judgments = CorrelationBootstrap(row, np.array([1.0, 2.0, 3.0, 5.0]), np.ones((2, 1)))
    >>> figures = judgments.correlate(np.array([0.1, 0.4, 0.3, 0.9]))
    >>> round(figures["kendall"].value, 4)
    0.6667
    """

    def __init__(
        self,
        row: np.ndarray,
        judgment: np.ndarray,
        times: np.ndarray,
        weight: np.ndarray | None = None,
        spread: np.ndarray | None = None,
        queries: int | None = None,
        left_out: LeftOut | None = None,
    ) -> None:
        self.queries = queries
        self.left_out = left_out
        self.row = row.astype(np.int64)
        self.weight = np.ones(len(row)) if weight is None else weight.astype(np.float64)
        self._alike = not len(self.weight) or bool(np.ptp(self.weight) == 0)
        self.times = times
        self.spread = 0.0 if spread is None else spread
        self.judgment = judgment
        self.centred = judgment - judgment.mean() if len(judgment) else judgment
        self._sum_parts = parts_of(times.shape[0], times.shape[1], 128)  # of sums by row
        self._rank_parts = parts_of(len(row), times.shape[1], kernels.SIDE_BY_SIDE)
        self.every = np.ones((times.shape[0], 1))

    @cached_property
    def _levels(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct judgments, ascending, and each pair's number among them, int64; for rank correlations alone."""
        values, level = np.unique(self.judgment, return_inverse=True)
        return values, level.astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """The distinct judgments, ascending."""
        return self._levels[0]

    @property
    def level(self) -> np.ndarray:
        """Each pair's number among the distinct judgments, int64 [pairs]."""
        return self._levels[1]

    @cached_property
    def _kept_ranks(self) -> list[list[Ranked]] | None:
        """Each part's times and rank tables, where they are small enough to be kept for further systems."""
        if len(self.values) * self.times.shape[1] * 8 > MOST_KEPT:
            return None
        return [list(self._ranked(self.row, self.times[:, part])) for part in self._rank_parts]

    def _ranked(self, row: np.ndarray, times: np.ndarray) -> Iterator[Ranked]:
        """A few replicates at once where pairs are many, as a copy that lies side by side, and the rank tables of the
        judgments in them; `row` is each pair's of `times`."""
        for few in chunks(times.shape[1], kernels.SIDE_BY_SIDE if len(row) >= FEW else times.shape[1]):
            beside = np.ascontiguousarray(times[:, few])
            yield beside, kernels.ranks_by_level(row, self.level, len(self.values), self.weight, beside)

    def correlate(self, score: np.ndarray, indices: tuple[str, ...] = INDICES) -> dict[str, BootstrapStatistic]:
        """Each index of `indices` for one system's scores, float [pairs], all finite."""
        return self.correlate_all([score], indices)[0]

    def correlate_all(
        self, scores: Sequence[np.ndarray], indices: tuple[str, ...] = INDICES
    ) -> list[dict[str, BootstrapStatistic]]:
        """The same for several systems, whose ranks are taken in one pass over the replicates."""
        reasons = [self._undefined(score) for score in scores]
        defined = [score for score, reason in zip(scores, reasons, strict=True) if reason is None]
        by_rank = iter(self._spearman(defined) if "spearman" in indices else [])
        nothing = np.full(self.times.shape[1], np.nan)
        found = []
        for score, reason in zip(scores, reasons, strict=True):
            figures = {index: BootstrapStatistic(np.nan, nothing, reason) for index in indices}
            if reason is None:
                compute = {"pearson": self._pearson, "kendall": self._kendall}
                figures = {index: compute[index](score) if index in compute else next(by_rank) for index in indices}
            found.append(figures)
        return found

    def _undefined(self, score: np.ndarray) -> str | None:
        """The reason why no correlation with these scores exists, or None."""
        if len(score) < 3:
            return "fewer than three scored pairs"
        if np.ptp(self.judgment) == 0:
            return "all judgments are equal"
        return "all scores are equal" if np.ptp(score) == 0 else None

    def _pearson(self, score: np.ndarray) -> BootstrapStatistic:
        x = (score - score.mean()) / max(np.abs(score - score.mean()).max(), np.finfo(float).tiny)
        sums = [
            np.stack([total, of_x, of_judgment, squares, of_squares, products])
            for (total, of_judgment, of_squares), (of_x, squares, products) in zip(
                self._sums_of_judgments, self._sums((x, x * x, x * self.centred)), strict=True
            )
        ]
        point, replicates, *without = (pearson_of_sums(each) for each in sums)
        return self._figure(float(point[0]), replicates, without[0] if without else None)

    @cached_property
    def _sums_of_judgments(self) -> list[np.ndarray]:
        """What is the same for every system in `_pearson`: sums of 1, judgments and their squares."""
        y = self.centred
        return self._sums((np.ones_like(y), y, y * y + self.spread))

    def _sums(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Sums of values, float [pairs] each, by weight: on the data, in every replicate, and where it is known without
        each query; float [values, 1], [values, replicates] and [values, queries]."""
        weighted = [self.weight * each for each in values]
        columns = np.stack([np.bincount(self.row, each, self.times.shape[0]) for each in weighted])

        def part_of(part: slice) -> np.ndarray:
            sums: np.ndarray = kernels.sums(columns, self.times, part.start, part.stop)
            return sums

        without = [] if self.left_out is None else [_sums_without(self.left_out, weighted)]
        return [columns.sum(axis=1, keepdims=True), in_threads(part_of, self._sum_parts), *without]

    def _spearman(self, scores: Sequence[np.ndarray]) -> list[BootstrapStatistic]:
        """For several systems: the rank tables of a few replicates are made once, and every system passes over them
        while they are in the processor's cache."""
        if not scores:
            return []
        few = self.left_out is not None and self.left_out.queries <= MOST_LEFT_OUT
        ordered, rows, rows_without = [], [], []
        for score in scores:
            order, *by_score = self._by_score(score)
            ordered.append(by_score)
            rows.append(self.row[order].astype(np.int32))
            if few and self.left_out is not None:
                rows_without.append(self.left_out.query[order].astype(np.int32))
        kept = self._kept_ranks

        def of_all(rows: Sequence[np.ndarray], pieces: Iterable[Ranked]) -> np.ndarray:
            found = [
                [
                    kernels.spearman(row, end, level, ranked, weight, times)
                    for row, (end, level, weight) in zip(rows, ordered, strict=True)
                ]
                for times, ranked in pieces
            ]
            return np.concatenate(found, axis=1)

        def part_of(part: slice) -> np.ndarray:
            made = self._ranked(self.row, self.times[:, part]) if kept is None else kept[self._rank_parts.index(part)]
            return of_all(rows, made)

        points = of_all(rows, self._ranked(self.row, self.every))
        replicates = in_threads(part_of, self._rank_parts)
        without: Sequence[np.ndarray | None] = [None] * len(scores)
        if few and self.left_out is not None:
            without = list(of_all(rows_without, self._ranked(self.left_out.query, self.left_out.times)))
        return [self._figure(float(point[0]), *rest) for point, *rest in zip(points, replicates, without, strict=True)]

    def _kendall(self, score: np.ndarray) -> BootstrapStatistic:
        """tau-b: products of weights over concordant less discordant pairs of pairs, over the most there could be.

        Such a sum of products is, in a replicate, nearly twice a plain sum less its value on the data (its projection:
        Hoeffding 1948), so that each pair's concordance is counted once and not again in every replicate.
        """
        order, end, level, weight = self._by_score(score)
        row = self.row[order]
        share = weight / weight.sum()
        concordant = kernels.concordance(end, level, len(self.values), share)
        of_score = np.bincount(np.cumsum(end) - end, share)[np.cumsum(end) - end]
        of_judgment = np.bincount(level, share)[level]
        number = self.times.shape[0]
        values = [share * column for column in (np.ones_like(share), concordant, of_score, of_judgment)]
        columns = np.stack([np.bincount(row, each, number) for each in values])

        def part_of(part: slice) -> np.ndarray:
            sums: np.ndarray = kernels.sums(columns, self.times, part.start, part.stop)
            return sums

        point = columns[1:].sum(axis=1)

        def projected(sums: np.ndarray) -> np.ndarray:
            with np.errstate(invalid="ignore", divide="ignore"):
                balance, tied, other_tied = 2.0 * sums[1:] / sums[0] - point[:, None]
                flat = (tied > 1 - 1e-12) | (other_tied > 1 - 1e-12)
                tau = np.clip(balance / np.sqrt((1.0 - tied) * (1.0 - other_tied)), -1.0, 1.0)
            return np.where(flat, np.nan, tau)

        without = None
        if self.left_out is not None:
            back = np.empty_like(order)
            back[order] = np.arange(len(order))  # pairs as they stood
            without = projected(_sums_without(self.left_out, [each[back] for each in values]))
        value = point[0] / np.sqrt((1.0 - point[1]) * (1.0 - point[2]))
        return self._figure(float(value), projected(in_threads(part_of, self._sum_parts)), without)

    def _figure(self, value: float, replicates: np.ndarray, left_out: np.ndarray | None) -> BootstrapStatistic:
        return BootstrapStatistic(value, replicates, clusters=self.queries, scale=CORRELATION, left_out=left_out)

    def _by_score(self, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The order of ascending score, and in it the ends of equal scores, levels and weights: in half of the bytes,
        or not copied, since those of all systems are there at once."""
        order = np.argsort(score, kind="stable")
        weight = self.weight if self._alike else self.weight[order]
        return order, group_ends(score[order]), self.level[order].astype(np.int32), weight


def _sums_without(left_out: LeftOut, values: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([left_out.sums(each) for each in values])


def pearson_of_sums(sums: np.ndarray) -> np.ndarray:
    """Pearson's r from sums of 1, x, y, xx, yy and xy in rows; NaN where one does not vary."""
    n, sx, sy, xx, yy, xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        left, right = xx - sx * sx / n, yy - sy * sy / n
        flat = (left <= 1e-12 * xx) | (right <= 1e-12 * yy)
        figure = (xy - sx * sy / n) / (np.sqrt(left) * np.sqrt(right))
    return np.where(flat, np.nan, np.clip(figure, -1.0, 1.0))


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


def parts_of(pairs: int, replicates: int, width: int) -> list[slice]:
    """The replicates in parts of at most `width`, two or more for as many threads; where pairs are few, which numpy
    walks, one part for as many as `AT_ONCE`.

    Examples
    --------
    >>> [len(parts_of(pairs, 1000, 128)) for pairs in (100, 10_000)]
    [1, 8]
    """
    if pairs < FEW:
        return chunks(replicates, AT_ONCE)
    return chunks(replicates, max(8, min(width, -(-replicates // 2))))
