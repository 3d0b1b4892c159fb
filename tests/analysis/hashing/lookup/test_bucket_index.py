"""Look-up in hash tables: what is found, against brute force, the count table and faiss."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import count, scan
from relstudy.analysis.hashing.lookup.bucket_index import BucketIndex, MultiIndex, segments
from relstudy.analysis.hashing.lookup.sweep import LEAST_TIMED, Grid, sweep, timed
from relstudy.analysis.hashing.lookup.with_faiss import FaissBuckets
from relstudy.analysis.hashing.metrics.ball import ball_sizes
from relstudy.analysis.hashing.metrics.buckets import expected_look_up
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.errors import RelstudyError

BITS = 20


@pytest.fixture(scope="module")
def world() -> tuple[Codes, Codes, LabelTruth]:
    """Codes near four centres, more queries than a block holds."""
    rng = np.random.default_rng(5)
    centres = rng.random((4, BITS)) < 0.5
    kinds = [rng.integers(0, 4, size) for size in (300, 2000)]
    queries, database = (Codes.from_bits(centres[k] ^ (rng.random((len(k), BITS)) < 0.2)) for k in kinds)
    return queries, database, LabelTruth(*(Labels(classes=k) for k in kinds))


def by_hand(queries: Codes, database: Codes, tables: list[np.ndarray], flips: int) -> list[list[int]]:
    first, second = queries.unpacked(), database.unpacked()
    near = np.zeros((len(first), len(second)), dtype=bool)
    for positions in tables:
        near |= (first[:, None, positions] != second[None, :, positions]).sum(axis=2) <= flips
    return [np.flatnonzero(row).tolist() for row in near]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "tables", "flips", "seed"), [(5, 4, 0, None), (5, 3, 2, 7), (10, 2, 1, None)])
def test_it_finds_what_shares_a_bucket_and_nothing_else(world, width: int, tables: int, flips: int, seed) -> None:
    queries, database, _ = world
    positions = segments(BITS, width, tables, seed)
    found = BucketIndex.of(database, positions).look_up(queries, flips)
    parts = zip(found.starts[:-1], found.starts[1:], strict=True)
    assert [found.rows[a:b].tolist() for a, b in parts] == by_hand(queries, database, positions, flips)


def test_one_table_of_all_bits_searches_by_radius(world) -> None:
    """Jiang, Li and Li 2019, figure 1: as many buckets as the ball has codes, as many codes as the count table has."""
    queries, database, truth = world
    table = count(queries, database, truth, engine="numpy")
    index = BucketIndex.of(database, segments(BITS, BITS, 1))
    for radius in range(4):
        found = index.look_up(queries, radius)
        assert (found.candidates == table.total[:, : radius + 1].sum(axis=1)).all()
        assert (found.relevant(truth) == table.relevant[:, : radius + 1].sum(axis=1)).all()
        assert index.probes(radius) == ball_sizes(BITS, radius)[-1]


@pytest.mark.parametrize(("bits", "tables"), [(20, None), (20, 3), (130, None), (130, 7)])
def test_several_tables_find_all_codes_within_a_radius_and_no_other(bits: int, tables: int | None) -> None:
    """Norouzi, Punjani and Fleet 2012, propositions 1 and 2, at radii below, at and above the number of tables."""
    rng = np.random.default_rng(3)
    centres = rng.random((3, bits)) < 0.5
    queries, database = (
        Codes.from_bits(centres[rng.integers(0, 3, size)] ^ (rng.random((size, bits)) < 0.06)) for size in (30, 700)
    )
    distance = (queries.unpacked()[:, None] != database.unpacked()[None]).sum(axis=2)
    several = MultiIndex.of(database, seed=None if tables else 1, tables=tables)
    for radius in (0, 1, 2, 5, 8):
        found = several.within(queries, radius)
        parts = zip(found.starts[:-1], found.starts[1:], strict=True)
        assert [found.rows[a:b].tolist() for a, b in parts] == [
            np.flatnonzero(row <= radius).tolist() for row in distance
        ]
    assert (distance <= 8).any(axis=1).sum() > 10  # or nothing was looked for


def test_fewer_keys_are_probed_in_several_tables_than_the_ball_has_codes() -> None:
    database = Codes.from_bits(np.random.default_rng(1).random((4096, 64)) < 0.5)
    several = MultiIndex.of(database)  # 64 / log2(4096), in whole tables
    assert len(several.index.tables) == 5
    assert several.flips(3) == (0, 0, 0, 0, -1)
    assert several.index.probes(several.flips(3)) == 4 < ball_sizes(64, 3)[-1] == 43_745


def test_a_scan_counts_every_distance_on_one_thread_and_leaves_the_others_as_they_were(world) -> None:
    import numba

    queries, database, truth = world
    before = numba.get_num_threads()
    assert (scan(queries, database) == count(queries, database, truth, engine="numpy").total).all()
    assert numba.get_num_threads() == before


@pytest.mark.slow
def test_what_takes_microseconds_is_repeated_until_a_clock_can_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # here the time counts
    calls = []
    result, seconds = timed(lambda: calls.append(1) or 7)
    assert result == 7 and len(calls) > 3000
    assert (
        seconds < 3 * LEAST_TIMED / len(calls) * 4
    )  # three runs, each a share of the calls; four times for a busy machine


@pytest.mark.slow
@pytest.mark.parametrize("bits", [16, 20])
def test_faiss_finds_the_same_codes_in_the_same_buckets(bits: int) -> None:
    pytest.importorskip("faiss")
    rng = np.random.default_rng(2)
    queries, database = (Codes.from_bits(rng.random((size, bits)) < 0.4) for size in (40, 3000))
    for width, tables, flips in product((4, 8), (1, 2), (0, 1, 2)):
        ours = BucketIndex.of(database, segments(bits, width, tables)).look_up(queries, flips)
        theirs = FaissBuckets(database, width, tables).look_up(queries, flips)
        assert (ours.starts == theirs.starts).all()
        assert (ours.rows == theirs.rows).all()


@pytest.mark.slow
def test_a_sweep_agrees_with_what_is_expected_over_permutations_of_the_bits(world) -> None:
    queries, database, truth = world
    queries, truth = queries.take(slice(0, 40)), LabelTruth(Labels(classes=truth.queries.classes[:40]), truth.database)
    table = count(queries, database, truth, engine="numpy")
    expected = expected_look_up(table, 5, 3).micro()
    seeds = 40
    rows = [sweep(queries, database, truth, Grid((5,), (3,), (0,), seed))[1] for seed in range(seeds)]
    for name in ("recall", "candidates"):
        values = np.array([getattr(row, name) for row in rows])
        # four standard errors of the mean over the permutations
        assert values.mean() == pytest.approx(expected[name], abs=4 * values.std() / np.sqrt(seeds))
    scan = sweep(queries, database, truth, Grid((30,), (1,)))
    assert [(row.candidates, row.recall, row.bits) for row in scan] == [(2000.0, 1.0, None)]


def test_moran_figure_3_5_a_threshold_of_the_ranking_is_a_setting_of_the_tables() -> None:
    """Six bits: L segments of K = 6 / L bits find every code at a distance below L (the pigeonhole)."""
    query = Codes.from_bits(np.zeros((1, 6), dtype=bool))
    everything = Codes.from_bits(np.array(list(product([False, True], repeat=6))))
    distance = everything.unpacked().sum(axis=1)
    for tables in (1, 2, 3, 6):
        found = set(BucketIndex.of(everything, segments(6, 6 // tables, tables)).look_up(query).rows.tolist())
        assert set(np.flatnonzero(distance < tables).tolist()) <= found
    # L = 6 segments of K = 1 bit reach distance 5, as the figure says, and nothing but the complement is left out.
    assert distance[sorted(found)].max() == 5
    assert len(found) == 63


def test_what_does_not_fit_is_one_sentence(world) -> None:
    queries, database, _ = world
    with pytest.raises(RelstudyError, match="3 disjoint tables of 8 bits do not fit a code of 20 bits"):
        segments(BITS, 8, 3)
    with pytest.raises(RelstudyError, match="query codes have 20 bits and the index 12"):
        BucketIndex.of(Codes.from_bits(database.unpacked()[:, :12]), segments(12, 4, 1)).look_up(queries)
    long = Codes.from_bits(np.zeros((2, 70), dtype=bool))
    word = Codes.from_bits(np.eye(3, 64, dtype=bool))
    found = BucketIndex.of(word, segments(64, 64, 1)).look_up(word, 2)
    assert (found.rows.tolist(), found.candidates.tolist()) == ([0, 1, 2] * 3, [3] * 3)
    with pytest.raises(RelstudyError, match="a bucket of 70 bits is too wide"):
        BucketIndex.of(long, segments(70, 70, 1))
