"""The pictures of a count table: precision and recall by radius, the curve over radii, what a look-up costs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.lookup.sweep import LookUp
from relstudy.analysis.hashing.metrics.ball import lookup_cost, ramap_by_radius
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.analysis.hashing.metrics.first_ranks import TIES
from relstudy.analysis.hashing.metrics.lgap import UniqueCodes
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.radius import precision_recall_by_radius
from relstudy.analysis.hashing.metrics.ranking_curve import ranking_curve
from relstudy.common.charts.figures import MUTED, SERIES, drawing, svg
from relstudy.common.runtime.files import write_text

MOST_PROBES = 1000
"""Multiple of the database's size up to which the probes are drawn."""
MOST_RADIUS = 12
"""In the pictures by radius of several systems, as in the source; beyond it a look-up probes too many codes."""


def radius_curves(table: CountTable, conventions: Conventions, *, alone: bool = False) -> str:
    """Macro precision, recall and F over the radius, with the share of empty balls behind."""
    with drawing(6.4, 3.4) as figure:
        axes = figure.subplots()
        _draw_by_radius(axes, table, conventions)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return svg(figure, "Precision, recall and F by Hamming radius", alone=alone)


def precision_recall_curve(table: CountTable, conventions: Conventions, *, alone: bool = False) -> str:
    """Micro precision against micro recall over the radii (Moran 2016, Eq. 3.6 and 3.7)."""
    with drawing(4.4, 3.6) as figure:
        _draw_precision_recall(figure.subplots(), table, conventions)
        return svg(figure, "Precision against recall over Hamming radii", alone=alone)


def ranking_curves(tables: Mapping[str, CountTable], conventions: Conventions, *, alone: bool = False) -> str:
    """P@N and R@N over N, a line per system: expected over ties, and behind it what their order can make of them."""
    with drawing(8.8, 3.4) as figure:
        sides = figure.subplots(1, 2)
        for (name, table), colour in zip(tables.items(), cycle(SERIES), strict=False):
            points = ranking_curve(table, conventions.no_relevant)
            ranks = [point.n for point in points]
            for axes, figures in zip(sides, ([p.precision for p in points], [p.recall for p in points]), strict=True):
                low, mean, high = (np.array([getattr(f, tie) for f in figures], dtype=float) for tie in TIES)
                axes.fill_between(ranks, low, high, color=colour, alpha=0.15, lw=0)
                axes.plot(ranks, mean, color=colour, label=name)
        for axes, title in zip(sides, ("precision", "recall"), strict=True):
            axes.set(xscale="log", xlabel="first N codes", ylabel=title, ylim=(0, 1.02))
        if len(tables) > 1:
            sides[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return svg(figure, "Precision and recall of the first N codes", alone=alone)


def precision_recall_curves(tables: Mapping[str, CountTable], conventions: Conventions, *, alone: bool = False) -> str:
    """Micro precision against micro recall over the radii of several systems (Moran 2016, figure 3.8)."""
    with drawing(6.4, 3.6) as figure:
        axes = figure.subplots()
        coded = {name: table for name, table in tables.items() if table.by_rank is None}
        for (name, table), colour in zip(coded.items(), cycle(SERIES), strict=False):
            curve = precision_recall_by_radius(table, conventions.beta, conventions.empty_ball, conventions.no_relevant)
            axes.plot(curve.recall_micro, curve.precision_micro, color=colour, marker="o", ms=3, label=name)
        axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return svg(figure, "Precision against recall over Hamming radii", alone=alone)


def radius_comparison(tables: Mapping[str, CountTable], conventions: Conventions, *, alone: bool = False) -> str:
    """RAMAP@R, precision within R and queries with an empty ball, a line per system; mAP stands beside its name.

    Jiang, Li and Li 2019, figures 4 to 6: systems of one mAP may differ in RAMAP, and precision at a large radius may
    order them otherwise than at a small one.
    """
    shown = {name: table for name, table in tables.items() if table.by_rank is None}
    radii = range(min(MOST_RADIUS, *(table.bits for table in shown.values())) + 1)
    with drawing(10.4, 3.2) as figure:
        left, middle, right = figure.subplots(1, 3)
        for (name, table), colour in zip(shown.items(), cycle(SERIES), strict=False):
            curve = precision_recall_by_radius(table, empty_ball=conventions.empty_ball)
            precision = curve.precision_macro[: len(radii)]
            empty = [cost["empty"] for cost in lookup_cost(table)]
            mean = mean_average_precision(table, None, conventions.denominator, conventions.no_relevant).expected
            label = name if mean is None else f"{name} (mAP {mean:.3f})"
            ramaps = np.array(ramap_by_radius(precision, table.bits))
            left.plot(radii, np.where(ramaps > 0, ramaps, np.nan), color=colour, marker="o", ms=3, label=label)
            middle.plot(radii, np.nan_to_num(precision), color=colour, marker="o", ms=3)
            right.plot(radii, [empty[r] for r in radii], color=colour, marker="o", ms=3)
        left.set(yscale="log", ylabel="RAMAP@R")
        left.yaxis.set_major_locator(LogLocator(numticks=8))
        left.yaxis.set_major_formatter("{x:g}")
        left.yaxis.set_minor_formatter(NullFormatter())
        middle.set(ylabel="precision within R", ylim=(0, 1.02))
        right.set(ylabel="queries with an empty ball", ylim=(0, None))
        for axes in (left, middle, right):
            axes.set_xlabel("Hamming radius R")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(loc="outside right center")
        return svg(figure, "RAMAP, precision and empty balls by Hamming radius", alone=alone)


def write_comparison_figures(
    tables: Mapping[str, CountTable], folder: str | os.PathLike[str], conventions: Conventions
) -> list[Path]:
    """Write the curves of several systems, each in one picture; returns the files."""
    tables = {name: conventions.queries_counted(table) for name, table in tables.items()}
    pictures = {
        "precision_recall.svg": precision_recall_curves(tables, conventions, alone=True),
        "ranking.svg": ranking_curves(tables, conventions, alone=True),
    }
    if any(table.by_rank is None for table in tables.values()):
        pictures["radius.svg"] = radius_comparison(tables, conventions, alone=True)
    return _write(pictures, folder)


def evaluation_figure(table: CountTable, conventions: Conventions) -> Figure:
    """Both curves side by side, for a notebook."""
    table.need_radii()
    with drawing(9.6, 3.6) as figure:
        figure.set_facecolor("white")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _draw_by_radius(left, table, conventions)
        left.legend(loc="best")
        _draw_precision_recall(right, table, conventions)
        return figure


def _draw_by_radius(axes: Axes, table: CountTable, conventions: Conventions) -> None:
    curve = precision_recall_by_radius(table, conventions.beta, conventions.empty_ball, conventions.no_relevant)
    radius = np.arange(table.bits + 1)
    axes.fill_between(radius, curve.empty_balls / max(table.queries, 1), color=MUTED, alpha=0.15, lw=0)
    lines = {"precision": curve.precision_macro, "recall": curve.recall_macro, "F": curve.f_macro}
    for (name, values), colour in zip(lines.items(), SERIES, strict=False):
        axes.plot(radius, values, color=colour, label=name)
    axes.plot([], [], color=MUTED, alpha=0.3, lw=6, label="queries with an empty ball")
    axes.set(xlabel="Hamming radius", ylabel="mean over queries", xlim=(0, table.bits), ylim=(0, 1.02))


def _draw_precision_recall(axes: Axes, table: CountTable, conventions: Conventions) -> None:
    curve = precision_recall_by_radius(table, conventions.beta, conventions.empty_ball, conventions.no_relevant)
    axes.plot(curve.recall_micro, curve.precision_micro, color=SERIES[0], marker="o", ms=3)
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))


def lookup_curve(table: CountTable, *, alone: bool = False) -> str:
    """Candidates a query and probes V(Q, r) by radius, both on a log scale (Jiang, Li and Li 2019, figures 5 and 7).

    Beyond the database's size a look-up probes more codes than there are; soon after, the picture ends.
    """
    costs = [cost for cost in lookup_cost(table) if cost["probes"] <= MOST_PROBES * table.codes]
    radius = [cost["r"] for cost in costs]
    with drawing(6.4, 3.4) as figure:
        axes = figure.subplots()
        axes.plot(radius, [float(cost["probes"]) for cost in costs], color=SERIES[1], label="codes to probe")
        axes.plot(radius, [float(cost["candidates"]) for cost in costs], color=SERIES[0], label="candidates found")
        axes.axhline(table.codes, color=MUTED, ls=":", label="codes in the database")
        axes.set_yscale("symlog", linthresh=1)
        axes.set(xlabel="Hamming radius", ylabel="number a query", xlim=(0, max(radius[-1], 1)), ylim=(0, None))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return svg(figure, "What a look-up within a Hamming radius costs", alone=alone)


def look_up_figure(rows: Sequence[LookUp], *, alone: bool = False) -> str:
    """Processor time a query against recall, a line for each K and L, a point for each number of flips."""
    scan, *settings = rows
    with drawing(6.4, 3.4) as figure:
        axes = figure.subplots()
        lines = list(dict.fromkeys((row.bits, row.tables) for row in settings))
        for colour, (bits, tables) in zip(cycle(SERIES), lines, strict=False):
            points = [row for row in settings if (row.bits, row.tables) == (bits, tables) and row.recall is not None]
            recall, spent = np.array([(row.recall, row.milliseconds) for row in points], dtype=float).reshape(-1, 2).T
            label = f"{tables} table{'s' if tables != 1 else ''} of {bits} bits"
            axes.plot(recall, spent, color=colour, marker="o", ms=4, label=label)
        axes.axhline(scan.milliseconds, color=MUTED, ls=":", label="scan of all codes")
        axes.set_yscale("log")
        axes.set(xlabel="recall", ylabel="milliseconds a query", xlim=(0, 1.02))
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return svg(figure, "Time of look-up against recall", alone=alone)


def code_histogram(unique: UniqueCodes, *, alone: bool = False) -> str:
    """Points per code of the database, fullest first (Ding, Li and Li 2018, figures 1 and 8)."""
    counts = np.sort(unique.multiplicity)[::-1]
    with drawing(6.4, 3.0) as figure:
        axes = figure.subplots()
        axes.step(np.arange(1, len(counts) + 1), counts, where="mid", color=SERIES[0])
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())
        axes.set_ylim(0.9, None)
        axes.set(xlabel="code, fullest first", ylabel="points in the code")
        return svg(figure, "Points in each distinct code, fullest first", alone=alone)


def write_figures(table: CountTable, folder: str | os.PathLike[str], conventions: Conventions) -> list[Path]:
    """Write every picture of the table into a folder; returns the files."""
    if table.by_rank is not None:
        return _write({"ranking.svg": ranking_curves({"": table}, conventions, alone=True)}, folder)
    pictures = {
        "radius_curves.svg": radius_curves(table, conventions, alone=True),
        "precision_recall.svg": precision_recall_curve(table, conventions, alone=True),
        "ranking.svg": ranking_curves({"": table}, conventions, alone=True),
        "lookup.svg": lookup_curve(table, alone=True),
    }
    return _write(pictures, folder)


def _write(pictures: Mapping[str, str], folder: str | os.PathLike[str]) -> list[Path]:
    paths = []
    for name, text in pictures.items():
        path = Path(folder) / name
        write_text(text, path)
        paths.append(path)
    return paths
