"""Rating: the way from page to page, and what is sent back from each."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from relstudy.studyapp.assignment.answers import Further, LockedError, Showing, submit
from relstudy.studyapp.assignment.enrolment import Rater
from relstudy.studyapp.assignment.next_page import needs_opening, open_page
from relstudy.studyapp.assignment.sequence import Assignment, RaterPage
from relstudy.studyapp.config.study_parts import NOT_SHOWN
from relstudy.studyapp.web import session
from relstudy.studyapp.web.mount import at
from relstudy.studyapp.web.rater.rating_page import Field, asked_on, build_rating_page, can_be_shown, read_choices
from relstudy.studyapp.web.rater.steps import address, advance, move_on, rater_of_form, rater_of_page
from relstudy.studyapp.web.rendering import refusal_page, show, unavailable
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("rating", __name__)

# Asked for by the study's own script, which then gets the next page as the answer to the ratings, and in the same
# header the page's address. So one request does where a form needs two, and no answer but the study's own carries it.
PAGE = "X-Relstudy-Page"


@blueprint.post("/instructions")
def begin() -> ResponseReturnValue:
    """Lay out the rater's pages and go to the first."""
    rater = rater_of_form()
    return redirect(address(advance(rater.id)), 303)


@blueprint.get("/rate")
def resume() -> ResponseReturnValue:
    """To the page where the rater was."""
    rater = rater_of_page()
    if rater.started_at is None:
        return redirect("/instructions")
    step = advance(rater.id)
    if step.name != "rate" and current_site().state != "open":
        return unavailable()
    return redirect(address(step))


@blueprint.get("/rate/<int(max=1000000):position>")
def rate(position: int) -> ResponseReturnValue:
    """One of the rater's own pages."""
    page = session.rater_page(position)
    if page is None:
        return redirect("/consent")
    if position <= page.rater.locked_to:
        return redirect("/thanks")
    assignment = page.assignment
    if assignment is None or (assignment.answered_at is None and page.too_early):
        return redirect("/rate")
    site = current_site()
    if session.given_elsewhere(assignment) or not can_be_shown(assignment.block, page.shown):
        return redirect("/rate")
    choices: dict[Field, str] = {}
    if assignment.answered_at is not None:
        choices = read_choices(assignment)
    elif needs_opening(page, site.study, time.time()):
        page = _open(page.rater, position)
        if page is None or page.assignment is None:
            return redirect("/rate")
        assignment = page.assignment
    return show("rate.html", build_rating_page(page, assignment, choices), page.rater)


def _open(rater: Rater, position: int) -> RaterPage | None:
    """The page as the rater may now see it, with its lease begun again; None when they have to go elsewhere."""
    site = current_site()
    with site.write_page(rater.id, position) as (connection, page):
        if page is None:
            return None
        visit = site.visit(connection, page.rater, time.time())
        return open_page(visit, position, hand_out=site.state == "open", page=page)


@blueprint.post("/rate/<int(max=1000000):position>")
def save(position: int) -> ResponseReturnValue:
    """Keep a page's ratings. The next page, or the redirect to it, is sent only once they are on disk."""
    claimed = session.claimed_rater()
    if claimed is None:
        return refusal_page("session", 401)
    site = current_site()
    form = request.form.get("form", "")
    with site.write_page(claimed, position) as (connection, page):
        if site.state == "closed":
            return refusal_page("closed", 409)
        if page is not None and page.rater.outcome is not None and session.is_really(page.rater):
            return refusal_page("ended", 409, again=False)
        if page is None or not session.may_rate(page.rater):
            return refusal_page("session", 401)
        visit, assignment = site.visit(connection, page.rater, time.time()), page.assignment
        shown = assignment and site.signer.shown_form(session.name(page.rater), assignment.id, form)
        if assignment is None or shown is None:
            return refusal_page("form", 400, again=False)
        if assignment.answered_at is None and page.too_early:  # of an earlier attempt at the practice
            return refusal_page("form", 400, again=False)
        is_as_shown = asked_on(assignment.block, page.shown).endswith(f"-{shown.asked}")
        sent = _read_form(assignment)
        may_change = not session.given_elsewhere(assignment)
        hand_out = site.state == "open"
        if is_as_shown and not sent.errors:
            seconds = _seconds(visit.now - shown.at) / len(sent.answers)
            showing = Showing(form, seconds, shown.version, may_change)
            try:
                submit(visit, assignment, sent.answers, showing, sent.further)
            except LockedError:
                return refusal_page("locked", 409, again=False)
            step = move_on(visit, hand_out=hand_out)
            at_once = PAGE in request.headers and step.name == "rate"
            turned = page.turned(step.position, step.handed)
            following = open_page(visit, step.position, hand_out=hand_out, page=turned) if at_once else None
    if not is_as_shown:
        chosen = read_choices(assignment) if assignment.answered_at is not None and may_change else {}
        changed = build_rating_page(page, assignment, chosen, message=site.texts("rate.changed"))
        return show("rate.html", changed, page.rater), 409
    if sent.errors:
        message = next(iter(sent.errors.values()))
        refused = build_rating_page(page, assignment, sent.typed, form=form, message=message, errors=sent.errors)
        return show("rate.html", refused, page.rater), 422
    if may_change:
        session.note_given(assignment)
    if assignment.kind == "practice":
        return redirect(f"/practice/{position}", 303)
    if step.name != "rate" and not hand_out:
        return redirect("/rate", 303)
    if following is not None:
        try:
            return _answer_with_page(following, address(step))
        except Exception:  # saved is saved: what is wrong with the next page is shown at its own address
            logging.getLogger("relstudy").exception("next page")
    return redirect(address(step), 303)


def _answer_with_page(page: RaterPage, its_address: str) -> Response:
    """The answer to a page's ratings that holds the next page, which saves the browser a second request.

    Its address goes into the header `PAGE`, so that the study's script can put it into the browser's address bar.
    """
    assert page.assignment is not None
    html = show("rate.html", build_rating_page(page, page.assignment, {}), page.rater)
    response = Response(html, mimetype="text/html")
    response.headers[PAGE] = at(its_address)
    return response


@dataclass
class _Sent:
    """A page's form: ratings and further answers by pair, what was typed and what is wrong with it by field."""

    answers: dict[str, float | None] = field(default_factory=dict)
    further: dict[str, Further] = field(default_factory=dict)
    typed: dict[Field, str] = field(default_factory=dict)
    errors: dict[Field, str] = field(default_factory=dict)


def _read_form(assignment: Assignment) -> _Sent:
    """The form as it was sent for a page; of what could not be shown nothing else has to be answered."""
    site, sent, form = current_site(), _Sent(), request.form
    block = site.study.block(assignment.block)
    for number, pair_id in enumerate(assignment.pair_ids, start=1):
        text = _sent_value(form, f"rating-{number}")
        sent.typed[pair_id, ""] = text
        was_shown = not (block.not_shown and text == NOT_SHOWN)
        given: dict[str, float | str | bool | None] = {} if was_shown else {NOT_SHOWN: True}
        try:
            sent.answers[pair_id] = block.scale.parse(text) if was_shown else None
        except ValueError:
            sent.errors[pair_id, ""] = site.texts("rate.missing" if not text else "rate.invalid")
        for question in block.questions:
            written = _sent_value(form, f"rating-{number}-{question.id}")
            sent.typed[pair_id, question.id] = written
            if not written.strip():
                if question.required and was_shown:
                    sent.errors[pair_id, question.id] = site.texts("rate.unanswered")
                continue
            try:
                given[question.id] = question.parse(written)
            except ValueError:
                reason = "rate.invalid" if question.scale is not None else "rate.long"
                sent.errors[pair_id, question.id] = site.texts(reason, most=question.LONGEST)
        sent.further[pair_id] = given
    return sent


def _sent_value(form: MultiDict[str, str], name: str) -> str:
    """The value of a field; a slider has two, a number and buttons in its place, and both at once are no answer."""
    values = [value for value in form.getlist(name) if value.strip()]
    return values[0] if len(values) == 1 else " & ".join(values)


def _seconds(elapsed: float) -> float:
    """Time on the page: the browser's own count where it sent one that can be true, else since the page was sent."""
    try:
        counted = float(request.form.get("seconds", ""))
    except ValueError:
        counted = -1.0
    return counted if 0 <= counted <= elapsed + 1 else max(0.0, elapsed)
