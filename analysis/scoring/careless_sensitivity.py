"""Sensitivity of figures to raters who look careless: the same figures if these were taken another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.scoring.candidate import Candidate, candidate_from
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.scored_pairs import ScoredPairs
from relstudy.calibration.tables.judgments import CarelessRaters
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed

REPLICATES = 2
"""Only the figures themselves are asked for."""
MOST = 2
"""Systems whose figures are told both ways; of more, those that change most."""
BESIDE = "average_precision"
"""Told beside the primary index: the one that random ratings move most."""


def sensitivity(
    careless: CarelessRaters | None,
    result: ScoreResult,
    candidates: Sequence[Candidate],
    scores: Mapping[str, pd.DataFrame],
    options: ScoringOptions,
) -> str | None:
    """The figures if raters who look careless were taken another way, as a sentence; None if there are none, or no
    system can be scored.

    Parameters
    ----------
    careless : these raters, with the other judgments
    result : the figures
    scores : by system, its table
    """
    if careless is None:
        return None
    pairs = JudgedPairs.of(careless.otherwise)
    few = replace(options, replicates=REPLICATES, raters="these", population="open")
    context = ScoringContext(pairs, few)
    both: dict[str, list[tuple[str, float, float]]] = {}
    for index in dict.fromkeys((result.primary.index, index_of(BESIDE))):
        both[index.name] = _both_ways(index, result, candidates, scores, context)
    said = [_in_words(index_of(name), figures) for name, figures in both.items() if figures]
    if not said:
        return None
    counted = careless.how in ("keep", "little")
    now, then = ("count", "Without them") if counted else ("do not count", "If they counted like others")
    return (
        f"{careless.finding}, and their ratings {now}. {then}, "
        f"{'; '.join(said)}{_leader(both[result.primary.name], result.primary.index)}."
    )


def _both_ways(
    index: Index,
    result: ScoreResult,
    candidates: Sequence[Candidate],
    scores: Mapping[str, pd.DataFrame],
    context: ScoringContext,
) -> list[tuple[str, float, float]]:
    """Each system with its figure and the other one."""
    found = []
    for each in candidates:
        value = result[each.name].estimate(index).value if index.name in result[each.name].indices else None
        if value is None or each.name not in scores:
            continue
        aligned = context.pairs.align_scores(scores[each.name])
        try:
            other = candidate_from(context.pairs, each.name, aligned, context.options, each.direction, each.run)
        except RelstudyError:
            continue
        figure = float(ScoredPairs.of(context, other).figure(index).value)
        if figure == figure:
            found.append((each.name, value, figure))
    return found


def _in_words(index: Index, figures: Sequence[tuple[str, float, float]]) -> str:
    """The figures that change most, in the order of the systems."""
    changes = sorted((abs(then - now) for _, now, then in figures), reverse=True)[:MOST]
    shown = [each for each in figures if abs(each[2] - each[1]) >= changes[-1]][:MOST]
    systems = [f"{index.in_words(then)} for {system} (now {index.in_words(now)})" for system, now, then in shown]
    return f"{index.term} would be {listed(systems)}"


def _leader(figures: Sequence[tuple[str, float, float]], index: Index) -> str:
    """The system that comes first either way, or the one that would, as a clause; empty of a single system."""
    if len(figures) < 2:
        return ""
    signed = [(index.sign * now, index.sign * then, system) for system, now, then in figures]
    first, other = max(signed)[2], max((then, now, system) for now, then, system in signed)[2]
    return f"; {first} comes first either way" if first == other else f"; {other} would come first, and not {first}"
