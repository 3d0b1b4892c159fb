"""Results of `evaluate` and `compare` of `rs.hashing`: tables, a figure, and their form in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.common.charts.figures import SERIES, drawing, figure_of, svg
from relstudy.common.results.estimates import Estimate
from relstudy.common.results.result import Result
from relstudy.common.runtime.wording import count_of, listed_some, number, span

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """Every figure of a count table.

    Parameters
    ----------
    figures : as `relstudy hash evaluate --json` prints them
    counts : the count table
    rules : the conventions
    """

    saved_as = "hash evaluation"
    figures: dict[str, Any]
    counts: CountTable
    rules: Conventions

    @property
    def table(self) -> pd.DataFrame:
        """Figures that hang on the order of ties: mAP, mAP@k, P@k, R@k, mAP@H<=r; pessimistic, expected, optimistic."""
        from relstudy.analysis.hashing.metrics.evaluate import figures_over_ties

        return pd.DataFrame.from_dict(figures_over_ties(self.figures), orient="index", dtype=float)

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

    @property
    def notes(self) -> list[str]:
        """What was assumed of codes and labels, and how many queries have no relevant code, one sentence each."""
        return list(self.figures["notes"])

    def as_json(self) -> dict[str, Any]:
        """The output of `relstudy hash evaluate --json`."""
        return self.figures

    def plot(self) -> Figure:
        """Precision, recall and F by radius, and precision against recall.

        Examples
        --------
        >>> import relstudy as rs
        >>> counts = CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]]))
        >>> len(rs.hashing.evaluate(counts).plot().axes)
        2
        """
        from relstudy.analysis.hashing.metrics.plots import evaluation_figure

        return evaluation_figure(self.counts, self.rules)

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        more = {"By Hamming radius:": self.by_radius, "Areas:": self.areas.to_frame(), "By rank:": self.by_rank}
        return {"": self.table} | {title: table for title, table in more.items() if len(table)}

    def heading(self) -> str:
        """Of how many queries and codes the figures are."""
        counts = self.counts
        what = f"codes of {counts.bits} bits" if counts.by_rank is None else f"items by {counts.by_rank} distance"
        return (
            f"{count_of(counts.queries, 'query', 'queries')} against {counts.codes:,} {what}, "
            f"{count_of(int(counts.relevant.sum()), 'relevant pair')} by {counts.truth}"
        )

    def overview(self) -> pd.DataFrame:
        """The figures that hang on the order of ties."""
        return self.table

    def remarks(self) -> Sequence[str]:
        """The areas by the chosen rule, the notes, and the conventions."""
        areas = [f"{name} {value:.6g}" for name, value in self.areas.dropna().head(8).items()]
        return [*([", ".join(areas)] if areas else []), *self.notes, _rules_line(self.conventions)]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Several systems side by side.

    Parameters
    ----------
    figures : as `relstudy hash compare --json` prints them
    """

    saved_as = "hash comparison"
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

    @property
    def by_length(self) -> pd.DataFrame:
        """One row a figure (mAP, and mAP@k and P@k of each k), method and code length: the value, whether it is the
        best of its length, and its difference to the best with a 95 % interval. Systems are named METHOD-BITS."""
        from relstudy.analysis.hashing.metrics.by_length import as_frame

        return as_frame(self.figures["by_length"])

    def latex(self) -> str:
        """`by_length` as tables for a paper, the best of each length bold.

        Examples
        --------
        >>> import relstudy as rs
        >>> counts = CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]]))
        >>> "2 bits" in rs.hashing.compare({"itq-2": counts}).latex()
        True
        """
        from relstudy.analysis.hashing.metrics.by_length import latex_of

        return latex_of(self.figures["by_length"])

    @property
    def notes(self) -> list[str]:
        """What was assumed of codes and labels, and how many queries have no relevant code, one sentence each."""
        return list(self.figures.get("notes", []))

    def as_json(self) -> dict[str, Any]:
        """The output of `relstudy hash compare --json`."""
        return self.figures

    def plot(self) -> Figure:
        """Mean average precision of each system, expected over ties, with what their order can make of it.

        Examples
        --------
        >>> import relstudy as rs
        >>> counts = CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]]))
        >>> rs.hashing.compare({"itq": counts}).plot().axes[0].get_xlabel()
        'mAP, expected over ties'
        """
        return figure_of(lambda: systems_picture(self.table))

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        pairs = self.comparisons
        return {"": self.table} | ({"First minus second:": pairs} if len(pairs) else {})

    def heading(self) -> str:
        """The names of the systems."""
        return f"{count_of(len(self.table), 'system')} on the same queries: {listed_some(list(self.table.index))}"

    def overview(self) -> pd.DataFrame:
        """The systems."""
        return self.table

    def remarks(self) -> Sequence[str]:
        """Differences between systems, the notes, and the conventions."""
        lines = []
        for each in self.figures["comparisons"]:
            difference = Estimate(**each["map_difference"])
            if difference.value is not None:
                ends = span(difference.low, difference.high, "+.4f")
                in_brackets = f" ({ends})" if ends else ""
                by = number(difference.value, "+.4f")
                lines.append(f"{each['first']} minus {each['second']}: {by} in mAP{in_brackets}")
        return [*lines, *self.notes, _rules_line(self.figures["conventions"])]


def systems_picture(systems: pd.DataFrame) -> str:
    """A dot a system, first on top, between the extremes that the order of ties allows; SVG text."""
    with drawing(5.2, 0.9 + 0.3 * len(systems)) as figure:
        axes = figure.subplots()
        rows = np.arange(len(systems))[::-1]
        axes.hlines(rows, systems["mAP lowest"], systems["mAP highest"], color=SERIES[0], linewidth=1.6)
        axes.plot(systems["mAP"], rows, "o", color=SERIES[0])
        axes.set_yticks(rows, [str(name) for name in systems.index])
        axes.set(xlabel="mAP, expected over ties", ylim=(-0.6, len(systems) - 0.4))
        return svg(figure, "Mean average precision of each system")


def _rules_line(conventions: Mapping[str, Any]) -> str:
    first = ("denominator", "no_relevant", "no_hit", "empty_ball", "truth")
    return "conventions: " + "; ".join(f"{name} = {conventions[name]}" for name in first if name in conventions)
