"""The picture of precision against recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from relstudy.analysis.report.pictures import LEADERS, NARROW, WIDE, Trace, band_between, shortened
from relstudy.common.charts.figures import INK, MUTED, PAPER, SERIES, drawing, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 12
"""Lines that are named; more names would cover the lines."""
NAMES_AT = 0.3
"""Recall at which names stand: further right all lines run together."""
NAME_HEIGHT, ABOVE = 0.058, 0.06
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (6, 2, 1, 2, 1, 2)), (0, (2, 2)))


def precision_recall(
    curves: Mapping[str, Trace],
    share_relevant: float | None,
    band: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    narrow: bool = False,
) -> str:
    """Precision against recall: the leaders in colour, the others in grey and dashes, each named at its line.

    Parameters
    ----------
    curves : recall and precision by system, best first
    share_relevant : precision of a random order, drawn as a line of reference
    band : the interval of the first curve's precision: its recall, ascending, and both ends; None where not known
    narrow : as wide as a telephone
    """
    with drawing(NARROW if narrow else WIDE, 3.3 if narrow else 3.7) as figure:
        axes = figure.add_subplot()
        if share_relevant is not None:
            axes.axhline(share_relevant, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), zorder=3)
            axes.annotate(
                "chance", (1.0, share_relevant), xytext=(4, 0), textcoords="offset points", va="center",
                color=MUTED, fontsize=8, annotation_clip=False,
            )  # fmt: skip
        if band is not None:
            band_between(axes, *band)
        for number, trace in reversed(list(enumerate(curves.values()))):
            leads = number < LEADERS
            axes.plot(
                trace.x,
                trace.y,
                color=SERIES[number] if leads else MUTED,
                linewidth=2.0 if leads else 1.1,
                linestyle=DASHES[number % len(DASHES)],
                drawstyle="steps-pre",
                zorder=2.5 if leads else 2,
            )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(
            "Recall: share of all good\nmatches that are found"
            if narrow
            else "Recall: share of all good matches that are found"
        )
        axes.set_ylabel("Precision: share of what is found that is good")
        _name_lines(axes, dict(list(curves.items())[:NAMED]))
        title = f"Precision against recall of {', '.join(curves)}; the best by pooled AP first"
        return svg(figure, title + (", narrow" if narrow else ""))


def _name_lines(axes: Axes, curves: Mapping[str, Trace]) -> None:
    """Write each name above its line where the lines are apart, moved until none covers another."""
    starts = [max(NAMES_AT, float(trace.x[0])) for trace in curves.values()]
    heights = [height_at(trace, at) for trace, at in zip(curves.values(), starts, strict=True)]
    places = spread_out([height + ABOVE for height in heights], NAME_HEIGHT, 0.02, 1.0)
    for number, (system, at, height, place) in enumerate(zip(curves, starts, heights, places, strict=True)):
        leads = number < LEADERS
        axes.plot([at, at + 0.035], [height, place], color=MUTED, linewidth=0.8, zorder=4)
        axes.plot([at], [height], "o", color=SERIES[number] if leads else MUTED, markersize=3, zorder=4)
        axes.annotate(
            shortened(system),
            (at + 0.045, place),
            va="center",
            fontsize=8.5,
            color=SERIES[number] if leads else INK,
            fontweight="bold" if leads else "normal",
            zorder=5,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
        )


def height_at(trace: Trace, x: float) -> float:
    """The height of a curve as it is drawn: each step has the height of the point at its right end.

    Examples
    --------
    >>> height_at(Trace(np.array([0.1, 1.0]), np.array([0.9, 0.2])), 0.3)
    0.2
    """
    return float(trace.y[min(int(np.searchsorted(trace.x, x)), len(trace.y) - 1)])


def spread_out(heights: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Places near the heights, in their order, at least `least` apart and between low and high if there is room.

    Examples
    --------
    >>> [round(place, 2) for place in spread_out([0.5, 0.51, 0.9], 0.1, 0, 1)]
    [0.5, 0.6, 0.9]
    >>> [round(place, 2) for place in spread_out([0.99, 1.0], 0.1, 0.0, 1.0)]
    [0.9, 1.0]
    """
    order = sorted(range(len(heights)), key=lambda i: (heights[i], -i))
    places = [0.0] * len(heights)
    floor = low
    for i in order:
        places[i] = max(heights[i], floor)
        floor = places[i] + least
    ceiling = high
    for i in reversed(order):
        places[i] = min(places[i], ceiling)
        ceiling = places[i] - least
    return places
