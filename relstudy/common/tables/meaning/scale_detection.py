"""Scale of a table's numbers: as stated, by its columns or its name, else by the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.meaning.scales import (
    GRADES,
    MOST_VALUES,
    SCALES,
    STEPS,
    USUAL,
    KnownScale,
    Scale,
    name_column,
    read_scale,
    scale_named,
)


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

    Whole numbers up to 10 reach from 0 or 1 to the highest, those up to 100 are on 0-100, or on 0-50 and its like
    (`ROUND_ENDS`) where several of them are 50 and none is more; others reach from the lowest to the highest. Other
    numbers are on the shortest usual scale that holds them (`USUAL`; `GRADES` where they begin below 1), or reach from
    end to end. Where a few levels that are no such steps stand again and again, as gains of 0, .01, .1 and 1 or points
    of 0, 10, 20 and 30, these are the scale.

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
    >>> scale_of_values([0, 1.5, 3], "ratings").scale.name
    '0-3'
    >>> scale_of_values([0, 0.01, 0.1, 1] * 10, "judgments", slack=0.5).scale.name
    '0,0.01,0.1,1'
    """
    numbers = np.asarray(values, dtype=float)
    levels = _levels(numbers)
    if levels:
        named = ",".join(f"{level:g}" for level in levels)
        return KnownScale(Scale(named, levels), "values", f"taken from the {what}, which are {named} alone")
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
            # a round number that several reach, and none exceeds, is the end of a scale of its own
            if high in ROUND_ENDS and int((numbers == high).sum()) > 1:
                usual_ends = [(0, int(high))]
        elif -slack <= first < 1 - slack and not (usual_ends and usual_ends[0] == (0, 1)):
            # grades and stars between the steps, which begin below 1; 0-10 would call nearly none of them relevant
            usual_ends = [(0, high) for high in GRADES if last <= high] + usual_ends
        ends = usual_ends[0] if usual_ends else (low, max(high, low + 1))
        scale = Scale.between(ends[0], ends[1], 1.0 if usual_ends else None)
        if not slack:
            scale = on_the_steps(scale, numbers)
    standard = next((each for each in SCALES.values() if each.values == scale.values), None)
    return KnownScale(standard or scale, "values", note)


ROUND_ENDS = (20, 30, 40, 50)
MOST_LEVELS = 7
MOST_DIFFERENT = 13
"""Of whole numbers in which one far from all others stands out."""
OF_EACH = 10
"""So many rows a level show that there is none between."""


def _levels(numbers: np.ndarray) -> tuple[float, ...]:
    """The few values that all numbers have, where no usual scale has them for its steps; else none."""
    found, counts = np.unique(numbers, return_counts=True)
    if not (3 <= len(found) <= MOST_LEVELS and len(numbers) >= OF_EACH * len(found) and counts.min() > 1):
        return ()
    gaps = np.diff(found)
    uneven = not np.allclose(gaps, gaps[0])
    whole = bool((found % 1 == 0).all())
    tens = whole and not uneven and gaps[0] > 1 and 10 < found[-1] < 100 and found[0] >= 0
    fractions = not whole and uneven and found[0] >= 0 and found[-1] <= 1
    return tuple(found.tolist()) if tens or fractions else ()


def odd_values(values: np.ndarray) -> list[float]:
    """Ratings that stand so far from all others that they look like marks for "no answer", such as 99 among 1 to 5.

    Parameters
    ----------
    values : finite numbers

    Returns
    -------
    such values, at most three: among at most 13 different whole numbers, one that is as far from all others as these
    reach, and at least 4; two or three together that are three times as far, and at least 8; or negative ones beside
    numbers from 1 (or from 0, and 4 below) that do not mirror these; and a repeated -1, the only negative one among
    more whole numbers, as of a slider. Numbers of which each is far above the one before are magnitudes, and no marks

    Examples
    --------
    >>> odd_values(np.array([1, 5, 3, 99, 2, 88])), odd_values(np.array([0, 50, 100]))
    ([99.0, 88.0], [])
    >>> odd_values(np.array([1, 5, 3, -99, -88])), odd_values(np.array([1, 2, 3, 98, 99])), odd_values(np.arange(-2, 3))
    ([-99.0, -88.0], [99.0, 98.0], [])
    >>> odd_values(np.array([1, 10, 50, 100, 500])), odd_values(np.array([1, 2, 5, 9, 99]))
    ([], [99.0, 9.0])
    """
    rest = np.unique(values)
    if len(rest) > MOST_DIFFERENT:
        is_lone = rest[0] == -1 and rest[1] >= 0 and bool((rest % 1 == 0).all()) and int((values == -1).sum()) > 1
        return [-1.0] if is_lone else []
    odd: list[float] = []
    while len(rest) >= 3 and len(odd) < 3 and (rest % 1 == 0).all():
        # of three values, two say little about how far apart values may be
        few = float(len(rest) == 3)
        low, high = rest[0], rest[-1]
        if high - rest[-2] >= max(rest[-2] - low + few, 4):
            odd, rest = [*odd, float(high)], rest[:-1]
        elif rest[1] - low >= max(high - rest[1] + few, 4) or (low < 0 and rest[1] >= 1):
            odd, rest = [*odd, float(low)], rest[1:]
        elif len(rest) > 4 and (gap := rest[-2] - rest[-3]) >= max(rest[-3] - low, 4) and 4 < high - rest[-2] < gap / 2:
            # two marks beside each other, as 88 and 99
            odd, rest = [*odd, float(high), float(rest[-2])], rest[:-2]
        elif not odd and (together := _marks_together(rest)):
            return together
        else:
            break
    above = [mark for mark in odd if mark > rest[-1]]
    if len(above) > 1 and max(above) - min(above) > min(above) - rest[-1]:
        # numbers that grow step by step are magnitudes, but for marks as 9 and 99
        return [mark for mark in odd if mark not in above or set(f"{mark:g}{max(above):g}") <= set("6789")]
    return odd


def _marks_together(values: np.ndarray) -> list[float]:
    """Two or three values at an end that look like marks, the outermost first, or none."""
    for number in (2, 3):
        for side in (1, -1):
            ordered = side * values[::side]  # marks at the end, mirrored where they are the lowest
            marks, rest = ordered[-number:], ordered[:-number]
            if len(rest) < 3:
                continue
            gap = marks[0] - rest[-1]
            is_far = gap >= max(3 * (rest[-1] - rest[0]), 8)
            below = side < 0 < marks[0] and rest[-1] <= 0 and (rest[-1] < 0 or gap >= 4) and marks[-1] != -rest[0]
            if is_far or below:
                return [float(side * mark) for mark in marks[::-1]]
    return []


def known_scale(
    table: Checked, values: np.ndarray, what: str, stated: Scale | None = None, slack: float = 0.0, ask: bool = True
) -> KnownScale:
    """The scale of a table's ratings or judgments.

    It is what the person states, else what the columns scale_low, scale_high and scale_step say, else what the scale's
    name in the column `scale` says, else taken from the values.

    Parameters
    ----------
    table : faults in its columns are added to it
    values : the numbers, or NaN
    what, slack : as for `scale_of_values`
    ask : whether numbers that may mean that there was no answer (`odd_values`) are faults
    """
    given = values[np.isfinite(values)]
    name = name_column(table)
    named = scale_named(name)
    if stated is not None:
        # what the table says of it decides nothing, so its faults do not count
        named_here = read_scale(table.without_faults()) or named
        other = named_here is not None and (named_here.low, named_here.high) != (stated.low, stated.high)
        note = (
            f"as stated, where the table says {named_here.low:g} to {named_here.high:g}"
            if named_here and other
            else "as stated"
        )
        return KnownScale(stated if slack else on_the_steps(stated, given), "stated", note, other)
    scale = read_scale(table)
    if scale is not None:
        note = "from the columns scale_low and scale_high"
        if named is None or (named.low, named.high) == (scale.low, scale.high):
            return KnownScale(scale, "stated", note)
        note = f"{note}, where the column scale says {name!r}"
        return KnownScale(scale, "stated", note, disputed=True)
    scale = named
    if scale is not None:
        names = stripped(table.frame["scale"])
        table.add((names != "") & (names != name), "scale", "rows of one table must be on one scale")
        return KnownScale(scale if slack else on_the_steps(scale, given), "named", "by the column scale")
    if not len(given):
        return KnownScale(SCALES["1-5"], "values", f"there are no {what}")
    odd = odd_values(given) if ask else []
    rest = given[~np.isin(given, odd)]
    for value in odd:
        table.add(
            values == value,
            "rating" if "rating" in table.frame else "judgment",
            f"the other {what} run from {rest.min():g} to {rest.max():g}, so this may mean that there was no "
            f"answer: {table.words.missing(f'{value:g}')} says so, and "
            f"{table.words.scale(f'{min(rest.min(), value):g}-{max(rest.max(), value):g}')} that it counts",
        )
    found = scale_of_values(rest, what, slack)
    return replace(found, note=f"{found.note}; {name!r} in the column scale names none") if name else found
