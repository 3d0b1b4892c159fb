"""The choices that scoring rests on; `relstudy score`, `relstudy report` and `relstudy.score` make the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

from relstudy.common.options.declaration import MOST_REPLICATES, check_options, option
from relstudy.common.options.option_wording import option as worded
from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.methods import Compared, OfTheSource
from relstudy.mapping.scores.stated_directions import Direction, directions_of

Method = Literal[Compared, OfTheSource, "best", "none"]
Relevance = Literal["auto", "share", "mean"]
Correlation = Literal["auto", "collection", "judged"]
Weights = Literal["design", "equal", "rank-power"]
Unjudged = Literal["auto", "poor", "skip", "weigh"]
Policy = Literal["auto", "drop", "worst"]
Population = Literal["auto", "collection", "open"]
Raters = Literal["auto", "any", "these"]
Assist = Literal["none", "systems"]
Test = Literal["t", "randomisation", "bootstrap"]
Correction = Literal["holm", "tukey"]

TEST_DRAWS = 10_000
PAPERS_POWER = 5.0
"""Of ranks as weights: Shirahatti and Barnard 2005, section 5.5.3."""
MEASURES = ("nDCG@10", "P@10", "AP", "RR")

SCORED = "What is scored"
COUNTS = "What counts as relevant, and how much each pair weighs"
DECIDES = "What decides"
INTERVALS = "Intervals"
TESTS = "Tests of measures"


def _names(measures: Sequence[Any]) -> tuple[str, ...]:
    """Measures of ir-measures by their names, as the command has them; that library's own are named by `str`."""
    return tuple(map(str, measures))


@dataclass(frozen=True)
class ScoringOptions:
    """The choices behind the numbers; all of them stand in the result's conventions."""

    method: Method = option(
        "isotonic", "Mapping to fit, out of fold, for systems without a fitted one.", heading=SCORED
    )
    folds: int = option(10, "Folds by query for that mapping.", at_least=2, heading=SCORED)
    directions: Mapping[str, Direction] = option(
        dict,
        "Direction of better scores, of all systems or of one; for every index and mapping.",
        argument="direction",
        metavar="[SYSTEM=]higher|lower|auto",
        shown="auto: finds out, and says so",
        read=directions_of,
        heading=SCORED,
    )
    policy: Policy = option(
        "auto",
        "Judged pairs without a score: leave out, or rank last.",
        shown="drop, but worst for TREC runs, which rank what they do not hold last",
        heading=SCORED,
    )
    low_coverage: bool = option(
        False,
        "Go on where a system scores under half of the judged pairs.",
        argument="allow_low_coverage",
        heading=SCORED,
    )
    threshold: float | None = option(
        None,
        "The cut between relevant and not.",
        shown="that of the scale, 3.5 on 1-5, 5.5 on 1-9, 0.5 on binary",
        heading=COUNTS,
    )
    relevance: Relevance = option(
        "auto",
        "Relevance of a pair: the share of its ratings above the cut; or by the mean, 1 if its judgment is above the "
        "cut, else 0.",
        shown="share where it is known",
        heading=COUNTS,
    )
    correlation: Correlation = option(
        "auto",
        "Correlation to compare systems by: the collection's, each judged pair weighted by one over its inclusion "
        "probability; or that of the judged pairs alone, as in the paper.",
        shown="collection where the probabilities are known",
        heading=COUNTS,
    )
    weights: Weights = option(
        "design",
        "Weight of a pair: one over its inclusion probability, equal, or a power of the rank, the paper's rule.",
        heading=COUNTS,
    )
    power: float = option(PAPERS_POWER, "Exponent of the rank, with weights by rank-power.", at_least=0, heading=COUNTS)
    measures: tuple[str, ...] = option(
        MEASURES,
        "A measure of ir-measures, such as nDCG@5 or P@3, in place of these; may be repeated.",
        flags=("--measure",),
        metavar="NAME",
        read=_names,
        heading=COUNTS,
    )
    query_weights: str | None = option(
        None,
        "Weight of each query, such as its traffic: a column of the judgments or of the table of queries.",
        metavar="COLUMN",
        shown="query_weight if present, else all equal",
        heading=COUNTS,
    )
    unjudged: Unjudged = option(
        "auto",
        "How measures treat unjudged results: as poor, like trec_eval; skipped; or represented by the judged ones, "
        "weighted by their inclusion probabilities.",
        shown="poor under whole qrels, weigh under a sample of known probabilities, else skip",
        heading=COUNTS,
    )
    pool_depth: int | None = option(
        None,
        "Under whole qrels, also leave each system out of the pool: its measures without the judged results that it "
        "alone has among its first N, the pool's depth.",
        at_least=1,
        metavar="K",
        shown="no system is left out",
        heading=COUNTS,
    )
    primary: str | None = option(
        None,
        "The one index that decides which systems are best: a name such as same_query, pearson, average_precision, "
        "nDCG@10.",
        metavar="NAME",
        shown="that of study.toml; else under qrels the first measure; else pairwise accuracy within queries where 20 "
        "queries have both kinds judged, else correlation",
        heading=DECIDES,
    )
    matters: float | None = option(
        None,
        "The smallest difference in that index that matters to you, in its own points (0.05 of an index from 0 to 1).",
        above=0,
        shown="that of study.toml, else 0.05",
        heading=DECIDES,
    )
    replicates: int = option(1000, "Bootstrap replicates.", at_least=1, at_most=MOST_REPLICATES, heading=INTERVALS)
    seed: int = option(0, "Seed of bootstrap and folds.", at_least=0, any_size=True, heading=INTERVALS)
    level: float = option(0.95, "Interval level.", above=0, below=1, heading=INTERVALS)
    population: Population = option(
        "auto",
        "Queries that intervals are for: the collection's, a sample of which is judged, or any like them (open).",
        shown="the collection where query_probability is known and below 1",
        heading=INTERVALS,
    )
    raters: Raters = option(
        "auto",
        "Raters that intervals are for: any like those who rated, or these alone.",
        shown="any, where the ratings of at least three raters are known",
        heading=INTERVALS,
    )
    assist: Assist = option(
        "none",
        "Narrow the intervals by the systems' own scores of unjudged candidates, if the score tables hold all "
        "candidates; the figures of people alone are shown too.",
        heading=INTERVALS,
    )

    @property
    def reverses(self) -> bool:
        """True under weights that are known to reverse the order of systems (docs/evidence/paper.md)."""
        return self.weights == "rank-power" and self.power > 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", tuple(self.measures))
        check_options(self)
        if self.power != PAPERS_POWER and self.weights != "rank-power":
            raise RelstudyError(
                f"{worded('power', f'{self.power:g}')} goes with {worded('weights', 'rank-power')}, not with "
                f"{self.weights}"
            )

    def stated_direction(self, system: str) -> str:
        """The direction stated for a system, or "auto".

        Examples
        --------
        >>> ScoringOptions(directions={"*": "lower", "new": "higher"}).stated_direction("old")
        'lower'
        """
        return self.directions.get(system, self.directions.get("*", "auto"))


class ScoringChanges(TypedDict, total=False):
    """The fields of `ScoringOptions` as arguments of a function; None leaves one as it is. Type checkers need them
    written out; a test holds them to the dataclass."""

    method: Method | None
    folds: int | None
    direction: Direction | Mapping[str, Direction] | None
    policy: Policy | None
    allow_low_coverage: bool | None
    threshold: float | None
    relevance: Relevance | None
    correlation: Correlation | None
    weights: Weights | None
    power: float | None
    measures: Sequence[Any] | None
    query_weights: str | None
    unjudged: Unjudged | None
    pool_depth: int | None
    primary: str | None
    matters: float | None
    replicates: int | None
    seed: int | None
    level: float | None
    population: Population | None
    raters: Raters | None
    assist: Assist | None


@dataclass(frozen=True)
class TestOptions:
    """The choices behind the tests of measures."""

    __test__ = False  # pytest takes it for tests otherwise

    baseline: str | None = option(
        None,
        "The system that all others are tested against.",
        metavar="NAME",
        shown="every two systems are tested",
        heading=TESTS,
    )
    test: Test = option("t", "The test whose p is corrected; the p of each is shown with it.", heading=TESTS)
    correction: Correction = option(
        "holm",
        "Correction of the tests of measures, for how many systems are compared: Holm, or randomised Tukey. The "
        "comparison of systems (comparisons.csv, p_family) is always corrected by max-t.",
        heading=TESTS,
    )
    draws: int = option(TEST_DRAWS, "Draws of the random tests.", at_least=1, at_most=MOST_REPLICATES, heading=TESTS)

    def __post_init__(self) -> None:
        check_options(self)


class TestChanges(TypedDict, total=False):
    """The fields of `TestOptions` as arguments of a function; None leaves one as it is."""

    baseline: str | None
    test: Test | None
    correction: Correction | None
    draws: int | None


class BootstrapChanges(TypedDict, total=False):
    """The bootstrap alone, for functions that compare nothing."""

    replicates: int | None
    seed: int | None


def options_over(base: ScoringOptions, given: Mapping[str, Any]) -> ScoringOptions:
    """`base` with what was given in its place; directions are added to those of `base`."""
    directions = {**base.directions, **given.get("directions", {})}
    return replace(base, **{**given, "directions": directions})
