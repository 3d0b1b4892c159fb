"""The sections on tests of measures (a table of all, and how two systems differ from query to query), and on systems
left out of the pool."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.report import pictures
from relstudy.analysis.report.layout import Block, Paragraph, Picture, Section
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.report.words import order_of
from relstudy.analysis.scoring.leave_out_of_pool import LeftOutOnes
from relstudy.analysis.scoring.measure_tests import MeasureTests, Tested, values_by_query
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.common.runtime.errors import RelstudyError

MOST_DRAWN = 6
"""Systems that are drawn against the one that they are compared with."""
P = ("p, corrected", "p, t", "p, signs", "p, bootstrap")
COLUMNS_OF_TESTS = [
    *(Column("Measure"), Column("First"), Column("Second"), Column("Difference", 3, signed=True)),
    *(Column(name, p_value=True) for name in P),
    *(Column("Effect", 2, signed=True), Column("Better, equal, worse")),
    *(Column("p, equal", p_value=True), Column("Chance above")),
]


def section_of_tests(result: ScoreResult, tests: MeasureTests) -> Section:
    """Every test, and the differences by query in the first measure."""
    table = Table(
        "tests",
        "Tests of measures, first minus second.",
        COLUMNS_OF_TESTS,
        [row_of_test(each) for each in tests.tests],
        note=f"{tests.sentence()} Effect: the mean difference in standard deviations over queries. Chance above: that "
        f"the first is better by more than {tests.margin:g}.",
        shown=30,
        number=True,
    )
    return Section("tests", "Tests of measures", [*_by_query(result, tests), table])


def row_of_test(each: Tested) -> list[Cell]:
    """A test as a row of a table."""
    outcome = f"{each.wins}, {each.ties}, {each.losses}"
    p = [each.p_corrected, each.p_t, each.p_randomisation, each.p_bootstrap]
    end = [each.effect, outcome, each.p_equivalent, each.chance_above]
    return [index_of(each.index).term, each.first, each.second, each.difference, *p, *end]


def _by_query(result: ScoreResult, tests: MeasureTests) -> list[Block]:
    """The differences by query, sorted, of the first systems from the baseline, else from the best."""
    index = index_of(tests.tests[0].index)
    base, drawn = differences_by_query(result, index, tests.options.baseline)
    title = f"{index.term} less that of {base}"
    return [
        Paragraph(f"How each system differs from {base} in {index.term}, query by query."),
        Picture(
            [pictures.by_query(title, drawn)],
            "A bar is a query, sorted; the line is the mean.",
            wide=True,
            narrow=[pictures.by_query(title, drawn, narrow=True)],
            name="Differences by query",
        ),
    ]


def differences_by_query(
    result: ScoreResult, index: Index, base: str | None = None
) -> tuple[str, dict[str, np.ndarray]]:
    """The system that the others are held against, and how much each of the first of them is above it in each query.

    Parameters
    ----------
    base : the system; None: the best by the index of those whose figure is not withheld

    Returns
    -------
    Its name, and float [queries] by system, descending, of the queries of which both have a value

    Raises
    ------
    RelstudyError
        if there is a single system, or none has a value
    """
    names = [system.name for system in result.systems]
    if base is None:
        known = {each.name: each.shown(index).value for each in result.systems if not each.figures[index.name].withheld}
        sign = 1.0 if index.shown_better == "max" else -1.0
        best = {name: sign * value for name, value in known.items() if value is not None}
        if len(names) < 2 or not best:
            raise RelstudyError("differences by query need two systems, and a value of one of them")
        base = max(best, key=lambda name: best[name])
    values = values_by_query(result, index)
    of = values[:, names.index(base)]
    others = [system.name for system in order_of(result) if system.name != base][:MOST_DRAWN]
    drawn = {name: values[:, names.index(name)] - of for name in others}
    return base, {name: np.sort(each[np.isfinite(each)])[::-1] for name, each in drawn.items()}


def section_of_left_out(found: LeftOutOnes) -> Section:
    """Every system left out of the pool in turn."""
    columns = [Column("Measure"), Column("System"), Column("Figure", 3), Column("Left out", 3)]
    columns += [Column("Change", 3, signed=True), Column("Rank", 0), Column("Rank, left out", 0)]
    columns += [Column("Results alone", 0), Column("Relevant ones", 0)]
    rows: list[list[Cell]] = []
    for each in found.systems:
        figures = [each.value, each.without, each.without - each.value]
        counts = [each.rank, each.rank_without, each.alone, each.relevant]
        rows.append([index_of(each.measure).term, each.system, *figures, *counts])
    first, *moved = found.sentences()
    table = Table("left-out", "Systems left out of the pool.", columns, rows, note=first, shown=30)
    return Section("left-out", "Left out of the pool", [Paragraph(" ".join(moved)), table])
