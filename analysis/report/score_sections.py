"""The sections that show a score result: sentences, comparison, curves, mappings, conventions."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.registry import PEARSON
from relstudy.analysis.report import pictures
from relstudy.analysis.report.best_few import as_good, best_results, share_relevant, untested, weighted
from relstudy.analysis.report.collection import Items
from relstudy.analysis.report.differences import agreement, differences, who_beats_whom
from relstudy.analysis.report.layout import Block, Folded, Paragraph, Picture, Section, Sentences, Terms
from relstudy.analysis.report.opening import answer_section
from relstudy.analysis.report.queries import queries_section
from relstudy.analysis.report.reading import (
    good_match,
    reading_indices,
)
from relstudy.analysis.report.tables import Cell, Column, Table, shown_number
from relstudy.analysis.report.words import (
    order_of,
    system_sentences,
)
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.standings import standings
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.calibration.tables.judgments import OF_QRELS
from relstudy.common.runtime.wording import listed

IN_THE_INTERVAL = ("level", "replicates", "seed")
"""Conventions that the one on intervals holds, too."""
IN_WORDS = 3
"""So many systems at most are described in a sentence each."""


def in_words(result: ScoreResult) -> Folded:
    """One sentence for each system."""
    several, number = len(result.systems) > 1, len(result.systems)
    blocks: list[Block] = [
        Sentences(system_sentences(result)[:IN_WORDS]),
        Paragraph(good_match(result), quiet=True),
    ]
    which = f"the first {IN_WORDS} systems" if number > IN_WORDS else "each system" if several else "the system"
    return Folded(f"Sentences for a paper on {which}", blocks)


def comparison(result: ScoreResult) -> Section:
    """The indices side by side, the table behind them, and which differences are more than chance."""
    ordered = order_of(result)
    panels = [
        pictures.Panel(
            index.title,
            {each.name: each.shown(index) for each in ordered},
            None if index.guess is None else index.guess(share_relevant(result)),
            index.guess_label,
        )
        for index in result.own_indices
    ]
    mapped = any(system.mapped_scores is not None for system in ordered)
    kind = "mapped scores, each from a mapping that has not seen the pair's query" if mapped else "raw scores"
    over = f", over {result.scope}" if result.collection else ""
    picture = Picture(
        [pictures.intervals(panels)],
        f"Each dot is a system's figure, the bar its {100 * result.options.level:g} % interval over queries. "
        "Correlation is of "
        f"{kind}{over}; {_of_relevance(result)} {_of_what(result)}.",
        wide=True,
        narrow=[pictures.intervals(panels, narrow=True)],
        name="Plots of the measures",
    )
    blocks: list[Block] = [
        scores_table(result),
        Folded("Other correlation coefficients", [correlations_table(result)]),
        Folded("How to read these numbers", [Terms(reading_indices(result))]),
        in_words(result),
        Folded("Plots of the measures", [picture]),
    ]
    if len(ordered) > 1:
        found = [*agreement(result), *who_beats_whom(result), *differences(result, ordered)]
        blocks.append(Folded("Which differences are statistically significant", found))
    return Section("comparison", "The measures", blocks)


def _of_relevance(result: ScoreResult) -> str:
    return listed([index.term for index in result.own_indices if not index.of_judgments])


def _of_what(result: ScoreResult) -> str:
    if weighted(result):
        return "estimate the whole collection by weighting each pair"
    return "describe the judged pairs, since these have no weights by design"


def scores_table(result: ScoreResult) -> Table:
    """Every system with its rank, the index that decides, its distance from the first, and the other indices of every
    run, best first."""
    ranked, primary = standings(result), result.primary.index
    ordered = [result[name] for name in ranked.names]
    several, level = len(ordered) > 1, result.options.level
    of_qrels = str(result.conventions["scale"]["note"]).startswith(OF_QRELS)
    indices = [primary, *(index for index in result.own_indices if index is not primary)]
    columns = [Column("System"), *([Column("Rank")] if several else []), Column(primary.title)]
    if several:
        columns.append(Column("Difference from the leader", signed=True))
    columns += [Column(index.title) for index in indices[1:]]
    partly = any(system.coverage.scored < system.coverage.judged for system in ordered)
    if partly:
        columns.append(Column("Pairs scored"))
    rows: list[list[Cell]] = []
    for system in ordered:
        row: list[Cell] = [system.name, *([ranked.rank(system.name)] if several else []), system.shown(primary)]
        if several:
            row.append(ranked.from_the_first(primary, system.name))
        row += [system.shown(index) for index in indices[1:]]
        rows.append([*row, system.coverage.scored] if partly else row)
    return Table(
        "systems",
        "Retrieval effectiveness of each system." if of_qrels else "How well each system agrees with people.",
        columns,
        rows,
        note=f"Small numbers: {100 * level:g} % confidence intervals."
        + (
            " Bold: the best value of a column, and those not clearly worse. "
            f"Ranks and differences are by {primary.term}."
            if several
            else ""
        ),
        best=tuple((index.title, index.shown_better) for index in indices) if several else (),
        as_good=frozenset(as_good(result, {index.name: index.title for index in indices})),
        untested=untested(result, {index.name: index.title for index in indices}),
        number=True,
    )


def correlations_table(result: ScoreResult) -> Table:
    """Every system's correlation in its other forms, and the shares of the variance that it explains, best first."""
    ordered = order_of(result)
    mapped = any(system.mapped_scores is not None for system in ordered)
    judged = any(system.collection is not None for system in ordered)
    noise_known = any(system.explained.of_reachable.value is not None for system in ordered)
    columns = [Column("System"), Column("Correlation")]
    if noise_known:
        columns += [Column(name, 0, percent=True) for name in ("Explained", "Of reachable")]
    columns += [Column("Over judged pairs")] if judged else []
    columns += [Column("Raw correlation")] if mapped else []
    columns += [Column("Spearman"), Column("Kendall")]
    rows: list[list[Cell]] = []
    for system in ordered:
        which = system.mapped if system.mapped_scores is not None else system.raw
        row: list[Cell] = [system.name, system.estimate(PEARSON)]
        row += [system.explained.share, system.explained.of_reachable] if noise_known else []
        row += [which.pearson] if judged else []
        row += [system.raw.pearson] if mapped else []
        which = which if system.collection is None else system.collection
        rows.append([*row, which.spearman, which.kendall])
    turned = any(not system.direction.higher for system in ordered)  # a distance's raw correlation is negative
    best = [name for name in ("Over judged pairs", "Spearman", "Kendall") if name in {each.name for each in columns}]
    return Table(
        "correlations",
        "The correlation with people's judgments in its other forms.",
        columns,
        rows,
        note=f"Intervals at {100 * result.options.level:g} %."
        + (" Bold is the best of a column." if len(rows) > 1 else ""),
        best=tuple((name, "max") for name in [*best, *([] if turned or not mapped else ["Raw correlation"])])
        if len(rows) > 1
        else (),
        number=True,
    )


def mappings(result: ScoreResult) -> Section | None:
    """Each system's mapping over the pairs it was fitted to."""
    drawings = []
    low, high = float(result.judgment.min()), float(result.judgment.max())
    limits = (low - 0.04 * (high - low), high + 0.04 * (high - low))
    for system in order_of(result):
        fitted = system.fitted_mapping
        if fitted is None:
            continue
        scored = np.isfinite(system.pair_scores)
        scores = system.pair_scores[scored]
        line = pictures.line_of(fitted, scores)
        drawings.append(
            pictures.mapping(
                system.name, fitted.method, scores, result.judgment[scored], line, fitted.predict_band(line.x), limits
            )
        )
    if not drawings:
        return None
    return Section(
        "mappings",
        "From scores to the human scale",
        [
            Paragraph(
                "Each system's scores have their own scale. A mapping says which judgment each score corresponds to; "
                "it is monotone. A steep line separates good from poor; a flat one does not."
            ),
            Picture(
                drawings,
                f"Dots are judged pairs, {pictures.DOTS} of them at most; each diamond is the mean of a tenth of all "
                "pairs, by score. The line is the mapping, the shade its band where the method gives one. A judgment "
                "can lie beyond the ends of the scale, since calibration moves ratings.",
            ),
        ],
        folded=True,
    )


def conventions(result: ScoreResult) -> Section:
    """Every choice behind the numbers, by name."""
    chosen = {name: value for name, value in result.conventions.items() if name not in IN_THE_INTERVAL}
    return Section(
        "conventions",
        "How the numbers were computed",
        [Terms([(str(name).replace("_", " "), _shown_value(value)) for name, value in chosen.items()])],
        folded=True,
    )


def _shown_value(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} {_shown_value(each)}" for name, each in value.items() if each is not None)
    if isinstance(value, float):
        return shown_number(value, Column("", 4)).rstrip("0").rstrip(".")
    return str(value)


def score_sections(
    result: ScoreResult, verdict: Verdict, items: Items | None = None, with_pictures: bool = True
) -> list[Section]:
    """All sections that a score result fills, in reading order: the answer first, conventions last."""
    sections = [
        answer_section(result, verdict),
        comparison(result),
        queries_section(result, verdict, items, with_pictures),
        best_results(result),
        mappings(result),
    ]
    return [section for section in sections if section is not None] + [conventions(result)]
