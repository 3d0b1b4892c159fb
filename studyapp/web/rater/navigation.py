"""Where a rater goes next, and its address."""

from __future__ import annotations

import time

from flask import abort

from relstudy.studyapp.assignment.next_page import Step, finish, next_step
from relstudy.studyapp.assignment.raters import lock_rater
from relstudy.studyapp.assignment.sequence import start
from relstudy.studyapp.assignment.visit import Visit
from relstudy.studyapp.web.site import current_site


def address(step: Step) -> str:
    """The page of a step."""
    return f"/rate/{step.position}" if step.name == "rate" else f"/{step.name}"


def advance(rater_id: int) -> Step:
    """Where the rater goes next; while the study is open, pages are laid out or handed out first as needed."""
    here = current_site()
    hand_out = here.state == "open"
    with here.store.write() as connection:
        rater = lock_rater(connection, rater_id)
        if rater is None:
            abort(401, description="session")
        visit = here.visit(connection, rater, time.time())
        if hand_out:
            start(visit)
        return move_on(visit, hand_out=hand_out)


def move_on(visit: Visit, *, hand_out: bool) -> Step:
    """Where the rater goes next; `hand_out` allows new pages, and marks a rater without any as finished."""
    step = next_step(visit, hand_out=hand_out)
    if step.name == "thanks" and hand_out:
        finish(visit)
    return step
