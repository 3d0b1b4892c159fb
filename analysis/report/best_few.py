"""The section about the best-scored results: precision against recall, and measures of each query's first results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np

from relstudy.analysis.indices.judged_coverage import COVERED, COVERED_IN_WORDS
from relstudy.analysis.indices.registry import AVERAGE_PRECISION, CONDENSED, ESTIMATED
from relstudy.analysis.report.curve_picture import precision_recall
from relstudy.analysis.report.layout import Block, Folded, Paragraph, Picture, Section, Terms
from relstudy.analysis.report.pictures import Trace
from relstudy.analysis.report.reading import reading_graded
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.report.words import order_of
from relstudy.analysis.scoring.judged_pairs import Weighting
from relstudy.analysis.scoring.measure_tests import MeasureTests
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.standings import standings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import listed, percent

SHARES = (0.01, 0.05, 0.2)
"""Shares retrieved at which precision and recall stand in the table."""
STEADY_RECALL, STEADY_HITS = 0.05, 15
"""A curve begins at this recall, or where so many good matches of the sample are found: before, one pair moves it."""


def best_results(result: ScoreResult) -> Section | None:
    """Precision and recall, and the measures of each query's first results."""
    blocks = [*_curves(result), *measures(result)]
    return Section("precision-recall", "Precision and recall", blocks) if blocks else None


def weighted(result: ScoreResult) -> bool:
    """True where pairs weigh by design, so that figures speak of the collection and not of the judged pairs alone."""
    return result.weighting is Weighting.DESIGN


def share_relevant(result: ScoreResult) -> float | None:
    """The share of good matches, with pairs weighted as they are; None where none has a weight."""
    weighted_pairs = np.isfinite(result.weight)
    if not weighted_pairs.any():
        return None
    relevant = result.relevance.values[weighted_pairs]
    return float(np.average(relevant, weights=result.weight[weighted_pairs]))


def precision_recall_picture(result: ScoreResult) -> Callable[..., str] | None:
    """Draws every system's precision-recall curve, the best by pooled AP first; None where no system has one.

    What is returned takes `narrow`, for a picture as wide as a telephone.
    """
    systems = _with_curve(result)
    if not systems:
        return None
    starts = {system.name: steady_from(result, system) for system in systems}
    traces = {system.name: _trace(system, starts[system.name]) for system in systems}
    band = _band(systems[0], starts[systems[0].name])
    return lambda narrow=False: precision_recall(traces, share_relevant(result), band, narrow)


def _with_curve(result: ScoreResult) -> list[SystemScore]:
    systems = [system for system in result.systems if len(system.curve)]
    return sorted(systems, key=lambda system: -(system.estimate(AVERAGE_PRECISION).value or 0.0))


def steady_from(result: ScoreResult, system: SystemScore) -> float:
    """The recall from which a curve rests on enough good matches to be drawn."""
    used = np.isfinite(system.pair_scores) & np.isfinite(result.weight)
    score = system.direction.turned(system.pair_scores[used])
    order = np.argsort(-score, kind="stable")
    good = result.relevance.values[used][order]
    if good.sum() < STEADY_HITS:
        return STEADY_RECALL
    relevant_mass = np.cumsum(good * result.weight[used][order])
    return max(STEADY_RECALL, float(relevant_mass[np.searchsorted(np.cumsum(good), STEADY_HITS)] / relevant_mass[-1]))


def _trace(system: SystemScore, start: float) -> Trace:
    recall, precision = (system.curve[name].to_numpy() for name in ("recall", "precision"))
    steady = recall >= start
    return Trace(recall[steady], precision[steady]) if steady.any() else Trace(recall, precision)


def _band(system: SystemScore, start: float) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The interval of a system's precision at the shares retrieved, by recall."""
    with_range = [
        (point.recall.value, point.precision.low, point.precision.high)
        for point in system.points
        if point.recall.value is not None and point.precision.low is not None and point.precision.high is not None
    ]
    steady = sorted(each for each in with_range if each[0] >= start)
    if len(steady) < 2:
        return None
    recall, low, high = np.array(steady, dtype=float).T
    return recall, low, high


def _curves(result: ScoreResult) -> Iterator[Block]:
    """Precision against recall, and both with intervals where set shares are retrieved."""
    picture, systems = precision_recall_picture(result), _with_curve(result)
    if picture is None:
        return
    shade = f" The shade is the {100 * result.options.level:g} % range of {systems[0].name}."
    banded = _band(systems[0], steady_from(result, systems[0])) is not None
    yield Picture(
        [picture()],
        "The pairs of all queries are pooled and sorted by score. "
        + (
            "Each counts as one over its probability of being chosen, so the curve estimates the whole collection. "
            if weighted(result)
            else "All count equally, so the curve describes the judged pairs. "
        )
        + ("A higher line is better; the two best by pooled AP are in colour." if len(systems) > 2 else "")
        + (shade if banded else ""),
        wide=True,
        narrow=[picture(narrow=True)],
        name="Precision-recall curves",
    )
    if not any(system.points for system in systems):
        return
    columns = [Column("System")]
    for share in SHARES:
        columns += [Column(f"Precision, best {percent(share)}"), Column(f"Recall, best {percent(share)}")]
    rows: list[list[Cell]] = []
    for system in systems:
        points = {round(point.share, 6): point for point in system.points}
        row: list[Cell] = [system.name]
        for share in SHARES:
            point = points.get(share)
            row += [point.precision, point.recall] if point else [Estimate.missing(""), Estimate.missing("")]
        rows.append(row)
    pool = "collection" if weighted(result) else "judged pairs"
    table = Table(
        "precision-recall",
        f"Precision and recall when the best-scored share of the {pool} is retrieved.",
        columns,
        rows,
        note="Bold is the best of a column. Where many pairs share a score, the cut takes all of them.",
        best=tuple((column.name, "max") for column in columns[1:]) if len(rows) > 1 else (),
    )
    yield Folded("Precision and recall in numbers", [table])


def measures(result: ScoreResult) -> Iterator[Block]:
    """Measures by their names in ir-measures, where they were computed."""
    table = measures_table(result)
    if table is None:
        return
    if all(each.value is None for system in result.systems for each in system.measures.values()):
        yield Paragraph(
            f"Measures by their names in ir-measures (nDCG@10 and its like) are {result.conventions['measures']}."
        )
        return
    said = _first_ten(result)
    if said:
        yield Paragraph(said)
    how = f"How: {result.conventions['measures']}. They have no weights."
    terms = reading_graded([name for name in result.systems[0].measures if _is_shown(result, name)])
    meant: list[Block] = [Paragraph(how, quiet=True), *([Terms(terms)] if terms else [])]
    if result.primary.index.of_run:
        yield table
        yield Folded("What these measures are", meant)
    else:
        yield Folded("Measures by their names in ir-measures", [table, *meant])


def _is_shown(result: ScoreResult, name: str) -> bool:
    return any(name in system.measures and system.measures[name].value is not None for system in result.systems)


def measures_table(
    result: ScoreResult, tests: MeasureTests | None = None, kind: Literal["letters", "stars"] | None = None
) -> Table | None:
    """A column for each measure of ir-measures, or None.

    Parameters
    ----------
    tests, kind : with letters of the systems that are not told apart, or stars of those that differ from a baseline
    """
    indices = [index for index in result.indices if index.of_run]
    if not indices:
        return None
    judged = result.first_judged
    rows: list[list[Cell]] = [
        [system.name, *(system.shown(index) for index in indices), *(system.first_judged.get(name) for name in judged)]
        for system in order_of(result)
    ]
    several = len(rows) > 1
    residual = [name for name in judged if name.endswith("residual")]
    covered = [name for name in judged if name.startswith(COVERED)]
    depths = [name for name in judged if name not in (*residual, *covered)]
    shares = f" {listed(depths)}: how many of the first results somebody judged." if depths else ""
    shares += f" {COVERED_IN_WORDS}" if result.covered_in_part else ""
    shares += f" {listed(residual)}: how much higher it might be if all unjudged results were good." if residual else ""
    bold = "Bold: the best value of a column, and those not clearly worse. " if several else ""
    marks: dict[tuple[int, str], str] = {}
    if tests is not None and kind is not None:
        for index in indices:
            sign = 1 if index.shown_better == "max" else -1
            ranked = sorted(result.systems, key=lambda each: -sign * (each.shown(index).value or 0.0))
            given = tests.marks(index.name, [system.name for system in ranked], kind)
            marks |= {
                (row, index.term): given.get(system.name, "")
                for row, system in enumerate(order_of(result))
                if system.shown(index).value is not None
            }
        meaning = "Systems with a letter in common are not distinguished" if kind == "letters" else STARRED
        bold = f"{meaning}: {tests.sentence()} "
    return Table(
        "measures",
        "Measures by their names in ir-measures.",
        [
            Column("System"),
            *(Column(index.term) for index in indices),
            *(Column(name, percent=True) for name in judged),
        ],
        rows,
        note=f"{bold}{shares}".strip(),
        best=tuple((index.term, index.shown_better) for index in indices) if several else (),
        as_good=frozenset(as_good(result, {index.name: index.term for index in indices})),
        untested=untested(result, {index.name: index.term for index in indices}),
        marks=marks,
    )


STARRED = "Stars say that a system differs from the baseline (p below .05, .01 and .001)"


def _first_ten(result: ScoreResult) -> str:
    """Precision at 10 of the first systems as a count; empty if it was not computed, or if no query has more than ten
    judged results, which every system then has among its first ten."""
    ordered = order_of(result)
    name = next((name for name in ("P@10", f"{ESTIMATED}P@10", f"{CONDENSED}P@10") if name in ordered[0].measures), "")
    shown = [
        f"{10 * value:.1f} with {system.name}"
        for system in ordered[:2]
        if name in system.measures
        and (value := system.measures[name].value) is not None
        and not system.figures[name].withheld
    ]
    if not shown or (name.startswith(CONDENSED) and result.per_query["pairs"].max() <= 10):
        return ""
    of = "rated results" if name.startswith(CONDENSED) else "results"
    return f"Good among the first 10 {of} of a query, on average: {listed(shown)}."


def as_good(result: ScoreResult, columns: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """The cells (row, column) that are not clearly worse than the best of their column; rows are best first. By the
    index that decides these are the best set. A figure that is withheld from tests has no such cell.

    Parameters
    ----------
    columns : the heading of each index' column, by the name of the index
    """
    ranked = standings(result)
    compared = {each.index for each in result.comparisons if each.p_family is not None}
    for ordering in result.orderings:
        if ordering.index not in columns or ordering.index not in compared or not ordering.systems:
            continue
        tested = [name for name in ordering.systems if not result[name].figures[ordering.index].withheld]
        for row, name in enumerate(ranked.names):
            if name not in tested:
                continue
            if ordering.index == result.primary.name:
                if name in ranked.best:
                    yield row, columns[ordering.index]
            elif not ranked.clear_by(ordering.index, tested[0], name):
                yield row, columns[ordering.index]


def untested(result: ScoreResult, columns: Mapping[str, str]) -> frozenset[tuple[int, str]]:
    """The cells (row, column) of figures that are withheld from tests; rows are best first.

    Parameters
    ----------
    columns : as `as_good` has them
    """
    ordered = order_of(result)
    return frozenset(
        (row, column)
        for index, column in columns.items()
        for row, system in enumerate(ordered)
        if system.figures[index].withheld
    )
