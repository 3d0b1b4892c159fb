"""The end: exit questions, thanks with the completion code, more pages, and the last page of those who leave early."""

from __future__ import annotations

import time
from collections.abc import Mapping

from flask import Blueprint, redirect, request
from flask.typing import ResponseReturnValue

from relstudy.studyapp.assignment.eligibility import COMPLETED, read_outcome
from relstudy.studyapp.assignment.enrolment import Rater, record_exit_answers
from relstudy.studyapp.assignment.next_page import add_pages, finish, is_at_end, next_step
from relstudy.studyapp.assignment.quotas import find_place, is_over
from relstudy.studyapp.assignment.slots import any_left
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rater.question_form import question_views, read_answers
from relstudy.studyapp.web.rater.steps import address, advance, locked_visit, rater_of_form, rater_of_page
from relstudy.studyapp.web.rendering import end_page, paragraphs, refusal_page, show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import MessagePage, QuestionsPage, ThanksPage

blueprint = Blueprint("ending", __name__)


@blueprint.get("/questions")
def questions() -> ResponseReturnValue:
    """Exit questions."""
    rater = rater_of_page()
    site = current_site()
    with site.store.read_one() as connection:
        at_the_end = is_at_end(site.visit(connection, rater, time.time()))
    if not site.study.questions or not at_the_end or _may_be_anothers(rater):
        return redirect("/rate")
    return show("questions.html", questions_view(rater.answers or {}, {}), rater)


def _may_be_anothers(rater: Rater) -> bool:
    """True if the answers may be of somebody else than who asks, and are neither shown nor changed."""
    return session.came_by_id_alone(rater) and rater.answered_at is not None


def questions_view(answers: Mapping[str, str], errors: Mapping[str, str]) -> QuestionsPage:
    """The exit questions, with what was answered and what is wrong with it, by their ids."""
    site = current_site()
    views = question_views(site.study.questions, answers, errors)
    return QuestionsPage(views, site.texts("questions.heading"), site.texts("questions.send"))


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
    rater = rater_of_page()
    if rater.finished_at is None:
        return redirect("/rate")
    site = current_site()
    study = site.study
    with site.store.read_one() as connection:
        blocks = study.blocks_of(rater.rater_group)
        outcome = read_outcome(connection, study, rater)
        more_to_rate = site.state == "open" and any_left(connection, rater.id, blocks, time.time())
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
    site = current_site()
    study = site.study
    if outcome == COMPLETED:
        code, back = rater.completion_code, study.entry.address(rater.completion_code, rater.identity, rater.parameters)
        message = site.texts("thanks.none") if none_left else ""
    else:
        code, back = "", session.way_back(outcome, rater)
        message = site.texts("thanks.failed" if outcome == "failed_checks" else "thanks.nocode")
        if not back and session.is_from_platform(rater):
            message += " " + site.texts("ended.platform")
    has_more = more and any(block.unique and block.more for block in study.blocks_of(rater.rater_group))
    said = paragraphs(study.thanks or site.texts("thanks.default"))
    return ThanksPage(said, code, back, has_more and outcome != "failed_checks", message)


@blueprint.get("/wait")
def wait() -> ResponseReturnValue:
    """All that is left is with other raters: look again, or finish."""
    rater = rater_of_page()
    if rater.started_at is None or rater.finished_at is not None or current_site().state != "open":
        return redirect("/rate")
    with locked_visit(rater.id) as visit:
        if next_step(visit).name != "wait":
            return redirect("/rate")
    return show("wait.html", None, rater)


@blueprint.post("/finish")
def finish_now() -> ResponseReturnValue:
    """Finish instead of waiting for pages that others have."""
    rater = rater_of_form()
    site = current_site()
    with locked_visit(rater.id) as visit:
        if not is_at_end(visit) or next_step(visit).name != "wait":
            return redirect("/rate", 303)
        if not site.study.questions:
            finish(visit)
    return redirect("/questions" if site.study.questions else "/thanks", 303)


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


@blueprint.get("/no-place")
def no_place() -> ResponseReturnValue:
    """Said to who has consented and found no place any more; who would find one now is led on."""
    rater = rater_of_page()
    if rater.started_at is not None:
        return redirect("/rate")
    with locked_visit(rater.id) as visit:
        outcome = find_place(visit).outcome
    if not outcome:
        return redirect("/instructions")
    return show("message.html", end_page(outcome, rater), rater)


@blueprint.get("/ended")
def ended() -> ResponseReturnValue:
    """The end of this browser's visit; anybody else is led on."""
    rater = session.current_rater()
    if rater is not None and rater.outcome is not None:
        return show("message.html", end_page(rater.outcome, rater), rater)
    page = session.ended()
    return redirect("/rate") if page is None else show("message.html", MessagePage(**page))
