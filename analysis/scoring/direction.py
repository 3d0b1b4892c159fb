"""The direction of a system's scores, and the source of that knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from relstudy.mapping.fitted import FittedMapping


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
