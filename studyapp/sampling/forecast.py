"""Forecasts, before anyone rates: the precision of a design's estimates, and designs that reach one.

All of it rests on the preview's assumption: a share of all pairs is good, and each system's scores correlate with what
people value (`relstudy.studyapp.sampling.preview.chance_of_good`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from relstudy.common.sampling.design_reach import LEAST_REACH, reach_of
from relstudy.studyapp.sampling.options import AssumptionOptions
from relstudy.studyapp.sampling.population import pool
from relstudy.studyapp.sampling.preview import chances_of_good
from relstudy.studyapp.sampling.sampling_design import CandidateProbabilities, Round, probabilities_in

STUDIES = 60
"""Simulated studies behind an expected width."""
DEPTHS = (20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000)
SHAPES = ((1.0, 0.05), (1.0, 0.2), (0.5, 0.2))
"""Exponents and floors that a proposal is chosen among, the most good matches first."""
PROPOSAL_QUERIES = 5


@dataclass(frozen=True)
class Forecast:
    """Estimates that the design of one way of asking allows.

    Parameters
    ----------
    candidates : results that a query's pairs are drawn from, on average
    pool_share : expected share of a query's good matches that are among them
    reach : see `relstudy.common.sampling.design_reach`
    width : expected width of a 95 % interval, by index: at least about so much, since queries differ by more than
        chance; nothing where the design cannot estimate it
    """

    candidates: float
    pool_share: float
    reach: float
    width: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "candidates": round(self.candidates, 1),
            "share_of_good_matches": round(self.pool_share, 3),
            "reach": round(self.reach, 1),
            "least_reach": LEAST_REACH,
            "can_estimate": self.reach >= LEAST_REACH,
            "expected_width": {name: round(width, 3) for name, width in self.width.items()},
        }


def forecast(queries: int, kept: Sequence[CandidateProbabilities], assumed: AssumptionOptions) -> Forecast:
    """Forecast of a design's estimates, from the probabilities of some of its queries.

    Parameters
    ----------
    queries : how many the design draws
    kept : some of them
    assumed : of the collection, before anyone rates
    """
    chances = [chance_of_each(each, assumed) for each in kept]
    good = np.array([expected_good(chance, each, assumed) for chance, each in zip(chances, kept, strict=True)])
    reach = expected_reach(queries, kept, good)
    everything = np.array([len(each.population.eligible) * assumed.good_share for each in kept])
    width = expected_width(queries, kept, chances) if reach >= LEAST_REACH else {}
    size = float(np.mean([each.population.size for each in kept]))
    return Forecast(size, float(min(1.0, good.sum() / everything.sum())), reach, width)


def expected_reach(queries: int, kept: Sequence[CandidateProbabilities], good: np.ndarray) -> float:
    """The design's reach where these queries have so many good matches, float [queries], among their candidates."""
    rarest = [float(each.probability.min()) for each in kept]
    return float(np.mean([reach_of(queries, number, p) for number, p in zip(good, rarest, strict=True)]))


def expected_good(chance: np.ndarray, chances: CandidateProbabilities, assumed: AssumptionOptions) -> float:
    """Expected good matches among a query's candidates, at most those of the whole collection.

    Systems that agree on few results promise more together than there is, since each one's chances are its own.
    """
    return min(float((chance * chances.times).sum()), len(chances.population.eligible) * assumed.good_share)


def chance_of_each(chances: CandidateProbabilities, assumed: AssumptionOptions) -> np.ndarray:
    """The chance that each candidate is good: the mean over the systems that have it among their first results.

    float64 [entries]
    """
    by_system = chances_of_good(chances, assumed.good_share, assumed.skill)
    if not len(by_system):
        return np.full(len(chances.probability), assumed.good_share)
    if chances.population.outside == 0:
        mean: np.ndarray = by_system.mean(axis=0)
        return mean
    # beyond a system's first results its ranks are those within the pool, which say too much
    in_pool = chances.ranks <= (chances.population.depth or 0)
    return np.asarray((by_system * in_pool).sum(axis=0) / np.maximum(in_pool.sum(axis=0), 1))


def expected_width(
    queries: int, kept: Sequence[CandidateProbabilities], chances: Sequence[np.ndarray]
) -> dict[str, float]:
    """Width of a 95 % interval of the first system's figures that rest on all that is relevant, by simulated studies.

    Queries are redrawn among those kept, results by their probabilities, and what is good by its chance. Empty where
    no system answers some of them.
    """
    from relstudy.analysis.indices.pairs import SystemPairs
    from relstudy.analysis.indices.registry import own_indices

    if not all(len(each.ranks) for each in kept):
        return {}
    rng = np.random.default_rng(20040818)
    drawn = [each.times * each.probability for each in kept]
    per_query = round(float(np.mean([part.sum() for part in drawn])))
    steps = np.concatenate([np.cumsum(part) / part.sum() + number for number, part in enumerate(drawn)])
    weight = np.concatenate([1 / each.probability for each in kept])
    score = np.concatenate([-each.ranks[0].astype(float) for each in kept])
    chance = np.minimum(np.concatenate(chances), 1.0)
    limited = [index for index in own_indices() if index.limited]
    values: list[list[float]] = []
    for _ in range(STUDIES):
        of_query = np.repeat(rng.integers(len(kept), size=queries), per_query)
        rows = np.minimum(np.searchsorted(steps, of_query + rng.random(len(of_query))), len(steps) - 1)
        good = rng.random(len(rows)) < chance[rows]
        if good.any() and not good.all():
            pooled = SystemPairs.pooled(good.astype(float), score[rows], weight[rows])
            values.append([float(index.by_query(pooled)[0]) for index in limited])
    if len(values) < STUDIES // 2 or queries < 2:
        return {}
    factor = 2 * float(stdtrit(queries - 1, 0.975))
    spread = np.std(values, axis=0, ddof=1)
    return {index.name: factor * float(each) for index, each in zip(limited, spread, strict=True)}


@dataclass(frozen=True)
class Proposal:
    """A design that could estimate what this one cannot: its depth, exponent, floor and reach."""

    depth: int
    exponent: float
    floor: float
    reach: float


def propose(
    this: Round,
    queries: int,
    kept: Sequence[CandidateProbabilities],
    assumed: AssumptionOptions,
) -> Proposal | None:
    """The deepest pool that the same number of pairs can estimate; None where even the shallowest is too deep.

    Parameters
    ----------
    this : the round that was drawn
    queries : how many the design draws
    kept : some of them
    """
    kept = [each for each in kept if each.scores]  # a query that no system answers has no pool
    best: Proposal | None = None
    for exponent, floor in dict.fromkeys(((this.exponent, this.floor), *SHAPES)):
        for depth in DEPTHS:
            if best is not None and depth <= best.depth:
                continue
            other = replace(this, depth=depth, exponent=exponent, floor=floor, pool=[], outside=0)
            probabilities = [_with_pool(other, depth, each) for each in kept[:PROPOSAL_QUERIES]]
            if all(each.population.outside == 0 for each in probabilities):
                break
            good = np.array([expected_good(chance_of_each(each, assumed), each, assumed) for each in probabilities])
            reach = expected_reach(queries, probabilities, good)
            if reach < LEAST_REACH:
                break
            best = Proposal(depth, exponent, floor, reach)
    return best


def _with_pool(this: Round, depth: int, chances: CandidateProbabilities) -> CandidateProbabilities:
    """The probabilities of a query's candidates, had they been drawn from a pool of this depth."""
    eligible = chances.population.eligible
    # which of the tied come in does not matter here
    by_position = pool(eligible, list(chances.scores.values()), depth, lambda positions: positions)
    return probabilities_in(this, by_position, chances.scores)
