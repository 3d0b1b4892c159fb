"""The choices behind a plan; `relstudy plan` and `relstudy.plan` make the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from relstudy.common.errors import RelstudyError
from relstudy.common.options import MOST_REPLICATES, check_options, option

PILOT = "A pilot"
PANEL = "Two systems and a panel, where there is no pilot"
STUDY = "The study"
TEST = "The test"


def _two_numbers(stated: Any) -> tuple[float, float]:
    """Two numbers, from themselves or from a text with a comma between."""
    try:
        first, second = (float(each) for each in (stated.split(",") if isinstance(stated, str) else stated))
    except ValueError:
        raise RelstudyError(f"two numbers are needed, one for each system, not {stated!r}") from None
    return first, second


@dataclass(frozen=True)
class PlanOptions:
    """Differences that a study is to find, the certainty, and the simulation."""

    index: str = option(
        "pearson",
        "Index that is to tell the two systems apart: one of `relstudy score --json`, or a measure of ir-measures.",
        heading=TEST,
    )
    power: float = option(0.8, "Share of studies that are to find the better system.", above=0, below=1, heading=TEST)
    alpha: float = option(0.05, "Level of the two-sided test.", above=0, below=1, heading=TEST)
    studies: int = option(200, "Simulated studies a size.", at_least=20, at_most=MOST_REPLICATES, heading=TEST)
    seed: int = option(0, "Seed of what is drawn at random.", at_least=0, any_size=True, heading=TEST)
    ratings_per_rater: int = option(
        300, "Ratings a person gives, base block included; decides the number of raters.", at_least=1, heading=STUDY
    )
    base: int = option(100, "Pairs of the base block, rated by everyone.", at_least=0, heading=STUDY)
    cost_per_rating: float = option(
        0.0, "What a rating costs; 0 where that does not matter.", at_least=0, heading=STUDY
    )
    difference: float | None = option(
        None,
        "With a pilot's judgments and scores: plan for this difference of the index.",
        shown="the pilot's own",
        heading=PILOT,
    )
    threshold: float | None = option(
        None,
        "With a pilot's judgments and scores: relevant above this.",
        shown="the cut of the scale",
        heading=PILOT,
    )

    def __post_init__(self) -> None:
        check_options(self)
        _check_index(self.index)


def _check_index(name: str) -> None:
    """Refuse a name that no index has."""
    from relstudy.analysis.indices.known import index_of, own_indices

    try:
        index_of(name)
    except RelstudyError:
        names = ", ".join(index.name for index in own_indices())
        raise RelstudyError(f"the index is one of {names}, or a measure of ir-measures; not {name!r}") from None


@dataclass(frozen=True)
class Assumptions:
    """Assumptions on a study without a pilot; spreads are standard deviations, in steps of the scale."""

    correlations: tuple[float, float] = option(
        (0.5, 0.4), "Of each system with true relevance, -1 to 1.", metavar="A,B", read=_two_numbers, heading=PANEL
    )
    alike: float = option(0.3, "Correlation of the two systems' errors.", above=-1, below=1, heading=PANEL)
    query_sd: float = option(0.4, "Spread of queries' mean relevance.", at_least=0, heading=PANEL)
    result_sd: float = option(1.0, "Spread of results within a query.", at_least=0, heading=PANEL)
    noise: float = option(0.8, "Spread of one rating around a pair's true relevance.", at_least=0, heading=PANEL)
    results: int = option(20, "Judged results per query.", at_least=1, heading=STUDY)
    ratings_each: int = option(1, "Ratings a pair.", flags=("--k", "--ratings-each"), at_least=1, heading=STUDY)
    ratings_per_rater: int = option(300, "Ratings a person gives, base block included.", at_least=1, heading=STUDY)
    base: int = option(100, "Pairs of the base block, rated by everyone.", at_least=0, heading=STUDY)
    relevant_share: float = option(0.2, "Share of judged pairs that are relevant.", above=0, below=1, heading=PANEL)
    weight_spread: float = option(0.0, "Coefficient of variation of the design weights.", at_least=0, heading=PANEL)

    def __post_init__(self) -> None:
        check_options(self)


class PlanChanges(TypedDict, total=False):
    """The fields of `PlanOptions` and `Assumptions` as arguments of a function, for type checkers; None leaves one as
    it is."""

    index: str | None
    power: float | None
    alpha: float | None
    studies: int | None
    seed: int | None
    ratings_per_rater: int | None
    base: int | None
    cost_per_rating: float | None
    difference: float | None
    threshold: float | None
    correlations: Sequence[float] | None
    alike: float | None
    query_sd: float | None
    result_sd: float | None
    noise: float | None
    results: int | None
    ratings_each: int | None
    relevant_share: float | None
    weight_spread: float | None
