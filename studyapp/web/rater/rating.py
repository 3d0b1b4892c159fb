"""Rating: the way from page to page, and what is sent back from each."""

from __future__ import annotations

import logging
import time

import sqlalchemy as sa
from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue

from relstudy.studyapp.assignment.answers import LockedError, submit
from relstudy.studyapp.assignment.sequence import Assignment, RaterPage, find_rater_page
from relstudy.studyapp.assignment.slots import renew
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rater.navigation import address, advance, move_on
from relstudy.studyapp.web.rater.rating_page import build_rating_page, chosen_before
from relstudy.studyapp.web.refused import refusal_page
from relstudy.studyapp.web.rendering import show, unavailable
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("rating", __name__)

# Asked for by the study's own script, which then gets the next page as the answer to the ratings, and in the same header
# the page's address. So one request does where a form needs two, and no answer but the study's own carries it.
PAGE = "X-Relstudy-Page"


@blueprint.post("/instructions")
def begin() -> ResponseReturnValue:
    """Lay out the rater's pages and go to the first."""
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent", 303)
    session.require_csrf(rater)
    if current_site().state != "open":
        return unavailable()
    return redirect(address(advance(rater.id)), 303)


@blueprint.get("/rate")
def resume() -> ResponseReturnValue:
    """To the page where the rater was."""
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent")
    if rater.started_at is None:
        return redirect("/instructions")
    step = advance(rater.id)
    if step.name != "rate" and current_site().state != "open":
        return unavailable()
    return redirect(address(step))


@blueprint.get("/rate/<int(max=1000000):position>")
def rate(position: int) -> ResponseReturnValue:
    """One of the rater's own pages."""
    held = session.held_page(position)
    if held is None:
        return redirect("/consent")
    if position <= held.rater.locked_to:
        return redirect("/thanks")
    assignment = held.assignment
    if assignment is None or (assignment.answered_at is None and held.too_early):
        return redirect("/rate")
    chosen: dict[str, str] = {}
    if assignment.answered_at is not None:
        with current_site().store.read() as connection:
            chosen = chosen_before(connection, assignment)
    elif _opened_late(assignment, time.time()):
        with current_site().store.write() as connection:
            renew(connection, current_site().study, assignment, time.time())
    return show("rate.html", build_rating_page(held, assignment, chosen), held.rater)


def _opened_late(assignment: Assignment, now: float) -> bool:
    """Whether half of a page's lease is over: opened now, or reloaded, it begins anew."""
    return assignment.slot_id is not None and now - assignment.handed_at > 30 * current_site().study.lease_minutes


@blueprint.post("/rate/<int(max=1000000):position>")
def save(position: int) -> ResponseReturnValue:
    """Keep a page's ratings. The next page, or the redirect to it, is sent only once they are on disk."""
    claimed = session.claimed_rater()
    if claimed is None:
        return refusal_page("session", 401)
    here = current_site()
    now = time.time()
    form = request.form.get("form", "")
    hand_out = here.state == "open"
    with here.store.write() as connection:
        held = find_rater_page(connection, claimed, position, lock=True)
        if held is None or not session.may_rate(held.rater):
            return refusal_page("session", 401)
        rater, assignment = held.rater, held.assignment
        shown_at = assignment and here.signer.form_shown_at(session.name(rater), assignment.id, form)
        if assignment is None or shown_at is None:
            return refusal_page("form", 400, again=False)
        answers, typed, errors = _answers(assignment)
        if not errors:
            seconds = _seconds(now - shown_at) / len(answers)
            try:
                submit(connection, rater, assignment, answers, seconds, form, now)
            except LockedError:
                return refusal_page("locked", 409, again=False)
            step = move_on(connection, rater, now, hand_out=hand_out)
            at_once = PAGE in request.headers and step.name == "rate"
            following = _open_next(connection, claimed, step.position, now) if at_once else None
    if errors:
        message = next(iter(errors.values()))
        return show(
            "rate.html", build_rating_page(held, assignment, typed, form=form, message=message, errors=errors), rater
        ), 422
    if assignment.kind == "practice":
        return redirect(f"/practice/{position}", 303)
    if step.name != "rate" and not hand_out:
        return redirect("/rate", 303)
    if following is not None:
        try:
            return _next_page(following, address(step))
        except Exception:  # saved is saved: what is wrong with the next page is told at its own address
            logging.getLogger("relstudy").exception("next page")
    return redirect(address(step), 303)


def _open_next(connection: sa.Connection, rater: int, position: int, now: float) -> RaterPage | None:
    """The next page, opened as its own address would open it."""
    held = find_rater_page(connection, rater, position)
    if held is not None and held.assignment is not None and _opened_late(held.assignment, now):
        renew(connection, current_site().study, held.assignment, now)
    return held


def _next_page(held: RaterPage, its_address: str) -> Response:
    """The next page as the answer to the one before."""
    assert held.assignment is not None
    response = Response(
        show("rate.html", build_rating_page(held, held.assignment, {}), held.rater), mimetype="text/html"
    )
    response.headers[PAGE] = its_address
    return response


def _answers(assignment: Assignment) -> tuple[dict[str, float | None], dict[str, str], dict[str, str]]:
    """The form's ratings by pair, what was typed, and what is wrong with it."""
    here = current_site()
    scale = here.study.block(assignment.block).scale
    answers: dict[str, float | None] = {}
    typed: dict[str, str] = {}
    errors: dict[str, str] = {}
    for number, pair_id in enumerate(assignment.pair_ids, start=1):
        text = request.form.get(f"rating-{number}", "")
        typed[pair_id] = text
        try:
            answers[pair_id] = scale.parse(text)
        except ValueError:
            errors[pair_id] = here.texts("rate.missing" if not text else "rate.invalid")
    return answers, typed, errors


def _seconds(elapsed: float) -> float:
    """Time on the page: the browser's own count where it sent one that can be true, else since the page was sent."""
    try:
        told = float(request.form.get("seconds", ""))
    except ValueError:
        told = -1.0
    return told if 0 <= told <= elapsed + 1 else max(0.0, elapsed)
