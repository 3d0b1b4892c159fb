"""The first screen: the answer, one picture of all systems, and where they and people disagree most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from relstudy.analysis.report.collection import Items
from relstudy.analysis.report.layout import (
    Answer,
    Block,
    Example,
    Examples,
    Folded,
    Overview,
    OverviewRow,
    Paragraph,
    Section,
)
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.standings import Standings
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.common.wording import count_of

MOST_ROWS = 30
EACH_WAY = 3
"""Examples of a system that people rate high and it low, and as many the other way round."""
SYSTEMS_WITH_EXAMPLES = 2


def answer_section(result: ScoreResult, verdict: Verdict) -> Section:
    """The verdict, and every system's correlation in one picture."""
    settle = [] if verdict.settling is None else [verdict.settling.sentence()]
    missing = [f"Not known: {text[:1].lower()}{text[1:]}" for text in verdict.unknown]
    blocks: list[Block] = [
        Answer(verdict.headline, [" ".join(verdict.reasons), " ".join(verdict.quality)], [*settle, *missing]),
        overview(result, verdict),
    ]
    if result.notes:
        said = f"{len(result.notes)} more things" if len(result.notes) > 1 else "One more thing"
        blocks.append(Folded(f"{said} to know of these figures", [Paragraph(note) for note in result.notes]))
    return Section("answer", "The answer", blocks, bare=True)


def overview(result: ScoreResult, verdict: Verdict) -> Overview:
    """Every system on one line: rank, ties, correlation with its interval, and how often good is above poor."""
    ranked = verdict.standings
    names = ranked.names[:MOST_ROWS]
    within = good_above_poor_within(result.per_query)
    lane = lanes(ranked.runs)
    rows = []
    for position, name in enumerate(names):
        estimate, rank = result[name].estimate("pearson"), result[name].normalised_rank.value
        rows.append(
            OverviewRow(
                ranked.rank(name) if len(ranked.names) > 1 else "",
                name,
                name in ranked.leaders,
                estimate,
                [_tie(ranked.runs, lane, number, position) for number in range(max(lane, default=-1) + 1)],
                "–" if rank is None else f"{100 * (1 - rank):.0f}",
                "–" if np.isnan(within.get(name, np.nan)) else f"{100 * within[name]:.0f}",
            )
        )
    ends = [end for row in rows for end in (row.estimate.low, row.estimate.value) if end is not None]
    low = min(0.0, np.floor(5 * min(ends)) / 5 if ends else 0.0)
    over = "over the whole collection" if result.collection else "on the rated pairs"
    caption = f"Dot and line: agreement with people {over} (correlation) and its {100 * result.options.level:g} % range"
    if ranked.runs:
        caption += "; a thick bar joins systems that are not told apart"
    caption += (
        ". Good above poor: how often a good match is above a poor one, whatever the query of either, and among the "
        "results of one query."
    )
    if len(ranked.names) > len(names):
        caption += f" The first {len(names)} of {count_of(len(ranked.names), 'system')}; the table below has all."
    return Overview(rows, float(low), verdict.reachable, caption)


def lanes(runs: Sequence[tuple[int, int]]) -> list[int]:
    """A column for each bar, so that bars which overlap stand side by side.

    Examples
    --------
    >>> lanes([(0, 2), (1, 3), (3, 4)])
    [0, 1, 0]
    """
    ends: list[int] = []
    chosen = []
    for first, last in runs:
        free = next((k for k, end in enumerate(ends) if end < first), len(ends))
        ends[free : free + 1] = [last]
        chosen.append(free)
    return chosen


def _tie(runs: Sequence[tuple[int, int]], lane: Sequence[int], number: int, position: int) -> str:
    """What a lane shows at a position: "" or the part of a bar, "start", "middle" or "end"."""
    for (first, last), at in zip(runs, lane, strict=True):
        if at == number and first <= position <= last:
            return "start" if position == first else "end" if position == last else "middle"
    return ""


def good_above_poor_within(per_query: pd.DataFrame) -> dict[str, float]:
    """How often a good match is above a poor one of the same query, by system: the mean over queries."""
    rank = per_query.groupby("system")["normalised_rank"].mean()
    return {str(name): 1 - float(value) for name, value in rank.items()}


def disagreements_section(
    result: ScoreResult, ranked: Standings, items: Items | None, ratings: np.ndarray | None, pictures: bool
) -> Section | None:
    """The pairs on which the first systems and people disagree most; None where no system's scores are mapped.

    Parameters
    ----------
    items : what queries and results are, where the study's folder knows
    ratings : of each judged pair, float [pairs], or None; pairs of one rating are left out where others have more
    pictures : whether thumbnails are shown
    """
    examples: list[Example] = []
    for name in ranked.names[:SYSTEMS_WITH_EXAMPLES]:
        examples += _examples(result, result[name], items, ratings, pictures)
    if not examples:
        return None
    blocks: list[Block] = [
        Examples(examples),
        Paragraph(
            "The pairs with the greatest difference between people's judgment and the system's score on the same "
            "scale, mapped by a fit that has not seen the query. The query is on the left.",
            quiet=True,
        ),
    ]
    return Section("disagreements", "Where systems and people disagree most", blocks)


def _examples(
    result: ScoreResult, system: SystemScore, items: Items | None, ratings: np.ndarray | None, pictures: bool
) -> list[Example]:
    if system.mapped_scores is None:
        return []
    difference = result.judgment - system.mapped_scores
    usable = np.isfinite(difference)
    if ratings is not None and (usable & (ratings > 1)).any():
        usable &= ratings > 1
    examples: list[Example] = []
    for sign in (1.0, -1.0):
        seen: set[str] = set()
        order = np.lexsort((np.arange(len(difference)), -sign * difference))
        for k in order[usable[order]]:
            query, item = str(result.query_id[k]), str(result.result_id[k])
            if query in seen or sign * difference[k] <= 0:
                continue
            seen.add(query)
            shown = [(each, items.text(each) if items else each) for each in (query, item)]
            sources = [items.thumbnail(each) if items and pictures else "" for each in (query, item)]
            examples.append(
                Example(system.name, shown, sources, float(result.judgment[k]), float(system.mapped_scores[k]))
            )
            if len(seen) == EACH_WAY:
                break
    return examples
