"""The choices behind a fit; `relstudy fit`, `relstudy.fit` and `relstudy.fit_by` make the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict

from relstudy.common.options.declaration import check_options, option
from relstudy.mapping.methods import BEST, METHODS, OTHER_NAMES, Compared, OfTheSource
from relstudy.mapping.scores.stated_directions import Direction, directions_of

Method = Literal[Compared, OfTheSource, "steps", "best"]
Weights = Literal["equal", "design"]
MAPPED = "How scores are mapped"


@dataclass(frozen=True)
class FitOptions:
    """The choices behind a fit. A method's other name, steps, becomes the one under which it is kept and printed."""

    method: Method = option(
        "best", f"One method, or the best of {', '.join(METHODS)} by out-of-fold correlation.", heading=MAPPED
    )
    folds: int = option(10, "Folds, whole queries each.", at_least=2, heading=MAPPED)
    seed: int = option(
        0, "Seed for folds and for methods that draw at random.", at_least=0, any_size=True, heading=MAPPED
    )
    weights: Weights = option(
        "equal", "Weight of a pair in the fits: equal, or by design: 1 / inclusion_probability.", heading=MAPPED
    )
    directions: Mapping[str, Direction] = option(
        dict,
        "Direction of better scores, of all systems or of one; binds every fit.",
        argument="direction",
        metavar="[SYSTEM=]higher|lower|auto",
        shown="auto: takes runs as higher is better, and finds out else",
        read=directions_of,
        heading=MAPPED,
    )

    def __post_init__(self) -> None:
        check_options(self)
        object.__setattr__(self, "method", OTHER_NAMES.get(self.method, self.method))

    def direction(self, system: str, definite: Mapping[str, str]) -> str:
        """Direction of a system's better scores: as stated, else as they are by definition, else "auto".

        Examples
        --------
        >>> FitOptions(directions={"*": "lower"}).direction("bm25", {})
        'lower'
        """
        stated = self.directions.get(system, self.directions.get("*", "auto"))
        return definite.get(system, "auto") if stated == "auto" else stated

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods to compare."""
        return METHODS if self.method == BEST else (self.method,)


class FitChanges(TypedDict, total=False):
    """The fields of `FitOptions` as arguments of a function, for type checkers; None leaves one as it is."""

    method: Method | None
    folds: int | None
    seed: int | None
    weights: Weights | None
    direction: Direction | Mapping[str, Direction] | None


class FoldChanges(TypedDict, total=False):
    """The folds and the seed alone, for functions whose fits leave nothing else to choose."""

    folds: int | None
    seed: int | None
