"""Whose form it is, in a study that is open."""

from __future__ import annotations

from flask import abort, make_response, redirect

from relstudy.studyapp.assignment.raters import Rater
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rendering import unavailable
from relstudy.studyapp.web.site import current_site


def rater_of_form() -> Rater:
    """The consenting rater who sent this form; anybody else, and anybody while the study rests, gets another page."""
    rater = session.consented_rater()
    if rater is None:
        abort(make_response(redirect("/consent", 303)))
    session.require_csrf(rater)
    if current_site().state != "open":
        abort(make_response(unavailable()))
    return rater
