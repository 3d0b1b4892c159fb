"""The verdict on a comparison, one for the report, the terminal, JSON, LaTeX and notebooks."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict import sentences
from relstudy.analysis.verdict.facts import StudyFacts
from relstudy.analysis.verdict.settling import Settling, settling
from relstudy.analysis.verdict.standings import Standings, standings
from relstudy.analysis.verdict.within import WithinQuery, within_query
from relstudy.common.shown import WIDTH


@dataclass(frozen=True, eq=False)
class Verdict:
    """Who leads, who is tied, how good they are, what is not known, and what would settle it.

    Parameters
    ----------
    standings : the systems, best first, with ranks and ties
    headline : who leads, in one sentence
    reasons : by which measures, and who is behind
    quality : how good the leaders are, against what could be reached where that is known
    unknown : what these figures do not say
    settling : what would tell the first two systems apart; None where they are, or nothing can be said
    within : the first two systems within each query; None with a single system or few queries
    reachable : the correlation that any system could reach; None where not known
    """

    standings: Standings
    headline: str
    reasons: tuple[str, ...]
    quality: tuple[str, ...]
    unknown: tuple[str, ...]
    settling: Settling | None
    within: WithinQuery | None
    reachable: float | None

    def sentences(self) -> list[str]:
        """All of it, the headline first."""
        settle = [] if self.settling is None else [self.settling.sentence()]
        missing = [f"Not known: {text[:1].lower()}{text[1:]}" for text in self.unknown]
        return [self.headline, *self.reasons, *self.quality, *settle, *missing]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        return "\n".join(line for sentence in self.sentences() for line in textwrap.wrap(sentence, WIDTH))

    def as_json(self) -> dict[str, Any]:
        """Plain JSON: who leads, ranks, reasons, and what would settle it."""
        ranked = self.standings
        return {
            "headline": self.headline,
            "reasons": list(self.reasons),
            "quality": list(self.quality),
            "unknown": list(self.unknown),
            "leaders": ranked.leaders,
            "ranks": [
                {
                    "system": name,
                    "rank": ranked.ranks[name],
                    "shown": ranked.rank(name),
                    "ahead_of": ranked.behind(name),
                    "not_told_apart_from": ranked.not_told_apart(name),
                }
                for name in ranked.names
            ],
            "reachable_correlation": self.reachable,
            "within_query": None if self.within is None else self.within.as_json(),
            "settling": None if self.settling is None else self.settling.as_json(),
        }


def verdict_of(result: ScoreResult, facts: StudyFacts | None = None) -> Verdict:
    """The verdict on a score result.

    Parameters
    ----------
    facts : what is known of the study beyond the scores; None: nothing

    Examples
    --------
    >>> import pandas as pd
    >>> from relstudy.analysis.scoring.run import score_systems
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> judgments = pd.DataFrame(pairs | {"judgment": [5.0, 1.0, 4.0, 2.0]})
    >>> scores = pd.DataFrame(pairs | {"system": "one", "score": [0.9, 0.2, 0.4, 0.3]})
    >>> verdict_of(score_systems(judgments, scores)).standings.rank("one")
    '1'
    """
    facts = facts or StudyFacts()
    ranked = standings(result)
    top = ranked.names[:2]
    within = within_query(result, *top) if len(top) == 2 else None
    reasons = [*sentences.ties(result, ranked), *sentences.others(ranked)]
    if within is not None:
        reasons.append(within.sentence(1 - result.options.level))
    leading = ranked.leaders[:2] or list(ranked.names[:1])
    quality = sentences.agreements(result, [result[name] for name in leading], facts.reachable)
    if len(ranked.names) == 1:
        headline, quality = quality[0], []
    else:
        headline = sentences.headline(result, ranked)
    settle = settling(result, ranked, facts)
    return Verdict(
        ranked,
        headline,
        tuple(reasons),
        tuple(quality),
        tuple(sentences.unknown(result)),
        settle,
        within,
        facts.reachable,
    )
