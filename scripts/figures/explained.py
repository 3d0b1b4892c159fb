"""Diagrams of what the pages explain: what is retrieved, what is drawn, and the way from a collection to a report."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import FancyBboxPatch

from relstudy.analysis.indices.precision_recall import precision_recall_curve
from relstudy.common.charts.figures import INK, MUTED, PAPER, SERIES, drawing, svg
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share


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
