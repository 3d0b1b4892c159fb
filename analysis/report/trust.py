"""Trust in the judgments, in three figures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.analysis.report.inputs import PageTables
from relstudy.analysis.report.layout import Block, Figures, Paragraph, Section
from relstudy.analysis.report.raters_sections import flags_of
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.common.runtime.wording import count_of, percent

HELD = 0.973
"""Of the intervals of the repeated demonstration, the share that held the truth: the last line of
`python -P evidence/benchmarks/demo.py 20 --ratings 3 --seed 7100`. They speak of any raters like these, and are
long."""


def trust_section(tables: PageTables, verdict: Verdict) -> Section | None:
    """Agreement of raters, ratings of a pair, and how good a system could be; None where none of it is known."""
    figures: list[tuple[str, str]] = []
    if tables.ratings is not None:
        before, after = tables.agreement[0].one, tables.agreement[-1].one
        if after.value is not None:
            alone = len(tables.agreement) == 1 or before.value is None
            then = "" if alone else f"; {before.value:.2f} before calibration"
            figures.append(
                (
                    f"{after.value:.2f}",
                    f"agreement between two ratings of the same pair (ICC: 1 perfect, 0 chance){then}",
                )
            )
        decided = tables.ratings.frame["rating"].notna()
        pairs = tables.ratings.frame.loc[decided].groupby(["query_id", "result_id"]).ngroups
        if pairs:
            people = tables.ratings.frame["rater_id"].nunique()
            figures.append(
                (
                    f"{decided.sum() / pairs:.1f}",
                    f"ratings per pair on average, by {count_of(people, 'rater')}{_flagged(tables)}",
                )
            )
    if verdict.reachable is not None:
        figures.append(
            (
                f"{verdict.reachable:.2f}",
                "noise ceiling: the best correlation any system could reach, since raters disagree",
            )
        )
    if not figures:
        return None
    blocks: list[Block] = [Figures(figures)]
    if tables.truth is not None and not tables.truth.empty:
        blocks.append(Paragraph(coverage_sentence(tables.truth)))
    return Section("trust", "How reliable are the judgments?", blocks)


def _flagged(tables: PageTables) -> str:
    if tables.raters is None:
        return ""
    flagged = int((flags_of(tables.raters) != "").sum())
    if flagged == 0:
        return ", none of them flagged"
    return f", of whom {flagged} {'is' if flagged == 1 else 'are'} flagged (see The raters)"


def coverage_sentence(truth: pd.DataFrame) -> str:
    """The number of a simulated study's intervals that hold the truth, beside that of repetitions."""
    numbers = {name: truth[name].map(number_or_none).astype(float) for name in ("true", "low", "high")}
    finite = np.logical_and.reduce([np.isfinite(values) for values in numbers.values()])
    inside = finite & (numbers["low"] <= numbers["true"]) & (numbers["true"] <= numbers["high"])
    held, many = int(inside.sum()), int(finite.sum())
    if not many:
        return ""
    some = "all" if held == many else f"{held} of"
    return (
        f"The truth is known here: {some} {many} intervals hold it. They rest on the same queries and so succeed or "
        f"fail together: one study proves little. Twenty repetitions of the demonstration held the truth in "
        f"{percent(HELD)} of all intervals."
    )


def number_or_none(text: object) -> float | None:
    """The finite number that a cell of a table holds; None where it holds none."""
    try:
        value = float(str(text))
    except ValueError:
        return None
    return value if np.isfinite(value) else None
