"""The researcher who is asking, the rights of their role, and the log of their actions.

Every study has the account "owner", whose password was chosen first and is in FOLDER/admin.hash. Further accounts are
in FOLDER/accounts.json, of the study and of the host that serves it.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from flask import abort, current_app, g, make_response, redirect, request
from flask import session as flask_session
from flask.typing import ResponseReturnValue

from relstudy.studyapp.config.accounts import FIRST, Account, end_sessions, read_accounts
from relstudy.studyapp.config.secret import read_private, write_private
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.monitoring.audit_log import record
from relstudy.studyapp.web import session
from relstudy.studyapp.web.log import log_event
from relstudy.studyapp.web.site import current_site

HOURS = 12
IDLE_MINUTES = 60
"""Without a page opened or a form sent, a researcher is signed out; figures that renew themselves do not count."""
RECORDED = ("state", "look", "count")  # fields of forms that the log shows


def find_account(name: str) -> tuple[Account, Path] | None:
    """The account of a name, and the folder that it is kept in; the study's come before its host's."""
    site = current_site()
    if name == FIRST:
        first = Account(
            FIRST, "owner", read_private(site.folder / "admin.hash"), "", read_private(site.folder / "admin.logout")
        )
        return first, site.folder
    for folder in site.account_folders:
        account = read_accounts(folder).get(name)
        if account is not None:
            return account, folder
    return None


def _fingerprint(account: Account) -> str:
    """Mark that a session is signed in under: the account's password, and the time between two of its logouts."""
    return hashlib.sha256(f"{account.name}|{account.password}|{account.logout}".encode()).hexdigest()[:16]


def current_account() -> Account | None:
    """The account whose password was given in this browser, not too long ago, where it is still the same one, and they
    have not logged out since."""
    if "account" not in g:
        g.account = _claimed_account()
    return cast(Account | None, g.account)


def _claimed_account() -> Account | None:
    claim = flask_session.get("admin")
    if not (isinstance(claim, list) and len(claim) == 3 and isinstance(claim[1], int | float)):
        return None
    now = time.time()
    if now - claim[1] >= 3600 * HOURS or now - flask_session.get("seen", claim[1]) >= 60 * IDLE_MINUTES:
        return None
    account_now = find_account(str(claim[2]))
    if account_now is None or not _way_stands(account_now[0]):
        return None
    return account_now[0] if secrets.compare_digest(str(claim[0]), _fingerprint(account_now[0])) else None


def _way_stands(account: Account) -> bool:
    """True if the way in which this session was begun lets the account in still."""
    if not signed_on_by():
        return bool(account.password)
    sign_on = current_site().sign_on
    return sign_on is not None and sign_on.stands(signed_on_by(), account.name)


def who_asks() -> str:
    """The account that asks, a person's or a program's, and its study; what one account may have is counted by it."""
    account = current_account()
    return f"{current_site().folder}|{account.name if account is not None else ''}"


def signed_on_by() -> str:
    """Kind of the sign-on by which this session was begun; empty where it was a password."""
    return str(flask_session.get("by", ""))


def is_admin() -> bool:
    """True if this browser is a researcher's."""
    return current_account() is not None


def may_preview() -> bool:
    """True if this browser may see the study before anybody rates: a researcher's, or any one of a server that serves
    nothing but the preview."""
    return bool(current_app.config.get("PREVIEW")) or is_admin()


def may(role: str) -> bool:
    """True if the researcher of this browser may do what a role may."""
    account = current_account()
    return account is not None and account.may(role)


def note(account: Account, did: str, about: str = "") -> None:
    """Add to the log; what was done stays done where the database cannot take it."""
    try:
        record(current_site().store, account.name, did, about)
    except DATABASE_ERRORS as error:
        log_event("audit log", who=account.name, did=did, about=about, error=type(error).__name__)


def become(account: Account, by: str = "") -> None:
    """Sign this browser in; whatever its session held before is dropped. `by` is the kind of a sign-on."""
    flask_session.clear()
    if by:
        flask_session["by"] = by
    flask_session["admin"] = [_fingerprint(account), int(time.time()), account.name]
    flask_session["nonce"] = secrets.token_hex(16)
    g.account = account
    note(account, "log in", "by sign-on" if by else "")


def log_out_everywhere(account: Account) -> None:
    """End the account's sessions, in this browser and in every other: a copied cookie is worth nothing then."""
    account_now = find_account(account.name)
    if account.name == FIRST:
        write_private(current_site().folder / "admin.logout", secrets.token_hex(8))
    elif account_now is not None:
        end_sessions(account_now[1], account.name)
    note(account, "log out")


View = Callable[..., ResponseReturnValue]


def admin_required(view: View) -> View:
    """For researchers: viewers may look, and whatever is sent needs an editor and this visit's csrf token."""
    return _guarded(view, "")


def role_required(role: str, *, logged: bool = True) -> Callable[[View], View]:
    """The same for researchers of a role; with `logged`, who opens the page is in the log."""
    return lambda view: _guarded(view, role, logged)


def _guarded(view: View, role: str, logged: bool = False) -> View:
    @functools.wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> ResponseReturnValue:
        looks = request.method in ("GET", "HEAD")
        account = current_account()
        if account is None:
            if looks:
                return redirect("/admin/login")
            abort(401, description="session")
        if not looks:
            session.require_csrf()
        if not account.may(role or ("viewer" if looks else "editor")):
            abort(403, description="role")
        if request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate":
            flask_session["seen"] = int(time.time() // 60 * 60)  # the cookie changes once a minute
        response = make_response(view(*args, **kwargs))
        if (logged or not looks) and response.status_code < 400:
            values = [request.form[name] for name in RECORDED if name in request.form]
            about = " ".join([*map(str, kwargs.values()), *values])
            note(account, str(request.endpoint).rpartition(".")[2].replace("_", " "), about)
        return response

    return guarded
