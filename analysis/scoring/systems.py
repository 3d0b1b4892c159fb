"""Every system of some score tables, aligned with the judged pairs and mapped: what is scored and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate, Progress, candidate_of, not_shown
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.known_directions import known_directions
from relstudy.analysis.scoring.mapped_scores import fitted_to_all, map_scores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.saved import SavedComparison
from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.scores.score_table import ScoreTable


def candidates_of(
    tables: Iterable[tuple[str, ScoreTable | pd.DataFrame]],
    pairs: JudgedPairs,
    options: ScoringOptions,
    fitted: Mapping[str, FittedMapping] | None = None,
    *,
    before: SavedComparison | None = None,
    progress: Progress = not_shown,
) -> tuple[list[Candidate], list[str]]:
    """The systems with their mapped scores, in the order of the tables.

    Parameters
    ----------
    tables : what messages call a table, and the table, as `read_scores` gives it, or a DataFrame of the same columns
    fitted : fitted mappings by system; a system without one is mapped by `options.method`
    before : a comparison of these very systems: mapped scores are taken from it where scores and choices are the same,
        and its systems without a score table come last
    progress : shows how far it is

    Returns
    -------
    The candidates, and what a person should know, one sentence each

    Raises
    ------
    RelstudyError
        where two systems have one name, or coverage is too low
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
    unused = [name for name in fitted if name not in candidates]
    notes = [f"Mappings of systems that are not scored are left out: {', '.join(unused)}."] if unused else []
    mapped = [
        _mapped(pairs, each, options, fitted.get(each.name), earlier.pop(each.name, None), alike)
        for each in progress(list(candidates.values()), "mapping")
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
