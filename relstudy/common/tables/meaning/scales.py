"""The scale people rate on: its values, ends and labels, and the cut between relevant and not.

A scale is written beside the ratings and the judgments (columns scale_low, scale_high and scale_step), so that no later
stage guesses it. Tables from elsewhere lack these columns: their scale comes from its name, else from the values, and
`KnownScale.how` says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked, stripped

_NUMBER = re.compile(r"[+-]?(\d{1,9}([.,]\d{0,9})?|[.,]\d{1,9})", re.ASCII)
FIFTHS = 5
SCALE_COLUMNS = ["scale_low", "scale_high", "scale_step"]
MOST_VALUES = 1000
STEPS = (1.0, 0.5, 0.25, 0.2, 0.1, 0.05, 0.01)
"""Distances between neighbouring values that are looked for in a table that doesn't state its scale."""


@dataclass(frozen=True)
class Scale:
    """The values a rater chooses from.

    Parameters
    ----------
    name : as named in study.toml and in the export
    values : the numbers, ascending, at least two; the two ends where the scale is continuous
    labels : text for some or all values
    undecided : whether "undecided" is offered
    continuous : whether any number between the ends may be given
    stated_cut : the cut between relevant and not, where a table of judgments names one; None takes the middle step
    """

    name: str
    values: tuple[float, ...]
    labels: dict[float, str] = field(default_factory=dict)
    undecided: bool = True
    continuous: bool = False
    stated_cut: float | None = None

    @classmethod
    def between(cls, low: float, high: float, step: float | None = 1.0, name: str = "") -> Scale:
        """A scale by its ends.

        Parameters
        ----------
        step : distance between neighbouring values; None for a continuous scale

        Examples
        --------
        >>> Scale.between(0, 2, 0.5).values
        (0.0, 0.5, 1.0, 1.5, 2.0)
        """
        if name == "":
            name = f"{low:g}-{high:g}"
        count = 0 if step is None else round((high - low) / step)
        if count == 0 or count > MOST_VALUES:
            return cls(name, (float(low), float(high)), continuous=True)
        values = np.round(np.linspace(low, high, count + 1), 9)
        return cls(name, tuple(values.tolist()))

    @property
    def low(self) -> float:
        """The lowest value."""
        return float(self.values[0])

    @property
    def high(self) -> float:
        """The highest value."""
        return float(self.values[-1])

    @property
    def step(self) -> float | None:
        """The distance between neighbouring values; None where the scale is continuous or its steps differ."""
        steps = np.diff(self.values)
        return float(steps[0]) if not self.continuous and np.allclose(steps, steps[0], rtol=1e-6) else None

    @property
    def cut(self) -> float:
        """Above which rating a result is relevant: in the middle of the step above the middle value, never on a value.

        A scale with an even number of values is cut into halves. A continuous scale has no steps and is cut in its
        middle.

        Examples
        --------
        >>> SCALES["1-5"].cut, SCALES["binary"].cut, SCALES["1-9"].cut
        (3.5, 0.5, 5.5)
        """
        if self.stated_cut is not None:
            return self.stated_cut
        if self.continuous:
            return (self.low + self.high) / 2
        below = (len(self.values) - 1) // 2
        return (self.values[below] + self.values[below + 1]) / 2

    @property
    def gain_step(self) -> float:
        """The step that whole gains count in: that of the scale, a hundredth of its length where it has none."""
        return self.step or (self.high - self.low) / 100

    @property
    def categories(self) -> tuple[float, ...]:
        """The values that the use of the scale is counted by: all of them, or the middles of a slider's fifths.

        Examples
        --------
        >>> SCALES["1-5"].categories, Scale.between(0, 100, None).categories
        ((1, 2, 3, 4, 5), (10.0, 30.0, 50.0, 70.0, 90.0))
        """
        if not self.continuous:
            return self.values
        return tuple(self.low + (self.high - self.low) * (fifth + 0.5) / FIFTHS for fifth in range(FIFTHS))

    def has(self, value: float) -> bool:
        """True if a rater can give a value."""
        return self.low <= value <= self.high if self.continuous else value in self.values

    def columns(self) -> dict[str, float | None]:
        """The columns of the scale that stand beside every rating and judgment."""
        return dict(zip(SCALE_COLUMNS, (self.low, self.high, self.step), strict=True))

    def parse(self, text: str) -> float | None:
        """The number a form field stands for; None is "undecided". ValueError for anything else.

        Examples
        --------
        >>> Scale.between(0, 100, None).parse("12,5")
        12.5
        """
        if text == "undecided" and self.undecided:
            return None
        if self.continuous and _NUMBER.fullmatch(text.strip()):
            value = float(show_value(float(text.replace(",", "."))))
            if self.has(value):
                return value
        for value in self.values:
            if text == show_value(value):
                return value
        raise ValueError(f"{text!r} is not on the scale {self.name}")


SCALES = {
    "1-5": Scale("1-5", (1, 2, 3, 4, 5), {1: "poor match", 5: "good match"}),
    "binary": Scale("binary", (0, 1), {0: "poor match", 1: "good match"}),
    "yes-no": Scale("yes-no", (0, 1), {0: "no", 1: "yes"}),
    "1-9": Scale("1-9", tuple(range(1, 10)), {1: "poor match", 5: "average match", 9: "good match"}),
}
GRADES = (2, 3, 4, 5, 6)
"""Upper ends of the scales from 0 that grades and stars with halves are taken to be on, where they begin below 1."""
USUAL = ((0, 1), (1, 5), (1, 7), (1, 9), (0, 10), (0, 100))
"""Ends of the scales that numbers between the steps (means, MOS) are taken to be on: the shortest that holds them."""


@dataclass(frozen=True)
class KnownScale:
    """A scale and the origin of that knowledge.

    Parameters
    ----------
    scale : the scale
    how : "stated" (in columns or by an option), "named" (by a scale's name), or "values" (taken from the numbers)
    note : the same as a phrase, such as "taken from the judgments, which run from 0.8 to 4.9"
    disputed : whether the table says something else; the note says what
    """

    scale: Scale
    how: str
    note: str
    disputed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        scale = self.scale
        return {
            "name": scale.name,
            "low": scale.low,
            "high": scale.high,
            "step": scale.step,
            **({} if scale.step or scale.continuous else {"values": list(scale.values)}),
            "cut": scale.cut,
            "how": self.how,
            "note": self.note,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> KnownScale:
        """The scale that `as_json` wrote."""
        if "values" in content:
            scale = Scale(content["name"], tuple(content["values"]))
        else:
            scale = Scale.between(content["low"], content["high"], content["step"], content["name"])
        return cls(scale, content["how"], content["note"]).with_cut(content["cut"])

    def with_cut(self, cut: float) -> KnownScale:
        """The same scale with the cut that a table of judgments names."""
        return replace(self, scale=replace(self.scale, stated_cut=float(cut)))

    def assumed(self) -> tuple[str, ...]:
        """That the scale was taken from the numbers, or against what the table says, as a sentence; none elsewhere."""
        if self.how == "values":
            return (f"No scale is stated, so {self.scale.name} is assumed ({self.note}).",)
        return (f"The scale is {self.scale.name} ({self.note}).",) if self.disputed else ()

    def sentence(self) -> str:
        """The scale, its cut and where they come from, in words."""
        return f"scale {self.scale.name} ({self.note}): ratings above {self.scale.cut:g} count as relevant"


def show_value(value: float) -> str:
    """A scale value as people write it: 3, 2.5."""
    return f"{value:g}"


def scale_named(name: str) -> Scale | None:
    """A scale by its name; None when no scale has it.

    Examples
    --------
    >>> scale_named("0-6").values, scale_named("yes/no").values, scale_named("stars")
    ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (0, 1), None)
    >>> scale_named("0,.01,.1,1").values
    (0.0, 0.01, 0.1, 1.0)
    """
    text = name.strip().lower()
    if text in SCALES:
        return SCALES[text]
    if text == "yes/no":
        return SCALES["binary"]
    if "," in text:
        numbers = [re.fullmatch(r"-?(\d+\.?\d*|\.\d+)", each.strip()) for each in text.split(",")]
        values = tuple(float(each[0]) for each in numbers if each)
        is_ascending = len(values) == len(numbers) and len(values) > 1 and all(np.diff(values) > 0)
        return Scale(name.strip(), values) if is_ascending else None
    match = re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.)\s*(-?\d+(?:\.\d+)?)", text)
    if match is None or float(match[1]) >= float(match[2]):
        return None
    low, high = float(match[1]), float(match[2])
    return Scale.between(low, high, 1.0 if low % 1 == high % 1 == 0 else None, name.strip())


def stated_scale(text: str) -> Scale:
    """The scale that an option names, such as "0-100", "1-5" or "binary"; RelstudyError for anything else."""
    scale = scale_named(text)
    if scale is None:
        raise RelstudyError(
            f"the scale {text!r} is not understood; two ends such as 1-5 or 0-100, or binary, are needed; "
            "0,0.1,1 names every value"
        )
    return scale


def read_scale(table: Checked) -> Scale | None:
    """The scale in a table's columns scale_low, scale_high and scale_step; None where the first two are not filled.

    Rows of another scale, and ends that are none, are added to the table's faults.
    """
    if any(name not in table.frame for name in SCALE_COLUMNS[:2]):
        return None
    numbers = {name: table.numbers(name, empty=True) for name in SCALE_COLUMNS if name in table.frame}
    low, high = numbers["scale_low"], numbers["scale_high"]
    step = numbers.get("scale_step", np.full(len(low), np.nan))
    filled = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    if not len(filled):
        return None
    first = filled[0]
    for name, values in numbers.items():
        # a row without a scale of its own is taken to be on the table's
        table.add(np.isfinite(values) & (values != values[first]), name, "rows of one table must be on one scale")
    if not low[first] < high[first] or step[first] <= 0:
        table.fault("scale_high", "scale_low must be below scale_high, and scale_step above 0")
        return None
    ends = low[first], high[first]
    name = name_column(table)
    named = scale_named(name)
    if named is not None and (named.low, named.high) != ends:
        name = ""
    return Scale.between(*ends, float(step[first]) if np.isfinite(step[first]) else None, name)


def name_column(table: Checked) -> str:
    """The value of the column `scale`, "" if there is none or it is empty."""
    if "scale" not in table.frame:
        return ""
    names = stripped(table.frame["scale"])
    names = names[names != ""]
    return "" if names.empty else str(names.iloc[0])
