"""The verdict on a comparison, one for the report, the terminal, JSON, LaTeX and notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relstudy.analysis.scoring.primary import Primary
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict import sentences
from relstudy.analysis.verdict.facts import Look, StudyFacts
from relstudy.analysis.verdict.price_of_a_tie import Settling, settling
from relstudy.analysis.verdict.standings import Standings, standings
from relstudy.common.results.display import WIDTH
from relstudy.common.runtime.wording import capital, decapitalised


@dataclass(frozen=True, eq=False)
class Verdict:
    """The advice: systems that may be the best, the one to take today, the worth of more ratings, systems to drop.

    Parameters
    ----------
    primary : the index that decides, and how it came to be the one
    standings : the systems, best first, with their ranks
    headline : which to use, in one sentence
    measure : the primary index in a sentence
    choice : which to take today where several may be the best; None otherwise
    contrary : by which other indices another system is ahead of the first; None by none
    unseen : what results that nobody judged leave open, of systems that lead by judged pairs alone or are behind since
        such results count as poor; None where nothing
    near : the system of which chance in the replicates decides whether it may be the best; None where none is
    settling : what more ratings would tell of the first two; None where one is the best, or nothing can be said
    dropped : which systems can be dropped; None where none can
    parting : on how many queries either of the first two is better; None where that is not known
    quality : how good the best are, against what could be reached where that is known
    unknown : what these figures do not say
    reachable : the correlation that any system could reach; None where not known
    looks : what looks at a running study do to the error, and whether to go on; None for one that nobody planned
    look : this one, where looks are planned; None otherwise
    on_raters : raters who agree little or may be one person, one sentence each

    Examples
    --------
    >>> from relstudy.analysis.scoring.run import score_systems
    >>> import pandas as pd
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> judgments = pd.DataFrame(pairs | {"judgment": [5.0, 1.0, 4.0, 2.0]})
    >>> scores = pd.DataFrame(pairs | {"one": [0.9, 0.2, 0.4, 0.3], "other": [0.1, 0.2, 0.4, 0.3]})
    >>> long = scores.melt(["query_id", "result_id"], var_name="system", value_name="score")
    >>> verdict = verdict_of(score_systems(judgments, long))
    >>> verdict.advice()[1].partition(", the default ")[0]
    "Ranked by correlation (how closely scores follow people's judgments)"
    >>> verdict.sentences() == verdict.advice() + verdict.further()
    True
    >>> verdict.as_json()["primary"]
    'pearson'
    """

    primary: Primary
    standings: Standings
    headline: str
    measure: str
    choice: str | None
    contrary: str | None
    unseen: str | None
    near: str | None
    settling: Settling | None
    dropped: str | None
    parting: str | None
    quality: tuple[str, ...]
    unknown: tuple[str, ...]
    reachable: float | None
    looks: str | None = None
    look: Look | None = None
    on_raters: tuple[str, ...] = ()
    settled: bool = False

    def advice(self) -> list[str]:
        """The advice in sentences: the headline, the index, the choice, measures that point elsewhere, what nobody
        judged, a system near the bound, the price, systems to drop."""
        settle = None if self.settling is None else self.settling.sentence()
        said = (
            self.headline,
            self.looks,
            self.measure,
            self.choice,
            self.contrary,
            self.unseen,
            self.near,
            *self.on_raters,
            settle,
            self.dropped,
        )
        return [text for text in said if text is not None]

    def further(self) -> list[str]:
        """Further sentences: queries on which the first two part, quality of the best, limits of these figures."""
        missing = [f"Not known: {decapitalised(text)}" for text in self.unknown]
        return [*([] if self.parting is None else [self.parting]), *self.quality, *missing]

    def sentences(self) -> list[str]:
        """All of it, the headline first."""
        return [*self.advice(), *self.further()]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        return "\n".join(line for sentence in self.sentences() for line in textwrap.wrap(sentence, WIDTH))

    def as_json(self) -> dict[str, Any]:
        """Plain JSON: what to do, the best set, ranks, and what would settle it."""
        ranked = self.standings
        return {
            "headline": self.headline,
            "looks": self.looks,
            "look": None if self.look is None else self.look.as_json(),
            "primary": self.primary.name,
            "primary_chosen": self.primary.chosen,
            "best": ranked.best,
            "choice": ranked.best[0] if ranked.best else None,
            "advice": self.advice()[1:],
            "contrary": self.contrary,
            "unseen": self.unseen,
            "near": self.near,
            "on_raters": list(self.on_raters),
            "quality": list(self.quality),
            "unknown": list(self.unknown),
            "ranks": [
                {
                    "system": name,
                    "rank": ends[0] if (ends := ranked.ranks(name)) else None,
                    "rank_high": ends[1] if ends else None,
                    "shown": ranked.rank(name),
                    "ahead_of": ranked.behind(name),
                    "not_told_apart_from": ranked.not_told_apart(name),
                }
                for name in ranked.names
            ],
            "reachable_correlation": self.reachable,
            "parting": self.parting,
            "settling": None if self.settling is None else self.settling.as_json(),
        }


def by_who_judges(verdicts: Mapping[str, Verdict], primary: Primary) -> list[str]:
    """The verdicts by who judges, a sentence each; that no judge helps where people alone say something.

    Parameters
    ----------
    verdicts : by who judges, people alone first
    """
    if len(verdicts) == 1:
        return [f"No judge helps with {primary.index.term} here, which decides: people alone do."]
    return [f"{capital(who)}: {each.headline}" for who, each in verdicts.items()]


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
    leading = ranked.best[:2] or list(ranked.names[:1])
    alone = len(ranked.names) == 1
    look = None if alone else facts.look
    settled = look is not None and not look.is_last and sentences.is_settled(result, ranked)
    before = f"You can stop at {look.name}. " if look and settled and not look.is_over else facts.so_far
    quality = sentences.agreements(result, [result[name] for name in leading], facts)
    return Verdict(
        result.primary,
        ranked,
        _after(before, quality[0] if alone else sentences.headline(result, ranked)),
        sentences.measure(result),
        sentences.choice(result, ranked),
        sentences.contrary(result, ranked),
        sentences.unseen(result, ranked),
        sentences.near_the_bound(result),
        settling(result, ranked, facts),
        sentences.dropped(result, ranked),
        sentences.parting(result, ranked),
        () if alone else tuple(quality),
        tuple(sentences.unknown(result)),
        facts.reachable,
        facts.price_of_looks(result.options.level)
        if look is None
        else sentences.at_look(result, ranked, look, settled),
        look,
        facts.on_raters,
        settled,
    )


def _after(before: str, said: str) -> str:
    """A sentence after what it is put after, with its own beginning in small letters behind a colon."""
    inner = before.endswith(": ") and said.startswith(("This ", "The ", "Use ", "How "))
    return before + (decapitalised(said) if inner else said)
