"""The first screen: the answer, one picture of all systems, and where they and people disagree most."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.indices.index import Index
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
    Parting,
    Partings,
    Section,
)
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.sentences import choice_heading
from relstudy.analysis.verdict.standings import Standings
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of, number, span

MOST_ROWS = 30
BEST = 3
"""Results of a query on which a leader fails."""
EACH_WAY = 3
"""Examples of a system that people rate high and it low, and as many the other way round."""
SYSTEMS_WITH_EXAMPLES = 1


def answer_section(result: ScoreResult, verdict: Verdict) -> Section:
    """The section of the advice, with every system on one line."""
    measure = "" if len(result.systems) == 1 else verdict.measure
    blocks: list[Block] = [
        Answer(verdict.headline, measure, cards(verdict)),
        *(
            Paragraph(text)
            for text in (verdict.looks, verdict.contrary, verdict.unseen, verdict.near, *verdict.on_raters)
            if text is not None
        ),
        overview(result, verdict),
        *(Paragraph(sentence, quiet=True) for sentence in verdict.further() if sentence != verdict.parting),
    ]
    notes = [note for note in result.notes if note not in verdict.on_raters]
    if notes:
        said = f"Notes on the method ({len(notes)})"
        blocks.append(Folded(said, [Paragraph(note) for note in notes]))
    return Section("answer", "The answer", blocks, bare=True)


def cards(verdict: Verdict) -> list[tuple[str, str]]:
    """Cards of the verdict: the system to take, the worth of more ratings, systems to drop."""
    given = []
    if verdict.choice is not None:
        heading = choice_heading(verdict.standings.best[0])
        given.append((heading, verdict.choice.removeprefix(f"{heading}. ")))
    if verdict.settling is not None:
        look = None if verdict.settled else verdict.look
        given.append((verdict.settling.heading(look), verdict.settling.sentence()))
    if verdict.dropped is not None:
        heading, _, text = verdict.dropped.partition(": ")
        given.append((heading, text))
    return given


def overview(result: ScoreResult, verdict: Verdict) -> Overview:
    """Every system on one line: rank, the primary index, how it compares by the others, how far behind the first."""
    ranked, index = verdict.standings, result.primary.index
    names, unit = ranked.names[:MOST_ROWS], 100.0 if index.in_100 else 1.0
    others = [each for each in result.own_indices if each is not index]
    rows = [
        OverviewRow(
            ranked.rank(name) if len(ranked.names) > 1 else "",
            name,
            _in_figures(index, result[name].estimate(index), alone=len(ranked.names) == 1),
            name in ranked.best,
            None if name == names[0] else _behind(ranked, index, name, unit),
            [] if len(ranked.names) == 1 else [ranked.mark(each.name, names[0], name) for each in others],
        )
        for name in names
    ]
    ends = [end for row in rows if row.behind for end in (row.behind.low, row.behind.high, row.behind.value)]
    matters = unit * result.primary.matters
    shown_ends = [end for end in ends if end is not None]
    low, high = min([-2 * matters, *shown_ends]), max([0.4 * matters, *shown_ends])
    level = f"{100 * result.options.level:g} %"
    caption = ""
    if len(ranked.names) > 1:
        caption = (
            f"Dot and line: difference from the leader with its paired {level} confidence interval. Shaded: too small "
            f"to matter ({index.size_in_words(result.primary.matters)})."
        )
    if verdict.reachable is not None:
        caption += f" No system can score {'100' if index.in_100 else '1'}, because raters disagree."
    if len(ranked.names) > len(names):
        caption += f" The first {len(names)} of {count_of(len(ranked.names), 'system')}; the table below has all."
    return Overview(
        rows,
        index.term + (", in\u00a0100" if index.in_100 else ""),
        [] if len(ranked.names) == 1 else [f"by {each.term}" for each in others],
        f"difference from the leader ({level} CI)" if len(ranked.names) > 1 else "",
        float(low),
        float(high),
        matters,
        caption.strip(),
    )


def _in_figures(index: Index, estimate: Estimate, alone: bool = False) -> str:
    """The figure as readers see it, in its own unit; with its range if there is one system."""
    shown = index.shown(estimate)
    if shown.value is None:
        return "–"
    unit, form = (100, ".0f") if index.in_100 else (1, ".2f")
    text = number(unit * shown.value, form)
    if alone and shown.ends is not None:
        low, high = shown.ends
        text += f" ({span(unit * low, unit * high, form)})"
    return text


def _behind(ranked: Standings, index: Index, name: str, unit: float) -> Estimate:
    """The system's figure minus the first's, in points; below zero it is behind."""
    return ranked.from_the_first(index, name).through(lambda end: unit * end)


def parting_section(result: ScoreResult, verdict: Verdict, items: Items | None, pictures: bool) -> Section | None:
    """The two queries on which the first two systems part most, one each way; None where no query tells them apart."""
    index, names = result.primary.index, verdict.standings.names[:2]
    if verdict.parting is None:
        return None
    values = result.per_query.pivot(index="query_id", columns="system", values=index.name)[list(names)].dropna()
    by_query = {name: dict(zip(values.index.astype(str), values[name], strict=True)) for name in names}
    gap = index.sign * (values[names[0]] - values[names[1]])
    shown = []
    for system, other, query in (
        (names[1], names[0], gap.idxmax() if (gap > 0).any() else None),
        (names[0], names[1], gap.idxmin() if (gap < 0).any() else None),
    ):
        if query is not None:
            figures = [index.in_words(float(by_query[each][str(query)])) for each in (system, other)]
            best = _best_of(result, result[system], str(query), items, pictures)
            what = (
                items.text(str(query)) if items else str(query),
                items.thumbnail(str(query)) if items and pictures else "",
            )
            shown.append(Parting(system, figures[0], other, figures[1], what, best))
    if not shown:
        return None
    heading = "Where the two leaders differ" if len(verdict.standings.best) > 1 else "Where the first two differ"
    return Section("parting", heading, [Paragraph(verdict.parting), Partings(shown)])


def _best_of(
    result: ScoreResult, system: SystemScore, query: str, items: Items | None, pictures: bool
) -> list[tuple[str, str, float]]:
    """The judged results that a system puts first for a query: text, thumbnail and people's judgment."""
    score = system.direction.turned(system.pair_scores)
    rows = np.flatnonzero((result.query_id == query) & np.isfinite(score))
    rows = rows[np.argsort(-score[rows], kind="stable")][:BEST]
    names = [str(result.result_id[k]) for k in rows]
    return [
        (items.text(name) if items else name, items.thumbnail(name) if items and pictures else "", float(judgment))
        for name, judgment in zip(names, result.judgment[rows], strict=True)
    ]


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
            "The pairs with the greatest difference between people's judgment and the system's score, both on the "
            "rating scale; the mapping of scores was fitted to other queries. Calibration "
            "can move a judgment beyond the ends of the scale.",
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
