"""Time and recall of look-ups over numbers of bits, tables and flips."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes, check_lengths
from relstudy.analysis.hashing.counting.counts import scan
from relstudy.analysis.hashing.lookup.bucket_index import BucketIndex, LookUpResult, MultiIndex, segments
from relstudy.analysis.hashing.lookup.with_faiss import FaissBuckets
from relstudy.analysis.hashing.options import Searcher
from relstudy.analysis.hashing.truth.relevance import Truth, check_sizes
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed_some

REPEATS = 3
LEAST_TIMED = 0.1
"""Seconds of the processor that a look-up is repeated for: a clock tells nothing of one that takes microseconds."""


@dataclass(frozen=True)
class LookUp:
    """One setting of the tables and what came of it, over all queries.

    Parameters
    ----------
    bits, tables, flips : K (of the widest table), L and the bits flipped in each table (at most); None for the scan of
        all codes
    within : the radius beyond which what was found is left out, after its distance was measured; None keeps all
    probes : buckets that a query looks into
    candidates : mean codes found by a query
    empty : queries that found nothing
    precision, recall, f1 : micro (Moran 2016, Eq. 3.6, 3.7 and 3.10), None for 0/0
    milliseconds : of the processor a query, the least of three runs of at least a tenth of a second
    """

    bits: int | None
    tables: int | None
    flips: int | None
    within: int | None
    probes: int | None
    candidates: float
    empty: int
    precision: float | None
    recall: float | None
    f1: float | None
    milliseconds: float

    def as_json(self) -> dict[str, Any]:
        """The setting and its figures by name, as `relstudy hash look-up --json` prints a row."""
        return asdict(self)


@dataclass(frozen=True)
class Grid:
    """The settings to try; those that do not fit the code are left out.

    Parameters
    ----------
    bits, tables, flips : K, L and flips, each several
    seed : of a permutation of the bits before they are cut into segments; None cuts the code as it stands
    searcher : who looks up
    radii : within each of which codes are also searched exactly, in several tables (Norouzi, Punjani and Fleet 2012)
    """

    bits: tuple[int, ...]
    tables: tuple[int, ...]
    flips: tuple[int, ...] = (0,)
    seed: int | None = None
    searcher: Searcher = "numpy"
    radii: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, values, least in (("bits", self.bits, 1), ("tables", self.tables, 1), ("flips", self.flips, 0)):
            wrong = [value for value in values if value < least]
            if wrong:
                raise RelstudyError(f"{option(name)}: a whole number from {least} is needed, not {wrong[0]}")

    def settings(self, code_bits: int) -> list[tuple[int, int, int]]:
        """(K, L, flips) that fit a code."""
        return [s for s in product(self.bits, self.tables, self.flips) if s[0] * s[1] <= code_bits and s[2] <= s[0]]

    def left_out(self, code_bits: int) -> list[str]:
        """Note on the settings that do not fit a code, if there are some."""
        fit = self.settings(code_bits)
        rest = [s for s in product(self.bits, self.tables, self.flips) if s not in fit]
        if not rest:
            return []
        named = listed_some([f"{width}/{tables}/{flips}" for width, tables, flips in rest])
        return [
            f"{count_of(len(rest), 'setting')} left out (bits/tables/flips {named}): tables share no bit of a code of "
            f"{code_bits}, and a key has no more bits to flip than its own"
        ]


def sweep(
    queries: Codes,
    database: Codes,
    truth: Truth,
    grid: Grid,
    watch: Callable[[Iterable[Any], int], Iterator[Any]] | None = None,
) -> list[LookUp]:
    """Every setting of a grid, and first the scan that measures the distance of every code.

    Parameters
    ----------
    queries, database : codes of the same length
    truth : which codes are relevant to which query
    watch : wraps the settings as they are tried, to show progress
    """
    check_lengths(queries, database)
    check_sizes(truth, len(queries), len(database))
    wanted = np.array([len(truth.of(query)) for query in range(len(queries))])
    everything = np.full(len(queries), len(database))
    scan(queries.take(slice(0, 1)), database)  # what is compiled at the first call is not part of its time
    _, spent = timed(lambda: scan(queries, database))
    rows = [_row((None, None, None, None, None), (everything, wanted, wanted), spent)]
    watch = watch or (lambda items, _: iter(items))
    settings = grid.settings(database.bits)
    for width, tables, flips in watch(settings, len(settings)):
        index: BucketIndex | FaissBuckets
        inverted = BucketIndex.of(database, segments(database.bits, width, tables, grid.seed))
        index = inverted if grid.searcher == "numpy" else FaissBuckets(database, width, tables)
        result, spent = timed(lambda index=index, flips=flips: index.look_up(queries, flips))  # type: ignore[misc]
        figures = (result.candidates, result.relevant(truth), wanted)
        rows.append(_row((width, tables, flips, None, inverted.probes(flips)), figures, spent))
    if grid.radii:
        several = MultiIndex.of(database, grid.seed)
        for radius in watch(grid.radii, len(grid.radii)):
            result, spent = timed(lambda radius=radius: several.within(queries, radius))  # type: ignore[misc]
            figures = (result.candidates, result.relevant(truth), wanted)
            flips = several.flips(radius)
            setting = (several.widest, len(flips), max(flips), radius, several.index.probes(flips))
            rows.append(_row(setting, figures, spent))
    return rows


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The work's result, and its seconds of the processor: the least of three runs, each as often as fills a tenth of a
    second."""
    spent = []
    for _ in range(REPEATS):
        times, start = 0, time.process_time()
        while times == 0 or time.process_time() - start < LEAST_TIMED:
            result: LookUpResult | Any = work()
            times += 1
        spent.append((time.process_time() - start) / times)
    return result, min(spent)


def _row(
    setting: tuple[int | None, int | None, int | None, int | None, int | None],
    counts: tuple[np.ndarray, np.ndarray, np.ndarray],
    spent: float,
) -> LookUp:
    seen, hits, wanted = (float(part.sum()) for part in counts)
    number = len(counts[0])
    return LookUp(
        *setting,
        candidates=seen / number,
        empty=int((counts[0] == 0).sum()),
        precision=hits / seen if seen else None,
        recall=hits / wanted if wanted else None,
        f1=2 * hits / (seen + wanted) if seen + wanted else None,
        milliseconds=1000 * spent / number,
    )
