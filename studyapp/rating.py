"""Rating: the way from page to page, and what is sent back from each."""

from __future__ import annotations

import time

from flask import Blueprint, redirect, request
from flask.typing import ResponseReturnValue

from studyapp import visitor
from studyapp.answers import LockedError, submit
from studyapp.handout import finish, next_step
from studyapp.onward import address, advance
from studyapp.rating_page import chosen_before, rating_page
from studyapp.refused import refused
from studyapp.sequence import Assignment, look
from studyapp.show import show, unavailable
from studyapp.site import site
from studyapp.slots import renew

blueprint = Blueprint("rating", __name__)


@blueprint.post("/instructions")
def begin() -> ResponseReturnValue:
    """Lay out the rater's pages and go to the first."""
    rater = visitor.consented_rater()
    if rater is None:
        return redirect("/consent", 303)
    visitor.require_csrf(rater)
    if site().state != "open":
        return unavailable()
    return redirect(address(advance(rater.id)), 303)


@blueprint.get("/rate")
def resume() -> ResponseReturnValue:
    """To the page where the rater was."""
    rater = visitor.consented_rater()
    if rater is None:
        return redirect("/consent")
    if rater.started_at is None:
        return redirect("/instructions")
    step = advance(rater.id)
    if step.name != "rate" and site().state != "open":
        return unavailable()
    return redirect(address(step))


@blueprint.get("/rate/<int(max=1000000):position>")
def rate(position: int) -> ResponseReturnValue:
    """One of the rater's own pages."""
    held = visitor.held_page(position)
    if held is None:
        return redirect("/consent")
    if position <= held.rater.locked_to:
        return redirect("/thanks")
    assignment = held.assignment
    if assignment is None or (assignment.answered_at is None and held.too_early):
        return redirect("/rate")
    chosen: dict[str, str] = {}
    if assignment.answered_at is not None:
        with site().store.read() as connection:
            chosen = chosen_before(connection, assignment)
    elif assignment.slot_id is not None:
        _renew_if_needed(assignment)
    return show("rate.html", rating_page(held, assignment, chosen), held.rater)


def _renew_if_needed(assignment: Assignment) -> None:
    """A page opened late, or reloaded: its lease starts again, if nobody else was given the page."""
    here = site()
    now = time.time()
    if now - assignment.handed_at > 30 * here.study.lease_minutes:
        with here.store.write() as connection:
            renew(connection, here.study, assignment, now)


@blueprint.post("/rate/<int(max=1000000):position>")
def save(position: int) -> ResponseReturnValue:
    """Keep a page's ratings. The redirect is sent only once they are on disk."""
    claimed = visitor.claimed_rater()
    if claimed is None:
        return refused("session", 401)
    here = site()
    now = time.time()
    form = request.form.get("form", "")
    hand_out = here.state == "open"
    with here.store.write() as connection:
        held = look(connection, claimed, position, lock=True)
        if held is None or not visitor.may_rate(held.rater):
            return refused("session", 401)
        rater, assignment = held.rater, held.assignment
        shown_at = assignment and here.signer.form_shown_at(visitor.name(rater), assignment.id, form)
        if assignment is None or shown_at is None:
            return refused("form", 400, again=False)
        answers, typed, errors = _answers(assignment)
        if not errors:
            seconds = _seconds(now - shown_at) / len(answers)
            try:
                submit(connection, rater, assignment, answers, seconds, form, now)
            except LockedError:
                return refused("locked", 409, again=False)
            step = next_step(connection, here.study, here.catalogue, rater, now, hand_out=hand_out)
            if step.name == "thanks" and hand_out:
                finish(connection, rater, now)
    if errors:
        message = next(iter(errors.values()))
        return show(
            "rate.html", rating_page(held, assignment, typed, form=form, message=message, errors=errors), rater
        ), 422
    if assignment.kind == "practice":
        return redirect(f"/practice/{position}", 303)
    if step.name != "rate" and not hand_out:
        return redirect("/rate", 303)
    return redirect(address(step), 303)


def _answers(assignment: Assignment) -> tuple[dict[str, float | None], dict[str, str], dict[str, str]]:
    """The form's ratings by pair, what was typed, and what is wrong with it."""
    here = site()
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
