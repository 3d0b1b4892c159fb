"""Leaving the study for good, where it offers that: what was stored is deleted, or kept and marked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace

from flask import Blueprint, abort, redirect, request
from flask.typing import ResponseReturnValue

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment import set_aside
from relstudy.studyapp.assignment.forgetting import forget
from relstudy.studyapp.assignment.raters import Rater
from relstudy.studyapp.database.tombstones import WITHDREW
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rendering import end_page, show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import WithdrawPage

blueprint = Blueprint("withdrawal", __name__)


@blueprint.get("/withdraw")
def ask() -> ResponseReturnValue:
    """The page that explains withdrawal and asks for confirmation."""
    if not current_site().study.withdrawal:
        abort(404)
    rater = session.consented_rater()
    return redirect("/consent") if rater is None else show("withdraw.html", withdraw_view(rater), rater)


def withdraw_view(rater: Rater) -> WithdrawPage:
    """The page on the fate of the stored data."""
    site = current_site()
    way = "by_id" if site.study.withdrawal == "delete" and session.came_by_id_alone(rater) else site.study.withdrawal
    return WithdrawPage(site.texts(f"withdraw.text.{way}"))


@blueprint.post("/withdraw")
def withdraw() -> ResponseReturnValue:
    """Take the rater out, in whatever state the study is. Where all is deleted, the browser keeps the way back.

    An id that a platform tells others deletes nothing that was given in another browser: it is marked instead.
    """
    if not current_site().study.withdrawal:
        abort(404)
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent", 303)
    session.require_csrf(rater)
    if request.form.get("sure") != "yes":
        return redirect("/withdraw", 303)
    site = current_site()
    with suppress(RelstudyError):  # sent twice at once: gone is gone
        if site.study.withdrawal == "keep" or session.came_by_id_alone(rater):
            set_aside.withdraw(site.store, site.folder, rater.rater_id)
        else:
            page = end_page(WITHDREW, rater)
            gone = forget(site.store, site.folder, rater.rater_id)
            site.gone.append(gone.ids)
            said = site.texts("withdrew.readable" if gone.readable else "withdrew.deleted")
            session.end_visit(asdict(replace(page, text=said)))
    return redirect("/ended", 303)
