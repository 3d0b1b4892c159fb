"""Charts of how many intervals hold the truth."""

from __future__ import annotations

import re

import numpy as np
from matplotlib.axes import Axes

from relstudy.common.charts.figures import GRID, INK, MUTED, SERIES, drawing, svg
from scripts.figures.pages import printed

SYSTEMS = "ABCD"


def design_rows(queries: int) -> dict[str, list[float]]:
    """Coverage in % for systems A to D, by figure, from docs/scoring.md."""
    rows = {}
    for line in printed("evidence/scoring.md", f"300 studies of {queries} of 320")[3:]:
        name, *cells = re.split(r"\s{2,}", line.strip())
        rows[name] = [float(cell.rstrip("*")) for cell in cells[1::2]]
    return rows


def coverage_design() -> str:
    """Coverage of each figure's interval, one dot per system, for two sizes of study."""
    sizes = {"100 queries of 20 results": design_rows(100), "40 queries of 14 results": design_rows(40)}
    with drawing(6.6, 3.5) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (title, rows) in zip(panels, sizes.items(), strict=True):
            axes.set_title(title)
            _nominal(axes, 95, 300)
            for row, values in enumerate(rows.values()):
                for system, value in enumerate(values):
                    axes.plot(value, row + (system - 1.5) * 0.16, "osD^"[system], color=SERIES[system], markersize=4)
            axes.set_yticks(range(len(rows)), list(rows))
            axes.tick_params(axis="y", labelcolor=INK)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            axes.set_xlim(89.5, 100.8)
            axes.set_xlabel("% of intervals that hold the truth")
        handles = [panels[0].plot([], [], "osD^"[n], color=SERIES[n], markersize=5)[0] for n in range(4)]
        figure.legend(handles, [f"system {name}" for name in SYSTEMS], loc="outside lower center", ncols=4)
        return svg(
            figure, "Coverage of 95 % intervals for ten figures and four systems, in two sizes of study", alone=True
        )


def _nominal(axes: Axes, level: float, studies: int) -> None:
    """The line at the nominal coverage, and the band in which 95 % of right intervals would be counted."""
    spread = 1.96 * np.sqrt(level * (100 - level) / studies)
    axes.axvspan(level - spread, min(level + spread, 100), color=GRID, alpha=0.55, linewidth=0)
    axes.axvline(level, color=MUTED, linewidth=0.9)
    axes.grid(False, axis="y")


def coverage_relevance() -> str:
    """Coverage by rule of relevance, with raters' offsets and without, for normalised rank and average precision."""
    rows = [
        re.split(r"\s{2,}", line.strip()) for line in printed("evidence/scoring.md", "ratings  offsets  relevant")[1:]
    ]
    parts = {"normalised rank": 5, "average precision": 9}  # the column of intervals about any raters like these
    return _by_setting(
        "Coverage of 95 % intervals by rule of relevance: the share of ratings above the cut comes closest",
        [f"{'1 rating' if row[0] == '1' else row[0] + ' ratings'}, offsets {row[1]}" for row in rows],
        [row[2] for row in rows],
        {name: [float(row[column]) for row in rows] for name, column in parts.items()},
    )


def coverage_raters() -> str:
    """Coverage of intervals about these raters and about any like them."""
    table = printed("evidence/scoring.md", "raters  ratings  offsets  intervals of")
    rows = [re.split(r"\s{2,}", line.strip()) for line in table[1:]]
    parts = {"normalised rank": 4, "average precision": 6, "correlation": 8}
    return _by_setting(
        "Coverage of 95 % intervals about these raters alone and about any raters like them",
        [f"{row[0]} raters, {'1 rating' if row[1] == '1' else row[1] + ' ratings'}, {row[2]}" for row in rows],
        [f"{row[3]} raters" + (" like these" if row[3] == "any" else " alone") for row in rows],
        {name: [float(row[column]) for row in rows] for name, column in parts.items()},
    )


def _by_setting(title: str, settings: list[str], kinds: list[str], parts: dict[str, list[float]]) -> str:
    places = {name: n for n, name in enumerate(dict.fromkeys(settings))}
    marks = {name: n for n, name in enumerate(dict.fromkeys(kinds))}
    with drawing(6.6, 1.3 + 0.36 * len(places)) as figure:
        panels = figure.subplots(1, len(parts), sharey=True)
        for axes, (name, values) in zip(panels, parts.items(), strict=True):
            axes.set_title(name)
            _nominal(axes, 95, 300)
            for setting, kind, value in zip(settings, kinds, values, strict=True):
                at, n = places[setting], marks[kind]
                height = at + (n - (len(marks) - 1) / 2) * 0.22
                axes.plot(100 * value, height, "osD"[n], color=SERIES[n], markersize=4.5)
            lowest = 100 * min(min(each) for each in parts.values())
            axes.set_xlim(-3 if lowest < 50 else min(lowest - 4, 74), 103 if lowest < 50 else 101.5)
            axes.set_yticks(range(len(places)), list(places))
            axes.tick_params(axis="y", labelcolor=INK)
            axes.set_ylim(len(places) - 0.4, -0.6)
        panels[len(parts) // 2].set_xlabel("% of intervals that hold the truth")
        handles = [panels[0].plot([], [], "osD"[n], color=SERIES[n], markersize=5)[0] for n in marks.values()]
        figure.legend(handles, list(marks), loc="outside lower center", ncols=len(marks))
        return svg(figure, title, alone=True)
