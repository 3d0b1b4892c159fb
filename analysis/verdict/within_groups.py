"""Figures within groups of pairs or people, decided by the index of the whole, and the groups that its leader loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.groups import Grouping, Groups, leads_of_people, score_by
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.standings import Standings, standings
from relstudy.common.runtime.wording import listed_some, span


def groups_of_run(
    pairs: JudgedPairs, candidates: Sequence[Candidate], grouping: Grouping, overall: ScoreResult
) -> Groups:
    """The figures of the systems within groups, by the options of those over all pairs, and decided by their index."""
    options, primary = overall.options, overall.primary
    results = score_by(pairs, candidates, grouping, replace(options, primary=primary.name))
    results = {name: replace(each, primary=primary, options=options) for name, each in results.items()}
    without = tuple(sorted({str(name) for name in grouping.values} - set(results)))
    lost = tuple(leader_in_groups(overall, results, grouping.column))
    leads = leads_of_people(pairs, candidates, grouping, options.seed) if grouping.of_people else None
    return Groups(grouping.column, grouping.apart, results, without, lost, leads)


def leader_in_groups(overall: ScoreResult, groups: Mapping[str, ScoreResult], column: str) -> list[str]:
    """Sentences on groups in which the leader over all pairs is behind another system, by the index that decides.

    Each group in which it is clearly behind, p corrected over all groups, has its own sentence with the largest such
    difference; groups in which it is behind by the estimates alone share one. None where it is first everywhere.

    Parameters
    ----------
    groups : group -> figures there
    column : whose values are the groups' names
    """
    if len(overall.systems) < 2:
        return []
    leader, index = standings(overall).names[0], overall.primary.index
    sentences: list[str] = []
    by_chance: list[str] = []
    for name, result in groups.items():
        if leader not in {system.name for system in result.systems}:
            continue
        there = standings(result)
        behind = {other: by for other in there.names if (by := _behind(there, index.name, leader, other)) is not None}
        clear = {other: by for other, by in behind.items() if there.clear_by(index.name, leader, other) == other}
        if clear:
            other = max(clear, key=lambda each: clear[each][0])
            value, low, high = clear[other]
            ends = span(low, high)
            sentences.append(
                f"{leader} leads over all pairs and loses {column} {name}: {other} is ahead there by {value:.3f} in "
                f"{index.term}{f' ({ends})' if ends else ''}."
            )
        elif behind:
            by_chance.append(name)
    if by_chance:
        sentences.append(
            f"{leader} leads over all pairs and by the estimates is behind in {column} {listed_some(by_chance)}, which "
            "may be chance."
        )
    return sentences


def _behind(there: Standings, index: str, leader: str, other: str) -> tuple[float, float | None, float | None] | None:
    """The leader's distance behind another system by an index, with the ends; None where it is not."""
    found = None if other == leader else there.comparison(index, leader, other)
    if found is None or found.better != other or found.difference.value is None:
        return None
    difference = found.difference
    sign = 1.0 if found.difference.value > 0 else -1.0
    ends = [None if end is None else sign * end for end in (difference.low, difference.high)]
    low, high = ends if sign > 0 else reversed(ends)
    return abs(found.difference.value), low, high
