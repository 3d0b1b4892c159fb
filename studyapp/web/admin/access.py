"""The way in to the admin pages: a password, chosen by a one-time link; only its hash is kept."""

from __future__ import annotations

import functools
import hashlib
import secrets
import time
from pathlib import Path

from flask import Blueprint, abort, redirect, request
from flask import session as flask_session
from flask.typing import ResponseReturnValue
from werkzeug.security import check_password_hash, generate_password_hash

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.accounts import FIRST, SETUP_DAYS, account_of_link, choose_password, read_accounts
from relstudy.studyapp.config.secret import read_private, write_private
from relstudy.studyapp.web import session
from relstudy.studyapp.web.admin.researchers import (
    become,
    current_account,
    find_account,
    is_admin,
    log_out_everywhere,
    signed_on_by,
)
from relstudy.studyapp.web.admin.sign_on_pages import left_page
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import PasswordPage

blueprint = Blueprint("access", __name__, url_prefix="/admin")

SHORTEST = 12
"""Characters of a password (OWASP ASVS 4.0.3, 2.1.1)."""
ACCOUNTS = 5  # so many accounts' wrong passwords are allowed to one address, which colleagues may share


def make_setup_link(folder: Path) -> str | None:
    """Path of a one-time link to set the owner's password; None when there is a password already.

    Only the token's hash is written down (FOLDER/admin.setup, mode 0600); a new link ends the one before.
    """
    if (folder / "admin.hash").exists():
        return None
    token = secrets.token_urlsafe(24)
    write_private(folder / "admin.setup", hashlib.sha256(token.encode()).hexdigest())
    return f"/admin/setup/{token}"


def set_password(folder: Path, password: str, *, first: bool = False) -> None:
    """Keep the hash of the owner's password (FOLDER/admin.hash, mode 0600).

    With `first`, FileExistsError when there is one already.
    """
    write_private(folder / "admin.hash", _hashed(password), new=first)
    (folder / "admin.setup").unlink(missing_ok=True)


def _hashed(password: str) -> str:
    return generate_password_hash(password)


@functools.lru_cache(maxsize=1)
def _nobodys_hash() -> str:
    """Dummy hash, checked for unknown accounts against timing attacks."""
    return _hashed(secrets.token_hex(16))


def _begin_visit() -> None:
    if "nonce" not in flask_session:
        flask_session["nonce"] = secrets.token_hex(16)


def _login_page(message: str = "", name: str = "") -> str:
    accounts = [each for folder in current_site().account_folders for each in read_accounts(folder).values()]
    several = any(account.password or account.setup for account in accounts)
    sign_on, texts = current_site().sign_on, current_site().texts
    page = PasswordPage(
        new=False,
        action="/admin/login",
        message=message,
        name=name,
        asks_name=several,
        sign_on="" if sign_on is None else sign_on.settings.label or texts("sso.provider.name"),
    )
    return show("login.html", page)


@blueprint.get("/login")
def login() -> ResponseReturnValue:
    """Ask for the password."""
    if is_admin():
        return redirect("/admin/")
    _begin_visit()
    return _login_page()


@blueprint.post("/login")
def check() -> ResponseReturnValue:
    """Check the password; a wrong one counts against the account from this address, and against the address at all
    accounts of the study or, of a host's account, at all of the host's, which open every study."""
    session.require_csrf()
    name = request.form.get("account", "").strip()[:64]
    holder = find_account(name or FIRST)
    folder = current_site().folder if holder is None else holder[1]
    guesses, by_address = current_site().password_limit, f"{session.client()} {folder}"
    by_account = f"{by_address} {name or FIRST}"
    # The account comes first: who is refused for theirs takes nothing from those who share the address.
    if not (guesses.attempt(by_account) and guesses.attempt(by_address, ACCOUNTS * guesses.failures)):
        abort(429)
    account = holder[0] if holder is not None and holder[0].password else None
    given = request.form.get("password", "")
    try:
        holds = check_password_hash(account.password if account else _nobodys_hash(), given)
    except ValueError:  # no method of hashing that is known
        file = "admin.hash" if name in ("", FIRST) else "accounts.json"
        raise RelstudyError(f"{file}: the password of {name or FIRST!r} is damaged; let it be chosen again") from None
    if account is None or not holds:
        return _login_page(current_site().texts("password.wrong"), name), 403
    guesses.forgive(by_account)
    guesses.forgive(by_address)
    become(account)
    return redirect("/admin/", 303)


def _first_setup_holds(token: str) -> bool:
    folder = current_site().folder
    if (folder / "admin.hash").exists():
        return False
    made = folder / "admin.setup"
    try:
        age = time.time() - made.stat().st_mtime
    except FileNotFoundError:  # used up, perhaps at this moment by somebody else
        return False
    if age > 86400 * SETUP_DAYS:
        return False
    expected = read_private(made)
    return secrets.compare_digest(expected, hashlib.sha256(token.encode()).hexdigest())


def _require_setup(token: str) -> tuple[str, Path]:
    """The account whose password a one-time link chooses, and its folder; guesses count against the client."""
    chooser = _chooser(token)
    if chooser is None:
        session.refuse_guess(404, "link")
    return chooser


def _chooser(token: str) -> tuple[str, Path] | None:
    if _first_setup_holds(token):
        return FIRST, current_site().folder
    for folder in current_site().account_folders:
        account = account_of_link(folder, token)
        if account is not None:
            return account.name, folder
    return None


def _choose_page(token: str, name: str, message: str = "") -> str:
    page = PasswordPage(
        new=True,
        action=f"/admin/setup/{token}",
        message=message,
        shortest=SHORTEST,
        name="" if name == FIRST else name,
    )
    return show("login.html", page)


@blueprint.get("/setup/<token>")
def setup(token: str) -> ResponseReturnValue:
    """The one-time link: choose the password."""
    name, _ = _require_setup(token)
    _begin_visit()
    return _choose_page(token, name)


@blueprint.post("/setup/<token>")
def choose(token: str) -> ResponseReturnValue:
    """Keep the password; the link is used up."""
    name, folder = _require_setup(token)
    session.require_csrf()
    password = request.form.get("password", "")
    if len(password) < SHORTEST or len(password) > 1000:
        return _choose_page(token, name, current_site().texts("password.short", count=SHORTEST)), 422
    try:
        if name == FIRST:
            set_password(folder, password, first=True)
        elif not choose_password(folder, token, _hashed(password)):
            raise FileExistsError
    except FileExistsError:  # somebody else was quicker with the same link
        abort(404, description="link")
    account = find_account(name)
    if account is not None and account[1] == folder:  # a host's account may have the name of another one in this study
        become(account[0])
    return redirect("/admin/", 303)


@blueprint.post("/logout")
def logout() -> ResponseReturnValue:
    """End the researcher's sessions, in this browser and in every other."""
    account = current_account()
    if account is not None:
        session.require_csrf()
        log_out_everywhere(account)
        sign_on = current_site().sign_on
        if sign_on is not None and signed_on_by():
            return left_page(sign_on)
        flask_session.clear()
    return redirect("/admin/login", 303)
