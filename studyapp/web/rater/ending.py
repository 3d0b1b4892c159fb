"""The end: exit questions, thanks with the completion code, and some more pages for those who want them."""

from __future__ import annotations

import time
from collections.abc import Mapping

from flask import Blueprint, redirect, request
from flask.typing import ResponseReturnValue

from relstudy.studyapp.assignment.next_page import add_pages, finish, is_at_end, next_step
from relstudy.studyapp.assignment.outcomes import COMPLETED, read_outcome
from relstudy.studyapp.assignment.places import is_over
from relstudy.studyapp.assignment.raters import Rater, record_exit_answers
from relstudy.studyapp.assignment.slots import any_left
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rater.locked_visit import locked_visit
from relstudy.studyapp.web.rater.navigation import address, advance
from relstudy.studyapp.web.rater.open_form import rater_of_form
from relstudy.studyapp.web.rater.question_form import question_views, read_answers
from relstudy.studyapp.web.refused import refusal_page
from relstudy.studyapp.web.rendering import paragraphs, show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import QuestionsPage, ThanksPage, WaitPage

blueprint = Blueprint("ending", __name__)


@blueprint.get("/questions")
def questions() -> ResponseReturnValue:
    """Exit questions."""
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent")
    here = current_site()
    with here.store.read_one() as connection:
        at_the_end = is_at_end(here.visit(connection, rater, time.time()))
    if not here.study.questions or not at_the_end or _may_be_anothers(rater):
        return redirect("/rate")
    return show("questions.html", questions_view(rater.answers or {}, {}), rater)


def _may_be_anothers(rater: Rater) -> bool:
    """Whether the answers may be of somebody else than who asks, and are neither shown nor changed."""
    return session.came_by_id_alone(rater) and rater.answered_at is not None


def questions_view(answers: Mapping[str, str], errors: Mapping[str, str]) -> QuestionsPage:
    """The exit questions, with what was answered and what is wrong with it, by their ids."""
    here = current_site()
    views = question_views(here.study.questions, answers, errors)
    return QuestionsPage(views, here.texts("questions.heading"), here.texts("questions.send"))


@blueprint.post("/questions")
def answer() -> ResponseReturnValue:
    """Keep the answers to the exit questions."""
    rater = session.consented_rater()
    if rater is None:
        return refusal_page("session", 401)
    session.require_csrf(rater)
    given, errors = read_answers(current_site().study.questions)
    if errors:
        return show("questions.html", questions_view(given, errors), rater), 422
    with locked_visit(rater.id) as visit:
        if not is_at_end(visit) or _may_be_anothers(visit.rater):
            return redirect("/rate", 303)
        record_exit_answers(visit.connection, visit.rater, given, visit.now)
    return redirect(address(advance(rater.id)), 303)


@blueprint.get("/thanks")
def thanks() -> ResponseReturnValue:
    """The end: completion code, the way back to the platform, and "rate some more"."""
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent")
    if rater.finished_at is None:
        return redirect("/rate")
    here = current_site()
    study = here.study
    with here.store.read_one() as connection:
        blocks = study.blocks_of(rater.rater_group)
        outcome = read_outcome(connection, study, rater)
        more_to_rate = here.state == "open" and any_left(connection, rater.id, blocks, time.time())
        more_to_rate = more_to_rate and not is_over(connection, study, time.time())
    page = thanks_page(outcome, rater, none_left=request.args.get("more") == "none", more=more_to_rate)
    return show("thanks.html", page, rater)


def thanks_page(outcome: str, rater: Rater, *, none_left: bool = False, more: bool = False) -> ThanksPage:
    """The last page of who ends with this outcome.

    Parameters
    ----------
    none_left : they have asked for more, and there is nothing
    more : there is something left that they could rate
    """
    here = current_site()
    study = here.study
    if outcome == COMPLETED:
        code, back = rater.completion_code, study.entry.address(rater.completion_code, rater.identity, rater.parameters)
        message = here.texts("thanks.none") if none_left else ""
    else:
        code, back = "", session.way_back(outcome, rater)
        message = here.texts("thanks.failed" if outcome == "failed_checks" else "thanks.nocode")
        if not back and session.is_from_platform(rater):
            message += " " + here.texts("ended.platform")
    has_more = more and any(block.unique and block.more for block in study.blocks_of(rater.rater_group))
    said = paragraphs(study.thanks or here.texts("thanks.default"))
    return ThanksPage(said, code, back, has_more and outcome != "failed_checks", message)


@blueprint.get("/wait")
def wait() -> ResponseReturnValue:
    """All that is left is with other raters: look again, or finish."""
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent")
    if rater.started_at is None or rater.finished_at is not None or current_site().state != "open":
        return redirect("/rate")
    with locked_visit(rater.id) as visit:
        if next_step(visit).name != "wait":
            return redirect("/rate")
    texts = current_site().texts
    return show("wait.html", WaitPage(texts("wait.heading"), texts("wait.text")), rater)


@blueprint.post("/finish")
def finish_now() -> ResponseReturnValue:
    """Finish instead of waiting for pages that others have."""
    rater = rater_of_form()
    here = current_site()
    with locked_visit(rater.id) as visit:
        if not is_at_end(visit) or next_step(visit).name != "wait":
            return redirect("/rate", 303)
        if not here.study.questions:
            finish(visit)
    return redirect("/questions" if here.study.questions else "/thanks", 303)


@blueprint.post("/more")
def more() -> ResponseReturnValue:
    """Some more unique pairs for a rater who has finished."""
    rater = rater_of_form()
    with locked_visit(rater.id) as visit:
        if visit.rater.finished_at is None:
            return redirect("/rate", 303)
        step = next_step(visit, hand_out=False)
        if step.name != "rate":
            step = next_step(add_pages(visit))
    return redirect(address(step) if step.name == "rate" else "/thanks?more=none", 303)
