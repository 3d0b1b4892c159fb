"""Where a rater goes next, and its address."""

from __future__ import annotations

from relstudy.studyapp.assignment.next_page import Step, finish, next_step
from relstudy.studyapp.assignment.places import take_place
from relstudy.studyapp.assignment.screening import needs_screening
from relstudy.studyapp.assignment.sequence import start
from relstudy.studyapp.assignment.visit import Visit
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rater.locked_visit import locked_visit
from relstudy.studyapp.web.site import current_site


def address(step: Step) -> str:
    """The page of a step."""
    return f"/rate/{step.position}" if step.name == "rate" else f"/{step.name}"


def advance(rater_id: int) -> Step:
    """Where the rater goes next; while the study is open, pages are laid out or handed out first as needed.

    Who begins gets a place first; where there is none, nothing is laid out.
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
    """Where the rater goes next; `hand_out` allows new pages, and marks a rater without any as finished."""
    step = next_step(visit, hand_out=hand_out)
    if step.name == "thanks" and hand_out:
        finish(visit)
    return step
