"""The blocks that hold systems against each other: differences, the share of replicates first, and alike orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.registry import PEARSON, index_of
from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.tables import Cell, Column, DifferenceWithP, Table
from relstudy.analysis.report.words import clear, orders_agree
from relstudy.analysis.scoring.results import Comparison, ScoreResult, SystemScore
from relstudy.analysis.verdict.standings import MOST_IN_MATRIX, standings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of


def who_beats_whom(result: ScoreResult) -> list[Block]:
    """The matrix of systems ahead of others by the primary index; empty where too many or none compare."""
    ranked = standings(result)
    names = ranked.names
    if not 2 < len(names) <= MOST_IN_MATRIX:
        return []
    index = result.primary.index
    ahead = {
        (first, second): ranked.clear_by(index.name, first, second) == first for first, second in permutations(names, 2)
    }
    if not any(ahead.values()):
        return []
    rows: list[list[Cell]] = [
        [first, *("" if first == second else "ahead" if ahead[first, second] else "·" for second in names)]
        for first in names
    ]
    table = Table(
        "clearly-better",
        f"Row better than column, by {index.term}",
        [Column("System"), *(Column(name) for name in names)],
        rows,
        note="By p below 0.05: beside the first by the test of what may be the best, which each system takes once, "
        "elsewhere corrected over all pairs. · no clear difference, or worse.",
    )
    return [table]


def differences(result: ScoreResult, ordered: Sequence[SystemScore]) -> list[Block]:
    """Every pair of systems in every index, with what holds after correction; measures in a table of their own."""
    pairs = [(a.name, b.name) for i, a in enumerate(ordered) for b in ordered[i + 1 :]]
    compared = {(frozenset((each.first, each.second)), each.index): each for each in result.comparisons}
    sure = sum(each.index == PEARSON.name and clear(each, result) for each in result.comparisons)
    blocks: list[Block] = [
        Paragraph(f"By correlation, {sure} of {count_of(len(pairs), 'pair')} of systems differ by more than chance.")
    ]
    measures = [index for index in result.indices if index.of_run]
    for name, caption, indices in (
        ("differences", "Differences between systems on the pairs both score.", result.own_indices),
        ("differences-measures", "Differences between systems in measures, over all queries.", measures),
    ):
        if indices:
            blocks.append(_differences(result, name, caption, indices, pairs, compared))
    return blocks


def _differences(
    result: ScoreResult,
    name: str,
    caption: str,
    indices: Sequence[Index],
    pairs: Sequence[tuple[str, str]],
    compared: Mapping[tuple[frozenset[str], str], Comparison],
) -> Table:
    """A row a pair of systems, and a column an index."""
    proposals_known = any(each.proposed is not None for each in result.comparisons)
    columns = [Column("System"), Column("Against"), *([Column("Proposed pairs")] if proposals_known else [])]
    columns += [Column(index.title, signed=True) for index in indices]
    rows: list[list[Cell]] = []
    for first, second in pairs:
        of_pair = [compared.get((frozenset((first, second)), index.name)) for index in indices]
        row: list[Cell] = [first, second, *([_who_proposed(of_pair[0])] if proposals_known else [])]
        for index, each in zip(indices, of_pair, strict=True):
            if each is None:
                row.append(Estimate.missing("not compared"))
                continue
            difference = index.shown_difference(each.difference)
            row.append(DifferenceWithP(difference if each.first == first else difference.negated(), each.p_family))
        rows.append(row)
    return Table(
        name,
        caption,
        columns,
        rows,
        note="The first system's figure minus the second's: above zero the first is better. p is corrected: by "
        f"{result.primary.index.term}, which decides, beside the best system by the test of what may be the best, else "
        "over all pairs (max-t); by all other measures over all pairs together. The interval is not, so it can leave "
        "out 0 though p is not small."
        if indices[0] is result.own_indices[0]
        else "To be read as the table above.",
        shown=max(len(result.systems) - 1, 3),
    )


def _who_proposed(compared: Comparison | None) -> str:
    if compared is None or compared.proposed is None:
        return "not known"
    return {0: "neither", 1: ", ".join(compared.proposed), 2: "both"}[len(compared.proposed)]


def agreement(result: ScoreResult) -> list[Block]:
    """The section on the order of systems by each index, and on first places."""
    blocks: list[Block] = []
    summary = orders_agree(result)
    if summary:
        blocks.append(Paragraph(summary))
    first = [ordering for ordering in result.orderings if ordering.first]
    if first:
        blocks.append(
            Table(
                "first-places",
                "Share of the redrawn samples of queries in which each system comes first.",
                [Column("System"), *(Column(index_of(each.index).title, 0, percent=True) for each in first)],
                [[name, *(each.first.get(name) for each in first)] for name in standings(result).names],
                note="This is not the chance that a system is the best: of eight equal ones, the leader comes first in "
                "about half of the samples.",
            )
        )
    return blocks
