"""The power curve as a picture."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.planning.study_plan import StudyPlan
from relstudy.common.charts.figures import INK, MUTED, SERIES, drawing, svg


def power_curve(plan: StudyPlan, *, alone: bool = True) -> str:
    """Power against the number of queries: simulated points with two standard errors, and the fitted curve. SVG."""
    sizes = np.array([point.queries for point in plan.points])
    with drawing() as figure:
        axes = figure.subplots()
        right = max(float(sizes.max()), float(plan.queries or 0)) * 1.1
        grid = np.linspace(0, right, 300)
        axes.plot(grid, plan.power_at(grid), color=SERIES[0], label="fitted" if plan.pilot is None else "by the pilot")
        axes.errorbar(
            sizes,
            [point.power for point in plan.points],
            yerr=[2 * point.error for point in plan.points],
            fmt="o",
            color=SERIES[1],
            markersize=4,
            capsize=3,
            label=f"{plan.points[0].studies} simulated studies each, with 2 standard errors",
        )
        axes.axhline(plan.power, color=MUTED, linewidth=0.8, linestyle="--")
        if plan.queries is not None:
            axes.plot([plan.queries, plan.queries], [0, plan.power], color=MUTED, linewidth=0.8, linestyle="--")
            axes.annotate(
                f"{plan.queries:,} queries",
                (plan.queries, 0.03),
                xytext=(-5, 0),
                textcoords="offset points",
                ha="right",
                color=INK,
            )
        axes.set(xlim=(0, right), ylim=(0, 1.03), xlabel="queries", ylabel="power")
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0.98))
        return svg(figure, plan.sentence(), alone=alone)
