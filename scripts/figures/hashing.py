"""Charts of encoders held against people."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from relstudy.common.charts.figures import GRID, INK, SERIES, drawing, svg
from scripts.figures.pages import printed

DEEP = ("dsh", "dsh-dispersed", "m-dsh")


def hashing_indices() -> str:
    """The encoders of docs/evidence/hashing.md."""
    head, *lines = [
        re.split(r"\s{2,}", line) for line in printed("evidence/hashing.md", "Pearson, people [95% interval]")
    ]
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
