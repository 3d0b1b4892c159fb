"""The report's section on groups of pairs, such as queries by image and by text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relstudy.analysis.report.layout import Paragraph, Section
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.groups import score_by
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions


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
    rows: list[list[Cell]] = [
        [
            *(name, int(result.pairs["judged"]), int(result.pairs["queries"]), system.name),
            *(system.pearson, system.average_precision, system.normalised_rank),
        ]
        for name, result in by_group.items()
        for system in sorted(result.systems, key=lambda each: -(each.pearson.value or 0.0))
    ]
    first = [column.capitalize(), "Pairs", "Queries", "System"]
    names = [Column(name) for name in (*first, "Correlation", "Average precision", "Normalised rank")]
    text = (
        "The systems once more, within each group alone. Mappings are fitted to the pairs of the group, so nothing "
        "here mixes the groups; a system that scores fewer than three pairs of a group is left out there."
    )
    table = Table(f"by-{column}", f"Systems by {column}.", names, rows, note="Intervals are over the group's queries.")
    return Section("groups", f"By {column}", [Paragraph(text), table])
