"""Systems against judgments, from score tables to the verdict: what `relstudy score` and `relstudy.score` both do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import AssistedScores, assist_by_systems, assist_scores
from relstudy.analysis.judges.systems import CannotHelp, systems_judge
from relstudy.analysis.judges.table import JudgeTable
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.careless_sensitivity import sensitivity
from relstudy.analysis.scoring.groups import Grouping, Groups
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.leave_out_of_pool import LeftOutOnes, left_out
from relstudy.analysis.scoring.measure_tests import MeasureTests, measure_tests
from relstudy.analysis.scoring.options import ScoringOptions, TestOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_candidates
from relstudy.analysis.scoring.saved import SavedComparison, place_among, save_comparison
from relstudy.analysis.scoring.systems import candidates_of
from relstudy.analysis.scoring.unjudged import notes_on_unjudged
from relstudy.analysis.verdict.facts import Look, StudyFacts
from relstudy.analysis.verdict.verdict import Verdict, verdict_of
from relstudy.analysis.verdict.within_groups import groups_of_run
from relstudy.calibration.panel import Panel
from relstudy.calibration.panel_remarks import panel_remarks
from relstudy.calibration.tables.decision import Decision
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.session import ordered_by, session_order
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.runtime.console import progress
from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.scores.score_table import ScoreTable
from relstudy.mapping.scores.stated_directions import refuse_unknown_systems


@dataclass(frozen=True, eq=False)
class ScoringRun:
    """The outcome of a scoring run.

    Parameters
    ----------
    study : people's judgments, with what belongs to them
    result : the figures, with everything that a person should know as notes
    candidates : the systems, those of the saved comparison first
    pairs : the judged pairs
    assisted : the same with an automatic judge's help; None: without a judge
    within : the same within groups of judged pairs; None: without groups
    places : where the new systems stand among those of a saved comparison, as sentences
    tests : of the measures; None where they were not asked for
    left_out : every system left out of the pool in turn; None where that was not asked for
    looks, look, on_raters : see `StudyFacts`; `relstudy.analysis.interim_looks` counts looks
    unhelped : why help that was asked for is not given, as sentences, which are among the notes too
    """

    study: StudyTables
    result: ScoreResult
    candidates: Sequence[Candidate]
    pairs: JudgedPairs
    assisted: AssistedScores | None = None
    within: Groups | None = None
    places: tuple[str, ...] = ()
    tests: MeasureTests | None = None
    left_out: LeftOutOnes | None = None
    unhelped: tuple[str, ...] = ()
    looks: tuple[int, ...] = ()
    look: Look | None = None
    on_raters: tuple[str, ...] = ()

    @cached_property
    def facts(self) -> StudyFacts:
        """What is known of the study beyond the scores."""
        facts = StudyFacts.of(self.study.judgments, self.result)
        return replace(facts, looks=self.looks, look=self.look, closed=self.study.closed, on_raters=self.on_raters)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict by people's ratings alone: leaders, ties, and quality."""
        return verdict_of(self.result, self.facts)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict by who judges: people alone, people with the judge's help, the judge alone.

        People alone if there is no judge, a single system, or no help with the index that decides.
        """
        helped = {} if self.assisted is None or len(self.result.systems) < 2 else self.assisted.decided(self.result)
        return {"people alone": self.verdict, **{who: verdict_of(each, self.facts) for who, each in helped.items()}}

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        content = self.result.as_json() if self.assisted is None else self.assisted.into(self.result.as_json())
        content["verdict"] = self.verdict.as_json()
        if self.assisted is not None:
            content["verdict"]["by_who_judges"] = {
                who: {"headline": each.headline, "best": each.standings.best, "choice": each.as_json()["choice"]}
                for who, each in self.verdicts.items()
            }
        if self.tests is not None:
            content["tests"] = self.tests.as_json()
        if self.left_out is not None:
            content["left_out"] = self.left_out.as_json()
        if self.within is not None:
            content["by"] = self.within.as_json()
        return content

    def save(self, path: str) -> None:
        """Keep the comparison for a later `against`."""
        save_comparison(self.pairs, list(self.candidates), self.result.options, path)


def decided(options: ScoringOptions, decision: Decision) -> ScoringOptions:
    """The options, with what the study states of its analysis where they leave it open."""
    primary = decision.primary if options.primary is None else options.primary
    return replace(options, primary=primary, matters=decision.matters if options.matters is None else options.matters)


def run_of_comparison(saved: SavedComparison) -> ScoringRun:
    """The systems of a saved comparison, scored again: the same figures."""
    result = score_candidates(saved.pairs, saved.candidates, saved.options)
    result = replace(result, notes=(*saved.judgments.all_notes, *result.notes))
    return ScoringRun(saved.study, result, saved.candidates, saved.pairs)


def score_tables(
    study: StudyTables,
    tables: Sequence[tuple[str, ScoreTable]],
    options: ScoringOptions,
    *,
    fitted: Mapping[str, FittedMapping],
    stated: Iterable[str] = (),
    saved: SavedComparison | None = None,
    before: SavedComparison | None = None,
    judge: JudgeTable | None = None,
    grouping: Grouping | None = None,
) -> ScoringRun:
    """Score the systems of some tables against judgments.

    Parameters
    ----------
    study : people's judgments, with what belongs to them
    tables : what each is called, and its scores
    fitted : mappings by system; others are fitted here
    stated : systems whose direction the options state ("*" for all)
    saved : a comparison among whose systems these are placed
    before : a comparison of these very systems: mapped scores are taken from it where scores and choices are the same,
        and its further systems are scored as well
    judge : an automatic judge's grades of many more pairs
    grouping : also score within groups of the judged pairs

    Raises
    ------
    RelstudyError
        where a system scores too few of the judged pairs, or is in the saved comparison by that name
    """
    options = decided(options, study.decision)
    if saved is None:
        study = study.with_queries(study.queries, options.query_weights)
    elif study.pool is None:
        study = replace(study, pool=saved.pool)
    judgments = study.judgments
    tables = [(name, table.by_study(judgments.own_ids)) for name, table in tables]
    if "query_weight" in judgments.frame and (judge is not None or options.assist != "none"):
        raise RelstudyError(
            "a judge's help is for queries that count equally, and these have weights: leave one of them out"
        )
    pairs = JudgedPairs.of(judgments, study.pool)
    by_system = {name: rows for _, table in tables for name, rows in table.by_system()}
    there = [*by_system, *([] if before is None else [each.name for each in before.candidates])]
    refuse_unknown_systems(stated, list(dict.fromkeys(there)), "the scores")
    candidates, unmapped = candidates_of(tables, pairs, options, fitted, before=before, progress=progress)
    unjudged = notes_on_unjudged(study, by_system, candidates, judge is not None)
    new = [candidate.name for candidate in candidates]
    candidates = candidates if saved is None else saved.beside(candidates)
    result = score_candidates(pairs, candidates, options, progress)
    within = None if grouping is None else groups_of_run(pairs, candidates, grouping, result)
    assisted: AssistedScores | None = None
    unhelped: list[str] = []
    if judge is not None or options.assist == "systems":
        assisted, unhelped = _assisted(study, pairs, candidates, by_system, judge, options)
    read = [note for _, table in tables for note in table.notes]
    helped = () if assisted is None else assisted.notes
    careless = sensitivity(judgments.careless, result, candidates, by_system, options)
    on_raters = (*filter(None, [careless]), *_on_raters(judgments))
    notes = (*judgments.all_notes, *on_raters, *read, *unmapped, *result.notes)
    all_notes = (*notes, *unjudged, *helped, *unhelped)
    result = replace(result, notes=all_notes, drawn=None)  # families are corrected
    places = [] if saved is None else [sentence for name in new for sentence in place_among(result, name)]
    run = ScoringRun(
        study, result, candidates, pairs, assisted, within, tuple(places), unhelped=tuple(unhelped), on_raters=on_raters
    )
    return with_left_out(run, by_system)


def _on_raters(judgments: Judgments) -> list[str]:
    """Sentences on the panel behind the judgments; none where its ratings are not known."""
    ratings = judgments.ratings
    if ratings is None or not {"rater_id", "rating"} <= {*ratings}:
        return []
    remarks = panel_remarks(ratings)
    if ordered_by(ratings) is not None:
        from relstudy.calibration.drift import session_drift

        scale = judgments.scale.scale
        drift = session_drift(Panel.from_frame(ratings), session_order(ratings))
        if drift is not None and drift.is_found:
            remarks.append(f"As given, {drift.sentence(scale.high - scale.low)}")
    return [f"{each}." for each in remarks]


def with_tests(run: ScoringRun, testing: TestOptions) -> ScoringRun:
    """The run with its measures tested, within groups too."""
    within = None if run.within is None else run.within.tested(testing)
    tests = measure_tests(run.result, testing, run.study.judgments.ratings)
    return replace(run, tests=tests, within=within)


def with_left_out(run: ScoringRun, scores: Mapping[str, pd.DataFrame]) -> ScoringRun:
    """The run with every system left out of the pool in turn, where its options ask for that.

    Parameters
    ----------
    scores : query_id, result_id, score of everything that each system scored, by its name
    """
    options = run.result.options
    if options.pool_depth is None:
        return run
    return replace(run, left_out=left_out(run.pairs, run.candidates, scores, options))


def _assisted(
    study: StudyTables,
    pairs: JudgedPairs,
    candidates: Sequence[Candidate],
    scores: Mapping[str, pd.DataFrame],
    judge: JudgeTable | None,
    options: ScoringOptions,
) -> tuple[AssistedScores | None, list[str]]:
    """The figures with the help that was asked for, and a sentence where the systems' scores give none."""
    off: list[str] = []
    if options.assist == "systems":
        blank = study.judgments.undecided
        seen = len(pairs) + (0 if blank is None else len(blank))
        population = None if study.pool is None else study.pool.pairs
        try:
            helper = systems_judge(candidates, scores, population, judge)
            return assist_by_systems(helper, pairs, candidates, options, decided=len(pairs) / seen), []
        except CannotHelp as reason:
            off = [f"The systems' scores do not help: {reason}."]
    if judge is None:
        return None, off
    return assist_scores(Universe.of(pairs, judge, options), candidates, scores), off
