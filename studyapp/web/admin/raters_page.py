"""Raters: progress, time, agreement, checks, flags; set one aside, or forget one."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from flask import Blueprint, abort, redirect, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import moment, number, thousands
from relstudy.studyapp.assignment import erasure
from relstudy.studyapp.assignment.exclusion import SET_ASIDE, set_aside, take_back
from relstudy.studyapp.monitoring.status import RaterStatus
from relstudy.studyapp.monitoring.traces import Left, Trace, left_of_the_forgotten
from relstudy.studyapp.web.admin import charts
from relstudy.studyapp.web.admin.figures import forget_figures, recent_figures
from relstudy.studyapp.web.admin.researchers import admin_required
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("admin_raters", __name__, url_prefix="/admin")

RATERS_PER_PAGE = 50


@dataclass(frozen=True)
class RaterRow:
    """One rater's row; texts are ready to show."""

    status: RaterStatus
    seconds: str
    last: str
    agreement: str
    flags: tuple[str, ...]
    spark: Markup


@dataclass(frozen=True)
class RatersPage:
    """One stretch of the list of raters, and what is left of erased raters."""

    tab: ClassVar = "raters"
    rows: tuple[RaterRow, ...]
    number: int
    pages: int
    total: int
    left: Left
    left_lines: tuple[str, ...]


@dataclass(frozen=True)
class ForgetPage:
    """Asks before a rater's data goes."""

    tab: ClassVar = "raters"
    rater_id: str
    ratings: int


@blueprint.get("/raters")
@admin_required
def list_raters() -> ResponseReturnValue:
    """Every rater: progress, time, agreement, checks, flags."""
    status, statistics = recent_figures()
    page = max(1, request.args.get("page", 1, type=int))
    pages = max(1, -(-len(status.people) // RATERS_PER_PAGE))
    page = min(page, pages)
    rows = []
    for person in status.people[(page - 1) * RATERS_PER_PAGE : page * RATERS_PER_PAGE]:
        view = statistics.raters.get(person.rater_id)
        rows.append(
            RaterRow(
                person,
                number(person.median_seconds, ".1f"),
                moment(person.last_rated_at),
                number(view.agreement if view else None, ".2f"),
                _flags(person, view.flags if view else ()),
                charts.spark(current_site().texts("admin.spark", rater=person.rater_id), view.spark if view else ()),
            )
        )
    left = left_of_the_forgotten(current_site().folder, current_site().store)
    lines = tuple(map(_left_line, left.traces))
    return show("admin/raters.html", RatersPage(tuple(rows), page, pages, len(status.people), left, lines))


def _left_line(trace: Trace) -> str:
    """Sentence on a place where somebody who was forgotten can still be read."""
    site = current_site()
    file = trace.where if trace.is_in_database else Path(trace.where).relative_to(site.folder)
    return site.texts(f"admin.left.{trace.kind}", file=file, count=thousands(trace.people), reason=trace.reason)


def _flags(person: RaterStatus, flags: tuple[str, ...]) -> tuple[str, ...]:
    """The flags to show, in words; those about the base block only once the rater has finished."""
    texts = current_site().texts
    over = person.state == "finished"
    shown = [texts(f"admin.flag.{flag.replace(' ', '-')}") for flag in flags if over or "base" not in flag]
    if person.checks_passed < person.checks:
        shown.append(texts("admin.flag.checks", failed=person.checks - person.checks_passed))
    return tuple(shown)


def _person(rater_id: str) -> RaterStatus:
    """Status of the rater of an id; 404 if there is none."""
    status, _ = recent_figures()
    person = next((person for person in status.people if person.rater_id == rater_id), None)
    if person is None:
        abort(404)
    return person


@dataclass(frozen=True)
class SetAsidePage:
    """Asks before a rater is set aside, or taken back."""

    tab: ClassVar = "raters"
    rater_id: str
    ratings: int
    is_aside: bool


@blueprint.get("/set-aside/<rater_id>")
@admin_required
def ask_set_aside(rater_id: str) -> ResponseReturnValue:
    """Ask before setting a rater aside, or taking them back."""
    person = _person(rater_id)
    return show("admin/set_aside.html", SetAsidePage(rater_id, person.ratings, person.outcome == SET_ASIDE))


@blueprint.post("/set-aside/<rater_id>")
@admin_required
def change_set_aside(rater_id: str) -> ResponseReturnValue:
    """Set a rater aside, or take them back; who is already as asked stays so."""
    way, site = request.form.get("way"), current_site()
    if way not in ("aside", "back"):
        abort(400, description="form")
    with contextlib.suppress(RelstudyError):  # somebody else was quicker, and the list says what is the case
        if way == "aside":
            set_aside(site.store, rater_id)
        else:
            take_back(site.store, site.folder, rater_id)
    forget_figures()
    return redirect("/admin/raters", 303)


@blueprint.get("/forget/<rater_id>")
@admin_required
def ask_forget(rater_id: str) -> ResponseReturnValue:
    """Ask before removing a person's data."""
    return show("admin/forget.html", ForgetPage(rater_id, _person(rater_id).ratings))


@blueprint.post("/forget/<rater_id>")
@admin_required
def forget(rater_id: str) -> ResponseReturnValue:
    """Remove a person's data; their unique pairs go back to the pool."""
    site = current_site()
    try:
        site.gone.append(erasure.forget(site.store, site.folder, rater_id).ids)
    except erasure.UnknownRaterError:
        abort(404)
    forget_figures()
    return redirect("/admin/raters", 303)
