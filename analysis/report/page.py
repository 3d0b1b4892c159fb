"""The two pages: of a score result alone, and of a whole study."""

from __future__ import annotations

from relstudy.analysis.report.layout import Page
from relstudy.analysis.report.scored import score_sections
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.verdict import verdict_of
from relstudy.common.wording import count_of, listed


def score_page(result: ScoreResult) -> str:
    """One self-contained HTML page of a score result: `relstudy score --report`.

    Parameters
    ----------
    result : as `relstudy.analysis.scoring.run.score_systems` gives it
    """
    return page_of_scores(result).html()


def page_of_scores(result: ScoreResult) -> Page:
    """The page of a score result, before it becomes HTML."""
    names = [system.name for system in result.systems]
    title = f"{names[0]} against people's judgments" if len(names) == 1 else "Systems against people's judgments"
    return Page(title, "Score report", [lead_of_scores(result)], score_sections(result, verdict_of(result)))


def lead_of_scores(result: ScoreResult) -> str:
    """What was scored against what."""
    names = [system.name for system in result.systems]
    who = listed(names) if len(names) <= 4 else count_of(len(names), "retrieval system")
    pairs, queries = int(result.pairs["judged"]), int(result.pairs["queries"])
    return (
        f"How well {who} {'agrees' if len(names) == 1 else 'agree'} with people on "
        f"{count_of(pairs, 'judged pair')} of {count_of(queries, 'query', 'queries')}, "
        f"of which {int(result.pairs['relevant'])} are good matches."
    )
