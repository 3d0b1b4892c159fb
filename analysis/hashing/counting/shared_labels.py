"""How many labels each code shares with each query, counted by Hamming radius."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.truth.relevance import LabelTruth, check_sizes


def shared_label_counts(queries: Codes, database: Codes, truth: LabelTruth) -> np.ndarray:
    """Codes by query, number of shared labels and distance: int64 (M, most shared + 1, Q + 1).

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.labels import Labels, mask_words
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 1], [1, 1]], dtype=bool))
    >>> sets = Labels(masks=mask_words(np.array([[1, 1], [1, 1], [0, 1]], dtype=bool)))
    >>> shared_label_counts(codes, codes, LabelTruth(sets, sets))[0].tolist()
    [[0, 0, 0], [0, 0, 1], [1, 1, 0]]
    """
    check_sizes(truth, len(queries), len(database))
    grades = _most_shared(truth) + 1
    side = queries.bits + 1
    counts = np.zeros((len(queries), grades, side), dtype=np.int64)
    for query, words in enumerate(queries.rows()):
        cell = _shared(truth, query) * side + database.distances_from(words)
        counts[query] = np.bincount(cell, minlength=grades * side).reshape(grades, side)
    return counts


def _shared(truth: LabelTruth, query: int) -> np.ndarray:
    if truth.queries.masks is None or truth.database.masks is None:
        return np.asarray(truth.database.classes == np.asarray(truth.queries.classes)[query], dtype=np.int64)
    both = truth.database.masks & truth.queries.masks[:, query, None]
    return np.asarray(np.bitwise_count(both).sum(axis=0), dtype=np.int64)


def _most_shared(truth: LabelTruth) -> int:
    return max(int(_shared(truth, query).max(initial=0)) for query in range(len(truth.queries)))
