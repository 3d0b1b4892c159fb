"""Readings of the numbers: each in a sentence or two, for readers without statistics."""

from __future__ import annotations

from collections.abc import Sequence

from relstudy.analysis.indices.registry import PEARSON, bare_name
from relstudy.analysis.report.words import more_than_chance
from relstudy.analysis.scoring.judged_pairs import Weighting
from relstudy.analysis.scoring.relevance import RelevanceRule
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.common.runtime.wording import listed

Term = tuple[str, str]


def how_often(level: float) -> str:
    """An interval's level as people count.

    Examples
    --------
    >>> how_often(0.95), how_often(0.9), how_often(0.975)
    ('19 of 20', '90 of 100', '97.5 of 100')
    """
    return "19 of 20" if abs(level - 0.95) < 1e-9 else f"{100 * level:g} of 100"


def good_match(result: ScoreResult) -> str:
    """The meaning of a good match, in one sentence."""
    cut = result.relevance.cut
    if result.relevance.rule is RelevanceRule.SHARE:
        return (
            "How good a match a pair is, is the share of its ratings above "
            f"{cut:g}: what 7 of 10 people would call a good match counts 0.7."
        )
    return f"A good match is a pair with a judgment above {cut:g}."


def other_studies(result: ScoreResult) -> str:
    """Over which studies an interval is meant to hold: of which queries, and by which raters."""
    people = "the same raters" if result.primary_raters.raters is None else "other raters like these"
    if result.population.finite:
        return f"studies that draw other queries of this collection and ask {people}"
    return f"studies that take other queries like these and ask {people}"


def _not_covered(result: ScoreResult) -> str:
    if result.primary_raters.raters is None:
        return "It covers neither other raters nor the choice among mappings."
    return "It does not cover the choice among mappings."


def reading_indices(result: ScoreResult) -> list[Term]:
    """The meanings of the comparison's columns."""
    mapped = any(system.mapped_scores is not None for system in result.systems)
    scores = "a system's scores, put on people's scale by its mapping," if mapped else "a system's scores"
    others = "Raw correlation takes the scores as they are. " if mapped else ""
    whole = f" It is that over {result.scope}, whoever proposed the pairs."
    terms = [
        (
            "Correlation",
            f"How closely {scores} follow people's judgments: 0 not at all, 1 exactly. {others}Spearman and Kendall "
            f"ask only whether the order is right.{whole if result.collection else ''}",
        ),
        *_explained(result),
        *((index.title, index.explanation) for index in result.own_indices if index is not PEARSON),
        (
            "Interval",
            f"The range at a number should contain the true value in {how_often(result.options.level)} "
            f"{other_studies(result)}. {_not_covered(result)} Two ranges can overlap although the difference is clear.",
        ),
    ]
    if len(result.systems) > 1:
        terms.append(
            (
                "p",
                "How often two equally good systems would differ this much or more by the luck of the queries, "
                f"corrected for all comparisons. Below {more_than_chance(result):g} this page speaks of more than "
                "chance.",
            )
        )
    if result.weighting is Weighting.DESIGN:
        pooled = [index.term for index in result.own_indices if not index.of_judgments]
        terms.append(
            (
                "Weight",
                f"Pairs were chosen with unequal, known probabilities. In {listed(pooled)} each counts as one over its "
                "probability, which corrects for the choice.",
            )
        )
    return terms


def _explained(result: ScoreResult) -> list[Term]:
    if all(system.explained.of_reachable.value is None for system in result.systems):
        return []
    return [
        (
            "Explained, of reachable",
            "Explained is the square of the correlation. Of reachable is that as a share of what any system could "
            "explain: people differ, and a judgment is the mean of few ratings, so part of the differences between "
            "judgments is noise, which no system can foresee.",
        )
    ]


def reading_graded(names: Sequence[str]) -> list[Term]:
    """The meanings of the graded measures among `names`, in their order.

    Examples
    --------
    >>> [term for term, _ in reading_graded(["P@10", "P@3", "Judged@10"])]
    ['P@10, P@3']
    """
    explanations = {
        "nDCG": "The judgments of a query's first results added up, later places counting less, as a share of what the "
        "best order would reach. The number behind @ says how many results are looked at.",
        "P@": "The share of good matches among a query's first results.",
        "AP": "Average precision within each query, then the mean over queries (MAP). Condensed, it is over the judged "
        "pairs alone, and higher than the pooled one above, because most poor matches of a query were never judged.",
        "RR": "One over the place of a query's first good match: 1 when it comes first, 0.5 when second.",
    }
    terms = []
    for start, text in explanations.items():
        shown = [
            name
            for name in names
            if (bare := bare_name(name)).startswith(start) and (start != "AP" or bare[2:3] in ("", "@", "("))
        ]
        if shown:
            terms.append((", ".join(shown), text))
    return terms
