"""Allowed values: the limits of a number, and the members of a type."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Where a number must lie; None: no limit on this side."""

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    any_size: bool = False
    """Whether a whole number may be larger than anything that is counted, as a seed may."""

    def holds(self, number: float) -> bool:
        """True where a number lies within."""
        return not (
            (self.at_least is not None and number < self.at_least)
            or (self.above is not None and number <= self.above)
            or (self.at_most is not None and number > self.at_most)
            or (self.below is not None and number >= self.below)
        )

    def words(self) -> str:
        """The limits in words, or "".

        Examples
        --------
        >>> Limits(at_least=2).words(), Limits(above=0, below=1).words(), Limits(at_least=0, below=1).words()
        ('from 2', 'between 0 and 1', 'from 0 to below 1')
        """
        if self.above is not None and self.below is not None:
            return f"between {self.above:,.15g} and {self.below:,.15g}"
        ends = {"from": self.at_least, "above": self.above, "to": self.at_most, "to below": self.below}
        return " ".join(f"{word} {end:,.15g}" for word, end in ends.items() if end is not None)


ANYWHERE = Limits()
SEED = Limits(at_least=0, any_size=True)


def members(kind: Any) -> tuple[Any, ...]:
    """The members of a union; of any other type, itself."""
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def without_none(kind: Any) -> Any:
    """A type, where None in it is left away, which says that nothing was stated."""
    return typing.Union[tuple(each for each in members(kind) if each is not types.NoneType)]  # noqa: UP007
