"""The choices that scoring rests on; `relstudy score` and `relstudy report` make the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from relstudy.analysis.resampling.bootstrap import REPLICATES
from relstudy.analysis.resampling.spread import LEVEL
from relstudy.analysis.scoring.judged import POPULATIONS, WEIGHTS
from relstudy.analysis.scoring.rater_draws import RATERS
from relstudy.analysis.scoring.relevance import RELEVANCE
from relstudy.common.errors import RelstudyError
from relstudy.mapping.folds import check_folds
from relstudy.mapping.methods import BEST
from relstudy.mapping.methods import EVERY_METHOD as FITTED
from relstudy.mapping.scores.directions import DIRECTIONS

CORRELATIONS = ("auto", "collection", "judged")
POLICIES = ("auto", "drop", "worst")
METHODS = (*FITTED, BEST, "none")
PAPERS_POWER = 5.0
"""Of ranks as weights: Shirahatti and Barnard 2005, section 5.5.3."""

MEASURES = ("nDCG@10", "P@10", "AP", "RR")


@dataclass(frozen=True)
class ScoringOptions:
    """The choices behind the numbers; all of them stand in the result's conventions.

    Parameters
    ----------
    threshold : the cut between relevant and not; None takes that of the judgments' scale
    relevance : "share" of a pair's ratings above the cut, "mean": whether its judgment is, or "auto": the share where
        it is known
    correlation : what systems are compared by: "collection" (each pair counts as one over its inclusion probability),
        "judged" (pairs alike, as in the paper), or "auto": the collection where weights are by design
    weights : "design" (1 / inclusion probability), "equal", or "rank-power" (the paper's: a power of the rank)
    power : of the rank, with weights "rank-power"; the paper's is 5
    policy : "drop" or "worst", for judged pairs without a score; "auto": a run ranks what it does not hold last, by
        definition of a run, and a table's gaps are dropped
    low_coverage : whether to go on where a system scores under half of the judged pairs
    replicates, seed, level : of the bootstrap over queries; the seed also of the folds
    population : what intervals speak of: "collection" (the queries that could have been drawn), "open" (any queries
        like these), or "auto" (`JudgedPairs.population`)
    raters : which raters intervals speak of: "any" (raters like these), "these" (alone), or "auto": any where the
        ratings of at least three are known
    directions : system -> "higher", "lower" or "auto"; "*" stands for all others
    measures : of ir-measures, by their names; () for none
    method : mapping of a system that comes without a fitted one: a method of `relstudy.mapping.methods`, "best",
        "none"
    folds : folds by query of that mapping, at least 2
    """

    threshold: float | None = None
    relevance: str = "auto"
    correlation: str = "auto"
    weights: str = "design"
    power: float = PAPERS_POWER
    policy: str = "auto"
    low_coverage: bool = False
    replicates: int = REPLICATES
    seed: int = 0
    level: float = LEVEL
    population: str = "auto"
    raters: str = "auto"
    directions: Mapping[str, str] = field(default_factory=dict)
    measures: tuple[str, ...] = MEASURES
    method: str = "isotonic"
    folds: int = 10

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("relevance is", self.relevance, RELEVANCE),
            ("the correlation is", self.correlation, CORRELATIONS),
            ("weights are", self.weights, WEIGHTS),
            ("the coverage policy is", self.policy, POLICIES),
            ("the population is", self.population, POPULATIONS),
            ("raters are", self.raters, RATERS),
            ("the mapping method is", self.method, METHODS),
            *((f"the direction of {system!r} is", value, DIRECTIONS) for system, value in self.directions.items()),
        ):
            if value not in allowed:
                raise RelstudyError(f"{name} {', '.join(allowed[:-1])} or {allowed[-1]}; not {value!r}")
        object.__setattr__(self, "measures", tuple(self.measures))
        if self.threshold is not None and not np.isfinite(self.threshold):
            raise RelstudyError(f"the threshold is a number on the judgments' scale, not {self.threshold}")
        if self.replicates < 1 or not 0 < self.level < 1:
            raise RelstudyError("at least one replicate and a level between 0 and 1 are needed")
        if not np.isfinite(self.power) or self.power < 0:
            raise RelstudyError(f"the power of the rank is a number of at least 0, not {self.power}")
        if self.power != PAPERS_POWER and self.weights != "rank-power":
            raise RelstudyError(f"a power of the rank goes with weights by rank-power, not with {self.weights}")
        check_folds(self.folds)

    def stated_direction(self, system: str) -> str:
        """The direction stated for a system, or "auto"."""
        return self.directions.get(system, self.directions.get("*", "auto"))


def options_over(base: ScoringOptions, given: Mapping[str, Any]) -> ScoringOptions:
    """`base` with what was given in its place; directions are added to those of `base`."""
    directions = {**base.directions, **given.get("directions", {})}
    return replace(base, **{**given, "directions": directions})
