"""Signing on by an institution: to the provider and back, or by the header of the proxy in front."""

from __future__ import annotations

import logging

from flask import Blueprint, abort, redirect
from flask import session as flask_session
from flask.typing import ResponseReturnValue

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.accounts import admit
from relstudy.studyapp.web.admin.researchers import become, is_admin
from relstudy.studyapp.web.log import log_event
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.single_sign_on import SignOn, SignOnError
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import MessagePage

blueprint = Blueprint("sso", __name__, url_prefix="/admin/sso")

STATUS = {"sso.refused": 403, "sso.denied": 403, "sso.failed": 400, "sso.away": 503, "sso.provider": 502}


def _sign_on() -> SignOn:
    sign_on = current_site().sign_on
    if sign_on is None:
        abort(404)
    return sign_on


def enter(sign_on: SignOn, email: str) -> ResponseReturnValue:
    """Sign this browser in as the account of an e-mail address."""
    try:
        account = admit(current_site().folder, sign_on.admitted(email), sign_on.settings.role)
    except RelstudyError:
        return refuse("sso.refused")
    except SignOnError as error:
        return refuse(str(error))
    become(account, by=sign_on.kind)
    return redirect("/admin/", 303)


def refuse(reason: str) -> ResponseReturnValue:
    """The page that says why somebody was not signed on."""
    log_event("sign-on", logging.WARNING, refused=reason)
    texts = current_site().texts
    page = MessagePage(texts("error.heading"), texts(reason), "/admin/login", texts("sso.again"))
    return show("message.html", page), STATUS[reason]


@blueprint.get("")
def begin() -> ResponseReturnValue:
    """To the provider; where a proxy says who it is, straight to the pages."""
    sign_on = _sign_on()
    if is_admin():
        return redirect("/admin/")
    if sign_on.kind == "header":
        return enter(sign_on, sign_on.named_by_proxy())
    try:
        return sign_on.begin()
    except SignOnError as error:
        return refuse(str(error))


@blueprint.get("/back")
def back() -> ResponseReturnValue:
    """From the provider, with a code for this visit."""
    sign_on = _sign_on()
    if sign_on.kind == "header":
        abort(404)
    try:
        return enter(sign_on, sign_on.finish())
    except SignOnError as error:
        return refuse(str(error))


def left_page(sign_on: SignOn) -> ResponseReturnValue:
    """After a logout: logged out here, and the way to log out at the provider, where the next visit else needs no
    password."""
    flask_session.clear()
    texts, away = current_site().texts, sign_on.leave()
    if not away:
        return redirect("/admin/login", 303)
    return show("message.html", MessagePage(texts("sso.left"), texts("sso.still"), away, texts("sso.leave")))
