"""Preview of a design's cost and yield, before anyone rates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from relstudy.studyapp.sampling.sampling_design import CandidateProbabilities


def chance_of_good(
    rank: np.ndarray, good: float, skill: float, number: int | None = None, times: np.ndarray | None = None
) -> np.ndarray:
    """Probability that a result is good, from its rank, under a normal model.

    A system's scores and what people value are taken as normal with correlation `skill`; the best `good` of all pairs
    are good. Tied ranks share what their places would get.

    Parameters
    ----------
    rank : int [candidates], 1 best, tied candidates with the best place among them (as `rank_share` gives)
    good : share of all pairs that are good, 0 to 1, excluded
    skill : correlation, -1 to 1, excluded
    number : how many results there are to rank, of which the candidates may be a part; None: the candidates
    times : how many candidates each entry stands for; None: one

    Examples
    --------
    >>> chance_of_good(np.array([1, 2, 3, 4]), 0.1, 0.0).round(6).tolist()
    [0.1, 0.1, 0.1, 0.1]
    """
    counts = np.ones(len(rank)) if times is None else times
    candidates = round(float(counts.sum()))
    number = candidates if number is None else number
    starts, inverse = np.unique(rank, return_inverse=True)
    together = np.bincount(inverse, weights=counts)
    # more places than entries end in one large tie, whose chances are what the others leave of all
    places = candidates if candidates == len(rank) else int(starts[-1]) - 1
    z = -ndtri((np.arange(places) + 0.5) / number)
    chance = ndtr((skill * z + ndtri(good)) / np.sqrt(1 - skill**2))
    if candidates == len(rank):
        sums = np.add.reduceat(chance, starts - 1)
    else:
        before = np.add.reduceat(chance, starts[:-1] - 1) if len(starts) > 1 else np.empty(0)
        sums = np.r_[before, max(number * good - before.sum(), 0.0)]
    shared: np.ndarray = (sums / together)[inverse]
    return shared


QUERIES_KEPT = 40
ENTRIES_KEPT = 1_000_000


@dataclass(eq=False)
class Expectation:
    """Collects what the preview needs while the queries go by, one at a time.

    Parameters
    ----------
    smallest : the smallest inclusion probability so far
    kept : by paradigm, the candidates of the first queries
    entries : how many candidates these have
    """

    smallest: float = 1.0
    kept: dict[str, list[CandidateProbabilities]] = field(default_factory=dict)
    entries: int = 0

    def add(self, chances: CandidateProbabilities, paradigm: str, query_probability: float) -> None:
        """Take in one query's candidates, with the probability of the query to be drawn."""
        self.smallest = min(self.smallest, query_probability * float(chances.probability.min()))
        kept = self.kept.setdefault(paradigm, [])
        entries = chances.parts.size
        if len(kept) < 3 or (len(kept) < QUERIES_KEPT and self.entries + entries <= 4 * ENTRIES_KEPT):
            kept.append(chances)
            self.entries += entries

    def good_share(self, good: float, skill: float) -> float:
        """Expected share of good matches among the pairs, by the model of `chance_of_good` for each system."""
        expected = total = 0.0
        for chances in (each for kept in self.kept.values() for each in kept):
            drawn = chances.times * chances.probability / chances.parts.sum(axis=0)
            by_system = chances_of_good(chances, good, skill)
            for part, chance in zip(chances.parts[:-1], by_system, strict=True):
                expected += float((part * drawn * chance).sum())
            anyone = good_at_random(chances, by_system, good)
            expected += anyone * float((chances.parts[-1] * drawn).sum())
            total += chances.expected
        return expected / total


def chances_of_good(chances: CandidateProbabilities, good: float, skill: float) -> np.ndarray:
    """Each system's chance that a candidate is good, from its rank, float64 [systems, entries]."""
    number = len(chances.population.eligible)
    times = chances.times if chances.population.others else None
    return np.array([chance_of_good(rank, good, skill, number, times) for rank in chances.ranks]).reshape(
        len(chances.ranks), len(chances.probability)
    )


def good_at_random(chances: CandidateProbabilities, by_system: np.ndarray, good: float) -> float:
    """The chance that a candidate at random is good."""
    if chances.population.outside == 0 or not len(by_system):
        return good
    return float(by_system.mean())


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
