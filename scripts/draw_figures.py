"""Draw the documentation's figures: charts of the tables that its pages print, and diagrams of what they explain.

    python scripts/draw_figures.py [--out docs/assets] [NAME ...]

A chart is read from its page, so that a table that a command printed anew only has to be put there. Everything is SVG
that follows light and dark (`relstudy.common.figures`).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from relstudy.analysis.indices.precision_recall import precision_recall_curve
from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.figures import GRID, INK, MUTED, PAPER, SERIES, drawing, svg
from relstudy.studyapp.sampling.drawing import inclusion_probabilities, rank_share

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SYSTEMS = "ABCD"


def printed(page: str, start: str) -> list[str]:
    """The lines of a page's table or text block from the line that holds `start` to the next empty line after rows."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if start in line)
    end = next(n for n in range(first + 3, len(lines)) if not lines[n].strip() or lines[n].startswith("```"))
    return lines[first:end]


def design_rows(queries: int) -> dict[str, list[float]]:
    """Coverage in % for systems A to D, by figure, from docs/scoring.md."""
    rows = {}
    for line in printed("scoring.md", f"300 studies of {queries} of 320")[3:]:
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
    rows = [re.split(r"\s{2,}", line.strip()) for line in printed("scoring.md", "ratings  offsets  relevant")[1:]]
    parts = {"normalised rank": 5, "average precision": 9}  # the column of intervals about any raters like these
    return _by_setting(
        "Coverage of 95 % intervals by rule of relevance: the share of ratings above the cut comes closest",
        [f"{'1 rating' if row[0] == '1' else row[0] + ' ratings'}, offsets {row[1]}" for row in rows],
        [row[2] for row in rows],
        {name: [float(row[column]) for row in rows] for name, column in parts.items()},
    )


def coverage_raters() -> str:
    """Coverage of intervals about these raters and about any like them."""
    table = printed("scoring.md", "raters  ratings  offsets  intervals of")
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


def calibration_panels() -> str:
    """Leave-one-out correlation against the length of the base block, a panel for each scale and number of raters."""
    lines = printed("calibration.md", "| scale | raters | base | panels |")
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
    for line in printed("calibration.md", "| panel | method | variance within a pair |")[2:]:
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


DEEP = ("dsh", "dsh-dispersed", "m-dsh")


def hashing_indices() -> str:
    """The encoders of docs/hashing.md."""
    head, *lines = [re.split(r"\s{2,}", line) for line in printed("hashing.md", "Pearson, people [95% interval]")]
    rows = [line for line in lines if len(line) == len(head)]
    values = {title: [float(row[n].split()[0]) for row in rows] for n, title in enumerate(head) if n}
    return encoders_by_people([row[0] for row in rows], values, DEEP)


def encoders_by_people(names: list[str], values: Mapping[str, Sequence[float]], deep: Collection[str]) -> str:
    """A panel for each index, encoders by what people say of them.

    Parameters
    ----------
    names : of the encoders
    values : of each index, one per encoder; people's are the last
    deep : which of them are networks
    """
    order = np.argsort(list(values.values())[-1])
    with drawing(8.4, 3.6) as figure:
        panels = figure.subplots(1, len(values), sharey=True)
        for axes, (title, column) in zip(panels, values.items(), strict=True):
            axes.set_title(title.partition(" [")[0], fontsize=9)
            for row, n in enumerate(order):
                is_deep = names[n] in deep
                axes.plot([0, column[n]], [row, row], color=GRID, linewidth=1)
                axes.plot(column[n], row, "D" if is_deep else "o", color=SERIES[is_deep], markersize=5)
            axes.set_yticks(range(len(names)), [names[n] for n in order])
            axes.tick_params(axis="y", labelcolor=INK)
            axes.locator_params(axis="x", nbins=4)
        return svg(figure, "Encoders by what people say of them; networks have diamonds", alone=True)


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


def share_retrieved() -> str:
    """Twenty results in order of score, the best fifth of them marked, and the point that this is on the curve."""
    good = np.array([1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], dtype=bool)
    curve = precision_recall_curve(good, -np.arange(20.0))
    taken = 4
    with drawing(6.6, 2.7) as figure:
        listed, axes = figure.subplots(1, 2, width_ratios=(1.15, 1))
        for n, is_good in enumerate(good):
            x, y = n % 10, -(n // 10) * 2.4
            face = SERIES[0] if is_good else "none"
            listed.add_patch(
                FancyBboxPatch((x + 0.1, y), 0.72, 1.3, boxstyle="round,pad=0.04", facecolor=face, edgecolor=MUTED)
            )
        listed.plot([0, taken - 0.08], [1.9, 1.9], color=SERIES[1], linewidth=2.5)
        listed.text(0, 2.25, "20 % retrieved: the best 4 of 20", color=SERIES[1])
        listed.text(
            0, -3.6, f"{good[:taken].sum()} of these 4 are good: precision {curve.precision[taken - 1]:.2f}", va="top"
        )
        listed.text(
            0,
            -4.7,
            f"{good[:taken].sum()} of all {good.sum()} good ones: recall {curve.recall[taken - 1]:.2f}",
            va="top",
        )
        listed.set(xlim=(-0.2, 10.2), ylim=(-5.8, 3.3), xticks=[], yticks=[])
        listed.grid(False)
        for side in listed.spines.values():
            side.set_visible(False)
        axes.plot(curve.recall, curve.precision, "-", color=SERIES[0], linewidth=1.6)
        axes.plot(curve.recall[taken - 1], curve.precision[taken - 1], "o", color=SERIES[1], markersize=8)
        axes.annotate("20 % retrieved", (curve.recall[taken - 1], curve.precision[taken - 1]), (8, 6), color=SERIES[1],
                      textcoords="offset points")  # fmt: skip
        axes.axhline(good.mean(), color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.annotate(
            f"all 20 retrieved: {good.mean():.2f}", (0.02, good.mean()), (0, 4), color=MUTED, textcoords="offset points"
        )
        axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.03), ylim=(0, 1.05))
        title = (
            "Twenty results in order of score: what 20 % retrieved means, and that point on the precision-recall curve"
        )
        return svg(figure, title, alone=True)


def probability() -> str:
    """From ranks in two systems to size, probability and weight: 20 of 319 results, exponent 1, floor 0.05."""
    number, wanted, floor = 319, 20, 0.05
    ranks = {
        "in A 1, in B 3": (1, 3),
        "in A 5, in B 40": (5, 40),
        "in A 20, in B 150": (20, 150),
        "in A 200, in B 310": (200, 310),
    }
    orders = [np.arange(number), (np.arange(number) * 37) % number]
    for a, b in ranks.values():  # move rank b of the second system to the candidate with rank a in the first
        other = int(np.flatnonzero(orders[1] == b - 1)[0])
        orders[1][[a - 1, other]] = orders[1][[other, a - 1]]
    shares = np.mean([rank_share(-order.astype(float), 1.0)[0] for order in orders], axis=0)
    size = (1 - floor) * shares + floor / number
    chance = inclusion_probabilities(size, wanted)
    at = [a - 1 for a, _ in ranks.values()]
    columns = [
        ("size", 100 * size[at], [f"{100 * value:.2f} %" for value in size[at]]),
        ("probability", chance[at], [f"{value:.3f}".rstrip("0").rstrip(".") for value in chance[at]]),
        ("weight", 1 / chance[at], [f"{value:.1f}" for value in 1 / chance[at]]),
    ]
    with drawing(6.6, 2.2) as figure:
        for n, (axes, (title, values, words)) in enumerate(
            zip(figure.subplots(1, 3, sharey=True), columns, strict=True)
        ):
            axes.barh(range(4), values, color=SERIES[n], height=0.5, alpha=0.85)
            for row, (value, word) in enumerate(zip(values, words, strict=True)):
                axes.annotate(word, (value, row), (4, 0), textcoords="offset points", va="center")
            axes.set_title(title)
            axes.set(xlim=(0, 1.35 * max(values)), ylim=(3.6, -0.6), xticks=[])
            axes.set_yticks(range(4), ["rank " + name for name in ranks])
            axes.tick_params(axis="y", labelcolor=INK)
            axes.grid(False)
            axes.spines["bottom"].set_visible(False)
        title = (
            "Four results by their ranks in two systems: size, probability of being drawn, and the weight one over it"
        )
        return svg(figure, title, alone=True)


def pipeline() -> str:
    """The way from a collection to a report: each arrow is a command, each box a file."""
    boxes = [
        "collection.csv\nscores/NAME.csv",
        "pairs.csv",
        "ratings.csv",
        "judgments.csv\nraters.csv",
        "mappings/NAME.json",
        "a table, intervals,\ncomparisons",
        "report/index.html",
    ]
    commands = ["sample", "serve, export", "calibrate", "fit", "score", "report"]
    notes = [
        "draws pairs",
        "people rate",
        "one scale for raters",
        "scores on that scale",
        "who agrees with people",
        "one page",
    ]
    with drawing(4.4, 5.6) as figure:
        axes = figure.add_subplot()
        for row, name in enumerate(boxes):
            box = FancyBboxPatch(
                (0, -row - 0.22), 2.1, 0.44, boxstyle="round,pad=0.03", facecolor=PAPER, edgecolor=MUTED
            )
            axes.add_patch(box)
            axes.text(1.05, -row, name, ha="center", va="center")
        for row, (command, note) in enumerate(zip(commands, notes, strict=True)):
            axes.annotate("", (1.05, -row - 0.74), (1.05, -row - 0.26), arrowprops={"arrowstyle": "-|>", "color": INK})
            axes.text(1.2, -row - 0.48, f"relstudy {command}", va="center", fontweight="bold", color=SERIES[0])
            axes.text(3.3, -row - 0.48, note, va="center", color=MUTED, fontsize=8.5)
        axes.annotate("", (2.16, -5), (2.6, -5), arrowprops={"arrowstyle": "-|>", "color": SERIES[1]})
        axes.text(2.65, -5, "a new system's scores:\nnobody is asked again", va="center", color=SERIES[1], fontsize=8.5)
        axes.set(xlim=(-0.1, 4.9), ylim=(-6.35, 0.35))
        axes.axis("off")
        return svg(figure, "From a collection to a report: each arrow is a command, each box a file", alone=True)


FIGURES: dict[str, Callable[[], str]] = {
    "calibration-panels": calibration_panels,
    "calibration-people": calibration_people,
    "coverage-design": coverage_design,
    "coverage-raters": coverage_raters,
    "coverage-relevance": coverage_relevance,
    "hashing-indices": hashing_indices,
    "pipeline": pipeline,
    "probability": probability,
    "share-retrieved": share_retrieved,
    "two-raters": two_raters,
}


def main(arguments: list[str] | None = None) -> None:
    """Draw them all, or those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--out", type=Path, default=DOCS / "assets")
    chosen = parser.parse_args(arguments)
    for name in chosen.names or FIGURES:
        (chosen.out / f"{name}.svg").write_text(FIGURES[name](), encoding="utf-8")


if __name__ == "__main__":
    main()
