"""The report's section on groups of pairs, such as queries by image and by text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from relstudy.analysis.report.layout import Paragraph, Section
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.groups import FEWEST_PAIRS, score_by
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.verdict import verdict_of
from relstudy.common.estimates import Estimate
from relstudy.common.wording import count_of

SIDE_BY_SIDE = 4
"""So many groups get a column each; more get rows, since the page would be too wide."""
FIGURES: dict[str, tuple[str, str, Callable[[SystemScore], Estimate]]] = {
    "Correlation": ("", "max", lambda system: system.pearson),
    "Pooled AP": ("-average-precision", "max", lambda system: system.average_precision),
    "Normalised rank": ("-normalised-rank", "min", lambda system: system.normalised_rank),
}
"""Heading -> ending of the table's name, which is better, and the figure."""


def groups_section(
    column: str, pairs: JudgedPairs, candidates: Sequence[Candidate], groups: np.ndarray, options: ScoringOptions
) -> Section:
    """Every system within each group of pairs, mapped by fits to the group's own pairs.

    Parameters
    ----------
    column : what tells the groups apart
    groups : each pair's group, text [pairs]
    """
    by_group = score_by(pairs, candidates, groups, options, apart=True)
    text = (
        "The systems once more, within each group alone. Mappings are fitted to the pairs of the group, so nothing "
        f"here mixes the groups; a system that scores fewer than {FEWEST_PAIRS} pairs of a group is left out there."
    )
    sizes = [Paragraph(_who_leads(name, result)) for name, result in by_group.items()]
    wide = 1 < len(by_group) <= SIDE_BY_SIDE
    tables = _side_by_side(column, by_group) if wide else [_by_rows(column, by_group)]
    return Section("groups", f"By {column}", [Paragraph(text), *sizes, *tables])


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
    for heading, (ending, better, figure) in FIGURES.items():
        rows: list[list[Cell]] = [
            [system, *(figure(each[system]) if system in each else _LEFT_OUT for each in by_name.values())]
            for system in systems
        ]
        names = [Column("System"), *(Column(name) for name in by_name)]
        best = tuple((name, better) for name in by_name)
        caption = f"{heading} of the systems by {column}."
        tables.append(Table(f"by-{column}{ending}", caption, names, rows, note=_NOTE, best=best))
    return tables


def _by_rows(column: str, by_group: Mapping[str, ScoreResult]) -> Table:
    rows: list[list[Cell]] = [
        [name, system.name, *(figure(system) for _, _, figure in FIGURES.values())]
        for name, result in by_group.items()
        for system in _ordered(result)
    ]
    names = [Column(name) for name in (column.capitalize(), "System", *FIGURES)]
    return Table(f"by-{column}", f"Systems by {column}.", names, rows, note=_NOTE)


def _ordered(result: ScoreResult) -> list[SystemScore]:
    return sorted(result.systems, key=lambda each: -(each.pearson.value or 0.0))


_NOTE = "Intervals are over the group's queries."
_LEFT_OUT = Estimate.missing(f"fewer than {FEWEST_PAIRS} pairs of this group are scored")
