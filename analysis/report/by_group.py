"""The report's section on groups of pairs, such as queries by image and by text."""

from __future__ import annotations

from collections.abc import Mapping

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.registry import PEARSON
from relstudy.analysis.report.layout import Paragraph, Section
from relstudy.analysis.report.significance_sections import COLUMNS_OF_TESTS, row_of_test
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.scoring.groups import FEWEST_PAIRS, Groups
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.verdict import verdict_of
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of

SIDE_BY_SIDE = 4
"""So many groups get a column each; more get rows, since the page would be too wide."""


def groups_section(within: Groups) -> Section:
    """Every system within each group of pairs.

    Parameters
    ----------
    within : the figures, with what tells the groups apart
    """
    column, by_group = within.column, within.results
    fitted = (
        "Mappings are fitted to the pairs of the group, so nothing here mixes the groups"
        if within.apart
        else "Mappings are those of all groups together"
    )
    text = (
        f"The systems once more, within each group alone. {fitted}; a system that scores fewer than {FEWEST_PAIRS} "
        "pairs of a group is left out there."
    )
    sizes = [Paragraph(_who_leads(name, result)) for name, result in by_group.items()]
    wide = 1 < len(by_group) <= SIDE_BY_SIDE
    tables = _side_by_side(column, by_group) if wide else [_by_rows(column, by_group)]
    notes = [Paragraph(note, quiet=note not in within.lost) for note in within.notes()]
    lost, others = notes[: len(within.lost)], notes[len(within.lost) :]
    tables += _differences(within)
    return Section("groups", f"By {column}", [Paragraph(text), *lost, *sizes, *tables, *others])


def _differences(within: Groups) -> list[Table]:
    """Differences of systems in each group by the index that decides, and the tests that were asked for."""
    rows: list[list[Cell]] = []
    for name, result in within.results.items():
        index = result.primary.index
        for each in (other for other in result.comparisons if other.index == index.name):
            rows.append([name, each.first, each.second, index.shown_difference(each.difference), each.p_family])
    if not rows:
        return []
    columns = [
        Column(within.column.capitalize()),
        Column("First"),
        Column("Second"),
        Column("Difference", 3, signed=True),
    ]
    term = next(iter(within.results.values())).primary.index.term
    caption = f"Differences by {within.column} in {term}, first minus second."
    note = "p is corrected over all differences within groups together."
    tables = [
        Table(f"by-{within.column}-differences", caption, [*columns, Column("p, corrected", p_value=True)], rows,
              note=note, shown=30)
    ]  # fmt: skip
    tested = [[name, *row_of_test(each)] for name, tests in (within.tests or {}).items() for each in tests.tests]
    if tested:
        head = [Column(within.column.capitalize()), *COLUMNS_OF_TESTS]
        caption = f"Tests of measures by {within.column}, first minus second."
        tables.append(Table(f"by-{within.column}-tests", caption, head, tested, shown=30, number=True))
    return tables


def _who_leads(name: str, result: ScoreResult) -> str:
    pairs, queries = int(result.pairs["judged"]), int(result.pairs["queries"])
    size = f"{count_of(pairs, 'pair')} of {count_of(queries, 'query', 'queries')}"
    verdict = verdict_of(result) if len(result.systems) > 1 else None
    return f"{name}, {size}" + ("." if verdict is None else f": {verdict.headline}")


def _side_by_side(column: str, by_group: Mapping[str, ScoreResult]) -> list[Table]:
    """A table an index: a row per system, best in the first group first, and a column a group."""
    by_name = {name: {system.name: system for system in _ordered(result)} for name, result in by_group.items()}
    systems = list(dict.fromkeys(name for each in by_name.values() for name in each))
    tables = []
    for index in _indices(by_group):
        rows: list[list[Cell]] = [
            [system, *(_figure(each[system], index) if system in each else _LEFT_OUT for each in by_name.values())]
            for system in systems
        ]
        names = [Column("System"), *(Column(name) for name in by_name)]
        best = tuple((name, index.shown_better) for name in by_name)
        caption = f"{index.title} of the systems by {column}."
        table = f"by-{column}" + ("" if index is PEARSON else f"-{index.name.replace('_', '-')}")
        tables.append(Table(table, caption, names, rows, note=_NOTE, best=best))
    return tables


def _by_rows(column: str, by_group: Mapping[str, ScoreResult]) -> Table:
    indices = _indices(by_group)
    rows: list[list[Cell]] = [
        [name, system.name, *(_figure(system, index) for index in indices)]
        for name, result in by_group.items()
        for system in _ordered(result)
    ]
    names = [Column(name) for name in (column.capitalize(), "System", *(index.title for index in indices))]
    return Table(f"by-{column}", f"Systems by {column}.", names, rows, note=_NOTE)


def _ordered(result: ScoreResult) -> list[SystemScore]:
    return sorted(result.systems, key=lambda each: -(each.estimate(PEARSON).value or 0.0))


def _indices(by_group: Mapping[str, ScoreResult]) -> list[Index]:
    """The indices of any group, in their order."""
    return list({index.name: index for result in by_group.values() for index in result.indices}.values())


def _figure(system: SystemScore, index: Index) -> Estimate:
    if index.name not in system.indices:
        return Estimate.missing("of some queries only a part of the pairs is in the group")
    return system.shown(index)


_NOTE = "Intervals are over the group's queries."
_LEFT_OUT = Estimate.missing(f"fewer than {FEWEST_PAIRS} pairs of this group are scored")
