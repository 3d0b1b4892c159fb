"""Qualification: only who passes the practice is given pages that count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.visit import Visit
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments, raters
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids

_PRACTICE = select_ratings().where(
    assignments.c.rater == sa.bindparam("rater"),
    assignments.c.kind == "practice",
    assignments.c.answered_at.is_not(None),
)


@dataclass(frozen=True)
class PracticeResult:
    """How a rater's practice went: `right` of `total` results as expected, of which `needed` are asked for.

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
    """Whether a rater who has to qualify has nothing but practice so far; `handed` counts pages by block and kind."""
    return study.qualification is not None and bool(handed) and all(kind == "practice" for _, kind in handed)


def practice_result(visit: Visit) -> PracticeResult:
    """How the practice went in the latest attempt; undecided is not what was expected."""
    rules = visit.study.qualification
    assert rules is not None
    known = known_pair_ids(visit.study)
    answered = [row for row in visit.connection.execute(_PRACTICE, {"rater": visit.rater.id}) if row.pair_id in known]
    right = sum(row.rating in known[row.pair_id].expected for row in answered)
    attempts_left = max(0, rules.attempts - 1 - visit.rater.practice_retries)
    return PracticeResult(right, len(answered), rules.needed(len(answered)), attempts_left)


def begin_again(visit: Visit) -> None:
    """Ask the practice pages once more; the answers given before stay as earlier revisions."""
    of_practice = (assignments.c.rater == visit.rater.id) & (assignments.c.kind == "practice")
    visit.connection.execute(sa.update(assignments).where(of_practice).values(answered_at=None))
    again = {"practice_retries": visit.rater.practice_retries + 1, "locked_to": 0}
    visit.connection.execute(sa.update(raters).where(raters.c.id == visit.rater.id).values(**again))
