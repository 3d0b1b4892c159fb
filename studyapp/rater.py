"""The rater's pages: rate, go back, practice feedback, exit questions, thanks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, abort, redirect, request, send_file
from flask.typing import ResponseReturnValue

from studyapp import visitor
from studyapp.access import is_admin
from studyapp.answers import LockedError, submit
from studyapp.enrolment import lock_rater
from studyapp.handout import Step, add_pages, finish, next_step
from studyapp.items import image_type
from studyapp.pages import (
    Feedback,
    PracticePage,
    QuestionsPage,
    QuestionView,
    RatingPage,
    ResultView,
    ThanksPage,
)
from studyapp.pairs import known_pair_ids
from studyapp.refused import refused
from studyapp.sequence import Assignment, Held, look, start
from studyapp.show import choices, item_view, paragraphs, show, unavailable
from studyapp.site import Site, site
from studyapp.slots import renew
from studyapp.store import assignments, raters, ratings
from studyapp.study_parts import Question, show_value

blueprint = Blueprint("rater", __name__)


def _address(step: Step) -> str:
    return f"/rate/{step.position}" if step.name == "rate" else f"/{step.name}"


def _consented() -> Any:
    """The rater, or None with nothing done; the caller sends them to the way in."""
    rater = visitor.current_rater()
    return rater if rater is not None and rater.consented_at is not None else None


@blueprint.post("/instructions")
def begin() -> ResponseReturnValue:
    """Lay out the rater's pages and go to the first."""
    rater = _consented()
    if rater is None:
        return redirect("/consent", 303)
    visitor.require_csrf(rater)
    if site().state != "open":
        return unavailable()
    return redirect(_address(_advance(rater.id)), 303)


def _advance(rater_id: int) -> Step:
    """Start if need be, hand out if need be, and say where the rater goes."""
    here = site()
    now = time.time()
    hand_out = here.state == "open"
    with here.store.write() as connection:
        rater = lock_rater(connection, rater_id)
        if rater is None:
            abort(401, description="session")
        if hand_out:
            start(connection, here.study, here.catalogue, rater, now)
        step = next_step(connection, here.study, here.catalogue, rater, now, hand_out=hand_out)
        if step.name == "thanks" and hand_out:
            finish(connection, rater, now)
    return step


@blueprint.get("/rate")
def resume() -> ResponseReturnValue:
    """To the page where the rater was."""
    rater = _consented()
    if rater is None:
        return redirect("/consent")
    if rater.started_at is None:
        return redirect("/instructions")
    step = _advance(rater.id)
    if step.name != "rate" and site().state != "open":
        return unavailable()
    return redirect(_address(step))


@blueprint.get("/rate/<int(max=1000000):position>")
def rate(position: int) -> ResponseReturnValue:
    """One of the rater's own pages."""
    held = _held(position)
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
            chosen = _chosen(connection, assignment)
    elif assignment.slot_id is not None:
        _renew_if_needed(assignment)
    return show("rate.html", _rating_page(held, assignment, chosen), held.rater)


def _held(position: int) -> Held | None:
    """The consenting rater of this session with the page at a position; None for anyone else."""
    claimed = visitor.claimed_rater()
    if claimed is None:
        return None
    with site().store.glance() as connection:
        held = look(connection, claimed, position)
    return held if held is not None and _may_rate(held.rater) else None


def _may_rate(rater: Any) -> bool:
    return visitor.is_really(rater) and rater.consented_at is not None


def _chosen(connection: sa.Connection, assignment: Assignment) -> dict[str, str]:
    """What counts as the rater's answer on a page answered before, by pair."""
    query = sa.select(ratings).where(ratings.c.assignment_id == assignment.id).order_by(ratings.c.revision)
    return {
        row.pair_id: "undecided" if row.rating is None else show_value(row.rating) for row in connection.execute(query)
    }


def _renew_if_needed(assignment: Assignment) -> None:
    """A page opened late, or reloaded: its lease starts again, if nobody else was given the page."""
    here = site()
    now = time.time()
    if now - assignment.handed_at > 30 * here.study.lease_minutes:
        with here.store.write() as connection:
            renew(connection, here.study, assignment, now)


def _answered(held: Held, assignment: Assignment) -> int:
    """How many pages the rater has answered."""
    if assignment.answered_at is None:
        return assignment.position - 1
    with site().store.glance() as connection:
        query = sa.select(sa.func.count(assignments.c.answered_at)).where(assignments.c.rater == held.rater.id)
        return int(connection.execute(query).scalar_one())


def _rating_page(
    held: Held,
    assignment: Assignment,
    chosen: Mapping[str, str],
    *,
    form: str = "",
    message: str = "",
    errors: Mapping[str, str] | None = None,
) -> RatingPage:
    here = site()
    rater = held.rater
    block = here.study.block(assignment.block)
    pairs = [here.catalogue.pairs[pair_id] for pair_id in assignment.pair_ids]
    query = here.items[pairs[0].query_id]
    earlier = assignment.answered_at is not None
    return RatingPage(
        number=assignment.position,
        total=max(assignment.position, here.planned_pages + rater.extra_pages),
        answered=_answered(held, assignment),
        practice=assignment.kind == "practice",
        paradigm=query.kind,
        question=block.question,
        scale=block.scale.name,
        choices=choices(block.scale),
        undecided=block.scale.undecided,
        query=item_view(query),
        results=tuple(
            ResultView(
                number,
                f"rating-{number}",
                item_view(here.items[pair.result_id]),
                chosen.get(pair.pair_id, ""),
                (errors or {}).get(pair.pair_id, ""),
            )
            for number, pair in enumerate(pairs, start=1)
        ),
        form=form or here.signer.form(visitor.name(rater), assignment.id, time.time()),
        action=f"/rate/{assignment.position}",
        earlier=earlier,
        back=f"/rate/{assignment.position - 1}" if assignment.position > rater.locked_to + 1 else "",
        onward="/rate" if earlier else "",
        preload=_pictures(here, held.upcoming or []),
        message=message,
    )


def _pictures(here: Site, pair_ids: list[str]) -> tuple[str, ...]:
    shown = [here.catalogue.pairs[pair_id] for pair_id in pair_ids]
    ids = [*(pair.query_id for pair in shown[:1]), *(pair.result_id for pair in shown)]
    return tuple(item_view(here.items[item_id]).url for item_id in ids if here.items[item_id].kind == "image")


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
        if held is None or not _may_rate(held.rater):
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
            "rate.html", _rating_page(held, assignment, typed, form=form, message=message, errors=errors), rater
        ), 422
    if assignment.kind == "practice":
        return redirect(f"/practice/{position}", 303)
    if step.name != "rate" and not hand_out:
        return redirect("/rate", 303)
    return redirect(_address(step), 303)


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


@blueprint.get("/practice/<int(max=1000000):position>")
def practice(position: int) -> ResponseReturnValue:
    """How a practice page went."""
    held = _held(position)
    if held is None:
        return redirect("/consent")
    assignment = held.assignment
    if assignment is None or assignment.kind != "practice" or assignment.answered_at is None:
        return redirect("/rate")
    here = site()
    with here.store.read() as connection:
        chosen = _chosen(connection, assignment)
    known = known_pair_ids(here.study)
    feedback = []
    for pair_id in assignment.pair_ids:
        entry = known.get(pair_id)
        if entry is None:
            continue
        expected = tuple(map(show_value, entry.expected))
        item = item_view(here.items[entry.result_id])
        feedback.append(Feedback(item, chosen[pair_id], expected, chosen[pair_id] in expected, entry.feedback))
    query = item_view(here.items[here.catalogue.pairs[assignment.pair_ids[0]].query_id])
    return show("practice.html", PracticePage(query, tuple(feedback), "/rate"), held.rater)


@blueprint.get("/questions")
def questions() -> ResponseReturnValue:
    """Exit questions."""
    rater = _consented()
    if rater is None:
        return redirect("/consent")
    if not site().study.questions:
        return redirect("/rate")
    answers = rater.answers or {}
    return show("questions.html", QuestionsPage(_question_views(answers, {})), rater)


def _question_views(answers: Mapping[str, str], errors: Mapping[str, str]) -> tuple[QuestionView, ...]:
    return tuple(
        QuestionView(
            f"question-{q.id}", q.text, q.kind, q.choices, q.required, answers.get(q.id, ""), errors.get(q.id, "")
        )
        for q in site().study.questions
    )


@blueprint.post("/questions")
def answer() -> ResponseReturnValue:
    """Keep the answers to the exit questions."""
    rater = _consented()
    if rater is None:
        return refused("session", 401)
    visitor.require_csrf(rater)
    here = site()
    given = {q.id: request.form.get(f"question-{q.id}", "").strip()[:4000] for q in here.study.questions}
    errors = {q.id: error for q in here.study.questions if (error := _wrong(q, given[q.id]))}
    if errors:
        return show("questions.html", QuestionsPage(_question_views(given, errors)), rater), 422
    with here.store.write() as connection:
        connection.execute(
            sa.update(raters).where(raters.c.id == rater.id).values(answers=given, answered_at=time.time())
        )
    return redirect(_address(_advance(rater.id)), 303)


def _wrong(question: Question, value: str) -> str:
    texts = site().texts
    if not value:
        return texts("questions.required") if question.required else ""
    if question.kind == "choice" and value not in question.choices:
        return texts("questions.choice")
    if question.kind == "number":
        try:
            if abs(float(value.replace(",", "."))) < 1e12:
                return ""
        except ValueError:
            pass
        return texts("questions.number")
    return ""


@blueprint.get("/thanks")
def thanks() -> ResponseReturnValue:
    """The end: completion code, the way back to the platform, and "rate some more"."""
    rater = _consented()
    if rater is None:
        return redirect("/consent")
    if rater.finished_at is None:
        return redirect("/rate")
    here = site()
    study = here.study
    url = study.entry.completion_url.replace("{code}", rater.completion_code)
    message = here.texts("thanks.none") if request.args.get("more") == "none" else ""
    page = ThanksPage(
        paragraphs(study.thanks or here.texts("thanks.default")),
        rater.completion_code,
        url,
        here.state == "open" and any(block.unique and block.more for block in study.blocks),
        message,
    )
    return show("thanks.html", page, rater)


@blueprint.post("/more")
def more() -> ResponseReturnValue:
    """Some more unique pairs for a rater who has finished."""
    rater = _consented()
    if rater is None:
        return redirect("/consent", 303)
    visitor.require_csrf(rater)
    here = site()
    if here.state != "open":
        return unavailable()
    now = time.time()
    with here.store.write() as connection:
        locked = lock_rater(connection, rater.id)
        step = next_step(connection, here.study, here.catalogue, locked, now, hand_out=False)
        if step.name != "rate":
            add_pages(connection, here.study, locked)
            locked = lock_rater(connection, rater.id)
            step = next_step(connection, here.study, here.catalogue, locked, now)
    return redirect(_address(step) if step.name == "rate" else "/thanks?more=none", 303)


@blueprint.get("/item/<key>")
def item(key: str) -> ResponseReturnValue:
    """A picture, by its opaque key; no part of the request becomes a path."""
    rater = visitor.current_rater()
    found = site().items.by_key.get(key)
    if found is None or found.path is None:
        abort(404)
    if rater is None and not is_admin():
        abort(403)
    with open(found.path, "rb") as handle:
        media_type = image_type(handle.read(16))
    if media_type is None:
        abort(404)
    response = send_file(found.path.resolve(), mimetype=media_type, conditional=True, max_age=86_400)
    response.headers["Cache-Control"] = "private, max-age=86400, immutable"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
