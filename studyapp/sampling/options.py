"""The choices behind a round of pairs, first, further or by a judge; `relstudy sample` and `relstudy.sample` make the
same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from relstudy.common.options.declaration import CommandOptions, check_options, option

Paradigm = Literal["image", "text"]
DRAW = "What to draw"
POOL = "A pool of the systems' first results"
COST = "Cost and what can be estimated"
FURTHER = "A further round"
ASSUMED_GOOD = 0.02
"""Share of all pairs that are good matches, where nobody says."""


@dataclass(frozen=True)
class SampleOptions:
    """Choices of a first round.

    Parameters
    ----------
    systems : see `relstudy.studyapp.sampling.sources.open_sources`
    given : ids of the queries to use instead of drawing some, all of them
    page : results on a base page, by paradigm
    """

    systems: Sequence[str] | None = None
    queries: int = option(
        100, "Queries by image to draw; all of them if there are fewer, none with 0.", at_least=0, heading=DRAW
    )
    text_queries: int | None = option(
        None, "Queries by text to draw.", shown="as many as queries by image", at_least=0, heading=DRAW
    )
    given: Sequence[str] | None = None
    results: int = option(20, "Results to draw per query.", at_least=1, heading=DRAW)
    exponent: float = option(1.0, "p of the shaping function rank**-p.", at_least=0, heading=DRAW)
    floor: float = option(
        0.05,
        "Share drawn uniformly from all candidates.",
        at_least=0,
        at_most=1,
        shown="0.05; by a judge 0.2",
        heading=DRAW,
    )
    base: int = option(100, "Pairs that everyone rates, for each way of asking.", at_least=0, heading=DRAW)
    base_queries: int | None = option(
        None,
        "Base block of all pairs of this many queries, for each way of asking, instead of --base pairs.",
        at_least=0,
        heading=DRAW,
    )
    page: dict[str, int] = field(default_factory=dict)
    seed: int = option(0, "The same seed draws the same pairs.", at_least=0, any_size=True, heading=DRAW)
    depth: int | None = option(
        None,
        "Draw from a pool: the union of the systems' first N results. Figures then describe the pool.",
        shown="all results",
        at_least=1,
        heading=POOL,
    )
    outside: int = option(
        1,
        "With a pool: results per query, in addition, from outside it, to measure what it misses.",
        at_least=0,
        heading=POOL,
    )
    strata: int = option(
        1,
        "Spread each query's results evenly over N strata by probability, so that rare ones are never missed.",
        at_least=1,
        heading=DRAW,
    )
    one_from_each: bool = option(
        False,
        "Every system draws its part of the results by itself, and a page shows one result from each.",
        heading=DRAW,
    )

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class AssumptionOptions:
    """Assumptions on the collection before anyone rates."""

    good: float | None = option(
        None,
        "Share of all pairs that are good matches, as assumed before anyone rates: decides what the design "
        "can estimate.",
        shown=f"{ASSUMED_GOOD:g}",
        above=0,
        below=1,
        heading=COST,
    )
    skill: float = option(
        0.5,
        "Likewise, correlation of a system's scores with what people value.",
        at_least=0,
        below=1,
        heading=COST,
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def good_share(self) -> float:
        """Share of all pairs that are good matches, `ASSUMED_GOOD` where nobody says."""
        return ASSUMED_GOOD if self.good is None else self.good


class SampleChanges(TypedDict, total=False):
    """The fields of `SampleOptions` and `AssumptionOptions` as arguments of a function, for type checkers; None leaves
    one as it is."""

    queries: int | None
    text_queries: int | None
    results: int | None
    exponent: float | None
    floor: float | None
    base: int | None
    base_queries: int | None
    seed: int | None
    depth: int | None
    outside: int | None
    strata: int | None
    one_from_each: bool | None
    good: float | None
    skill: float | None


@dataclass(frozen=True)
class CostOptions:
    """Assumptions behind the cost of a round."""

    raters: int = option(12, "For the cost: how many people.", at_least=1, heading=COST)
    seconds: float | None = option(
        None, "For the cost: seconds per rating.", shown="the median of ratings.csv, else 6", above=0, heading=COST
    )


@dataclass(frozen=True)
class NextOptions:
    """Choices of a further round that mappings shape.

    Parameters
    ----------
    categories : values of the scale that responses are given on
    """

    queries: int = option(100, "New queries to draw.", at_least=1, heading=DRAW)
    same_queries: bool = option(
        False, "With --from-mappings: draw for the last round's queries, not for new ones.", heading=FURTHER
    )
    results: float = option(20, "Results per query, on average.", at_least=1, heading=DRAW)
    floor: float = option(0.05, "Share drawn uniformly from all candidates.", at_least=0, at_most=1, heading=DRAW)
    categories: Sequence[float] = (1, 2, 3, 4, 5)
    paradigm: Paradigm = option("image", "In a further round: which way of asking.", heading=FURTHER)
    seed: int = option(0, "The same seed draws the same pairs.", at_least=0, any_size=True, heading=DRAW)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class JudgeRoundOptions:
    """Choices of a round that a judge shapes.

    Parameters
    ----------
    judge : its table
    judgments : those so far; None takes the folder's
    """

    judge: Path
    pairs: int = option(500, "By a judge: how many new pairs, on average.", at_least=1, heading=FURTHER)
    aim: str = option("average_precision", "By a judge: the index that they are to inform most.", heading=FURTHER)
    floor: float = option(0.2, "Share drawn uniformly from all candidates.", at_least=0, at_most=1, heading=DRAW)
    paradigm: Paradigm = option("image", "In a further round: which way of asking.", heading=FURTHER)
    seed: int = option(
        0, "Random seed of the draw, and of the bootstrap behind the widths.", at_least=0, any_size=True, heading=DRAW
    )
    judgments: Path | None = None

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, kw_only=True)
class CouplesOptions(CommandOptions):
    """Options of `relstudy sample couples`."""

    each: int = option(3, "Couples of each query.", at_least=1, at_most=1000)
    depth: int = option(10, "Couples are of these first results of each system.", at_least=2, at_most=200)
    lists: int | None = option(
        None, "Couples of whole lists instead: the first N results of each system.", at_least=1, at_most=50
    )
    systems: str | None = option(
        None, "Systems whose rankings these are, as `relstudy sample --systems` names them.", shown="all there are"
    )
    seed: int = option(0, "Seed of the draw.", at_least=0, any_size=True)


class CouplesChanges(TypedDict, total=False):
    """The fields of `CouplesOptions` as arguments of a function, for type checkers; None leaves one as it is."""

    each: int | None
    depth: int | None
    lists: int | None
    seed: int | None
