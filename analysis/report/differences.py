"""The blocks that hold systems against each other: differences, the share of replicates first, and alike orders."""

from __future__ import annotations

from collections.abc import Sequence

from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.report.words import INDEX_NAMES, clear, comparison_of, orders_agree
from relstudy.analysis.scoring.compared import INDICES
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.common.estimates import Estimate
from relstudy.common.wording import count_of


def differences(result: ScoreResult, ordered: Sequence[SystemScore]) -> list[Block]:
    """Every pair of systems in every index, with what holds after correction."""
    pairs = [(a.name, b.name) for i, a in enumerate(ordered) for b in ordered[i + 1 :]]
    known = any(each.proposed is not None for each in result.comparisons)
    columns = [Column("System"), Column("Against"), *([Column("Proposed pairs")] if known else [])]
    for index in INDICES:
        columns += [
            Column(INDEX_NAMES[index], signed=True),
            Column(f"p of {_short(index)}", p_value=True),
        ]
    rows: list[list[Cell]] = []
    sure = 0
    for first, second in pairs:
        row: list[Cell] = [first, second, *([_who_proposed(result, first, second)] if known else [])]
        for index in INDICES:
            compared = comparison_of(result.comparisons, first, second, index)
            if compared is None:
                row += [Estimate.missing("not compared"), None]
                continue
            sure += index == "pearson" and clear(compared, result)
            as_is = compared.first == first
            row += [compared.difference if as_is else compared.difference.negated(), _p(compared.p_holm)]
        rows.append(row)
    summary = f"By correlation, {sure} of {count_of(len(pairs), 'pair')} of systems differ by more than chance."
    table = Table(
        "differences",
        "Differences between systems on the pairs both score.",
        columns,
        rows,
        note="The first system's figure minus the second's: above zero the first is better, but below zero in "
        "normalised rank. p is corrected for the number of pairs (Holm).",
        shown=30,
    )
    return [Paragraph(summary), table]


def _who_proposed(result: ScoreResult, first: str, second: str) -> str:
    compared = comparison_of(result.comparisons, first, second, INDICES[0])
    if compared is None or compared.proposed is None:
        return "not known"
    return {0: "neither", 1: ", ".join(compared.proposed), 2: "both"}[len(compared.proposed)]


def _short(index: str) -> str:
    return {"pearson": "correlation", "average_precision": "precision", "normalised_rank": "rank"}[index]


def _p(value: float | None) -> Cell:
    if value is None:
        return Estimate.missing("")
    return value


def agreement(result: ScoreResult, ordered: Sequence[SystemScore]) -> list[Block]:
    """The order of systems by each index, how alike these are, and how sure the first place is."""
    blocks: list[Block] = []
    summary = orders_agree(result)
    if summary:
        blocks.append(Paragraph(summary))
    orderings = {ordering.index: ordering for ordering in result.orderings}
    if any(ordering.first for ordering in orderings.values()):
        columns = [Column("System"), *(Column(INDEX_NAMES[index], 0, percent=True) for index in orderings)]
        rows: list[list[Cell]] = [
            [system.name, *(_share(ordering.first.get(system.name)) for ordering in orderings.values())]
            for system in ordered
        ]
        blocks.append(
            Table(
                "first",
                "How often each system comes first when queries are drawn again, by index.",
                columns,
                rows,
                note="The share of bootstrap replicates. It is not the chance that the system is truly the best: of "
                "eight equal ones, the one that leads comes first in about half of the replicates.",
            )
        )
    taus: list[list[Cell]] = [
        [f"{INDEX_NAMES[each.first]} and {INDEX_NAMES[each.second].lower()}", each.tau] for each in result.agreement
    ]
    if taus:
        blocks.append(
            Table(
                "orders",
                "How alike two indices order the systems.",
                [Column("Indices"), Column("Kendall's tau")],
                taus,
                note="1: the same order; 0: no relation; −1: the reverse.",
            )
        )
    return blocks


def _share(value: float | None) -> Cell:
    return Estimate.missing("not scored by all") if value is None else value
