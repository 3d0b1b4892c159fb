"""The same scoring run within groups of judged pairs, by any column of theirs, or by groups of the people who rated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.measures import QueryValues
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.comparison import in_families
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.mapped_scores import map_scores
from relstudy.analysis.scoring.measure_tests import MeasureTests, measure_tests
from relstudy.analysis.scoring.options import ScoringOptions, TestOptions, options_over
from relstudy.analysis.scoring.results import Coverage, Family, ScoreResult
from relstudy.analysis.scoring.run import score_candidates
from relstudy.calibration.leads_by_two_sides import OrderRow, all_orders_hold, leads_apart, ranked_differently
from relstudy.calibration.tables.pair_ratings import PairRatings
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.runtime.wording import in_words, listed, listed_some
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.group_columns import EMPTY

FEWEST_PAIRS = 3
"""A system with fewer pairs in a group has no figures there."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """A grouping of the judged pairs, or of the people who rated them.

    Parameters
    ----------
    column : whose values are the groups' names
    values : each pair's group, text [pairs]; of people each rating's, text [ratings]
    apart : whether each group's mappings are fitted to its own pairs alone
    of_people : whether the groups are of people
    """

    column: str
    values: np.ndarray
    apart: bool = False
    of_people: bool = False

    @classmethod
    def of(cls, study: StudyTables, column: str, *, apart: bool, pairs: Checked | None = None) -> Grouping:
        """The groups of a column of the judgments, the queries or the pairs; else of what the ratings say of people.

        Parameters
        ----------
        pairs : another table of pairs than the one beside the judgments

        Raises
        ------
        RelstudyError
            where no table has the column, it has too many values, or says several things of one rater
        """
        if study.is_of_people(column, pairs):
            return cls(column, study.groups_of_people(column), apart, of_people=True)
        return cls(column, study.groups(column, pairs), apart)


@dataclass(frozen=True, eq=False)
class Groups:
    """The figures within groups of judged pairs, or by groups of people.

    Parameters
    ----------
    column : whose values are the groups' names
    apart : whether each group's mappings were fitted to its own pairs alone
    results : group -> figures
    left_out : groups without figures, since no system has enough pairs in them
    lost : on groups in which the leader over all pairs is behind, one sentence each
    leads : of groups of people: how far each system leads each other by their ratings and by all others', by group
        (of two groups the first alone); None of groups of pairs
    tests : of the measures within each group that allows them; None where they were not asked for
    """

    column: str
    apart: bool
    results: Mapping[str, ScoreResult]
    left_out: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    leads: Mapping[str, tuple[OrderRow, ...]] | None = None
    tests: Mapping[str, MeasureTests] | None = None

    def table(self) -> pd.DataFrame:
        """One row a group and system, under the column's name: pairs and queries of the group, and every figure."""
        parts = []
        for name, result in self.results.items():
            sizes = {"group_pairs": result.pairs["judged"], "group_queries": result.pairs["queries"]}
            of_group = result.table()
            parts.append(of_group.assign(**{self.column: name, **sizes})[[self.column, *sizes, *of_group]])
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def differences(self) -> pd.DataFrame:
        """One row a group, index and couple of systems, under the column's name: first minus second with its ends, p,
        and p corrected over all of them."""
        rows = [{self.column: name, **each.row} for name, result in self.results.items() for each in result.comparisons]
        return pd.DataFrame(rows)

    def tests_table(self) -> pd.DataFrame:
        """The rows of the tests of measures of each group, under the column's name."""
        parts = [tests.table().assign(**{self.column: name}) for name, tests in (self.tests or {}).items()]
        return pd.concat([part[[self.column, *part.columns[:-1]]] for part in parts], ignore_index=True)

    def tested(self, options: TestOptions) -> Groups:
        """The same with the measures of each group tested, where it has two systems, and the baseline if there is
        one."""
        tests = {}
        for name, result in self.results.items():
            names = {system.name for system in result.systems}
            whole = options.baseline is None or options.baseline in names
            if whole and len(names) > 1 and any(index.of_run for index in result.indices):
                tests[name] = measure_tests(result, options)
        return replace(self, tests=tests or None)

    def notes(self) -> list[str]:
        """Groups that the leader loses, groups without figures, how differences are corrected, one sentence each."""
        notes = [*self.lost, *self.people_differ()]
        if self.left_out:
            few = f"no system scores {in_words(FEWEST_PAIRS)} judged pairs there"
            notes.append(f"No figures for {listed_some(self.left_out)}: {few}.")
        statements = sum(len(result.comparisons) for result in self.results.values())
        if statements > 1:
            notes.append(
                f"The {statements} differences within groups are one family: p is corrected over all together."
            )
        return notes

    def people_differ(self) -> list[str]:
        """Sentences on whether groups of people see the systems differently; empty of groups of pairs."""
        if self.leads is None:
            return []
        said = [f"A group of {self.column} judges by its own people's ratings."]
        for name, rows in self.leads.items():
            said += ranked_differently(f"{self.column}={name}", rows)
        statements = sum(map(len, self.leads.values()))
        return [*said, all_orders_hold(statements)] if statements else said

    def as_json(self) -> dict[str, Any]:
        """The part "by" of what `relstudy score --by` prints as JSON."""
        within = {name: result.as_json() for name, result in self.results.items()}
        content = {"column": self.column, "mapped_apart": self.apart, "groups": within, "notes": self.notes()}
        if self.leads is not None:
            content["leads"] = {name: [row.as_json() for row in rows] for name, rows in self.leads.items()}
        if self.tests is not None:
            content["tests"] = {name: tests.as_json() for name, tests in self.tests.items()}
        return content


def score_by(
    pairs: JudgedPairs,
    candidates: Sequence[Candidate],
    grouping: Grouping,
    options: ScoringOptions,
) -> dict[str, ScoreResult]:
    """Score the systems within each group of pairs, or against the judgments of each group of people.

    A system with fewer than three pairs in a group is left out there; a group in which no system has three has no
    entry.

    Mapped apart, each group's mappings are fitted to its own pairs alone, by the method used for all; else scores are
    mapped as for all pairs together, so that a group's figure is that of the mapping in use.
    """
    results, groups = {}, grouping.values
    for name in sorted(set(groups)):
        inside = groups == name
        if grouping.of_people:
            part = pairs.judged_by(inside)
            inside = np.bincount(_ratings(pairs).pair[inside], minlength=len(pairs)) > 0
        else:
            part = pairs.part(inside)
        among = [
            _candidate_within(each, inside, pairs, part)
            for each in candidates
            if int((each.used & inside).sum()) >= FEWEST_PAIRS
        ]
        if grouping.apart:
            among = [_mapped_alone(part, each, options) for each in among]
        if among:
            # a measure of half of a query's results would be another measure
            why = _without_measures(pairs, inside, grouping)
            result = score_candidates(part, among, replace(options, measures=()) if why else options)
            results[str(name)] = replace(result, notes=(*result.notes, *_left_out(candidates, among, options, why)))
    return _as_one_family(results)


def leads_of_people(
    pairs: JudgedPairs, candidates: Sequence[Candidate], grouping: Grouping, seed: int
) -> dict[str, tuple[OrderRow, ...]]:
    """Leads of every system over every other by each group's ratings and by all others' (`leads_apart`).

    Of two groups the first alone, since the other's are the same turned round; who says nothing is not a group.
    """
    ratings = _ratings(pairs)
    frame = pd.DataFrame({"query_id": pairs.query_id, "result_id": pairs.result_id})
    scores = {each.name: frame.assign(score=each.direction.turned(each.score))[each.used] for each in candidates}

    def side(rows: np.ndarray) -> pd.DataFrame:
        pair = ratings.pair[rows]
        weight = pairs.worth[pair] / np.bincount(pair)[pair]
        return frame.iloc[pair].assign(judgment=ratings.calibrated[rows], weight=weight)

    groups = grouping.values
    names = [name for name in sorted(set(groups)) if name != EMPTY]
    of_two = len(names) == 2 and EMPTY not in groups
    compared = names[:1] if of_two else names if len(set(groups)) > 1 else []
    return {
        str(name): tuple(leads_apart(side(groups == name), side(groups != name), scores, seed, len(compared)))
        for name in compared
    }


def _ratings(pairs: JudgedPairs) -> PairRatings:
    assert pairs.ratings is not None
    return pairs.ratings


def _as_one_family(results: Mapping[str, ScoreResult]) -> dict[str, ScoreResult]:
    """The same with all comparisons, of every group and index, corrected together."""
    comparisons = [replace(each, family=Family.GROUPS) for result in results.values() for each in result.comparisons]
    drawn = [result.drawn for result in results.values() if result.drawn is not None]
    corrected = iter(in_families(comparisons, np.concatenate(drawn)) if comparisons else [])
    return {
        name: replace(result, comparisons=tuple(islice(corrected, len(result.comparisons))), drawn=None)
        for name, result in results.items()
    }


def _without_measures(pairs: JudgedPairs, inside: np.ndarray, grouping: Grouping) -> str:
    """The reason why measures of whole rankings have no figure in a group, as a phrase; empty where they have.

    Of half of a query's results a measure would be another one, and it is of everybody's judgments.
    """
    if grouping.of_people:
        return "the judgments of whole rankings are everybody's"
    of_part = np.isin(pairs.query, pairs.query[inside]) & ~inside
    return "of some queries only a part of the pairs is in the group" if of_part.any() else ""


def _left_out(
    candidates: Sequence[Candidate], among: Sequence[Candidate], options: ScoringOptions, why: str
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
    if options.measures and why:
        are = "is" if len(options.measures) == 1 else "are"
        notes.append(f"{listed(options.measures)} {are} left out: {why}.")
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
