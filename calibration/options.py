"""The choices behind a calibration, and behind reading its ratings; `relstudy calibrate` and the functions
`relstudy.calibrate`, `calibrate_by` and `read_ratings` make the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from relstudy.calibration.methods import NEED_RANDOM, WEIGHTED, Method, described
from relstudy.common.options.declaration import check_options, option
from relstudy.common.options.option_wording import option as spelt
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed

ONE_SCALE = "How raters are put on one scale"
CLOSER = "Looking closer"


def _names(columns: Sequence[Any]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(map(str, columns))


@dataclass(frozen=True)
class CalibrationOptions:
    """The choices behind a calibration."""

    method: Method | None = option(
        None,
        described(),
        shown="pooled, crossed or shrunk, by what is known and tested about the assignment; says which and why",
        heading=ONE_SCALE,
    )
    facets: tuple[str, ...] = option(
        (),
        "With the rasch method: a column of the ratings that is a facet beside raters, such as query_id or session; "
        "may be repeated.",
        flags=("--facet",),
        metavar="COLUMN",
        shown="raters alone",
        read=_names,
        heading=ONE_SCALE,
    )
    handed_out: Literal["random", "fixed"] | None = option(
        None,
        "How unique pairs were assigned to raters, if the table does not record it.",
        heading=ONE_SCALE,
    )
    force: bool = option(
        False, f"Use {' or '.join(NEED_RANDOM)} even where pairs don't look assigned at random.", heading=ONE_SCALE
    )
    weigh_raters: bool | None = option(
        None,
        "Give noisy raters less weight.",
        flags=("--weigh-raters/--equal-raters",),
        shown=f"with {listed(list(WEIGHTED))}",
        heading=ONE_SCALE,
    )
    clip: bool = option(False, "Keep calibrated values within the scale.", heading=ONE_SCALE)
    careless: Literal["keep", "weigh", "drop"] = option(
        "weigh",
        "What to do with raters who show no sign of agreement: count them, weigh them by how likely they looked, or "
        "leave them out, with those who agree little. They are named each time.",
        heading=ONE_SCALE,
    )
    drift: Literal["keep", "remove"] = option(
        "keep",
        "Remove drift over each rater's session, if that predicts held-out ratings better.",
        heading=ONE_SCALE,
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.facets and self.method != "rasch":
            raise RelstudyError(f"facets go with {spelt('method', 'rasch')}")


class CalibrationChanges(TypedDict, total=False):
    """The fields of `CalibrationOptions` as arguments of a function, for type checkers; None leaves one as it is."""

    method: Method | None
    facets: str | Sequence[str] | None
    handed_out: Literal["random", "fixed"] | None
    force: bool | None
    weigh_raters: bool | None
    clip: bool | None
    careless: Literal["keep", "weigh", "drop"] | None
    drift: Literal["keep", "remove"] | None


@dataclass(frozen=True)
class RatingsOptions:
    """The choices behind reading ratings."""

    base_column: str | None = option(
        None,
        "A yes/no column that marks the base block, where no column block does.",
        metavar="NAME",
        heading=ONE_SCALE,
    )
    trust_raters: bool = option(
        False,
        "Accept raters whose ratings look like sorted slots, or whose names like totals of others.",
        heading=CLOSER,
    )
    with_set_aside: bool = option(False, "Include the ratings of excluded raters.", heading=CLOSER)


class RatingsChanges(TypedDict, total=False):
    """The fields of `RatingsOptions` as arguments of a function, for type checkers; None leaves one as it is."""

    base_column: str | None
    trust_raters: bool | None
    with_set_aside: bool | None
