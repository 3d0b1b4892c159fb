"""The heavy loop if there is AVX2 and no vector popcount (AVX-512): distances are looked up, and not counted.

A code is cut into nibbles. For each nibble of a query, 16 bytes say how far each possible nibble is from it, and one
instruction (vpshufb) looks 32 codes up in them at once. Nibbles of one place lie side by side in a plane, tile by tile,
so that the sums of a tile stay in registers. What is counted, and how, is as in `kernels`: the integers are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import prange, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from relstudy.analysis.hashing.counting.kernels import BLOCK, QUERIES, WIDEST_PAIR, count_halves, marginals
from relstudy.common.runtime.compiled import compiled, compiled_for_all_cores

LANES = 32
"""Bytes of a register."""
TILE = 4 * LANES
"""Codes of a tile: the sums of two queries over it fill eight of 16 registers."""
TILES = 4
"""Tiles whose keys are kept before they are counted."""
BATCH = 4 * BLOCK
"""Codes that are cut into nibbles at a time, by all cores: 4 MiB of 64 bits, which the cores' common cache holds."""
NIBBLES = 16
"""Nibbles of a word, and values of a nibble."""
FEWEST = 64
"""With fewer queries, cutting the codes into nibbles takes longer than it saves."""


def is_faster(queries: int, bits: int) -> bool:
    """True where this kernel counts codes of so many bits faster than `kernels.count_by_class`, and can.

    The processor is the one that numba compiles for: NUMBA_CPU_FEATURES is obeyed.
    """
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    return queries >= FEWEST and bits <= WIDEST_PAIR and "+avx2" in features and "+avx512vpopcntdq" not in features


@intrinsic
def _keys_of_tile(
    context: Any, planes: Any, tile: Any, tables: Any, first: Any, second: Any, side: Any, keys: Any, place: Any
) -> tuple[Any, Callable[..., Any]]:
    """Write d(first) * side + d(second) of each code of a tile to keys[place:place + TILE], in an order of its own."""

    def generate(ctx: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        index, byte, integer = ir.IntType(64), ir.IntType(8), ir.IntType(32)
        row, half, pairs = (
            ir.VectorType(byte, LANES),
            ir.VectorType(byte, NIBBLES),
            ir.VectorType(ir.IntType(16), LANES // 2),
        )
        codes, ways, out = (
            ctx.make_array(signature.args[which])(ctx, builder, arguments[which]) for which in (0, 2, 6)
        )
        number = cgutils.unpack_tuple(builder, codes.shape)[1]
        _, chosen, _, *queries, width, _, start = arguments
        look_up = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(row, [row, row]), "llvm.x86.avx2.pshuf.b"
        )

        def at(data: Any, offset: Any, kind: Any) -> Any:
            return builder.bitcast(builder.gep(data, [offset]), kind.as_pointer())

        def spread(value: Any, order: list[int]) -> Any:
            mask = ir.Constant(ir.VectorType(integer, len(order)), order)
            return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)

        sums = [[cgutils.alloca_once(builder, row, zfill=True) for _ in queries] for _ in range(TILE // LANES)]
        with cgutils.for_range(builder, number) as plane:
            distances = []
            for query in queries:
                offset = builder.mul(builder.add(builder.mul(query, number), plane.index), index(NIBBLES))
                table = builder.load(at(ways.data, offset, half), align=1)
                distances.append(spread(table, [*range(NIBBLES)] * 2))
            base = builder.mul(builder.add(builder.mul(chosen, number), plane.index), index(TILE))
            for part, both in enumerate(sums):
                nibbles = builder.load(at(codes.data, builder.add(base, index(part * LANES)), row), align=1)
                for table, one in zip(distances, both, strict=True):
                    builder.store(builder.add(builder.load(one), builder.call(look_up, [table, nibbles])), one)
        sides = builder.insert_element(ir.Constant(pairs, ir.Undefined), width, integer(0))
        sides = spread(sides, [0] * (LANES // 2))
        low, eight = (ir.Constant(pairs, [value] * (LANES // 2)) for value in (255, 8))
        for part, both in enumerate(sums):
            ahead, behind = (builder.bitcast(builder.load(one), pairs) for one in both)
            # Of two neighbouring bytes, first the lower ones and then the upper ones.
            apart = (
                (builder.and_(ahead, low), builder.and_(behind, low)),
                (builder.lshr(ahead, eight), builder.lshr(behind, eight)),
            )
            for which, (a, b) in enumerate(apart):
                offset = builder.add(start, index(part * LANES + which * (LANES // 2)))
                builder.store(builder.add(builder.mul(a, sides), b), at(out.data, offset, pairs), align=1)
        return ctx.get_dummy_value()

    given = (planes, types.intp, tables, types.intp, types.intp, types.uint16, keys, types.intp)
    return types.void(*given), generate


@compiled
def _most_pieces(starts: np.ndarray, rows: int) -> int:
    return min(len(starts) - 1, rows) + rows // BLOCK


@compiled
def _pieces(starts: np.ndarray, low: int, high: int) -> np.ndarray:
    """Rows low:high cut by class and at `BLOCK` rows: class, first row, end, first tile; each begins with a tile."""
    pieces = np.empty((_most_pieces(starts, high - low), 4), np.int64)
    number, tile = 0, 0
    for c in range(len(starts) - 1):
        first, end = max(low, starts[c]), min(high, starts[c + 1])
        while first < end:
            after = min(first + BLOCK, end)
            pieces[number, 0], pieces[number, 1], pieces[number, 2], pieces[number, 3] = c, first, after, tile
            number += 1
            tile += (after - first + TILE - 1) // TILE
            first = after
    return pieces[:number]


@compiled
def _fill_plane(words: np.ndarray, pieces: np.ndarray, plane: int, planes: np.ndarray) -> None:
    """The nibbles of one place of all pieces' codes; a tile that is not full ends with zeros."""
    shift = np.uint64(4 * (plane % NIBBLES))
    for piece in range(len(pieces)):
        first, end, tile = pieces[piece, 1], pieces[piece, 2], pieces[piece, 3]
        while first < end:
            some = words[first : min(end, first + TILE)]
            out = planes[tile, plane]
            for j in range(some.size):
                out[j] = np.uint8((some[j] >> shift) & np.uint64(15))
            out[some.size :] = 0
            first += TILE
            tile += 1


@compiled
def _fill_tables(query: np.ndarray, table: np.ndarray) -> None:
    """For each nibble of a query, how far each of 16 nibbles is from it."""
    for plane in range(len(table)):
        own = (query[plane // NIBBLES] >> np.uint64(4 * (plane % NIBBLES))) & np.uint64(15)
        for nibble in range(NIBBLES):
            other = own ^ np.uint64(nibble)
            table[plane, nibble] = (other & 1) + (other >> 1 & 1) + (other >> 2 & 1) + (other >> 3)


@compiled
def _count_tiles(
    planes: np.ndarray, low: int, high: int, tables: np.ndarray, i: int, k: int, side: int, keys: np.ndarray,
    counts: np.ndarray,
) -> None:  # fmt: skip
    """Add tiles low:high to the joint histogram of the queries with tables i and k."""
    while low < high:
        some = min(TILES, high - low)
        for t in range(some):
            _keys_of_tile(planes, low + t, tables, i, k, np.uint16(side), keys, t * TILE)
        count_halves(keys[: some * TILE], counts, side * side)
        low += some


@compiled_for_all_cores
def count_by_class(
    columns: np.ndarray, starts: np.ndarray, queries: np.ndarray, classes: np.ndarray, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """As `kernels.count_by_class`, for codes of at most `WIDEST_PAIR` bits if there is AVX2."""
    number, side, size = len(queries), bits + 1, columns.shape[1]
    places = 2 * ((bits + 7) // 8)  # the last byte is filled from its upper end
    total = np.zeros((number, side), np.int64)
    relevant = np.zeros((number, side), np.int64)
    rows = min(BATCH, size)
    planes = np.empty((rows // TILE + _most_pieces(starts, rows), places, TILE), np.uint8)
    for low in range(0, size, BATCH):
        pieces = _pieces(starts, low, min(low + BATCH, size))
        for plane in prange(places):
            _fill_plane(columns[plane // NIBBLES], pieces, plane, planes)
        for group in prange((number + QUERIES - 1) // QUERIES):
            first_query = group * QUERIES
            last_query = min(number, first_query + QUERIES)
            tables = np.empty((QUERIES, places, NIBBLES), np.uint8)
            for i in range(first_query, last_query):
                _fill_tables(queries[i], tables[i - first_query])
            keys = np.empty(TILES * TILE, np.uint16)
            counts = np.empty(2 * side * side, np.uint16)
            of_first = np.empty(side, np.int64)
            of_second = np.empty(side, np.int64)
            for piece in range(len(pieces)):
                c, codes, tile = pieces[piece, 0], pieces[piece, 2] - pieces[piece, 1], pieces[piece, 3]
                tiles = (codes + TILE - 1) // TILE
                for i in range(first_query, last_query, 2):
                    k = min(i + 1, last_query - 1)
                    a, b = i - first_query, k - first_query
                    counts[:] = 0
                    of_first[:] = 0
                    of_second[:] = 0
                    _count_tiles(planes, tile, tile + tiles, tables, a, b, side, keys, counts)
                    marginals(counts, side, of_first, of_second)
                    # The zeros behind the last code were counted as codes.
                    of_first[tables[a, :, 0].sum()] -= tiles * TILE - codes
                    of_second[tables[b, :, 0].sum()] -= tiles * TILE - codes
                    total[i] += of_first
                    if classes[i] == c:
                        relevant[i] += of_first
                    if k != i:
                        total[k] += of_second
                        if classes[k] == c:
                            relevant[k] += of_second
    return total, relevant
