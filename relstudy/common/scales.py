"""The scale people rate on: its values, ends and labels, and the cut between relevant and not.

A scale is written beside the ratings and the judgments (columns scale_low, scale_high and scale_step), so that no later
stage guesses it. Tables from elsewhere lack these columns: their scale comes from its name, else from the values, and
`KnownScale.how` says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from relstudy.common.errors import RelstudyError
from relstudy.common.tables import Checked

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

    def columns(self) -> dict[str, float | None]:
        """What stands beside every rating and judgment."""
        return dict(zip(SCALE_COLUMNS, (self.low, self.high, self.step), strict=True))

    def parse(self, text: str) -> float | None:
        """The number a form field stands for; None is "undecided". ValueError for anything else."""
        if text == "undecided" and self.undecided:
            return None
        for value in self.values:
            if text == show_value(value):
                return value
        raise ValueError(f"{text!r} is not on the scale {self.name}")


SCALES = {
    "1-5": Scale("1-5", (1, 2, 3, 4, 5), {1: "poor match", 5: "good match"}),
    "binary": Scale("binary", (0, 1), {0: "poor match", 1: "good match"}),
    "1-9": Scale("1-9", tuple(range(1, 10)), {1: "poor match", 5: "average match", 9: "good match"}),
}
USUAL = ((0, 1), (1, 5), (1, 7), (1, 9), (0, 10), (0, 100))
"""Ends of the scales that numbers between the steps (means, MOS) are taken to be on: the shortest that holds them."""


@dataclass(frozen=True)
class KnownScale:
    """A scale and how it came to be known.

    Parameters
    ----------
    scale : the scale
    how : "stated" (in columns or by an option), "named" (by a scale's name), or "values" (taken from the numbers)
    note : the same as a phrase, such as "taken from the judgments, which run from 0.8 to 4.9"
    """

    scale: Scale
    how: str
    note: str

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        scale = self.scale
        return {
            "name": scale.name,
            "low": scale.low,
            "high": scale.high,
            "step": scale.step,
            "cut": scale.cut,
            "how": self.how,
            "note": self.note,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> KnownScale:
        """The scale that `as_json` wrote."""
        scale = Scale.between(content["low"], content["high"], content["step"], content["name"])
        return cls(scale, content["how"], content["note"]).with_cut(content["cut"])

    def with_cut(self, cut: float) -> KnownScale:
        """The same scale with the cut that a table of judgments names."""
        return replace(self, scale=replace(self.scale, stated_cut=float(cut)))

    def sentence(self) -> str:
        """The scale, its cut and where they come from, in words."""
        return f"scale {self.scale.name} ({self.note}): relevant is what is rated above {self.scale.cut:g}"


def show_value(value: float) -> str:
    """A scale value as people write it: 3, 2.5."""
    return f"{value:g}"


def scale_named(name: str) -> Scale | None:
    """A scale by its name; None when the name doesn't tell.

    Examples
    --------
    >>> scale_named("0-6").values, scale_named("yes/no").values, scale_named("stars")
    ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (0, 1), None)
    """
    text = name.strip().lower()
    if text in SCALES:
        return SCALES[text]
    if text == "yes/no":
        return SCALES["binary"]
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
            f"the scale {text!r} is not understood; two ends such as 1-5 or 0-100, or binary, are needed"
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
    return Scale.between(
        low[first], high[first], float(step[first]) if np.isfinite(step[first]) else None, _name(table)
    )


def _name(table: Checked) -> str:
    if "scale" not in table.frame:
        return ""
    names = table.frame["scale"].dropna().astype("str").str.strip()
    names = names[names != ""]
    return "" if names.empty else str(names.iloc[0])


def on_the_steps(scale: Scale, values: np.ndarray) -> Scale:
    """The scale with steps fine enough for the ratings given; itself where they are its values.

    Examples
    --------
    >>> on_the_steps(SCALES["1-5"], np.array([1.0, 2.5])).step
    0.5
    """
    if scale.continuous or np.isin(values, scale.values).all():
        return scale
    for step in STEPS:
        multiple = (values - scale.low) / step
        if np.allclose(multiple, np.round(multiple), atol=1e-6) and (scale.high - scale.low) / step <= MOST_VALUES:
            return Scale(scale.name, Scale.between(scale.low, scale.high, step).values, scale.labels, scale.undecided)
    return Scale(scale.name, (scale.low, scale.high), scale.labels, scale.undecided, continuous=True)


def scale_of_values(values: Sequence[float] | np.ndarray, what: str, slack: float = 0.0) -> KnownScale:
    """A scale for numbers whose table states none.

    Whole numbers up to 10 reach from 0 or 1 to the highest, those up to 100 are on 0-100, others reach from the lowest
    to the highest. Other numbers are on the shortest usual scale that holds them (`USUAL`), or reach from end to end.

    Parameters
    ----------
    values : finite numbers, at least one
    what : what they are, for the note: "ratings", "judgments"
    slack : how far, in steps, the middle 98 % of the numbers may leave the scale (judgments may, after calibration)

    Examples
    --------
    >>> scale_of_values([2, 3, 5], "ratings").scale.values
    (1, 2, 3, 4, 5)
    >>> scale_of_values([0.7, 2.3, 5.2], "judgments", slack=0.5).scale.name
    '1-5'
    """
    numbers = np.asarray(values, dtype=float)
    low, high = float(numbers.min()), float(numbers.max())
    note = f"taken from the {what}, which run from {low:g} to {high:g}"
    whole = bool((numbers % 1 == 0).all())
    if whole and low >= 0 and high <= 10:
        scale = Scale.between(min(low, 1), max(high, 1, min(low, 1) + 1))
    elif whole and low < 0:
        scale = Scale.between(low, max(high, 0))
    else:
        # calibration carries single judgments far beyond the end; nearly all stay within half a step of it
        first, last = np.quantile(numbers, [0.01, 0.99]) if slack else (low, high)
        usual_ends = [(a, b) for a, b in USUAL if a - slack <= first and last <= b + slack]
        if whole:
            usual_ends = usual_ends[-1:]
        ends = usual_ends[0] if usual_ends else (low, max(high, low + 1))
        scale = Scale.between(ends[0], ends[1], 1.0 if usual_ends else None)
        if not slack:
            scale = on_the_steps(scale, numbers)
    standard = next((each for each in SCALES.values() if each.values == scale.values), None)
    return KnownScale(standard or scale, "values", note)


def odd_values(values: np.ndarray) -> list[float]:
    """Ratings that stand so far from all others that they look like marks for "no answer", such as 99 among 1 to 5.

    Parameters
    ----------
    values : finite numbers

    Returns
    -------
    such values, at most three: among at most 13 different whole numbers, one that is as far from all others as these
    reach, and at least 4; or the only negative one beside numbers from 1

    Examples
    --------
    >>> odd_values(np.array([1, 5, 3, 99, 2, 88])), odd_values(np.array([0, 50, 100]))
    ([99.0, 88.0], [])
    """
    rest = np.unique(values)
    odd: list[float] = []
    while 3 <= len(rest) <= 13 and len(odd) < 3 and (rest % 1 == 0).all():
        # of three values, two tell little about how far apart values may be
        few = float(len(rest) == 3)
        low, high = rest[0], rest[-1]
        if high - rest[-2] >= max(rest[-2] - low + few, 4):
            odd, rest = [*odd, float(high)], rest[:-1]
        elif rest[1] - low >= max(high - rest[1] + few, 4) or (low < 0 and rest[1] >= 1):
            odd, rest = [*odd, float(low)], rest[1:]
        elif len(rest) > 4 and rest[-2] - rest[-3] >= max(rest[-3] - low, 4) and high - rest[-2] > 4:
            # two marks beside each other, as 88 and 99
            odd, rest = [*odd, float(high), float(rest[-2])], rest[:-2]
        else:
            break
    return odd


def known_scale(
    table: Checked, values: np.ndarray, what: str, stated: Scale | None = None, slack: float = 0.0
) -> KnownScale:
    """The scale of a table's ratings or judgments.

    It is what the person states, else what the columns scale_low, scale_high and scale_step say, else what the scale's
    name in the column `scale` says, else taken from the values.

    Parameters
    ----------
    table : faults in its columns are added to it
    values : the numbers, NaN where there is none
    what, slack : as for `scale_of_values`
    """
    given = values[np.isfinite(values)]
    if stated is not None:
        return KnownScale(stated if slack else on_the_steps(stated, given), "stated", "as stated")
    scale = read_scale(table)
    if scale is not None:
        return KnownScale(scale, "stated", "from the columns scale_low and scale_high")
    scale = scale_named(_name(table))
    if scale is not None:
        return KnownScale(scale if slack else on_the_steps(scale, given), "named", "by the column scale")
    if not len(given):
        return KnownScale(SCALES["1-5"], "values", f"there are no {what}")
    odd = [] if slack else odd_values(given)
    rest = given[~np.isin(given, odd)]
    for value in odd:
        table.add(
            values == value,
            "rating" if "rating" in table.frame else "judgment",
            f"the other {what} run from {rest.min():g} to {rest.max():g}, so this may mean that there was no "
            f"answer: --missing {value:g} says so, and --scale "
            f"{min(rest.min(), value):g}-{max(rest.max(), value):g} that it counts",
        )
    return scale_of_values(rest, what, slack)
