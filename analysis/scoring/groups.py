"""The same scoring run within groups of judged pairs: by paradigm, by block, by any column of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.measures import QueryValues
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.compared import Family
from relstudy.analysis.scoring.comparison import in_families
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.mapped import map_scores
from relstudy.analysis.scoring.options import ScoringOptions, options_over
from relstudy.analysis.scoring.results import Coverage, ScoreResult
from relstudy.analysis.scoring.run import score_candidates
from relstudy.common.wording import in_words, listed, listed_some

FEWEST_PAIRS = 3
"""A system with fewer pairs in a group has no figures there."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """A grouping of the judged pairs.

    Parameters
    ----------
    column : whose values are the groups' names
    values : each pair's group, text [pairs]
    apart : whether each group's mappings are fitted to its own pairs alone
    """

    column: str
    values: np.ndarray
    apart: bool = False


@dataclass(frozen=True, eq=False)
class Groups:
    """The figures within groups of judged pairs.

    Parameters
    ----------
    column : whose values are the groups' names
    apart : whether each group's mappings were fitted to its own pairs alone
    results : group -> figures
    left_out : groups without figures, since no system has enough pairs in them
    lost : on groups in which the leader over all pairs is behind, one sentence each
    """

    column: str
    apart: bool
    results: Mapping[str, ScoreResult]
    left_out: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """One row a group and system, under the column's name: pairs and queries of the group, and every figure."""
        parts = []
        for name, result in self.results.items():
            sizes = {"group_pairs": result.pairs["judged"], "group_queries": result.pairs["queries"]}
            of_group = result.table()
            parts.append(of_group.assign(**{self.column: name, **sizes})[[self.column, *sizes, *of_group]])
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def notes(self) -> list[str]:
        """Groups that the leader loses, groups without figures, how differences are corrected, one sentence each."""
        notes = list(self.lost)
        if self.left_out:
            few = f"no system scores {in_words(FEWEST_PAIRS)} judged pairs there"
            notes.append(f"No figures for {listed_some(self.left_out)}: {few}.")
        statements = sum(len(result.comparisons) for result in self.results.values())
        if statements > 1:
            notes.append(
                f"The {statements} differences within groups are one family: p is corrected over all together."
            )
        return notes

    def as_json(self) -> dict[str, Any]:
        """The part "by" of what `relstudy score --by` prints as JSON."""
        within = {name: result.as_json() for name, result in self.results.items()}
        return {"column": self.column, "mapped_apart": self.apart, "groups": within, "notes": self.notes()}


def score_by(
    pairs: JudgedPairs,
    candidates: Sequence[Candidate],
    groups: np.ndarray,
    options: ScoringOptions,
    *,
    apart: bool = False,
) -> dict[str, ScoreResult]:
    """Score the systems within each group of pairs.

    A system with fewer than three pairs in a group is left out there; a group in which no system has three has no
    entry.

    Parameters
    ----------
    groups : each pair's group, text [pairs]
    apart : whether each group's mappings are fitted to its own pairs alone, by the method used for all; else scores are
        mapped as for all pairs together, so that a group's figure is that of the mapping in use
    """
    results = {}
    for name in sorted(set(groups)):
        inside = groups == name
        part = pairs.part(inside)
        among = [
            _candidate_within(each, inside, pairs, part)
            for each in candidates
            if int((each.used & inside).sum()) >= FEWEST_PAIRS
        ]
        if apart:
            among = [_mapped_alone(part, each, options) for each in among]
        if among:
            # a measure of half of a query's results would be another measure
            whole = all((groups[pairs.query == query] == name).all() for query in np.unique(pairs.query[inside]))
            result = score_candidates(part, among, options if whole else replace(options, measures=()))
            results[str(name)] = replace(result, notes=(*result.notes, *_left_out(candidates, among, options, whole)))
    return _as_one_family(results)


def _as_one_family(results: Mapping[str, ScoreResult]) -> dict[str, ScoreResult]:
    """The same with all comparisons, of every group and index, corrected together."""
    told = [replace(each, family=Family.GROUPS) for result in results.values() for each in result.comparisons]
    drawn = [result.drawn for result in results.values() if result.drawn is not None]
    corrected = iter(in_families(told, np.concatenate(drawn)) if told else [])
    return {
        name: replace(result, comparisons=tuple(islice(corrected, len(result.comparisons))), drawn=None)
        for name, result in results.items()
    }


def _left_out(
    candidates: Sequence[Candidate], among: Sequence[Candidate], options: ScoringOptions, whole: bool
) -> list[str]:
    """Systems and measures without figures in a group, one sentence each."""
    present = {each.name for each in among}
    absent = [each.name for each in candidates if each.name not in present]
    notes = []
    if absent:
        few = f"fewer than {in_words(FEWEST_PAIRS)} judged pairs here"
        notes.append(
            f"{listed_some(absent)} {'scores' if len(absent) == 1 else 'score'} {few}, and no figure is given."
        )
    if options.measures and not whole:
        are = "is" if len(options.measures) == 1 else "are"
        part = "of some queries only a part of the pairs is in the group"
        notes.append(f"{listed(options.measures)} {are} left out: {part}.")
    return notes


def _mapped_alone(part: JudgedPairs, candidate: Candidate, options: ScoringOptions) -> Candidate:
    """The candidate with scores mapped by fits to these pairs alone; as it is where it has no mapping."""
    if candidate.mapped is None:
        return candidate
    method = candidate.mapped.mapping.method
    return map_scores(part, replace(candidate, mapped=None), options_over(options, {"method": method}))


def _candidate_within(candidate: Candidate, inside: np.ndarray, pairs: JudgedPairs, part: JudgedPairs) -> Candidate:
    mapped = candidate.mapped
    if mapped is not None:
        in_sample = None if mapped.in_sample is None else mapped.in_sample[inside]
        mapped = replace(mapped, values=mapped.values[inside], in_sample=in_sample)
    given = candidate.given[inside]
    missing = np.flatnonzero(~np.isfinite(given))[:5]
    examples = tuple((str(part.query_id[i]), str(part.result_id[i])) for i in missing)
    coverage = Coverage(int(np.isfinite(given).sum()), len(part), candidate.coverage.policy, examples)
    return replace(
        candidate,
        given=given,
        score=candidate.score[inside],
        used=candidate.used[inside],
        coverage=coverage,
        mapped=mapped,
        measures=None if candidate.measures is None else _measures_within(candidate.measures, pairs, part),
    )


def _measures_within(
    measures: Mapping[str, QueryValues], pairs: JudgedPairs, part: JudgedPairs
) -> dict[str, QueryValues]:
    kept = np.isin(pairs.queries, part.queries)
    return {
        name: replace(each, values=each.values[kept], errors=None if each.errors is None else each.errors[kept])
        for name, each in measures.items()
    }
