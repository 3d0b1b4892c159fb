"""What a design will cost and bring, before anyone rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from relstudy.studyapp.sampling.design import CandidateProbabilities


def chance_of_good(rank: np.ndarray, good: float, skill: float) -> np.ndarray:
    """Probability that a result is good, from its rank, under a normal model.

    A system's scores and what people value are taken as normal with correlation `skill`; the best `good` of all pairs
    are good. Tied ranks share what their places would get.

    Parameters
    ----------
    rank : int [candidates], 1 best, tied candidates with the best place among them (as `rank_share` gives)
    good : share of all pairs that are good, 0 to 1, excluded
    skill : correlation, -1 to 1, excluded

    Examples
    --------
    >>> chance_of_good(np.array([1, 2, 3, 4]), 0.1, 0.0).round(6).tolist()
    [0.1, 0.1, 0.1, 0.1]
    """
    number = len(rank)
    z = -ndtri((np.arange(number) + 0.5) / number)
    chance = ndtr((skill * z + ndtri(good)) / np.sqrt(1 - skill**2))
    starts, inverse, counts = np.unique(rank, return_inverse=True, return_counts=True)
    return (np.add.reduceat(chance, starts - 1) / counts)[inverse]


class Expectation:
    """Collects what the preview needs while the queries go by, one at a time."""

    SHAPES_KEPT = 40

    def __init__(self) -> None:
        self.smallest = 1.0
        self.pairs = 0.0
        self._shapes: list[tuple[CandidateProbabilities, float]] = []

    def add(self, shape: CandidateProbabilities, query_probability: float) -> None:
        """Note one query's design."""
        self.smallest = min(self.smallest, query_probability * float(shape.probability.min()))
        self.pairs += float(shape.probability.sum())
        if len(self._shapes) < self.SHAPES_KEPT:
            self._shapes.append((shape, query_probability))

    def good_share(self, good: float, skill: float) -> float:
        """Expected share of good matches among the pairs, by the model of `chance_of_good` for each system."""
        expected = total = 0.0
        for shape, _ in self._shapes:
            scale = shape.probability / shape.parts.sum(axis=0)
            for part, rank in zip(shape.parts[:-1], shape.ranks, strict=True):
                expected += float((part * scale * chance_of_good(rank, good, skill)).sum())
            expected += good * float((shape.parts[-1] * scale).sum())
            total += float(shape.probability.sum())
        return expected / total


def rater_hours(base: int, unique: int, raters: int, per_pair: int, seconds: float) -> dict[str, Any]:
    """Hours of rating: everyone rates the base block, and each unique pair is rated `per_pair` times.

    Examples
    --------
    >>> rater_hours(100, 900, 10, 2, 6.0)
    {'ratings': 2800, 'total': 4.67, 'each': 0.47}
    """
    ratings = base * raters + unique * per_pair
    hours = ratings * seconds / 3600
    return {"ratings": ratings, "total": round(hours, 2), "each": round(hours / raters, 2)}
