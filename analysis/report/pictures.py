"""The report's pictures: intervals, precision-recall curves, raters. Each returns SVG text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from relstudy.common.estimates import Estimate
from relstudy.common.figures import GRID, INK, MUTED, PAPER, SERIES, drawing, svg

COLOURED = 6
"""More systems than this share a picture only when the others stand back in grey."""


@dataclass(frozen=True)
class Trace:
    """A curve: x and y [points], ascending in x."""

    x: np.ndarray
    y: np.ndarray


def colours(systems: Sequence[str]) -> dict[str, str]:
    """A colour for each system, in their order; of more than eight, those after the first COLOURED are grey."""
    if len(systems) <= len(SERIES):
        return dict(zip(systems, SERIES, strict=False))
    return {system: SERIES[i] if i < COLOURED else MUTED for i, system in enumerate(systems)}


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
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (6, 2, 1, 2, 1, 2)), (0, (2, 2)))
STEADY = 0.05
"""Recall below which a curve rests on too few good matches to be drawn."""


def precision_recall(curves: Mapping[str, Trace], share_relevant: float | None) -> str:
    """Precision against recall, one labelled line for each system, the best first.

    Parameters
    ----------
    curves : recall and precision by system, best first
    share_relevant : precision of a random order, drawn as a line of reference
    """
    colour = colours(list(curves))
    with drawing(6.9, 4.1) as figure:
        axes = figure.add_subplot()
        if share_relevant is not None:
            axes.axhline(share_relevant, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), zorder=3)
        for number, (system, trace) in reversed(list(enumerate(curves.items()))):
            muted = colour[system] == MUTED
            steady = trace.x >= STEADY
            axes.plot(
                trace.x[steady],
                trace.y[steady],
                color=colour[system],
                linewidth=1.0 if muted else 1.9 if number < LEADERS else 1.3,
                linestyle=DASHES[number % len(DASHES)],
                alpha=0.7 if muted else 1,
                drawstyle="steps-pre",
            )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("Recall: share of all good matches that are found")
        axes.set_ylabel("Precision: share of what is found that is good")
        named = [system for system in curves if colour[system] != MUTED]
        for line, system in enumerate(named):
            axes.annotate(
                shortened(system),
                (1.0, 1.0),
                xycoords="axes fraction",
                xytext=(10, -14 * line),
                textcoords="offset points",
                va="top",
                color=colour[system],
                fontweight="bold",
            )
        if share_relevant is not None:
            below_names = 1.0 - 14 * len(named) / 245
            axes.annotate(
                "guessing",
                (1.0, min(share_relevant, below_names)),
                xytext=(10, 0),
                textcoords="offset points",
                va="center",
                color=MUTED,
                annotation_clip=False,
            )
        return svg(figure, f"Precision against recall of {', '.join(curves)}; the best by average precision first")


def raters(names: Sequence[str], mean: np.ndarray, spread: np.ndarray, flagged: Sequence[bool]) -> str:
    """Each rater's mean and spread of ratings: how lenient, and how much of the scale is used.

    Parameters
    ----------
    names : rater ids; those that stand out are labelled
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
        named = np.flatnonzero(marked & computed) if len(names) > 20 else np.flatnonzero(computed)
        for i in named[:20]:
            axes.annotate(
                shortened(names[i], 12),
                (mean[i], spread[i]),
                xytext=(5, 2),
                textcoords="offset points",
                fontsize=7.5,
                color=MUTED,
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
        spoken = ", ".join(f"{name}: {value:.0%}" for name, value in zip(categories, share, strict=True))
        return svg(figure, f"{title}. {spoken}")


def mapping(
    system: str, scores: np.ndarray, judgments: np.ndarray, line: Trace, band: tuple[np.ndarray, np.ndarray] | None
) -> str:
    """A mapping over the pairs it was fitted to.

    Parameters
    ----------
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
        axes.set_title(shortened(system, 34))
        axes.scatter(x, judgments[::step], s=4, color=MUTED, alpha=0.45, linewidths=0, rasterized=False)
        if band is not None:
            axes.fill_between(line.x, *band, color=SERIES[0], alpha=0.18, linewidth=0)
        axes.plot(line.x, line.y, color=PAPER, linewidth=4)
        axes.plot(line.x, line.y, color=SERIES[0], linewidth=2)
        axes.set_xlabel("System's score")
        axes.set_ylabel("Judgment")
        axes.locator_params(nbins=6)
        return svg(figure, f"Mapping of {system} from {line.y[0]:.2f} to {line.y[-1]:.2f} over {len(scores)} pairs")


DOTS = 350


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
