"""Screening: questions before the instructions, and who does not fit."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from relstudy.studyapp.assignment.raters import Rater, end_visit
from relstudy.studyapp.assignment.visit import Visit
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import raters


def needs_screening(study: Study, rater: Rater) -> bool:
    """Whether the rater has the screening questions before them; who has begun is not asked any more."""
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
    kept = sa.update(raters).where(raters.c.id == visit.rater.id).values(screening=dict(answers))
    visit.connection.execute(kept)
    return True
