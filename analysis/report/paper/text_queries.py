"""Section 5.7: queries by text, and keywords as a proxy for people."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.paper.correlations import best_of
from relstudy.analysis.report.paper.fits import ALL, METHODS, Fits
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.tables import Cell, Column, Table, shown_number
from relstudy.common.runtime.wording import listed

PRINTED = 0.58
"""Correlation of the keyword scores of queries by text with human scores (section 5.7)."""


def text_queries(study: PaperStudy, fits: Fits, text_fits: Fits) -> list[Block]:
    """The figure of section 5.7: each system's correlation on queries by text, and on those by image beside.

    Parameters
    ----------
    fits, text_fits : fits to the queries by image, and by text
    """
    text = study.by_text
    if text is None:
        if study.drawn is None or study.paradigm:
            return []
        return [Paragraph("Section 5.7 needs queries by text beside those by image: paradigm in pairs.csv says which.")]
    level = study.result.options.level
    rows: list[tuple[float, list[Cell]]] = []
    for name, of_system in text_fits.items():
        best = best_of(text, {method: fit[ALL] for method, fit in of_system.items()})
        by_image = best_out_of_fold(study, fits, name)
        cells: list[Cell] = [name, METHODS[best.method], best.out_of_fold.estimate(level), best.in_sample, by_image]
        rows.append((best.out_of_fold.value, cells))
    rows.sort(key=lambda row: -row[0] if np.isfinite(row[0]) else np.inf)
    if not rows:
        return [Paragraph("Section 5.7 needs a system that scores the queries by text, as keywords does.")]
    columns = [Column("System"), Column("Best method out of fold"), Column("By text, out of fold")]
    columns += [Column("By text, in sample"), Column("By image, out of fold")]
    table = Table(
        "section-5-7",
        "Section 5.7: correlation of mapped scores with judgments on queries by text.",
        columns,
        [cells for _, cells in rows],
        note=f"The paper prints one figure, {PRINTED} for keywords, in sample. Queries by text are mapped by fits to "
        "their own pairs. What differs: the figure out of fold comes first, with its interval over queries, beside "
        "the same system's on queries by image.",
    )
    return [table, Paragraph(_beside(study, fits, rows))]


def best_out_of_fold(study: PaperStudy, fits: Fits, name: str) -> float | None:
    """Correlation out of fold of a system's best method on all pairs; None where it has none."""
    figures = [fit[ALL].honest(study).value for fit in fits.get(name, {}).values()]
    finite = [value for value in figures if np.isfinite(value)]
    return max(finite) if finite else None


def _beside(study: PaperStudy, fits: Fits, rows: list[tuple[float, list[Cell]]]) -> str:
    """The best system on queries by text beside all systems on queries by image, as a sentence."""
    figure, (name, *_) = rows[0]
    others = {system: best_out_of_fold(study, fits, system) for system in fits}
    below = [system for system, value in others.items() if value is not None and value < figure]
    said = f"On queries by text {name} has {shown_number(figure)}; {len(below)} of {len(others)} systems have less on "
    said += "queries by image" + (f" ({listed(below)})." if below else ".")
    return f"{said} The paper finds it better than most."
