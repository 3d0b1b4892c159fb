"""The last page of those who do not go on: what became of their visit, and the way back."""

from __future__ import annotations

from flask import Blueprint, redirect
from flask.typing import ResponseReturnValue

from relstudy.studyapp.assignment.places import find_place
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rater.locked_visit import locked_visit
from relstudy.studyapp.web.rendering import end_page, show
from relstudy.studyapp.web.views import MessagePage

blueprint = Blueprint("ended", __name__)


@blueprint.get("/no-place")
def no_place() -> ResponseReturnValue:
    """Said to who has consented and found no place any more; who would find one now is led on."""
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent")
    if rater.started_at is not None:
        return redirect("/rate")
    with locked_visit(rater.id) as visit:
        outcome = find_place(visit).outcome
    if not outcome:
        return redirect("/instructions")
    return show("message.html", end_page(outcome, rater), rater)


@blueprint.get("/ended")
def ended() -> ResponseReturnValue:
    """How the visit of this browser ended; anybody else is led on."""
    rater = session.current_rater()
    if rater is not None and rater.outcome is not None:
        return show("message.html", end_page(rater.outcome, rater), rater)
    page = session.ended()
    return redirect("/rate") if page is None else show("message.html", MessagePage(**page))
