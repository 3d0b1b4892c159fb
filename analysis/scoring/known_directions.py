"""The direction of a system's scores, and the source of that knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.tied_scores import is_increasing

REPLICATES = 200
"""Replicates behind the interval that decides whether a system runs against the judgments."""


class DirectionSource(StrEnum):
    """Sources of the direction of scores."""

    STATED = "stated"
    DEFINITION = "definition"
    MAPPING = "mapping"
    FOUND = "found"
    USUAL = "usual"


_REASONS = {
    DirectionSource.STATED: "as stated",
    DirectionSource.DEFINITION: "by definition of such scores",
    DirectionSource.MAPPING: "as the given mapping runs",
    DirectionSource.FOUND: "found: Spearman's correlation with the judgments is below zero, interval included",
    DirectionSource.USUAL: "as usual: the judgments do not clearly say otherwise",
}


@dataclass(frozen=True)
class SystemDirection:
    """The direction of a system's scores, and how it is known.

    Parameters
    ----------
    higher : whether results are ranked by descending score
    source : how that is known

    Examples
    --------
    >>> SystemDirection(False, DirectionSource.STATED).sentence()
    'lower is better, as stated'
    """

    higher: bool
    source: DirectionSource

    @property
    def binds(self) -> bool:
        """True where mappings must run this way too, whatever the judgments say."""
        return self.source in (DirectionSource.STATED, DirectionSource.DEFINITION)

    def turned(self, score: np.ndarray) -> np.ndarray:
        """Scores as they are where higher is better, else times -1, so that higher is better in either case."""
        return score if self.higher else -score

    def sentence(self) -> str:
        """Direction and reason in words."""
        return f"{'higher' if self.higher else 'lower'} is better, {_REASONS[self.source]}"


def known_directions(
    mappings: Mapping[str, FittedMapping], definite: Mapping[str, str] | None = None
) -> dict[str, SystemDirection]:
    """Directions by system that need no judgments.

    Parameters
    ----------
    mappings : given mappings by system
    definite : "higher" or "lower" by system, where scores are so by definition; a mapping does not turn these
    """
    directions = {
        name: SystemDirection(mapping.increasing, DirectionSource.MAPPING) for name, mapping in mappings.items()
    }
    for name, direction in (definite or {}).items():
        directions[name] = SystemDirection(direction == "higher", DirectionSource.DEFINITION)
    return directions


def direction_of(
    pairs: JudgedPairs,
    name: str,
    aligned: np.ndarray,
    options: ScoringOptions,
    definite: Mapping[str, SystemDirection] | None = None,
) -> SystemDirection:
    """The direction of a system's scores: as stated, else `definite`, else higher unless the judgments deny it."""
    stated = options.stated_direction(name)
    if stated != "auto":
        return SystemDirection(stated == "higher", DirectionSource.STATED)
    if definite is not None and name in definite:
        return definite[name]
    if runs_against(pairs, aligned, True, options):
        return SystemDirection(False, DirectionSource.FOUND)
    return SystemDirection(True, DirectionSource.USUAL)


def runs_against(pairs: JudgedPairs, aligned: np.ndarray, higher: bool, options: ScoringOptions) -> bool:
    """True where Spearman's correlation with the judgments contradicts a direction, its whole interval included."""
    scored = np.isfinite(aligned)
    # an interval beyond 0 lies about a figure beyond 0, which costs a hundredth of it
    if not scored.any() or is_increasing(aligned[scored] * (1.0 if higher else -1.0), pairs.judgment[scored]):
        return False
    correlation = pairs.correlation_of(scored, REPLICATES, options.seed)
    ends = correlation.correlate(aligned[scored], ("spearman",))["spearman"].estimate(options.level).ends
    if ends is None:
        return False
    return ends[1] < 0 if higher else ends[0] > 0
