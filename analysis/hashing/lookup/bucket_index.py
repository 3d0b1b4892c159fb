"""An inverted index of hash codes: L tables of K bits each, looked up exactly or with a few bits flipped.

One table of all bits, looked up with up to R flips, finds the Hamming ball of radius R: the bins in order of radius of
Jiang, Li and Li 2019, figure 1. Several tables of fewer bits are those of Moran 2016, section 3.4.2; flips in each are
multi-probe look-up (Lv et al. 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.truth.relevance import Truth
from relstudy.common.runtime.errors import RelstudyError

WIDEST = 64
"""Bits of a bucket: a key is one word."""
QUERIES_AT_ONCE = 256
PROBES_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class LookUpResult:
    """Rows that each query found: query i owns rows[starts[i]:starts[i + 1]], ascending and distinct.

    Parameters
    ----------
    starts : int64 (M + 1,)
    rows : int64, rows of the database
    """

    starts: np.ndarray
    rows: np.ndarray

    @property
    def candidates(self) -> np.ndarray:
        """Codes found by each query, int64 (M,)."""
        return np.diff(self.starts)

    def relevant(self, truth: Truth) -> np.ndarray:
        """Relevant codes among those found by each query, int64 (M,)."""
        parts = zip(self.starts[:-1], self.starts[1:], strict=True)
        return np.array(
            [len(np.intersect1d(self.rows[low:high], truth.of(query), True)) for query, (low, high) in enumerate(parts)]
        )


@dataclass(frozen=True)
class _Table:
    positions: np.ndarray
    keys: np.ndarray
    starts: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class BucketIndex:
    """Tables of a database's codes.

    Examples
    --------
    >>> codes = Codes.from_bits(np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0]], dtype=bool))
    >>> index = BucketIndex.of(codes, segments(3, 3, 1))
    >>> found = index.look_up(codes.take(slice(0, 1)), flips=1)
    >>> found.rows.tolist(), index.probes(1)
    ([0, 1], 4)
    """

    tables: tuple[_Table, ...]
    codes: int
    bits: int

    @classmethod
    def of(cls, database: Codes, tables: Sequence[np.ndarray]) -> BucketIndex:
        """Index a database by the bit positions of each table.

        Raises
        ------
        RelstudyError
            for buckets of more than 64 bits
        """
        built = []
        for positions in tables:
            if len(positions) > WIDEST:
                raise RelstudyError(
                    f"a bucket of {len(positions)} bits is too wide for one word; {WIDEST} are the most"
                )
            keys = _keys(database, positions)
            rows = np.argsort(keys, kind="stable")
            ordered = keys[rows]
            firsts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
            built.append(_Table(positions, ordered[firsts], np.r_[firsts, len(ordered)], rows))
        return cls(tuple(built), len(database), database.bits)

    def probes(self, flips: int | Sequence[int]) -> int:
        """Buckets that a query looks into, over all tables."""
        return sum(len(_masks(len(table.positions), most)) for table, most in self._with_flips(flips))

    def _with_flips(self, flips: int | Sequence[int]) -> list[tuple[_Table, int]]:
        each = [flips] * len(self.tables) if isinstance(flips, int) else flips
        return list(zip(self.tables, each, strict=True))

    def look_up(self, queries: Codes, flips: int | Sequence[int] = 0) -> LookUpResult:
        """Every code that shares a bucket with a query, or lies in one with up to `flips` bits of the key flipped.

        Parameters
        ----------
        queries : codes of as many bits as the index
        flips : in every table, or one number for each; -1 passes a table over
        """
        if queries.bits != self.bits:
            raise RelstudyError(f"query codes have {queries.bits} bits and the index {self.bits}; they must be equal")
        blocks = [queries.take(slice(i, i + QUERIES_AT_ONCE)) for i in range(0, len(queries), QUERIES_AT_ONCE)]
        candidates = [self._of_block(block, flips) for block in blocks]
        counts = np.concatenate([counts for counts, _ in candidates])
        return LookUpResult(np.r_[0, np.cumsum(counts)], np.concatenate([rows for _, rows in candidates]))

    def _of_block(self, queries: Codes, flips: int | Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        pairs = [np.empty(0, dtype=np.int64)]
        for table, most in self._with_flips(flips):
            keys = _keys(queries, table.positions)
            for masks in _chunks(_masks(len(table.positions), most), PROBES_AT_ONCE // len(queries)):
                wanted = (keys[:, None] ^ masks).ravel()
                bucket = np.minimum(np.searchsorted(table.keys, wanted), len(table.keys) - 1)
                hit = np.flatnonzero(table.keys[bucket] == wanted)
                pairs.append(self._members(table, bucket[hit], hit // len(masks)))
        together = np.unique(np.concatenate(pairs)) if len(pairs) > 2 else np.sort(pairs[-1])
        query, rows = np.divmod(together, self.codes)
        return np.bincount(query, minlength=len(queries)), rows

    def _members(self, table: _Table, buckets: np.ndarray, query: np.ndarray) -> np.ndarray:
        """query * N + row for every row of the buckets."""
        first, size = table.starts[buckets], table.starts[buckets + 1] - table.starts[buckets]
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        return np.asarray(np.repeat(query * self.codes, size) + table.rows[np.repeat(first, size) + within])


@dataclass(frozen=True)
class MultiIndex:
    """Every code within a radius, found in several tables of part of the bits (Norouzi, Punjani and Fleet 2012).

    A code within R of a query is within R // m of it in one of the first R mod m + 1 of m parts, or within one bit less
    in another: so few keys are probed where the ball itself holds millions, and what is found is measured.

    Examples
    --------
    >>> codes = Codes.from_bits(np.array([[0, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]], dtype=bool))
    >>> several = MultiIndex.of(codes, tables=2)
    >>> several.within(codes.take(slice(0, 1)), 2).rows.tolist(), several.flips(2)
    ([0, 1], (1, 0))
    """

    index: BucketIndex
    database: Codes

    @classmethod
    def of(cls, database: Codes, seed: int | None = None, tables: int | None = None) -> MultiIndex:
        """Cut all bits into parts as wide as the logarithm of the number of codes, which the source recommends.

        Parameters
        ----------
        database : codes to find
        seed : of a permutation of the bits; None cuts the code as it stands
        tables : number of parts; None: by the number of codes
        """
        bits = database.bits
        number = tables or max(1, -(-bits // WIDEST), round(bits / np.log2(max(len(database), 2))))
        parts = np.array_split(_bit_order(bits, seed), min(number, bits))
        return cls(BucketIndex.of(database, parts), database)

    @property
    def widest(self) -> int:
        """Bits of the widest table."""
        return max(len(table.positions) for table in self.index.tables)

    def flips(self, radius: int) -> tuple[int, ...]:
        """Bits flipped in each table to find all codes within a radius; -1: the table need not be looked into."""
        each, rest = divmod(radius, len(self.index.tables))
        return tuple(each if place <= rest else each - 1 for place in range(len(self.index.tables)))

    def within(self, queries: Codes, radius: int) -> LookUpResult:
        """The codes whose distance from each query is at most `radius`."""
        found = self.index.look_up(queries, self.flips(radius))
        query = np.repeat(np.arange(len(queries)), found.candidates)
        near = np.zeros(len(query), dtype=bool)
        for start in range(0, len(query), PROBES_AT_ONCE):
            part = slice(start, start + PROBES_AT_ONCE)
            apart = queries.columns[:, query[part]] ^ self.database.columns[:, found.rows[part]]
            near[part] = np.bitwise_count(apart).sum(axis=0, dtype=np.int64) <= radius
        counts = np.bincount(query[near], minlength=len(queries))
        return LookUpResult(np.r_[0, np.cumsum(counts)], found.rows[near])


def segments(bits: int, width: int, tables: int, seed: int | None = None) -> list[np.ndarray]:
    """L disjoint segments of K bits: of the code as it stands (Moran 2016, figure 3.5), or of a random permutation.

    Examples
    --------
    >>> [positions.tolist() for positions in segments(6, 2, 3)]
    [[0, 1], [2, 3], [4, 5]]
    """
    if width < 1 or tables < 1 or width * tables > bits:
        raise RelstudyError(f"{tables} disjoint tables of {width} bits do not fit a code of {bits} bits")
    return np.split(_bit_order(bits, seed)[: width * tables], tables)


def _bit_order(bits: int, seed: int | None) -> np.ndarray:
    """The positions of the bits as they stand, or in the random order of a seed: int64 (bits,)."""
    return np.arange(bits) if seed is None else np.random.default_rng(seed).permutation(bits)


def _keys(codes: Codes, positions: np.ndarray) -> np.ndarray:
    """The chosen bits of each code as one number, the first chosen bit the lowest: uint64 (codes,)."""
    bits = codes.unpacked()[:, positions]
    keys = np.zeros(len(codes), dtype=np.uint64)
    for position in range(len(positions)):
        keys |= bits[:, position].astype(np.uint64) << np.uint64(position)
    return keys


def _masks(width: int, flips: int) -> np.ndarray:
    """Every key within `flips` bits of 0, by number of bits: uint64."""
    single = [1 << bit for bit in range(width)]
    rings = [sum(chosen) for size in range(min(flips, width) + 1) for chosen in combinations(single, size)]
    return np.array(rings, dtype=np.uint64)


def _chunks(masks: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for start in range(0, len(masks), max(1, size)):
        yield masks[start : start + max(1, size)]
