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

    QUERIES_KEPT = 40

    def __init__(self) -> None:
        self.smallest = 1.0
        self.pairs = 0.0
        self._queries: list[CandidateProbabilities] = []

    def add(self, chances: CandidateProbabilities, query_probability: float) -> None:
        """Take in one query's candidates, with the probability of the query to be drawn."""
        self.smallest = min(self.smallest, query_probability * float(chances.probability.min()))
        self.pairs += float(chances.probability.sum())
        if len(self._queries) < self.QUERIES_KEPT:
            self._queries.append(chances)

    def good_share(self, good: float, skill: float) -> float:
        """Expected share of good matches among the pairs, by the model of `chance_of_good` for each system."""
        expected = total = 0.0
        for chances in self._queries:
            scale = chances.probability / chances.parts.sum(axis=0)
            for part, rank in zip(chances.parts[:-1], chances.ranks, strict=True):
                expected += float((part * scale * chance_of_good(rank, good, skill)).sum())
            expected += good * float((chances.parts[-1] * scale).sum())
            total += float(chances.probability.sum())
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
