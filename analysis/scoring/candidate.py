"""One system's scores laid beside the judged pairs, and the choices that scoring rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.resampling.bootstrap import LEVEL, REPLICATES
from relstudy.analysis.scoring.judged import POPULATIONS, WEIGHTS, JudgedPairs
from relstudy.analysis.scoring.results import Coverage
from relstudy.common.errors import RelstudyError
from relstudy.mapping.fitted import FittedMapping

POLICIES = ("drop", "worst")
LEAST_COVERAGE = 0.5
GRADED = ("nDCG@10", "P@10", "AP", "RR")


@dataclass(frozen=True)
class ScoringOptions:
    """The choices behind the numbers; all of them stand in the result's conventions.

    Parameters
    ----------
    threshold : a pair is relevant where its judgment is above it (3 on 1-5, 0.5 binary, 5 on 1-9)
    weights : "design" (1 / inclusion probability), "equal", or "rank-power" (the paper's rank to the fifth)
    policy : "drop" or "worst", for judged pairs without a score
    low_coverage : whether to go on where a system scores under half of the judged pairs
    replicates, seed, level : of the bootstrap over queries
    population : what intervals speak of: "collection" (the queries that could have been drawn), "open" (any queries like
        these), or "auto" (`JudgedPairs.not_corrected`)
    directions : system -> "higher", "lower" or "auto"; "*" stands for all others
    graded : measures of ir-measures to take from the judged pairs, by their names; () for none
    """

    threshold: float = 3.0
    weights: str = "design"
    policy: str = "drop"
    low_coverage: bool = False
    replicates: int = REPLICATES
    seed: int = 0
    level: float = LEVEL
    population: str = "auto"
    directions: Mapping[str, str] = field(default_factory=dict)
    graded: tuple[str, ...] = GRADED

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise RelstudyError(f"weights are {', '.join(WEIGHTS)}; not {self.weights!r}")
        if self.policy not in POLICIES:
            raise RelstudyError(f"the coverage policy is {' or '.join(POLICIES)}; not {self.policy!r}")
        if self.population not in POPULATIONS:
            raise RelstudyError(f"the population is {', '.join(POPULATIONS)}; not {self.population!r}")
        object.__setattr__(self, "graded", tuple(self.graded))
        if not np.isfinite(self.threshold):
            raise RelstudyError(f"the threshold is a number on the judgments' scale, not {self.threshold}")
        if self.replicates < 1 or not 0 < self.level < 1:
            raise RelstudyError("at least one replicate and a level between 0 and 1 are needed")


@dataclass(frozen=True, eq=False)
class MappedScores:
    """A system's scores on the human scale.

    Parameters
    ----------
    values : float [judged pairs], NaN where unscored; each from a mapping that has not seen the pair's query
    mapping : what was fitted and how it was kept from the data it is scored on, as a phrase
    in_sample : float [judged pairs] from the mapping fitted on these very pairs, or None
    fitted : the mapping fitted on all judged pairs, for pictures and for pairs that nobody judged
    """

    values: np.ndarray
    mapping: str
    in_sample: np.ndarray | None = None
    fitted: FittedMapping | None = None


@dataclass(frozen=True, eq=False)
class Candidate:
    """One system's scores laid beside the judged pairs.

    Parameters
    ----------
    given : float [judged pairs], NaN where the system has no score
    score : the same with the coverage policy applied
    used : bool [judged pairs], the pairs that count for this system
    """

    name: str
    given: np.ndarray
    score: np.ndarray
    used: np.ndarray
    higher_is_better: bool
    direction_reason: str
    coverage: Coverage
    mapped: MappedScores | None = None

    @property
    def ranking(self) -> np.ndarray:
        """Scores turned so that higher is better, of the pairs used."""
        return self.score[self.used] if self.higher_is_better else -self.score[self.used]


def candidate_of(pairs: JudgedPairs, name: str, scores: pd.DataFrame, options: ScoringOptions) -> Candidate:
    """Lay a system's scores beside the judged pairs and apply the coverage policy."""
    return candidate_from(pairs, name, pairs.lay_beside(scores), options)


def candidate_from(
    pairs: JudgedPairs, name: str, beside: np.ndarray, options: ScoringOptions, reason: str | None = None
) -> Candidate:
    """As `candidate_of`, from scores already aligned with the judged pairs (NaN where unscored)."""
    known = np.isfinite(beside)
    scored = int(known.sum())
    if scored == 0:
        raise RelstudyError(
            f"system {name!r} scores none of the {len(pairs)} judged pairs; check that query_id and result_id are "
            "written alike in both tables"
        )
    if scored < LEAST_COVERAGE * len(pairs) and not options.low_coverage:
        raise RelstudyError(
            f"system {name!r} scores {scored} of {len(pairs)} judged pairs ({scored / len(pairs):.0%}), less than half; "
            "say so to go on (--allow-low-coverage), and read the result with care"
        )
    places = np.flatnonzero(~known)[:5]
    examples = tuple((str(pairs.query_id[i]), str(pairs.result_id[i])) for i in places)
    coverage = Coverage(scored, len(pairs), options.policy, examples)
    higher, found = _direction(pairs, name, beside, known, options)
    score, used = beside, known
    if options.policy == "worst" and scored < len(pairs):
        worst = beside[known].min() if higher else beside[known].max()
        score = np.where(known, beside, np.nextafter(worst, -np.inf if higher else np.inf))
        used = np.ones(len(pairs), dtype=bool)
    return Candidate(name, beside, score, used, higher, reason or found, coverage)


def with_mapping(candidate: Candidate, mapped: MappedScores | None) -> Candidate:
    """The candidate with its scores on the human scale beside it."""
    return candidate if mapped is None else replace(candidate, mapped=mapped)


def _direction(
    pairs: JudgedPairs, name: str, beside: np.ndarray, known: np.ndarray, options: ScoringOptions
) -> tuple[bool, str]:
    stated = options.directions.get(name, options.directions.get("*", "auto"))
    if stated in ("higher", "lower"):
        return stated == "higher", f"{stated} is better, as stated, as the given mapping runs or as similarities do"
    counts = pairs.counts(200, options.seed)
    rho = CorrelationBootstrap(pairs.query[known], pairs.judgment[known], counts).correlate(
        beside[known], ("spearman",)
    )
    interval = rho["spearman"].estimate(options.level)
    if interval.high is not None and interval.high < 0:
        return False, "lower is better: Spearman's correlation with the judgments is below zero, interval included"
    return True, "higher is better"
