"""The report's pictures: intervals, precision-recall curves, raters. Each returns SVG text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relstudy.common.charts.figures import GRID, INK, MUTED, PAPER, SERIES, drawing, svg
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import number, percent
from relstudy.mapping.fitted import FittedMapping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox


WIDE, NARROW = 6.9, 3.4
"""Inches: of a picture with a row of its own, and of its twin for telephones, whose letters keep their size."""


@dataclass(frozen=True)
class Trace:
    """A curve: x and y [points], ascending in x."""

    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Panel:
    """One measure of a picture of intervals.

    Parameters
    ----------
    title : what is measured
    estimates : by system; a missing one has no dot
    zero, zero_label : where a line of reference stands, and what it means
    """

    title: str
    estimates: Mapping[str, Estimate]
    zero: float | None = None
    zero_label: str = ""


def intervals(panels: Sequence[Panel], narrow: bool = False) -> str:
    """One dot and its interval for each name, first on top; the panels share one column of names.

    Parameters
    ----------
    panels : all of the same names, in the order shown
    narrow : as wide as a telephone, the panels beneath one another
    """
    names = list(panels[0].estimates)
    height = 0.27 * len(names)
    rows, columns = (len(panels), 1) if narrow else (1, len(panels))
    with drawing(NARROW if narrow else max(2.9 * len(panels), 3.4), rows * (0.95 + height)) as figure:
        for place, panel in enumerate(panels):
            axes = figure.add_subplot(rows, columns, place + 1)
            _draw_intervals(axes, panel)
            named = narrow or place == 0
            axes.set_yticks(range(len(names)), [shortened(name) if named else "" for name in names])
        spoken = "; ".join(
            f"{panel.title}: " + ", ".join(f"{name} {estimate}" for name, estimate in panel.estimates.items())
            for panel in panels
        )
        return svg(figure, f"{spoken}{' (narrow)' if narrow else ''}")


def _draw_intervals(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, pad=16)
    axes.grid(False, axis="y")
    if panel.zero is not None:
        axes.axvline(panel.zero, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    for row, estimate in enumerate(panel.estimates.values()):
        if estimate.value is None:
            continue
        if estimate.ends is not None:
            axes.plot(estimate.ends, [row, row], color=SERIES[0], linewidth=2.2, alpha=RANGE)
        axes.plot([estimate.value], [row], "o", color=SERIES[0], markersize=5.5, markeredgewidth=0)
    axes.set_ylim(len(panel.estimates) - 0.4, -0.6)
    axes.tick_params(axis="y", labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=5)
    axes.margins(x=0.06)
    if panel.zero is None or not panel.zero_label:
        return
    left, right = axes.get_xlim()
    beside = "left" if panel.zero < (left + right) / 2 else "right"
    # above the axis, where no bar can be
    axes.annotate(
        panel.zero_label, (panel.zero, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
        textcoords="offset points", ha=beside, va="bottom", color=MUTED, fontsize=8,
    )  # fmt: skip


def band_between(axes: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """A band with edges: the shade is too pale to be seen by everybody."""
    axes.fill_between(x, low, high, color=SERIES[0], alpha=SHADE, linewidth=0, zorder=1.5)
    for edge in (low, high):
        axes.plot(x, edge, color=SERIES[0], alpha=EDGE, linewidth=0.8, zorder=1.6)


def strips(values: Mapping[str, np.ndarray], lines: Mapping[str, float], narrow: bool = False) -> str:
    """A strip of dots for each name, first on top, with a line at its figure.

    Parameters
    ----------
    values : of each query, 0 to 100
    lines : the figure over all queries, 0 to 100, or NaN
    narrow : as wide as a telephone
    """
    names = list(values)
    with drawing(NARROW if narrow else WIDE, 0.7 + 0.34 * len(names)) as figure:
        axes = figure.add_subplot()
        axes.grid(False, axis="y")
        axes.axvline(50, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        random = np.random.default_rng(0)
        for row, (name, points) in enumerate(values.items()):
            height = row + random.uniform(-0.22, 0.22, len(points))
            colour = SERIES[0] if row < LEADERS else MUTED
            axes.scatter(points, height, s=11, color=colour, alpha=0.5, linewidths=0)
            axes.plot([lines[name]] * 2, [row - 0.36, row + 0.36], color=INK, linewidth=2)
        axes.set_xlim(-1, 101)
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.set_yticks(range(len(names)), [shortened(name) for name in names])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("Pairwise accuracy within queries, in 100")
        figures = "; ".join(f"{name} {lines[name]:.0f}" for name in names if np.isfinite(lines[name]))
        return svg(figure, f"By query{', narrow' if narrow else ''}: {figures}")


def by_query(title: str, differences: Mapping[str, np.ndarray], narrow: bool = False) -> str:
    """Bars of each query's difference, a panel for each name, all on one scale, with a line at the mean.

    Parameters
    ----------
    title : what the bars are
    differences : float [queries], descending
    narrow : as wide as a telephone, the panels beneath one another
    """
    columns = 1 if narrow else min(3, len(differences))
    rows = -(-len(differences) // columns)
    reach = max((float(np.abs(each).max()) for each in differences.values() if len(each)), default=1.0) or 1.0
    with drawing(NARROW if narrow else max(2.3 * columns, NARROW), 0.5 + 1.5 * rows) as figure:
        for place, (name, each) in enumerate(differences.items()):
            axes = figure.add_subplot(rows, columns, place + 1)
            axes.grid(False, axis="x")
            colours = [SERIES[0] if value > 0 else MUTED for value in each]
            axes.bar(range(len(each)), each, width=0.8 if len(each) < 60 else 1.0, color=colours, linewidth=0)
            axes.axhline(0, color=MUTED, linewidth=0.8)
            if len(each):
                axes.axhline(float(each.mean()), color=INK, linewidth=1.2)
            axes.set_ylim(-1.05 * reach, 1.05 * reach)
            axes.set_xticks([])
            axes.set_title(shortened(name))
            if place % columns == 0:
                axes.set_ylabel("difference")
        spoken = "; ".join(
            f"{name}: mean {number(float(each.mean()), '+.3f')}, better on {int((each > 0).sum())} of {len(each)} "
            "queries"
            for name, each in differences.items()
            if len(each)
        )
        return svg(figure, f"{title}{' (narrow)' if narrow else ''}. {spoken}")


LEADERS = 2
"""Systems that stand out in colour; the rest stand back in grey."""
SOLID, RANGE, EDGE, SHADE = 1.0, 0.75, 0.75, 0.18
"""Opacity of a line, an interval's bar, a band's edge and a band's inside. What carries uncertainty keeps a
contrast of 3 to 1 with the page in light and dark; the inside of a band does not, so a band has edges."""


def raters(names: Sequence[str], mean: np.ndarray, spread: np.ndarray, flagged: Sequence[bool]) -> str:
    """Each rater's mean and spread of ratings: how lenient, and how much of the scale is used.

    Parameters
    ----------
    names : rater ids; those with a flag and the outermost are labelled, if there is room beside another label
    mean, spread : float [raters], in the unit of the scale, or NaN
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
        named = [int(each) for each in np.flatnonzero(marked & computed)[:MOST_FLAGGED]]
        if computed.any():
            named += [int(pick(values)) for values in (mean, spread) for pick in (np.nanargmin, np.nanargmax)]
        axes.margins(0.12)
        middle = (axes.get_xlim()[0] + axes.get_xlim()[1]) / 2
        placed: list[Bbox] = []
        for i in dict.fromkeys(named):
            left = mean[i] > middle
            for height in (0, 9, -9):
                label = axes.annotate(
                    shortened(names[i], 12),
                    (mean[i], spread[i]),
                    xytext=(-6 if left else 6, height),
                    textcoords="offset points",
                    ha="right" if left else "left",
                    va="center",
                    fontsize=7.5,
                    color=INK,
                    bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.2},
                    zorder=0.75,  # a name hides the grid (0.5) and the medians whole, never a dot
                )
                box = label.get_window_extent()
                if not box.count_overlaps(placed):
                    placed.append(box)
                    break
                label.remove()
        axes.set_xlabel("Mean rating  (strict → lenient)")
        axes.set_ylabel("Spread of ratings")
        return svg(figure, f"Mean and spread of the ratings of {len(names)} raters; {int(marked.sum())} carry a flag")


def shares(title: str, categories: Sequence[str], share: np.ndarray) -> str:
    """The share of each category of the scale, beside the even share.

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
            "all used equally",
            (1, even),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            fontsize=8,
            va="center",  # beside the bars, since no colour of text can be read on all of them
        )
        axes.set_xticks(range(len(categories)), categories)
        axes.set_ylabel("% of ratings")
        axes.spines["bottom"].set_color(GRID)
        spoken = ", ".join(f"{name}: {percent(value)}" for name, value in zip(categories, share, strict=True))
        return svg(figure, f"{title}. {spoken}")


def session(tenths: Sequence[Estimate], narrow: bool = False) -> str:
    """Ratings by tenth of a rater's session, less those of others of the same pairs, with the band of their intervals.

    Parameters
    ----------
    tenths : in their order; a missing one has no dot
    narrow : as wide as a telephone
    """
    shown = [(place, each) for place, each in enumerate(tenths, start=1) if each.value is not None]
    x = np.array([place for place, _ in shown], dtype=float)
    value, low, high = (np.array([getattr(each, end) for _, each in shown], float) for end in ("value", "low", "high"))
    with drawing(NARROW if narrow else WIDE, 2.6) as figure:
        axes = figure.add_subplot()
        axes.axhline(0, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        band_between(axes, x, low, high)
        axes.plot(x, value, "o-", color=SERIES[0], linewidth=2, markersize=5, markeredgewidth=0)
        axes.set_xticks(range(1, len(tenths) + 1))
        axes.set_xlabel("Tenth of the rater's session")
        axes.set_ylabel("Points above\nothers' of the pair")
        spoken = ", ".join(f"{place:.0f}: {number(each, '+.2f')}" for place, each in zip(x, value, strict=True))
        return svg(figure, f"Ratings by tenth of the session{', narrow' if narrow else ''}: {spoken}")


def line_of(fitted: FittedMapping, scores: np.ndarray) -> Trace:
    """The line of a mapping over the range of scores, with a point at each of its knots there."""
    low, high = scores.min(), scores.max()
    points = np.unique(np.r_[fitted.knots, np.linspace(low, high, 200)])
    points = points[(points >= low) & (points <= high)]
    return Trace(points, fitted.predict(points))


def mapping(
    system: str,
    method: str,
    scores: np.ndarray,
    judgments: np.ndarray,
    line: Trace,
    band: tuple[np.ndarray, np.ndarray] | None,
    limits: tuple[float, float] | None = None,
) -> str:
    """A mapping over the pairs it was fitted to.

    Parameters
    ----------
    system, method : whose scores, and how they were mapped; both stand in the title
    scores, judgments : float [pairs]; at most DOTS are drawn, evenly taken
    line : score and mapped score
    band : both ends at the line's points, or None
    limits : of the axis of judgments, shared by the pictures that stand side by side; None: by what is drawn
    """
    step = max(1, len(scores) // DOTS)
    random = np.random.default_rng(0)
    width = np.ptp(scores) or 1.0
    few = len(np.unique(scores)) <= 20
    x = scores[::step] + (random.uniform(-0.008, 0.008, len(scores[::step])) * width if few else 0.0)
    with drawing(3.1, 2.5) as figure:
        axes = figure.add_subplot()
        axes.set_title(f"{shortened(system, 20)}: {method}, {len(scores):,} pairs", fontsize=9)
        axes.scatter(x, judgments[::step], s=4, color=MUTED, alpha=0.45, linewidths=0, rasterized=False)
        # a rug: where along the scores the pairs lie, as one path
        along, up = np.repeat(x, 3), np.tile([0.0, 0.025, np.nan], len(x))
        axes.plot(along, up, color=MUTED, linewidth=0.5, transform=axes.get_xaxis_transform(), zorder=1)
        if band is not None:
            band_between(axes, line.x, *band)
        axes.plot(line.x, line.y, color=PAPER, linewidth=4)
        axes.plot(line.x, line.y, color=SERIES[0], linewidth=2)
        middle, mean = tenths(scores, judgments)
        axes.plot(middle, mean, "D", color=INK, markersize=3.4, markeredgewidth=0, zorder=4)
        if limits is not None:
            axes.set_ylim(*limits)
        axes.set_xlabel("System's score")
        axes.set_ylabel("Judgment")
        axes.locator_params(nbins=6)
        return svg(
            figure, f"Mapping of {system} by {method} from {line.y[0]:.2f} to {line.y[-1]:.2f} over {len(scores)} pairs"
        )


def tenths(scores: np.ndarray, judgments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean score and the mean judgment of each tenth of the pairs by score, float [at most 10].

    Examples
    --------
    >>> middle, mean = tenths(np.arange(20.0), np.arange(20.0) ** 2)
    >>> middle[:2].tolist(), mean[:2].tolist()
    ([0.5, 2.5], [0.5, 6.5])
    """
    parts = [part for part in np.array_split(np.argsort(scores, kind="stable"), 10) if len(part)]
    return np.array([scores[part].mean() for part in parts]), np.array([judgments[part].mean() for part in parts])


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
