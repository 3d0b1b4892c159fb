"""The result of comparing systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from relstudy.analysis.indices.known import index_of
from relstudy.common.estimates import Estimate


class Family(StrEnum):
    """Statements whose p-values are corrected together: of the index that decides, of all others, or within groups of
    pairs by any index."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    GROUPS = "groups"


@dataclass(frozen=True)
class Comparison:
    """The difference of two systems in one index, on the pairs that both score.

    Parameters
    ----------
    first, second : names
    index : its name
    difference : first minus second; `better` names the system that is ahead
    p_value : two-sided; it and the difference's interval rest on one standard error and Student's t
        (`relstudy.analysis.scoring.comparison`); None if undefined
    p_family : the same corrected for all statements of its family together
        (`relstudy.analysis.resampling.families.family_corrected`)
    pairs : judged pairs that both score
    proposed : which of the two proposed pairs; None where it is not known who proposed them
    freedom : degrees of freedom of the standard error, at most queries - 1; None where there is no test
    family : which statements it is corrected with
    """

    first: str
    second: str
    index: str
    difference: Estimate
    p_value: float | None
    p_family: float | None
    pairs: int
    proposed: tuple[str, ...] | None = None
    freedom: float | None = None
    family: Family = Family.PRIMARY

    @property
    def better(self) -> str | None:
        if self.difference.value is None or self.difference.value == 0:
            return None
        return self.first if self.difference.value * index_of(self.index).sign > 0 else self.second

    @property
    def row(self) -> dict[str, Any]:
        """The same as a row of a table."""
        row = self.as_json()
        ends = row.pop("difference")
        return {
            "first": row.pop("first"),
            "second": row.pop("second"),
            "index": row.pop("index"),
            "difference": ends["value"],
            "difference_low": ends["low"],
            "difference_high": ends["high"],
            **{name: row[name] for name in ("p_value", "p_family", "better", "pairs")},
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "index": self.index,
            "difference": self.difference.as_json(),
            "p_value": self.p_value,
            "p_family": self.p_family,
            "family": self.family.value,
            "degrees_of_freedom": self.freedom,
            "better": self.better,
            "pairs": self.pairs,
            "proposed": None if self.proposed is None else list(self.proposed),
        }


@dataclass(frozen=True)
class Ordering:
    """The systems by one index, best first, and how often each comes first when queries are drawn again.

    Parameters
    ----------
    index : its name
    systems : names, best first; systems without a value are left out
    first : share of bootstrap replicates in which each system is the best. It is no probability that the system is
        truly the best: replicates repeat the luck of the sample, so that of eight equal systems the one that leads
        comes first in about half of them
    pairs : judged pairs scored by all of them, on which the shares rest
    reason : why there are no shares, or None
    """

    index: str
    systems: tuple[str, ...]
    first: Mapping[str, float]
    pairs: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "index": self.index,
            "systems": list(self.systems),
            "share_of_replicates_first": dict(self.first),
            "pairs": self.pairs,
        }
        if self.reason is not None:
            content["reason"] = self.reason
        return content


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between the orders in which two indices put the systems."""

    first: str
    second: str
    tau: Estimate

    def as_json(self) -> dict[str, Any]:
        return {"first": self.first, "second": self.second, "tau": self.tau.as_json()}
