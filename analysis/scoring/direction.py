"""Which of a system's scores are better, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from relstudy.mapping.fitted import FittedMapping


class DirectionSource(StrEnum):
    """How it is known which scores are better."""

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
class Direction:
    """Whether a higher score is better.

    Parameters
    ----------
    higher : whether results are ranked by descending score
    source : how that is known

    Examples
    --------
    >>> Direction(False, DirectionSource.STATED).sentence()
    'lower is better, as stated'
    """

    higher: bool
    source: DirectionSource

    @property
    def binds(self) -> bool:
        """Whether mappings must run this way too, whatever the judgments say."""
        return self.source in (DirectionSource.STATED, DirectionSource.DEFINITION)

    def sentence(self) -> str:
        """Direction and reason in words."""
        return f"{'higher' if self.higher else 'lower'} is better, {_REASONS[self.source]}"


def known_directions(mappings: Mapping[str, FittedMapping], similarities: Iterable[str] = ()) -> dict[str, Direction]:
    """Directions by system that need no judgments: of given mappings, and of scores that are similarities by definition.

    A mapping does not turn a similarity: where both are known, the definition holds.
    """
    known = {name: Direction(mapping.increasing, DirectionSource.MAPPING) for name, mapping in mappings.items()}
    return known | {name: Direction(True, DirectionSource.DEFINITION) for name in similarities}
