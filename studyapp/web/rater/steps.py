"""Steps of a rater: whose form was sent, the rater held in a transaction, and the page that comes next."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort, make_response, redirect

from relstudy.studyapp.assignment.eligibility import needs_screening
from relstudy.studyapp.assignment.enrolment import Rater, Visit, lock_rater
from relstudy.studyapp.assignment.next_page import Step, finish, next_step
from relstudy.studyapp.assignment.quotas import take_place
from relstudy.studyapp.assignment.sequence import start
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rendering import unavailable
from relstudy.studyapp.web.site import current_site


def rater_of_page() -> Rater:
    """The consenting rater who asks for this page; anybody else is led to the way in."""
    rater = session.consented_rater()
    if rater is None:
        abort(make_response(redirect("/consent")))
    return rater


def rater_of_form() -> Rater:
    """The consenting rater who sent this form; anybody else, and anybody while the study rests, gets another page."""
    rater = session.consented_rater()
    if rater is None:
        abort(make_response(redirect("/consent", 303)))
    session.require_csrf(rater)
    if current_site().state != "open":
        abort(make_response(unavailable()))
    return rater


@contextmanager
def locked_visit(rater_id: int) -> Iterator[Visit]:
    """The rater, locked until the transaction ends.

    401 for one who has been deleted meanwhile; who is out of the study gets the last page.
    """
    site = current_site()
    with site.write() as connection:
        rater = lock_rater(connection, rater_id)
        if rater is None:
            abort(401, description="session")
        if rater.outcome is not None:
            abort(make_response(redirect("/ended", 303)))
        yield site.visit(connection, rater, time.time())


def address(step: Step) -> str:
    """The page of a step."""
    return f"/rate/{step.position}" if step.name == "rate" else f"/{step.name}"


def advance(rater_id: int) -> Step:
    """Return the rater's next step; while the study is open, pages are laid out or handed out first as needed.

    Who begins gets a place first; if there is none, nothing is laid out.
    """
    with locked_visit(rater_id) as visit:
        if needs_screening(visit.study, visit.rater):
            return Step("screening")
        hand_out = current_site().state == "open"
        if hand_out and visit.rater.started_at is None:
            visit, place = take_place(visit)
            if place.outcome:
                return Step("no-place")
            start(visit)
            session.begin_here()
        return move_on(visit, hand_out=hand_out)


def move_on(visit: Visit, *, hand_out: bool) -> Step:
    """Return the rater's next step; `hand_out` allows new pages, and marks a rater without any as finished."""
    step = next_step(visit, hand_out=hand_out)
    if step.name == "thanks" and hand_out:
        finish(visit)
    return step
