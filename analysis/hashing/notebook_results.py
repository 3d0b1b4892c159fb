"""What `evaluate` and `compare` of `rs.hashing` give: tables, a figure, and how they show themselves in a notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.common.shown import WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Every figure of a count table.

    Parameters
    ----------
    figures : as `relstudy hash evaluate --json` prints them
    counts : the count table
    rules : the conventions
    """

    figures: dict[str, Any]
    counts: CountTable
    rules: Conventions

    @property
    def table(self) -> pd.DataFrame:
        """Figures that hang on the order of ties: mAP, mAP@k, P@k, R@k, mAP@H<=r; pessimistic, expected, optimistic."""
        names = {"map_at_k": "mAP", "precision_at_k": "P", "recall_at_k": "R"}
        rows = {"mAP": self.figures["map"]}
        for key, name in names.items():
            rows |= {f"{name}@{cut}": figure for cut, figure in self.figures[key].items()}
        rows |= {f"mAP@H<={r}": figure for r, figure in self.figures["map_within_radius"].items()}
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float)

    @property
    def by_radius(self) -> pd.DataFrame:
        """Precision, recall, F, probes and candidates; one row a Hamming radius, which is the index."""
        rows = [row | cost for row, cost in zip(self.figures["radius"], self.figures["lookup"], strict=True)]
        return pd.DataFrame(rows).set_index("r") if rows else pd.DataFrame()

    @property
    def by_rank(self) -> pd.DataFrame:
        """P@N and R@N, expected over ties; one row a number N of first codes, which is the index."""
        rows = [
            {"n": row["n"], "precision": row["precision"]["expected"], "recall": row["recall"]["expected"]}
            for row in self.figures["ranking"]
        ]
        return pd.DataFrame(rows).set_index("n").astype(float)

    @property
    def areas(self) -> pd.Series:
        """AUPRC by rule, and RAMAP by radius."""
        areas = {f"AUPRC ({rule})": area for rule, area in self.figures["auprc"].items()}
        ramaps = {f"RAMAP@{radius}": value for radius, value in self.figures["ramap"].items()}
        return pd.Series(areas | ramaps, dtype=float, name="value")

    @property
    def conventions(self) -> dict[str, Any]:
        """The rules behind the figures, by name."""
        return dict(self.figures["conventions"])

    def as_json(self) -> dict[str, Any]:
        """What `relstudy hash evaluate --json` prints."""
        return self.figures

    def plot(self) -> Figure:
        """Precision, recall and F by radius, and precision against recall."""
        from relstudy.analysis.hashing.metrics.plots import evaluation_figure

        return evaluation_figure(self.counts, self.rules)

    def __repr__(self) -> str:
        tables = f"{self.table.round(4)}\n\n{self.areas.head(8).to_frame().round(6)}"
        return f"{tables}\n\n{textwrap.fill(_rules_line(self.conventions), WIDTH)}"

    def _repr_html_(self) -> str:
        shown = self.by_radius.head(9)
        tables = [part.to_html(float_format="{:.4g}".format) for part in (self.table, shown, self.areas.to_frame())]
        return "".join([*tables, f"<p>{_rules_line(self.conventions)}</p>"])


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several systems side by side.

    Parameters
    ----------
    figures : as `relstudy hash compare --json` prints them
    """

    figures: dict[str, Any]

    @property
    def table(self) -> pd.DataFrame:
        """One row per system: code length, expected mAP over ties with its extremes, and the other figures."""
        rows = {}
        for name, figures in self.figures["systems"].items():
            ties = figures["map"]
            rest = {key: value for key, value in figures.items() if key != "map" and not isinstance(value, dict)}
            spread = {"mAP": ties["expected"], "mAP lowest": ties["pessimistic"], "mAP highest": ties["optimistic"]}
            rows[name] = {"bits": rest.pop("bits"), **spread, **rest}
        return pd.DataFrame.from_dict(rows, orient="index")

    @property
    def comparisons(self) -> pd.DataFrame:
        """One row per pair of systems: the difference in expected mAP over the same queries, with its 95 % interval."""
        rows = [
            {
                "first": each["first"],
                "second": each["second"],
                "map_difference": each["map_difference"]["value"],
                "low": each["map_difference"].get("low"),
                "high": each["map_difference"].get("high"),
            }
            for each in self.figures["comparisons"]
        ]
        return pd.DataFrame(rows, columns=["first", "second", "map_difference", "low", "high"])

    def as_json(self) -> dict[str, Any]:
        """What `relstudy hash compare --json` prints."""
        return self.figures

    def __repr__(self) -> str:
        with pd.option_context("display.width", WIDTH, "display.max_columns", 12):
            rows = f"{self.table.round(4)}\n\n{self.comparisons.round(4)}"
        return f"{rows}\n\n{textwrap.fill(_rules_line(self.figures['conventions']), WIDTH)}"

    def _repr_html_(self) -> str:
        parts = [part.to_html(float_format="{:.4g}".format) for part in (self.table, self.comparisons)]
        return "".join([*parts, f"<p>{_rules_line(self.figures['conventions'])}</p>"])


def _rules_line(conventions: Mapping[str, Any]) -> str:
    first = ("denominator", "no_relevant", "no_hit", "empty_ball", "truth")
    return "conventions: " + "; ".join(f"{name} = {conventions[name]}" for name in first if name in conventions)
