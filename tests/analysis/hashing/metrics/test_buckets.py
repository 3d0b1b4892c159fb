"""Look-up in hash tables: exact against brute force, expected against every permutation of the bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.lookup.bucket_index import segments
from relstudy.analysis.hashing.metrics.buckets import expected_look_up, look_up
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth, ListedTruth
from relstudy.common.runtime.errors import RelstudyError


@pytest.fixture(scope="module")
def world() -> tuple[Codes, Codes, LabelTruth]:
    rng = np.random.default_rng(9)
    queries, database = (Codes.from_bits(rng.random((size, 6)) < 0.5) for size in (5, 40))
    return queries, database, LabelTruth(Labels(classes=rng.integers(0, 3, 5)), Labels(classes=rng.integers(0, 3, 40)))


@pytest.mark.parametrize("listed", [False, True])
def test_look_up_finds_what_agrees_in_any_table(world, listed: bool) -> None:
    queries, database, labels = world
    relevant = labels.queries.classes[:, None] == labels.database.classes[None]
    truth = ListedTruth.from_lists([np.flatnonzero(row) for row in relevant], 40) if listed else labels
    tables = segments(6, 2, 3, seed=1)
    own, theirs = queries.unpacked(), database.unpacked()
    hit = np.zeros(relevant.shape, dtype=bool)
    for positions in tables:
        hit |= (own[:, None, positions] == theirs[None, :, positions]).all(axis=-1)
    found = look_up(queries, database, truth, tables)
    assert found.retrieved.tolist() == hit.sum(axis=1).tolist()
    assert found.relevant.tolist() == (hit & relevant).sum(axis=1).tolist()
    micro = found.micro()
    precision, recall = (hit & relevant).sum() / hit.sum(), (hit & relevant).sum() / relevant.sum()
    assert micro["precision"] == pytest.approx(precision, abs=1e-12)
    assert micro["f"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-12)
    assert micro["recall"] == pytest.approx(recall, abs=1e-12) and micro["candidates"] == hit.sum() / 5


@pytest.mark.slow
@pytest.mark.parametrize(("width", "tables"), [(1, 3), (2, 2), (3, 2), (6, 1)])
def test_the_expectation_is_the_mean_over_every_permutation_of_the_bits(world, width: int, tables: int) -> None:
    queries, database, truth = world
    runs = []
    for permutation in itertools.permutations(range(6)):
        positions = np.split(np.array(permutation[: width * tables]), tables)
        runs.append(look_up(queries, database, truth, positions))
    ours = expected_look_up(count(queries, database, truth), width, tables)
    assert np.allclose(ours.retrieved, np.mean([run.retrieved for run in runs], axis=0), atol=1e-10)
    assert np.allclose(ours.relevant, np.mean([run.relevant for run in runs], axis=0), atol=1e-10)


def test_tables_that_do_not_fit_the_code_are_refused(world) -> None:
    with pytest.raises(RelstudyError, match="4 disjoint tables of 2 bits do not fit a code of 6 bits"):
        segments(6, 2, 4)


def test_nothing_found_has_no_precision_rather_than_zero() -> None:
    code = Codes.from_bits(np.array([[0, 0]], dtype=bool))
    other = Codes.from_bits(np.array([[1, 1]], dtype=bool))
    truth = LabelTruth(Labels(classes=np.array([1])), Labels(classes=np.array([1])))
    assert look_up(code, other, truth, segments(2, 1, 2)).micro()["precision"] is None
