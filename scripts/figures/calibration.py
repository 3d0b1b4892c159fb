"""Charts of what calibration does to raters and judgments."""

from __future__ import annotations

import re

import numpy as np

from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.charts.figures import INK, MUTED, SERIES, drawing, svg
from scripts.figures.pages import printed


def calibration_panels() -> str:
    """Leave-one-out correlation against the length of the base block, a panel for each scale and number of raters."""
    lines = printed("evidence/calibration.md", "| scale | raters | base | panels |")
    head, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    methods = head[4:9]
    table = [row for row in rows if not row[0].startswith("---")]
    scales, raters = list(dict.fromkeys(row[0] for row in table)), list(dict.fromkeys(row[1] for row in table))
    with drawing(6.8, 5.4) as figure:
        panels = figure.subplots(len(raters), len(scales), sharex=True, sharey="col")
        for i, number in enumerate(raters):
            for j, scale in enumerate(scales):
                axes = panels[i, j]
                cells = [row for row in table if row[:2] == [scale, number]]
                base = [int(row[2]) for row in cells]
                for n, method in enumerate(methods):
                    values = [float(row[4 + n]) for row in cells]
                    strong = method in ("shrunk", "pooled")
                    line = {"linewidth": 1.9 if strong else 1.1, "markersize": 3.4}
                    axes.plot(
                        base, values, "osD^v"[n], linestyle=("-", "--", ":", "-.", "-")[n], color=SERIES[n], **line
                    )
                axes.set_xscale("log")
                axes.set_xticks(base, [str(size) for size in base])
                axes.minorticks_off()
                if i == 0:
                    axes.set_title(scale)
                if j == 0:
                    axes.set_ylabel(f"{number} raters")
        panels[-1, 0].set_xlabel("pairs in the base block")
        handles = [
            panels[0, 0].plot([], [], "osD^v"[n], linestyle=("-", "--", ":", "-.", "-")[n], color=SERIES[n])[0]
            for n in range(len(methods))
        ]
        figure.legend(handles, methods, loc="outside lower center", ncols=len(methods))
        title = "Leave-one-out correlation by calibration method, length of the base block, scale and number of raters"
        return svg(figure, title, alone=True)


def calibration_people() -> str:
    """Leave-one-out correlation of each method on panels of real people, with its interval."""
    parts: dict[str, list[tuple[str, list[float]]]] = {}
    for line in printed("evidence/calibration.md", "| panel | method | variance within a pair |")[2:]:
        panel, method, _, figure, _ = (cell.strip() for cell in line.strip("|").split("|"))
        name = panel or list(parts)[-1]
        parts.setdefault(name, []).append((method, [float(number) for number in re.findall(r"[\d.]+", figure)]))
    with drawing(6.8, 5.2) as figure:
        panels = figure.subplots(3, 2, sharey=True).ravel()
        for axes, (name, rows) in zip(panels, parts.items(), strict=False):
            axes.set_title(name, fontsize=9)
            for row, (_, (value, low, high)) in enumerate(rows):
                axes.plot([low, high], [row, row], color=MUTED, linewidth=1.4)
                axes.plot(value, row, "o", color=SERIES[0], markersize=4.5)
            axes.set_yticks(range(len(rows)), [method for method, _ in rows])
            axes.tick_params(axis="y", labelcolor=INK)
        for axes in panels[len(parts) :]:
            axes.axis("off")
        panels[0].invert_yaxis()
        panels[len(parts) - 1].set_xlabel("leave-one-out correlation, with its 95 % interval")
        return svg(figure, "Leave-one-out correlation by calibration method on five panels of people", alone=True)


def two_raters() -> str:
    """Ten pairs of a base block as a strict and a lenient rater gave them, and the same after calibration."""
    simulated = simulate_panel(12, 24, 60, scale="1-9", leniency=0.5, noise=0.35, seed=7)
    panel = simulated.panel
    lines = fit_lines(panel, "shrunk")
    strict, lenient = int(np.argmin(simulated.leniency)), int(np.argmax(simulated.leniency))
    base = np.flatnonzero(panel.base)
    pairs = base[np.argsort(simulated.quality[base])][np.linspace(0, len(base) - 1, 10).round().astype(int)]
    with drawing(6.4, 2.9) as figure:
        for axes, title, after in zip(
            figure.subplots(1, 2, sharey=True), ("as rated", "calibrated"), (0, 1), strict=True
        ):
            axes.set_title(title)
            for rater, name, mark, colour in ((lenient, "lenient", "o", SERIES[0]), (strict, "strict", "s", SERIES[1])):
                given = np.array([panel.rating[(panel.rater == rater) & (panel.pair == pair)][0] for pair in pairs])
                shown = lines.offset[rater] + lines.slope[rater] * given if after else given
                axes.plot(range(1, 11), shown, mark + "-", color=colour, linewidth=1.2, markersize=5, label=name)
                axes.axhline(shown.mean(), color=colour, linewidth=0.8, linestyle=(0, (4, 3)))
            axes.set_xticks(range(1, 11))
            axes.set_xlabel("pair")
        figure.axes[0].set_ylabel("rating")
        figure.axes[0].legend(loc="upper left")
        return svg(
            figure,
            "Ten pairs rated by a lenient and a strict rater: two levels before calibration, one after",
            alone=True,
        )
