"""The report's pictures: intervals, precision-recall curves, raters. Each returns SVG text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relstudy.common.estimates import Estimate
from relstudy.common.figures import GRID, INK, MUTED, PAPER, SERIES, drawing, svg
from relstudy.common.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Trace:
    """A curve: x and y [points], ascending in x."""

    x: np.ndarray
    y: np.ndarray


def intervals(
    title: str,
    estimates: Mapping[str, Estimate],
    *,
    zero: float | None = None,
    zero_label: str = "",
    better: str = "",
) -> str:
    """One dot and its interval for each name, first on top.

    Parameters
    ----------
    title : what is measured; also the picture's title
    estimates : in the order shown; a missing one is named and has no dot
    zero : where a line of reference stands
    zero_label : what it means
    better : written under the axis, such as "higher is better"
    """
    names = list(estimates)
    height = 0.95 + 0.27 * len(names)
    with drawing(3.1, height) as figure:
        axes = figure.add_subplot()
        axes.set_title(title)
        axes.grid(False, axis="y")
        if zero is not None:
            axes.axvline(zero, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        for row, estimate in enumerate(estimates.values()):
            if estimate.value is None:
                continue
            if estimate.low is not None and estimate.high is not None:
                axes.plot([estimate.low, estimate.high], [row, row], color=SERIES[0], linewidth=2.2, alpha=0.7)
            axes.plot([estimate.value], [row], "o", color=SERIES[0], markersize=5.5, markeredgewidth=0)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_yticks(range(len(names)), [shortened(name) for name in names])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=5)
        axes.margins(x=0.06)
        if zero is not None and zero_label:
            left, right = axes.get_xlim()
            beside = 3 if zero < (left + right) / 2 else -3
            axes.annotate(
                zero_label,
                (zero, 0),
                xycoords=("data", "axes fraction"),
                xytext=(beside, 3),
                textcoords="offset points",
                ha="left" if beside > 0 else "right",
                color=MUTED,
                fontsize=8,
            )
        axes.set_xlabel(better, color=MUTED)
        spoken = "; ".join(f"{name} {estimate}" for name, estimate in estimates.items())
        return svg(figure, f"{title}, {better}: {spoken}")


def strips(values: Mapping[str, np.ndarray]) -> str:
    """A strip of dots for each name, first on top, with a line at its mean.

    Parameters
    ----------
    values : of each query, 0 to 100
    """
    names = list(values)
    with drawing(6.9, 0.7 + 0.34 * len(names)) as figure:
        axes = figure.add_subplot()
        axes.grid(False, axis="y")
        axes.axvline(50, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        random = np.random.default_rng(0)
        for row, points in enumerate(values.values()):
            height = row + random.uniform(-0.22, 0.22, len(points))
            colour = SERIES[0] if row < LEADERS else MUTED
            axes.scatter(points, height, s=11, color=colour, alpha=0.5, linewidths=0)
            axes.plot([points.mean()] * 2, [row - 0.36, row + 0.36], color=INK, linewidth=2)
        axes.set_xlim(-1, 101)
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.set_yticks(range(len(names)), [shortened(name) for name in names])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("Good above poor, in 100")
        return svg(figure, "By query: " + "; ".join(f"{name} mean {each.mean():.0f}" for name, each in values.items()))


LEADERS = 2
"""Systems that stand out in colour; the rest stand back in grey."""
NAMED = 12
"""Lines that are named; more names would cover the lines."""
NAMES_AT = 0.3
"""Recall at which names stand: further right all lines run together."""
NAME_HEIGHT, ABOVE = 0.05, 0.06
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (6, 2, 1, 2, 1, 2)), (0, (2, 2)))
STEADY = 0.05
"""Recall below which a curve rests on too few good matches to be drawn."""


def precision_recall(curves: Mapping[str, Trace], share_relevant: float | None) -> str:
    """Precision against recall: the leaders in colour, the others in grey and dashes, each named at its line.

    Parameters
    ----------
    curves : recall and precision by system, best first
    share_relevant : precision of a random order, drawn as a line of reference
    """
    with drawing(6.9, 4.1) as figure:
        axes = figure.add_subplot()
        if share_relevant is not None:
            axes.axhline(share_relevant, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), zorder=3)
            axes.annotate(
                "guessing", (1.0, share_relevant), xytext=(10, 0), textcoords="offset points", va="center",
                color=MUTED, annotation_clip=False,
            )  # fmt: skip
        for number, trace in reversed(list(enumerate(curves.values()))):
            steady = trace.x >= STEADY
            leads = number < LEADERS
            axes.plot(
                trace.x[steady],
                trace.y[steady],
                color=SERIES[number] if leads else MUTED,
                linewidth=2.0 if leads else 1.1,
                linestyle=DASHES[number % len(DASHES)],
                drawstyle="steps-pre",
                zorder=2.5 if leads else 2,
            )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("Recall: share of all good matches that are found")
        axes.set_ylabel("Precision: share of what is found that is good")
        _name_lines(axes, dict(list(curves.items())[:NAMED]))
        return svg(figure, f"Precision against recall of {', '.join(curves)}; the best by average precision first")


def _name_lines(axes: Axes, curves: Mapping[str, Trace]) -> None:
    """Write each name above its line where the lines are apart, moved until none covers another."""
    heights = [height_at(trace, NAMES_AT) for trace in curves.values()]
    places = spread_out([height + ABOVE for height in heights], NAME_HEIGHT, 0.02, 1.0)
    for number, (system, height, place) in enumerate(zip(curves, heights, places, strict=True)):
        leads = number < LEADERS
        axes.plot([NAMES_AT, NAMES_AT + 0.035], [height, place], color=MUTED, linewidth=0.8, zorder=4)
        axes.plot([NAMES_AT], [height], "o", color=SERIES[number] if leads else MUTED, markersize=3, zorder=4)
        axes.annotate(
            shortened(system),
            (NAMES_AT + 0.045, place),
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
    """Places near the heights, in their order, at least `least` apart and between low and high where there is room.

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


def raters(names: Sequence[str], mean: np.ndarray, spread: np.ndarray, flagged: Sequence[bool]) -> str:
    """Each rater's mean and spread of ratings: how lenient, and how much of the scale is used.

    Parameters
    ----------
    names : rater ids; those with a flag and the outermost are labelled
    mean, spread : float [raters], in the unit of the scale, NaN where there is none
    flagged : whether a rater carries a flag
    """
    marked = np.asarray(flagged, dtype=bool)
    with drawing(3.1, 2.9) as figure:
        axes = figure.add_subplot()
        axes.set_title("Leniency and spread")
        small = len(names) > 80
        size = 9 if small else 26
        axes.scatter(mean[~marked], spread[~marked], s=size, color=SERIES[0], alpha=0.75, linewidths=0)
        axes.scatter(
            mean[marked], spread[marked], s=size * 1.2, facecolors="none", edgecolors=SERIES[1], linewidths=1.4
        )
        computed = np.isfinite(mean) & np.isfinite(spread)
        if computed.any():
            axes.axvline(float(np.median(mean[computed])), color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=0)
            axes.axhline(
                float(np.median(spread[computed])), color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=0
            )
        named = set(np.flatnonzero(marked & computed)[:MOST_FLAGGED])
        if computed.any():
            named |= {int(pick(values)) for values in (mean, spread) for pick in (np.nanargmin, np.nanargmax)}
        middle = (axes.get_xlim()[0] + axes.get_xlim()[1]) / 2
        for i in sorted(named):
            left = mean[i] > middle
            axes.annotate(
                shortened(names[i], 12),
                (mean[i], spread[i]),
                xytext=(-6 if left else 6, 0),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                fontsize=7.5,
                color=INK,
                bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
                zorder=0.5,  # a name hides grid and medians, never a dot
            )
        axes.margins(0.12)
        axes.set_xlabel("Mean rating  (strict → lenient)")
        axes.set_ylabel("Spread of ratings")
        return svg(figure, f"Mean and spread of the ratings of {len(names)} raters; {int(marked.sum())} carry a flag")


def shares(title: str, categories: Sequence[str], share: np.ndarray) -> str:
    """How often each category of the scale was given, beside the even share.

    Parameters
    ----------
    categories : names of the scale's values
    share : float [categories], sums to 1
    """
    with drawing(3.1, 2.6) as figure:
        axes = figure.add_subplot()
        axes.set_title(title)
        axes.grid(False, axis="x")
        axes.bar(range(len(categories)), share * 100, color=SERIES[0], width=0.72, linewidth=0)
        even = 100 / len(categories)
        axes.axhline(even, color=INK, linewidth=0.9, linestyle=(0, (2, 2)))
        axes.annotate(
            "even", (len(categories) - 0.45, even), xytext=(0, 3), textcoords="offset points", fontsize=8, ha="right"
        )
        axes.set_xticks(range(len(categories)), categories)
        axes.set_ylabel("% of ratings")
        axes.spines["bottom"].set_color(GRID)
        spoken = ", ".join(f"{name}: {percent(value)}" for name, value in zip(categories, share, strict=True))
        return svg(figure, f"{title}. {spoken}")


def mapping(
    system: str,
    method: str,
    scores: np.ndarray,
    judgments: np.ndarray,
    line: Trace,
    band: tuple[np.ndarray, np.ndarray] | None,
) -> str:
    """A mapping over the pairs it was fitted to.

    Parameters
    ----------
    system, method : whose scores, and how they were mapped; both stand in the title
    scores, judgments : float [pairs]; at most DOTS are drawn, evenly taken
    line : score and mapped score
    band : both ends at the line's points, or None
    """
    step = max(1, len(scores) // DOTS)
    random = np.random.default_rng(0)
    width = np.ptp(scores) or 1.0
    few = len(np.unique(scores)) <= 20
    x = scores[::step] + (random.uniform(-0.008, 0.008, len(scores[::step])) * width if few else 0.0)
    with drawing(3.1, 2.5) as figure:
        axes = figure.add_subplot()
        axes.set_title(f"{shortened(system, 24)}: {method}")
        axes.scatter(x, judgments[::step], s=4, color=MUTED, alpha=0.45, linewidths=0, rasterized=False)
        if band is not None:
            axes.fill_between(line.x, *band, color=SERIES[0], alpha=0.18, linewidth=0)
        axes.plot(line.x, line.y, color=PAPER, linewidth=4)
        axes.plot(line.x, line.y, color=SERIES[0], linewidth=2)
        axes.set_xlabel("System's score")
        axes.set_ylabel("Judgment")
        axes.locator_params(nbins=6)
        return svg(
            figure, f"Mapping of {system} by {method} from {line.y[0]:.2f} to {line.y[-1]:.2f} over {len(scores)} pairs"
        )


DOTS = 350
MOST_FLAGGED = 16
"""Flagged raters that are named in the picture; all stand in the table."""


def shortened(text: str, most: int = 20) -> str:
    """A name short enough for a picture; what tells long names apart often stands at their end, so both ends stay.

    Examples
    --------
    >>> shortened("a very long name of a retrieval system")
    'a very lon…al system'
    """
    if len(text) > most:
        head = most // 2
        return f"{text[:head].rstrip()}…{text[-(most - head - 1) :].lstrip()}"
    return text
