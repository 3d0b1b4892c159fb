"""Leaving the study for good, where it offers that: what was stored is deleted, or kept and marked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace

from flask import Blueprint, abort, redirect, request
from flask.typing import ResponseReturnValue

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment import exclusion
from relstudy.studyapp.assignment.enrolment import Rater
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.tombstones import TO_DELETE, TO_MARK, WITHDREW, note_wish
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rendering import end_page, show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import WithdrawPage

blueprint = Blueprint("withdrawal", __name__)


@blueprint.get("/withdraw")
def ask() -> ResponseReturnValue:
    """The page that explains withdrawal and asks for confirmation."""
    try:
        if not current_site().study.withdrawal:
            abort(404)
        rater = session.consented_rater()
        return redirect("/consent") if rater is None else show("withdraw.html", withdraw_view(rater), rater)
    except DATABASE_ERRORS as error:
        claim = _claim_without_database(error)
        return show("withdraw.html", withdraw_view(claim), claim)


def withdraw_view(rater: Rater | session.Claim) -> WithdrawPage:
    """The page on the fate of the stored data."""
    site = current_site()
    way = "by_id" if site.study.withdrawal == "delete" and session.came_by_id_alone(rater) else site.study.withdrawal
    return WithdrawPage(site.texts(f"withdraw.text.{way}"))


@blueprint.post("/withdraw")
def withdraw() -> ResponseReturnValue:
    """Take the rater out, in whatever state the study is. Where all is deleted, the browser keeps the way back.

    An id that a platform tells others deletes nothing that was given in another browser: it is marked instead. Where
    the database cannot be written, the wish is kept beside it, and done by the server as soon as it can.
    """
    try:
        return _withdraw()
    except DATABASE_ERRORS as error:
        return _note_wish(error)


def _withdraw() -> ResponseReturnValue:
    if not current_site().study.withdrawal:
        abort(404)
    rater = session.consented_rater()
    if rater is None:
        return redirect("/consent" if session.ended() is None else "/ended", 303)
    session.require_csrf(rater)
    if request.form.get("sure") != "yes":
        return redirect("/withdraw", 303)
    site = current_site()
    with suppress(RelstudyError):  # sent twice at once: gone is gone
        if site.study.withdrawal == "keep" or session.came_by_id_alone(rater):
            exclusion.withdraw(site.store, site.folder, rater.rater_id)
        else:
            page = end_page(WITHDREW, rater)
            gone = forget(site.store, site.folder, rater.rater_id)
            site.gone.append(gone.ids)
            said = site.texts("withdrew.readable" if gone.readable else "withdrew.deleted")
            session.end_visit(asdict(replace(page, text=said)))
    return redirect("/ended", 303)


def _note_wish(error: Exception) -> ResponseReturnValue:
    site, claim = current_site(), _claim_without_database(error)
    session.require_csrf(claim)
    if request.form.get("sure") != "yes":
        return redirect("/withdraw", 303)
    kind = TO_MARK if site.study.withdrawal == "keep" or session.came_by_id_alone(claim) else TO_DELETE
    try:
        note_wish(site.folder, kind, claim.session_key)
    except OSError:  # it can be kept nowhere
        raise error from None
    page = replace(end_page(WITHDREW), text=site.texts(f"withdrew.{kind}"))
    session.end_visit(asdict(page))
    return show("message.html", page)


def _claim_without_database(error: Exception) -> session.Claim:
    """The person who asks to leave, by the signed cookie alone: the database is away, or cannot be written."""
    site = current_site()
    site.answer_without_database()
    claim = session.claim() if site.study.withdrawal else None
    if claim is None:
        raise error
    return claim
