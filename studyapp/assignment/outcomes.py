"""How a visit ended: completed, or with one of the outcomes that have a way back of their own in study.toml."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.raters import Rater
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids

COMPLETED = "completed"
_ANSWERS = select_ratings(assignments.c.rater, assignments.c.kind).where(assignments.c.rater == sa.bindparam("rater"))


def read_outcome(connection: sa.Connection, study: Study, rater: Rater) -> str:
    """`outcome_of` a rater, from the database."""
    return outcome_of(study, rater, connection.execute(_ANSWERS, {"rater": rater.id}))


def outcome_of(study: Study, rater: Rater, answers: Iterable[Any]) -> str:
    """How a rater's visit ended: `COMPLETED`, one of OUTCOMES, or empty while they are at work.

    Parameters
    ----------
    answers : the rater's ratings that count, each with `kind`, `pair_id` and `rating` (None: undecided). Practice does
        not count
    """
    if rater.outcome is not None:
        return rater.outcome
    if rater.finished_at is None:
        return ""
    given = [row for row in answers if row.kind != "practice"]
    if not given:
        return "full" if study.entry.code_needs_decided else COMPLETED
    checks = known_pair_ids(study)
    known = [row for row in given if row.kind == "check" and row.pair_id in checks]
    failed = sum(row.rating not in checks[row.pair_id].expected for row in known)
    allowed = study.entry.failed_checks_allowed
    if allowed is not None and failed > allowed:
        return "failed_checks"
    decided = sum(row.rating is not None for row in given) / len(given)
    return COMPLETED if decided >= study.entry.code_needs_decided else "undecided"
