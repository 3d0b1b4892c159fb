"""Screening questions, between consent and instructions."""

from __future__ import annotations

from flask import Blueprint, redirect
from flask.typing import ResponseReturnValue

from relstudy.studyapp.assignment.eligibility import needs_screening, screen
from relstudy.studyapp.web.rater.question_form import question_views, read_answers
from relstudy.studyapp.web.rater.steps import locked_visit, rater_of_form, rater_of_page
from relstudy.studyapp.web.rendering import show, unavailable
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import QuestionsPage

blueprint = Blueprint("screening", __name__)


@blueprint.get("/screening")
def questions() -> ResponseReturnValue:
    """Questions that decide who takes part."""
    rater = rater_of_page()
    if not needs_screening(current_site().study, rater):
        return redirect("/rate")
    if current_site().state != "open":
        return unavailable()
    return show("questions.html", screening_view({}, {}), rater)


def screening_view(answers: dict[str, str], errors: dict[str, str]) -> QuestionsPage:
    """The screening questions, with what was answered and what is wrong with it, by their ids."""
    site = current_site()
    texts = site.texts
    return QuestionsPage(
        question_views(site.study.screening, answers, errors),
        texts("screening.heading"),
        texts("screening.send"),
        texts("screening.kept"),
    )


@blueprint.post("/screening")
def answer() -> ResponseReturnValue:
    """Go on, or to the last page."""
    rater = rater_of_form()
    given, errors = read_answers(current_site().study.screening)
    if errors:
        return show("questions.html", screening_view(given, errors), rater), 422
    with locked_visit(rater.id) as visit:
        fits = screen(visit, given)
    return redirect("/instructions" if fits else "/ended", 303)
