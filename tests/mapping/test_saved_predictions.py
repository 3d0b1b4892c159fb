"""The order in which predictions out of fold are kept, and the samples of queries that figures share."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.mapping.saved_predictions import order_of_pairs
from relstudy.mapping.selection import resampled_sums


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_in_pythons_order_of_their_names_whatever_alphabet_they_are_in(seed: int) -> None:
    random = np.random.default_rng(seed)
    alphabet = ["a", "B", "é", "e\u0301", "ß", "10", "9", "\uffff", "😀", "漢", "", "a b", "a\x00", "a"]
    queries, results = ([alphabet[i] for i in random.integers(len(alphabet), size=400)] for _ in range(2))
    by_python = sorted(range(400), key=lambda i: (queries[i], results[i]))
    assert order_of_pairs(queries, results).tolist() == by_python


def test_samples_of_queries_are_the_same_after_samples_of_another_seed_and_size() -> None:
    queries, column = np.repeat(np.arange(8), 3), np.arange(24.0)
    first = resampled_sums([column], queries, 50, seed=1)
    resampled_sums([column], queries, 50, seed=2)
    resampled_sums([column], queries, 40, seed=1)
    drawn = np.random.default_rng(1).multinomial(8, np.full(8, 1 / 8), size=50)
    np.testing.assert_array_equal(first[0], drawn @ column.reshape(8, 3).sum(axis=1))
    np.testing.assert_array_equal(resampled_sums([column], queries, 50, seed=1), first)
