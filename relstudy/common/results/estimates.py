"""A figure with its interval, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A number and its interval.

    Parameters
    ----------
    value : the estimate, or None where it cannot be computed
    low, high : ends of the interval, or None if there is none
    reason : why a number is missing, as a phrase; None when nothing is missing

    Examples
    --------
    >>> Estimate(0.5, 0.4, 0.6).as_json()
    {'value': 0.5, 'low': 0.4, 'high': 0.6}
    >>> Estimate.missing("the mapping is constant").as_json()
    {'value': None, 'low': None, 'high': None, 'reason': 'the mapping is constant'}
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @classmethod
    def missing(cls, reason: str) -> Estimate:
        """No number, and why."""
        return cls(None, None, None, reason)

    @classmethod
    def of(cls, value: float, low: float = math.nan, high: float = math.nan, reason: str | None = None) -> Estimate:
        """From floats that may be NaN; a NaN becomes a missing number and must come with a reason."""
        numbers = [float(number) if math.isfinite(number) else None for number in (value, low, high)]
        if numbers[0] is None and reason is None:
            raise ValueError("a missing value needs a reason")
        return cls(numbers[0], numbers[1], numbers[2], reason)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the interval, the lower one first; None if there is no interval.

        Examples
        --------
        >>> Estimate(0.5, 0.4, 0.6).ends, Estimate(0.5).ends
        ((0.4, 0.6), None)
        """
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def width(self) -> float | None:
        """The distance of the interval's ends; None if there is no interval."""
        return None if self.ends is None else self.ends[1] - self.ends[0]

    @property
    def excludes_zero(self) -> bool | None:
        """True where the whole interval lies on one side of 0; None if there is no interval.

        Examples
        --------
        >>> Estimate(0.5, 0.4, 0.6).excludes_zero, Estimate(-0.1, -0.2, 0.0).excludes_zero, Estimate(0.5).excludes_zero
        (True, False, None)
        """
        return None if self.ends is None else self.ends[0] > 0 or self.ends[1] < 0

    def as_json(self) -> dict[str, Any]:
        """The figure as plain JSON; `reason` only where a number is missing."""
        figure: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        if self.reason is not None:
            figure["reason"] = self.reason
        return figure

    def negated(self) -> Estimate:
        """The same figure with its sign turned, its ends with it.

        Examples
        --------
        >>> str(Estimate(0.5, 0.4, 0.6).negated())
        '-0.5000 [-0.6000, -0.4000]'
        """
        value, low, high = (None if end is None else -end for end in (self.value, self.high, self.low))
        return Estimate(value, low, high, self.reason)

    def through(self, increasing: Callable[[float], float]) -> Estimate:
        """The figure and its ends after an increasing function, such as a change of unit.

        Examples
        --------
        >>> str(Estimate(0.5, 0.25, 0.75).through(lambda end: 100 * end))
        '50.0000 [25.0000, 75.0000]'
        """
        value, low, high = (None if end is None else increasing(end) for end in (self.value, self.low, self.high))
        return Estimate(value, low, high, self.reason)

    def __str__(self) -> str:
        if self.value is None:
            return f"– ({self.reason})"
        if self.ends is None:
            return f"{self.value:.4f}"
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"
