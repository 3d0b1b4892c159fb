"""Raters who are set aside for a while, or for good: their ratings stay, and their places are others' again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.enrolment import Rater, end_visit, find_by_code, lock_rater, update_rater
from relstudy.studyapp.assignment.sequence import Assignment, close_gaps
from relstudy.studyapp.assignment.slots import settle_left
from relstudy.studyapp.assignment.versions import forget_taken_over, read_study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import DONE, LEASED, OPEN, UNDECIDED, assignments, pages, raters, ratings, slots
from relstudy.studyapp.database.tombstones import WITHDREW, bury

SET_ASIDE = "set_aside"
"""The outcome of who is set aside."""
LEFT_OUT = (SET_ASIDE, WITHDREW)
"""Outcomes of raters whose ratings stay and are marked, and whose places in the pool are others'."""
_LEFT_PAGES = sa.select(pages.c.id).where(~pages.c.active)
_IN_STUDY = raters.c.outcome.is_(None) | raters.c.outcome.not_in(LEFT_OUT)
_ASSIGNMENT = [assignments.c[name] for name in Assignment._fields]


def set_aside(store: Store, rater_id: str) -> int:
    """Set a rater aside; says how many pages of unique pairs are others' again.

    What they rated stays and is marked in the export. Of pages that others answered once too often (`surplus`), one
    such answer counts now. Whoever is at work is led to the last page, with a way back.

    Raises
    ------
    RelstudyError
        when there is no such rater, or they are out of the study already
    """
    with store.write() as connection:
        return _leave_out(connection, rater_id, SET_ASIDE)


def withdraw(store: Store, folder: Path, rater_id: str) -> int:
    """The same for a rater who withdraws, and is not taken back: not by a backup either."""
    with store.write() as connection:
        pages = _leave_out(connection, rater_id, WITHDREW)
        bury(folder, WITHDREW, [rater_id])
        return pages


def _leave_out(connection: sa.Connection, rater_id: str, outcome: str) -> int:
    rater = _locked(connection, rater_id)
    if rater.outcome is not None:
        raise RelstudyError(f"rater {rater_id} is out of the study already ({rater.outcome.replace('_', ' ')})")
    end_visit(connection, rater, outcome)
    return give_back(connection, rater.id)


def set_aside_if_at_work(store: Store, rater_id: str) -> bool:
    """Set a rater aside who has neither finished nor left; says whether that was so."""
    with store.write() as connection:
        rater = _locked(connection, rater_id)
        if rater.outcome is not None or rater.finished_at is not None:
            return False
        end_visit(connection, rater, SET_ASIDE)
        give_back(connection, rater.id)
        return True


def take_back(store: Store, folder: Path, rater_id: str) -> tuple[int, int]:
    """Take back a rater who was set aside; how many of their pages count again, and how many are surplus by now.

    Raises
    ------
    RelstudyError
        when there is no such rater, or they were not set aside
    """
    with store.write() as connection:
        rater = _locked(connection, rater_id)
        if rater.outcome != SET_ASIDE:
            raise RelstudyError(f"rater {rater_id} is not excluded")
        update_rater(connection, rater, outcome=None)
        study = read_study(connection, folder)
        counted, given = 0, _decided_pages(connection, assignments.c.rater == rater.id)
        for page in given:
            if study is not None:
                settle_left(connection, study, page, rater.seed)
            counted += _count_if_wanted(connection, page)
        return counted, len(given) - counted


def give_back(connection: sa.Connection, rater: int) -> int:
    """Take a rater's places in the pool from them; how many pages are open to others again."""
    of_rater = sa.select(assignments.c.id).where(assignments.c.rater == rater)
    theirs = slots.c.assignment_id.in_(of_rater)
    # of a page that has left the study nobody is asked: its places are made again when it is back
    connection.execute(sa.delete(slots).where(theirs, slots.c.page_id.in_(_LEFT_PAGES)))
    taken = theirs & slots.c.state.in_([LEASED, DONE])
    page_ids = list(connection.execute(sa.select(slots.c.page_id).where(taken)).scalars())
    connection.execute(sa.update(slots).where(taken).values(state=OPEN, assignment_id=None, leased_until=0.0))
    # who was followed by another because nothing was decided has that other's place, and not one of their own
    if connection.execute(sa.delete(slots).where(theirs & (slots.c.state == UNDECIDED))).rowcount:
        forget_taken_over(connection)  # the next start counts the places of each page
    waiting = (assignments.c.rater == rater) & assignments.c.answered_at.is_(None) & assignments.c.slot_id.is_not(None)
    connection.execute(sa.delete(assignments).where(waiting))
    close_gaps(connection, rater)
    in_study = sa.select(raters.c.id).where(_IN_STUDY, raters.c.id != rater)
    surplus = assignments.c.page_id.in_(page_ids) & assignments.c.surplus & assignments.c.rater.in_(in_study)
    room = Counter(page_ids)
    for page in _decided_pages(connection, surplus):
        if room[page.page_id] and _count_if_wanted(connection, page):
            room[page.page_id] -= 1
    return room.total()


def _locked(connection: sa.Connection, rater_id: str) -> Rater:
    named = find_by_code(connection, rater_id)
    rater = None if named is None else lock_rater(connection, named.id)
    if rater is None:
        raise RelstudyError(f"there is no rater {rater_id!r} in this study")
    return rater


def _decided_pages(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[Assignment]:
    """Answered pages of unique pairs on which something was decided, oldest answer first."""
    decided = sa.select(ratings.c.id).where(ratings.c.assignment_id == assignments.c.id, ratings.c.rating.is_not(None))
    query = sa.select(*_ASSIGNMENT).where(
        condition, assignments.c.slot_id.is_not(None), assignments.c.answered_at.is_not(None), decided.exists()
    )
    rows = connection.execute(query.order_by(assignments.c.answered_at, assignments.c.id))
    return [Assignment(*row) for row in rows]


def _count_if_wanted(connection: sa.Connection, page: Assignment) -> bool:
    """Let an answer be one of its page's k where an open place is lacking one; else it is surplus. Says which.

    Places that others hold stay theirs, and nothing is waited for: those who rate may hold one and wait for another.
    """
    has_place = (slots.c.assignment_id == page.id) & (slots.c.state == DONE)
    counts = connection.execute(sa.select(slots.c.id).where(has_place)).first() is not None
    if not counts:
        is_open = (slots.c.page_id == page.page_id) & (slots.c.state == OPEN)
        free = sa.select(slots.c.id).where(is_open).order_by(slots.c.id).limit(1).with_for_update(skip_locked=True)
        slot = connection.execute(free).scalar_one_or_none()
        counts = slot is not None
        taken = sa.update(slots).where(slots.c.id == slot)
        connection.execute(taken.values(state=DONE, assignment_id=page.id))
    if page.surplus == counts:
        update = sa.update(assignments).where(assignments.c.id == page.id)
        connection.execute(update.values(surplus=not counts))
    return counts
