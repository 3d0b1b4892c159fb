"""Sums and correlations over samples of whole queries."""

from __future__ import annotations

import numpy as np

from relstudy.mapping.scored_pairs import ScoredPairs


def resampled_sums(columns: list[np.ndarray], queries: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Sums of columns over samples of whole queries, shape (columns, resamples); the same samples for the same seed."""
    _, inverse = np.unique(queries, return_inverse=True)
    sums = np.column_stack([np.bincount(inverse, column) for column in columns])
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=resamples)
    return np.asarray((counts @ sums).T)


def correlations_over_queries(shape: np.ndarray, pairs: ScoredPairs, resamples: int, seed: int) -> np.ndarray:
    """Pearson's correlation of mapped scores with the judgments in each sample of queries, NaN where there is none.

    Parameters
    ----------
    shape : mapped scores, float [pairs]
    """
    p, y = shape - shape.mean(), pairs.judgments - pairs.judgments.mean()
    sums = resampled_sums([np.ones(len(p)), p, y, p * p, y * y, p * y], pairs.queries, resamples, seed)
    n, sp, sy, spp, syy, spy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            (spy - sp * sy / n) / np.sqrt(np.maximum(spp - sp * sp / n, 0) * np.maximum(syy - sy * sy / n, 0))
        )
