"""Every system of some score tables, aligned with the judged pairs and mapped: what is scored and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.direction import known_directions
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.mapped import fitted_to_all, map_scores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.saved import SavedComparison
from relstudy.common.errors import RelstudyError
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.scores.directions import refuse_unknown_systems
from relstudy.mapping.scores.score_table import ScoreTable

Progress = Callable[[Sequence[Candidate]], Iterable[Candidate]]


def candidates_of(
    tables: Iterable[tuple[str, ScoreTable | pd.DataFrame]],
    pairs: JudgedPairs,
    options: ScoringOptions,
    fitted: Mapping[str, FittedMapping] | None = None,
    *,
    stated: Iterable[str] = (),
    before: SavedComparison | None = None,
    progress: Progress = iter,
) -> tuple[list[Candidate], list[str]]:
    """The systems with their mapped scores, in the order of the tables.

    Parameters
    ----------
    tables : what messages call a table, and the table, as `read_scores` gives it, or a DataFrame of the same columns
    fitted : fitted mappings by system; a system without one is mapped by `options.method`
    stated : systems whose direction was stated, "*" for all: a name that is not there is refused
    before : a comparison of these very systems: mapped scores are taken from it where scores and choices are the same,
        and its systems without a score table come last
    progress : wraps the systems as they are mapped

    Returns
    -------
    The candidates, and what a person should know, one sentence each

    Raises
    ------
    RelstudyError
        where two systems have one name, a direction is stated for a system that is not there, or coverage is too low
    """
    fitted = fitted or {}
    candidates: dict[str, Candidate] = {}
    read_from: dict[str, str] = {}
    for file, scores in tables:
        table = ScoreTable.of(scores)
        directions = known_directions(fitted, table.directions)
        for name, rows in table.by_system():
            if name in candidates:
                source = f" from {read_from[name]}" if read_from[name] != Path(file).name else ""
                raise RelstudyError(
                    f"{file}: a system named {name!r} was already read{source}; systems need different names"
                )
            read_from[name] = Path(file).name
            candidates[name] = candidate_of(pairs, name, rows, options, directions, name in table.runs)
    earlier = {} if before is None else {each.name: each for each in before.candidates}
    alike = before is not None and before.maps_as(options)
    refuse_unknown_systems(stated, [*candidates, *earlier], "the scores")
    unused = [name for name in fitted if name not in candidates]
    notes = [f"Mappings of systems that are not in the scores are left out: {', '.join(unused)}."] if unused else []
    mapped = [
        _mapped(pairs, each, options, fitted.get(each.name), earlier.pop(each.name, None), alike)
        for each in progress(list(candidates.values()))
    ]
    return [*mapped, *earlier.values()], notes


def _mapped(
    pairs: JudgedPairs,
    candidate: Candidate,
    options: ScoringOptions,
    given: FittedMapping | None,
    before: Candidate | None,
    alike: bool,
) -> Candidate:
    """The candidate with its mapped scores: those that it had before, where scores and choices are the same."""
    if not alike or before is None or before.mapped is None or not before.scores_as(candidate):
        return map_scores(pairs, candidate, options, given)
    whole = fitted_to_all(pairs, candidate, before.mapped.mapping.method, options, given)
    return replace(before, measures=candidate.measures, mapped=replace(before.mapped, fitted=whole))
