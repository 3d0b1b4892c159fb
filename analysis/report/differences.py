"""The blocks that hold systems against each other: differences, the share of replicates first, and alike orders."""

from __future__ import annotations

from collections.abc import Sequence

from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.tables import Cell, Column, DifferenceWithP, Table
from relstudy.analysis.report.words import INDEX_NAMES, clear, comparison_of, orders_agree
from relstudy.analysis.scoring.compared import INDICES, Ordering, share_of_draws
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.measures import LETTERS_MEAN, MEASURES, MOST_IN_MATRIX
from relstudy.analysis.verdict.standings import standings
from relstudy.common.estimates import Estimate
from relstudy.common.wording import count_of, listed_some


def who_beats_whom(result: ScoreResult) -> list[Block]:
    """By which measures each system is clearly better than each other; nothing where too many or none compare."""
    ranked = standings(result)
    names = ranked.names
    if not 2 < len(names) <= MOST_IN_MATRIX or not ranked.measures:
        return []
    rows: list[list[Cell]] = [
        [first, *("" if first == second else ranked.letters(first, second) or "·" for second in names)]
        for first in names
    ]
    table = Table(
        "clearly-better",
        "By which measures the system of the row is clearly better than that of the column",
        [Column("System"), *(Column(name) for name in names)],
        rows,
        note=f"{LETTERS_MEAN}; · by none. After Holm's correction for the number of pairs within a measure.",
    )
    return [table]


def differences(result: ScoreResult, ordered: Sequence[SystemScore]) -> list[Block]:
    """Every pair of systems in every index, with what holds after correction."""
    pairs = [(a.name, b.name) for i, a in enumerate(ordered) for b in ordered[i + 1 :]]
    known = any(each.proposed is not None for each in result.comparisons)
    columns = [Column("System"), Column("Against"), *([Column("Proposed pairs")] if known else [])]
    columns += [Column(INDEX_NAMES[index], signed=True) for index in INDICES]
    rows: list[list[Cell]] = []
    sure = 0
    for first, second in pairs:
        row: list[Cell] = [first, second, *([_who_proposed(result, first, second)] if known else [])]
        for index in INDICES:
            compared = comparison_of(result.comparisons, first, second, index)
            if compared is None:
                row.append(Estimate.missing("not compared"))
                continue
            sure += index == "pearson" and clear(compared, result)
            as_is = compared.first == first
            row.append(
                DifferenceWithP(compared.difference if as_is else compared.difference.negated(), compared.p_holm)
            )
        rows.append(row)
    summary = f"By correlation, {sure} of {count_of(len(pairs), 'pair')} of systems differ by more than chance."
    table = Table(
        "differences",
        "Differences between systems on the pairs both score.",
        columns,
        rows,
        note="The first system's figure minus the second's: above zero the first is better, but below zero in "
        "normalised rank. p is corrected for the number of pairs within a measure (Holm); the interval is not, so it "
        "can leave out 0 though p is not small. Whoever chooses among the measures afterwards makes three times as "
        "many comparisons.",
        shown=30,
    )
    return [Paragraph(summary), table]


def _who_proposed(result: ScoreResult, first: str, second: str) -> str:
    compared = comparison_of(result.comparisons, first, second, INDICES[0])
    if compared is None or compared.proposed is None:
        return "not known"
    return {0: "neither", 1: ", ".join(compared.proposed), 2: "both"}[len(compared.proposed)]


def agreement(result: ScoreResult) -> list[Block]:
    """Whether the indices put the systems in one order, and how often each comes first."""
    blocks: list[Block] = []
    summary = orders_agree(result)
    if summary:
        blocks.append(Paragraph(summary))
    for ordering in result.orderings:
        said = first_places(ordering)
        if said:
            blocks.append(Paragraph(said))
    if blocks and any(ordering.first for ordering in result.orderings):
        blocks.append(
            Paragraph(
                "That is the share of bootstrap replicates, not the chance that the system is truly the best: of eight "
                "equal ones, the one that leads comes first in about half of them.",
                quiet=True,
            )
        )
    return blocks


def first_places(ordering: Ordering) -> str:
    """How often systems came first by an index when queries were drawn again, in a sentence; empty where not known.

    Examples
    --------
    >>> first_places(Ordering("pearson", ("a", "b", "c"), {"a": 0.784, "b": 0.216, "c": 0.0}, 9))
    'By correlation a came first in 78 % and b in 22 % of the redrawn samples of queries, c never.'
    """
    if not ordering.first:
        return ""
    order = sorted(ordering.first, key=lambda name: -ordering.first[name])
    ever = [name for name in order if ordering.first[name] > 0]
    never = [name for name in order if ordering.first[name] == 0]
    shares = [f"{name} in {share_of_draws(ordering.first[name])}" for name in ever]
    shares[0] = shares[0].replace(f"{ever[0]} in", f"{ever[0]} came first in", 1)
    nobody = f", {listed_some(never)} never" if never else ""
    return f"By {MEASURES[ordering.index]} {listed_some(shares)} of the redrawn samples of queries{nobody}."
