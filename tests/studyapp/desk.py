"""Handing out and taking in without a browser."""

from __future__ import annotations

import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import Showing, submit
from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.enrolment import Visit, enrol, lock_rater
from relstudy.studyapp.assignment.next_page import finish, next_step, open_page
from relstudy.studyapp.assignment.sequence import find_rater_page, start
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments
from tests.studyapp.studies import Made


class Desk:
    """Hands out and takes in at a time of the test's choosing."""

    def __init__(self, made: Made) -> None:
        self.store = made.store
        self.study = Study.load(made.folder)
        with self.store.read() as connection:
            self.catalogue = Catalogue(self.study, connection)

    def visit(self, connection: sa.Connection, rater: int, now: float = 0.0) -> Visit:
        """A rater at work in a transaction."""
        locked = lock_rater(connection, rater)
        assert locked is not None
        return Visit(connection, self.study, self.catalogue, locked, now)

    def newcomer(self, name: str, now: float = 0.0) -> int:
        with self.store.write() as connection:
            rater = enrol(connection, self.study, "open", name, {}, now)
            start(Visit(connection, self.study, self.catalogue, rater, now))
        return rater.id

    def next(self, rater: int, now: float = 0.0) -> int:
        """Position of the rater's next page, which is opened; 0 at the end, or when the rest is with others."""
        with self.store.write() as connection:
            visit = self.visit(connection, rater, now)
            step = next_step(visit)
            if step.name == "thanks":
                finish(visit)
            elif step.name == "rate" and open_page(visit, step.position) is None:
                return 0
        return step.position

    def answer(
        self, rater: int, position: int, now: float = 0.0, rating: float | None = 3.0, form: str = "form"
    ) -> None:
        with self.store.write() as connection:
            visit = self.visit(connection, rater, now)
            held = find_rater_page(connection, rater, position)
            assert held is not None and held.assignment is not None
            answers = dict.fromkeys(held.assignment.pair_ids, rating)
            submit(visit, held.assignment, answers, Showing(form, 1.0))

    def work_through(self, rater: int, now: float = 0.0) -> int:
        count = 0
        while position := self.next(rater, now):
            self.answer(rater, position, now)
            count += 1
        return count

    def surplus(self) -> list[tuple[int, bool]]:
        with self.store.read() as connection:
            query = sa.select(assignments.c.rater, assignments.c.surplus).where(
                assignments.c.slot_id.is_not(None), assignments.c.answered_at.is_not(None)
            )
            return [(rater, surplus) for rater, surplus in connection.execute(query)]


def toml(k: int = 1, per_rater: str = '"all"', lease: float = 30, page: int = 1, extra: str = "") -> str:
    return f"""
[study]
id = "t"
title = "t"
[handout]
lease_minutes = {lease}
[entry]
rules = ["open"]
[[blocks]]
name = "unique"
pairs = "unique"
results_per_page = {page}
ratings_per_pair = {k}
pairs_per_rater = {per_rater}
{extra}
"""
