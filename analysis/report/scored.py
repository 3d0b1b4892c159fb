"""The sections that show a score result: sentences, comparison, curves, mappings, conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from relstudy.analysis.report import pictures
from relstudy.analysis.report.collection import Items
from relstudy.analysis.report.differences import agreement, differences
from relstudy.analysis.report.layout import Block, Folded, Paragraph, Picture, Section, Sentences, Terms
from relstudy.analysis.report.opening import answer_section
from relstudy.analysis.report.queries import queries_section
from relstudy.analysis.report.reading import (
    good_match,
    how_often,
    level_of,
    other_studies,
    reading_graded,
    reading_indices,
)
from relstudy.analysis.report.tables import Cell, Column, Table, shown_number
from relstudy.analysis.report.words import (
    INDEX_NAMES,
    order_of,
    system_sentences,
)
from relstudy.analysis.scoring.compared import INDICES
from relstudy.analysis.scoring.judged import Weighting
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.standings import Standings, standings
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.common.estimates import Estimate
from relstudy.common.wording import percent

SHARES = (0.01, 0.05, 0.2)
"""Shares retrieved at which precision and recall stand in the table."""

BETTER = {"pearson": "higher is better", "average_precision": "higher is better", "normalised_rank": "lower is better"}


def in_words(result: ScoreResult) -> Folded:
    """One sentence for each system."""
    several = len(result.systems) > 1
    blocks: list[Block] = [
        Sentences(system_sentences(result)),
        Paragraph(
            f"{good_match(result)} A system that guesses puts a good match above a poor one 50 times in 100. "
            f"The range behind a number is designed to contain the true value in "
            f"{how_often(level_of(result))} {other_studies(result)}.",
            quiet=True,
        ),
    ]
    return Folded("Each system in a sentence" if several else "The system in a sentence", blocks)


def comparison(result: ScoreResult) -> Section:
    """The three indices side by side, the table behind them, and which differences are more than chance."""
    ordered = order_of(result)
    panels = [
        pictures.intervals(
            INDEX_NAMES[index],
            {system.name: system.estimate(index) for system in ordered},
            zero={"pearson": 0.0, "average_precision": _share_relevant(result), "normalised_rank": 0.5}[index],
            zero_label={"pearson": "", "average_precision": "guessing", "normalised_rank": "guessing"}[index],
            better=BETTER[index],
        )
        for index in INDICES
    ]
    mapped = any(system.mapped_scores is not None for system in ordered)
    kind = "mapped scores, each from a mapping that has not seen the pair's query" if mapped else "raw scores"
    over = ", over the whole collection" if result.collection else ""
    picture = Picture(
        panels,
        f"Each dot is a system's figure, the bar its {100 * level_of(result):g} % interval over queries. "
        "Correlation is of "
        f"{kind}{over}; average precision and normalised rank {_of_what(result)}.",
    )
    blocks: list[Block] = [
        scores_table(result),
        Folded("How to read these numbers", [Terms(reading_indices(result))]),
        in_words(result),
        Folded("The measures as pictures", [picture]),
    ]
    if len(ordered) > 1:
        blocks.append(Folded("Which differences are more than chance", differences(result, ordered)))
        blocks.append(Folded("Do the measures agree on the order?", agreement(result, ordered)))
    return Section("comparison", "The measures", blocks, "Measures")


def weighted(result: ScoreResult) -> bool:
    """Whether pairs weigh by design, so that figures speak of the collection and not of the judged pairs alone."""
    return result.weighting is Weighting.DESIGN


def _of_what(result: ScoreResult) -> str:
    if weighted(result):
        return "estimate the whole collection by weighting each pair"
    return "describe the judged pairs, since these have no weights by design"


def _share_relevant(result: ScoreResult) -> float | None:
    weighted_pairs = np.isfinite(result.weight)
    if not weighted_pairs.any():
        return None
    relevant = result.relevance.values[weighted_pairs]
    return float(np.average(relevant, weights=result.weight[weighted_pairs]))


def scores_table(result: ScoreResult) -> Table:
    """Every system with every index and its rank, best first."""
    ranked = standings(result)
    ordered = [result[name] for name in ranked.names]
    several, level = len(ordered) > 1, level_of(result)
    mapped = any(system.mapped_scores is not None for system in ordered)
    judged = any(system.collection is not None for system in ordered)
    columns = [Column("System"), *([Column("Rank")] if several else []), Column("Correlation")]
    noise_known = any(system.explained.of_explainable.value is not None for system in ordered)
    if noise_known:
        columns.append(Column("Explained", 0, percent=True))
    if judged:
        columns.append(Column("Over judged pairs"))
    if mapped:
        columns.append(Column("Raw correlation"))
    columns += [Column("Spearman"), Column("Kendall"), Column("Pooled AP")]
    columns.append(Column("Normalised rank"))
    partly = any(system.coverage.scored < system.coverage.judged for system in ordered)
    if partly:
        columns.append(Column("Pairs scored"))
    rows: list[list[Cell]] = []
    for system in ordered:
        which = system.mapped if system.mapped_scores is not None else system.raw
        row: list[Cell] = [system.name, *([ranked.rank(system.name)] if several else []), system.pearson]
        if noise_known:
            row.append(system.explained.of_explainable)
        if judged:
            row.append(which.pearson)
        if mapped:
            row.append(system.raw.pearson)
        which = which if system.collection is None else system.collection
        row += [which.spearman, which.kendall, system.average_precision, system.normalised_rank]
        rows.append([*row, system.coverage.scored] if partly else row)
    best = [("Correlation", "max"), ("Spearman", "max"), ("Kendall", "max"), ("Pooled AP", "max")]
    return Table(
        "systems",
        "How far each system agrees with people.",
        columns,
        rows,
        note=f"Intervals at {100 * level:g} %; bold is the best of a column and, for the three measures that systems "
        "are compared by, what is not clearly worse."
        + (" A rank is one more than the number of systems that are clearly ahead." if several else ""),
        best=(*best, ("Normalised rank", "min")) if several else (),
        as_good=frozenset(_as_good(result, ranked)),
    )


COMPARED = {"pearson": "Correlation", "average_precision": "Pooled AP", "normalised_rank": "Normalised rank"}
"""The columns of `scores_table` by whose index systems are compared."""


def _as_good(result: ScoreResult, ranked: Standings) -> Iterator[tuple[int, str]]:
    """The cells of `scores_table` that are not clearly worse than the best of their column."""
    for ordering in result.orderings:
        if ordering.index not in ranked.measures:
            continue
        best = ordering.systems[0]
        for row, name in enumerate(ranked.names):
            if name in ordering.systems and ordering.index not in ranked.clear_between(best, name):
                yield row, COMPARED[ordering.index]


def precision_recall_picture(result: ScoreResult) -> Callable[[], str] | None:
    """Every system's precision-recall curve, the best by average precision first; None where no system has one."""
    systems = _with_curve(result)
    if not systems:
        return None
    traces = {
        system.name: pictures.Trace(
            system.curve["recall"].to_numpy(),
            system.curve["precision"].to_numpy(),
        )
        for system in systems
    }
    return lambda: pictures.precision_recall(traces, _share_relevant(result))


def _with_curve(result: ScoreResult) -> list[SystemScore]:
    systems = [system for system in result.systems if len(system.curve)]
    return sorted(systems, key=lambda system: -(system.average_precision.value or 0.0))


def curves(result: ScoreResult) -> Section | None:
    """Precision against recall, and both with intervals where set shares are retrieved."""
    picture, systems = precision_recall_picture(result), _with_curve(result)
    if picture is None:
        return None
    blocks: list[Block] = [
        Picture(
            [picture()],
            "The pairs of all queries are pooled and sorted by score. "
            + (
                "Each counts as one over its probability of being chosen, so the curve estimates the whole collection. "
                if weighted(result)
                else "All count alike, so the curve describes the judged pairs. "
            )
            + "A higher line is better; the two best by average precision are in colour.",
            wide=True,
            name="Precision-recall curves",
        )
    ]
    pool = "collection" if weighted(result) else "judged pairs"
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
    if any(system.points for system in systems):
        table = Table(
            "precision-recall",
            f"Precision and recall when the best-scored share of the {pool} is retrieved.",
            columns,
            rows,
            note="Where many pairs share a score, the cut takes all of them.",
        )
        blocks.append(Folded("Precision and recall in numbers", [table]))
    return Section("precision-recall", "If the best few are retrieved", blocks, "Best few")


def measures(result: ScoreResult) -> Section | None:
    """Measures under their ir-measures names, where they were computed."""
    names = list(dict.fromkeys(name for system in result.systems for name in system.measures))
    if not names:
        return None
    rows: list[list[Cell]] = [
        [system.name, *(system.measures.get(name, Estimate.missing("not computed")) for name in names)]
        for system in order_of(result)
    ]
    table = Table(
        "measures",
        "Measures under their ir-measures names.",
        [Column("System"), *(Column(name) for name in names)],
        rows,
        note=f"How: {result.conventions['measures']}. They have no weights.",
        best=tuple((name, "max") for name in names) if len(rows) > 1 else (),
    )
    terms = reading_graded(names)
    explained = [Folded("What these measures are", [Terms(terms)])] if terms else []
    return Section("measures", "If the best few are retrieved", [table, *explained], "Best few")


def mappings(result: ScoreResult) -> Section | None:
    """Each system's mapping over the pairs it was fitted to."""
    drawings = []
    for system in order_of(result):
        fitted = system.fitted_mapping
        if fitted is None:
            continue
        scored = np.isfinite(system.pair_scores)
        scores = system.pair_scores[scored]
        points = np.unique(np.r_[fitted.knots, np.linspace(scores.min(), scores.max(), 200)])
        points = points[(points >= scores.min()) & (points <= scores.max())]
        line = pictures.Trace(points, fitted.predict(points))
        drawings.append(
            pictures.mapping(
                system.name, fitted.method, scores, result.judgment[scored], line, fitted.predict_band(points)
            )
        )
    if not drawings:
        return None
    return Section(
        "mappings",
        "From scores to the human scale",
        [
            Paragraph(
                "A system's scores have a scale of their own. A mapping says which judgment each score stands for; it "
                "may bend but never turns back. A steep line tells good from poor; a flat one tells nothing."
            ),
            Picture(
                drawings,
                "Dots are judged pairs, the line is the mapping, the shade its band where the method gives one.",
            ),
        ],
        "Mappings",
        folded=True,
    )


def conventions(result: ScoreResult) -> Section:
    """Every choice behind the numbers, by name."""
    return Section(
        "conventions",
        "How the numbers are made",
        [Terms([(str(name).replace("_", " "), _shown_value(value)) for name, value in result.conventions.items()])],
        "Method",
        folded=True,
    )


def _shown_value(value: object) -> str:
    if isinstance(value, float):
        return shown_number(value, Column("", 4)).rstrip("0").rstrip(".")
    return str(value)


def score_sections(result: ScoreResult, verdict: Verdict, items: Items | None = None) -> list[Section]:
    """All sections that a score result fills, in reading order: the answer first, conventions last."""
    sections = [
        answer_section(result, verdict),
        comparison(result),
        queries_section(result, verdict, items),
        best_results(result),
        mappings(result),
    ]
    return [section for section in sections if section is not None] + [conventions(result)]


def best_results(result: ScoreResult) -> Section | None:
    """Precision and recall, and the measures of each query's first results."""
    curve, graded = curves(result), measures(result)
    if curve is None or graded is None:
        return curve or graded
    return replace(curve, blocks=[*curve.blocks, *graded.blocks])
