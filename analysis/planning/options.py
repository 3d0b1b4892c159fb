"""The choices behind a plan; `relstudy plan` and `relstudy.plan` make the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from relstudy.common.options.declaration import MOST_REPLICATES, check_options, option
from relstudy.common.options.option_wording import option as word
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed

PILOT = "A pilot"
PANEL = "Two systems and a panel, without a pilot"
STUDY = "The study"
TEST = "The test"


def _numbers(stated: Any) -> tuple[float, ...]:
    """Two numbers or more, from themselves or from a text with commas between."""
    texts = [stated] if isinstance(stated, str) else stated
    try:
        numbers = tuple(float(each) for text in texts for each in str(text).split(","))
    except ValueError:
        numbers = ()
    if len(numbers) < 2:
        raise RelstudyError(f"two numbers are needed, one for each system, not {stated!r}")
    return numbers


@dataclass(frozen=True)
class PlanOptions:
    """Differences that a study is to find, the certainty, and the simulation."""

    index: str = option(
        "pearson",
        "Index that is to distinguish the two systems: one of `relstudy score --json`, or a measure of ir-measures.",
        heading=TEST,
    )
    power: float = option(0.8, "Share of studies that are to find the better system.", above=0, below=1, heading=TEST)
    alpha: float = option(0.05, "Level of the two-sided test.", above=0, below=1, heading=TEST)
    primary: str | None = option(
        None,
        "The index that the verdict rests on.",
        shown="that of study.toml, else the one that score would choose",
        metavar="NAME",
        heading=TEST,
    )
    studies: int = option(40, "Simulated studies a size.", at_least=20, at_most=MOST_REPLICATES, heading=TEST)
    advise: bool = option(
        False,
        "Also say what half as many more queries, results, raters or one more rating a pair would bring.",
        heading=TEST,
    )
    seed: int = option(0, "Seed of what is drawn at random.", at_least=0, any_size=True, heading=TEST)
    ratings_per_rater: int = option(
        300, "Ratings a person gives, base block included; decides the number of raters.", at_least=1, heading=STUDY
    )
    base: int = option(100, "Pairs of the base block, rated by everyone.", at_least=0, heading=STUDY)
    raters: int | None = option(
        None, "Number of raters.", shown="as many as the ratings take", at_least=2, heading=STUDY
    )
    cost_per_rating: float = option(0.0, "Cost of a rating; 0 leaves costs out.", at_least=0, heading=STUDY)
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
    from relstudy.analysis.indices.registry import index_called, own_indices

    try:
        index_called(name)
    except RelstudyError:
        names = ", ".join(index.name for index in own_indices())
        raise RelstudyError(f"the index is one of {names}, or a measure of ir-measures; not {name!r}") from None


@dataclass(frozen=True)
class Assumptions:
    """Assumptions on a study without a pilot; spreads are standard deviations, in points of a scale
    from 1 to 5, to which other scales are stretched."""

    correlations: tuple[float, ...] = option(
        (0.5, 0.4),
        "Correlation of each system with true relevance, -1 to 1. The first two are compared.",
        metavar="A,B",
        read=_numbers,
        heading=PANEL,
    )
    alike: float = option(0.3, "Correlation of the systems' errors.", at_least=0, below=1, heading=PANEL)
    noise: float = option(0.8, "Spread of one rating around a pair's true relevance.", at_least=0, heading=PANEL)
    results: int = option(20, "Judged results per query.", at_least=1, heading=STUDY)
    ratings_each: int = option(1, "Ratings a pair.", flags=("--k", "--ratings-each"), at_least=1, heading=STUDY)
    ratings_per_rater: int = option(300, "Ratings a person gives, base block included.", at_least=1, heading=STUDY)
    base: int = option(100, "Pairs of the base block, rated by everyone.", at_least=0, heading=STUDY)
    relevant_share: float = option(
        0.2, "Share of judged pairs that honest ratings call relevant.", above=0, below=1, heading=PANEL
    )
    candidates: int = option(320, "Results that a query could have.", at_least=2, heading=STUDY)
    exponent: float = option(1.0, "p of the shaping function rank**-p.", at_least=0, heading=STUDY)
    floor: float = option(0.05, "Share drawn uniformly from all candidates.", at_least=0, at_most=1, heading=STUDY)
    depth: int | None = option(
        None, "Depth of the pool that pairs are drawn from.", shown="all results", at_least=1, heading=STUDY
    )
    weight_spread: float | None = option(
        None,
        "Coefficient of variation of the design weights, in place of the exponent.",
        shown="that of the design",
        at_least=0,
        heading=STUDY,
    )
    leniency: float = option(0.4, "Spread of what raters add to every rating.", at_least=0, heading=PANEL)
    stretch: float = option(0.2, "Spread of the log of how far raters stretch differences.", at_least=0, heading=PANEL)
    undecided: float = option(0.0, "Share of ratings that are undecided.", at_least=0, below=1, heading=PANEL)
    careless: float = option(0.0, "Share of raters who do not look.", at_least=0, below=1, heading=PANEL)
    rating_scale: str = option("1-5", "The scale people rate on.", metavar="NAME", heading=STUDY)

    def __post_init__(self) -> None:
        check_options(self)


OF_A_PILOTS_RATINGS = ("noise", "leniency", "rating_scale")
NOT_OF_STUDIES_MADE_OF_A_PILOT = ("advise", *(name for name in Assumptions.__dataclass_fields__ if name not in (
    "ratings_each", "ratings_per_rater", "base",
)))  # fmt: skip


def passed_over(stated: Mapping[str, Any], *, redrawn: bool, rated: bool) -> list[str]:
    """Sentence on the options that were stated and decide nothing, alone in a list; none where all of them decide.

    Parameters
    ----------
    redrawn : whether studies are made of a pilot's queries
    rated : whether variances and scale are those of a pilot's ratings

    Raises
    ------
    RelstudyError
        where something is stated that is said of a pilot's queries alone, and there are none

    Examples
    --------
    >>> passed_over({"noise": 0.5, "results": 10}, redrawn=False, rated=True)
    ['--noise says nothing here, since variances and scale are those of the pilot']
    >>> passed_over({"noise": 0.5, "results": 10}, redrawn=False, rated=False)
    []
    """
    named = {name for name, value in stated.items() if value is not None and value is not False}
    alone = [word(name) for name in ("difference", "threshold") if name in named]
    if alone and not redrawn:
        raise RelstudyError(f"{alone[0]} goes with a pilot's judgments and scores, and there are none")
    idle = NOT_OF_STUDIES_MADE_OF_A_PILOT if redrawn else OF_A_PILOTS_RATINGS if rated else ()
    words = [word(name) for name in idle if name in named]
    why = "studies are made of the pilot's own queries" if redrawn else "variances and scale are those of the pilot"
    return [f"{listed(words)} {'says' if len(words) == 1 else 'say'} nothing here, since {why}"] if words else []


class PlanChanges(TypedDict, total=False):
    """The fields of `PlanOptions` and `Assumptions` as arguments of a function, for type checkers; None leaves one as
    it is."""

    index: str | None
    power: float | None
    alpha: float | None
    primary: str | None
    studies: int | None
    advise: bool | None
    seed: int | None
    ratings_per_rater: int | None
    base: int | None
    raters: int | None
    cost_per_rating: float | None
    difference: float | None
    threshold: float | None
    correlations: Sequence[float] | None
    alike: float | None
    noise: float | None
    results: int | None
    ratings_each: int | None
    relevant_share: float | None
    candidates: int | None
    exponent: float | None
    floor: float | None
    depth: int | None
    weight_spread: float | None
    leniency: float | None
    stretch: float | None
    undecided: float | None
    careless: float | None
    rating_scale: str | None
