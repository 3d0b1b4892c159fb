"""Eligibility and outcomes: screening questions, practice that has to be passed, the end of a visit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.enrolment import Rater, Visit, end_visit, update_rater
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import was_shown
from relstudy.studyapp.database.tables import assignments
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids


def needs_screening(study: Study, rater: Rater) -> bool:
    """True if the rater has the screening questions before them; who has begun is not asked any more."""
    return bool(study.screening) and rater.screening is None and rater.started_at is None and rater.outcome is None


def screen(visit: Visit, answers: Mapping[str, str]) -> bool:
    """Take the rater in or not, by answers to all screening questions (by their ids); whether they fit.

    The answers of who fits are kept; of who does not, only that they were screened out. The first answers decide.
    """
    if not needs_screening(visit.study, visit.rater):
        return visit.rater.outcome is None
    if not all(question.accepts(answers.get(question.id, "")) for question in visit.study.screening):
        end_visit(visit.connection, visit.rater, "screened_out")
        return False
    update_rater(visit.connection, visit.rater, screening=dict(answers))
    return True


_PRACTICE = select_ratings().where(
    assignments.c.rater == sa.bindparam("rater"),
    assignments.c.kind == "practice",
    assignments.c.answered_at.is_not(None),
)


@dataclass(frozen=True)
class PracticeResult:
    """Result of a rater's practice: `right` of `total` results as expected, of which `needed` are asked for.

    `attempts_left` counts those after this one.
    """

    right: int
    total: int
    needed: int
    attempts_left: int

    @property
    def passed(self) -> bool:
        return self.right >= self.needed


def is_practising(study: Study, handed: Mapping[tuple[str, str], int]) -> bool:
    """True if a rater who has to qualify has nothing but practice so far; `handed` counts pages by block and kind."""
    return study.qualification is not None and bool(handed) and all(kind == "practice" for _, kind in handed)


def practice_result(visit: Visit) -> PracticeResult:
    """Result of the latest practice attempt; undecided is not what was expected, and what could not be shown is left
    out."""
    rules = visit.study.qualification
    assert rules is not None
    checked = known_pair_ids(visit.study)
    rows = visit.connection.execute(_PRACTICE, {"rater": visit.rater.id})
    answered = [row for row in rows if row.pair_id in checked and was_shown(row.further)]
    right = sum(checked[row.pair_id].is_met(row.rating, row.further) for row in answered)
    attempts_left = max(0, rules.attempts - 1 - visit.rater.practice_retries)
    return PracticeResult(right, len(answered), rules.needed(len(answered)), attempts_left)


def begin_again(visit: Visit) -> None:
    """Ask the practice pages once more; the answers given before stay as earlier revisions."""
    of_practice = (assignments.c.rater == visit.rater.id) & (assignments.c.kind == "practice")
    visit.connection.execute(sa.update(assignments).where(of_practice).values(answered_at=None))
    update_rater(visit.connection, visit.rater, practice_retries=visit.rater.practice_retries + 1, locked_to=0)


COMPLETED = "completed"
_ANSWERS = select_ratings(assignments.c.rater, assignments.c.kind).where(assignments.c.rater == sa.bindparam("rater"))


def read_outcome(connection: sa.Connection, study: Study, rater: Rater) -> str:
    """`outcome_of` a rater, from the database."""
    return outcome_of(study, rater, connection.execute(_ANSWERS, {"rater": rater.id}))


def outcome_of(study: Study, rater: Rater, answers: Iterable[Any]) -> str:
    """Outcome of a rater's visit: `COMPLETED`, one of OUTCOMES, or empty while they are at work.

    Who consented and found no place ends as full or closed, and may begin later all the same.

    Parameters
    ----------
    answers : the rater's ratings that count, each with `kind`, `pair_id`, `rating` (None: undecided) and `further`.
        Practice does not count, nor does against anybody what could not be shown to them
    """
    checks = known_pair_ids(study)
    given = shown = decided = failed = 0
    for row in answers:
        if row.kind == "practice":
            continue
        given += 1
        if was_shown(row.further):
            shown += 1
            decided += row.rating is not None
            if row.kind == "check" and row.pair_id in checks:
                failed += not checks[row.pair_id].is_met(row.rating, row.further)
    return outcome_by_counts(study, rater, AnswerCounts(given, shown, decided, failed))


@dataclass(frozen=True)
class AnswerCounts:
    """Counts of a rater's ratings without practice: `shown` of `given` could be shown, of which `decided` are not
    undecided and `failed` are attention checks that were answered otherwise than expected."""

    given: int = 0
    shown: int = 0
    decided: int = 0
    failed: int = 0


def outcome_by_counts(study: Study, rater: Rater, counts: AnswerCounts) -> str:
    """`outcome_of` a rater whose answers have been counted."""
    if rater.outcome is not None:
        return rater.outcome
    if rater.finished_at is None:
        return (rater.turned_away or "") if rater.started_at is None else ""
    if not counts.given:
        return "full" if study.entry.code_needs_decided else COMPLETED
    allowed = study.entry.failed_checks_allowed
    if allowed is not None and counts.failed > allowed:
        return "failed_checks"
    decided = counts.decided / counts.shown if counts.shown else 1.0
    return COMPLETED if decided >= study.entry.code_needs_decided else "undecided"
