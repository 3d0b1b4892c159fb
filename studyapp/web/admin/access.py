"""Who may see the admin pages: a password, set once by a one-time link; only its hash is kept."""

from __future__ import annotations

import functools
import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Blueprint, abort, current_app, redirect, request
from flask import session as flask_session
from flask.typing import ResponseReturnValue
from werkzeug.security import check_password_hash, generate_password_hash

from relstudy.studyapp.config.secret import write_private
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import PasswordPage

blueprint = Blueprint("access", __name__, url_prefix="/admin")

SHORTEST = 10
HOURS = 12


def make_setup_link(folder: Path) -> str | None:
    """Path of a one-time link to set the admin password; None when there is a password already.

    Only the token's hash is written down (FOLDER/admin.setup, mode 0600); a new link ends the one before.
    """
    if (folder / "admin.hash").exists():
        return None
    token = secrets.token_urlsafe(24)
    write_private(folder / "admin.setup", hashlib.sha256(token.encode()).hexdigest())
    return f"/admin/setup/{token}"


def set_password(folder: Path, password: str, *, first: bool = False) -> None:
    """Keep the hash of the admin password (FOLDER/admin.hash, mode 0600).

    With `first`, FileExistsError when there is one already.
    """
    write_private(folder / "admin.hash", generate_password_hash(password, method="scrypt"), new=first)
    (folder / "admin.setup").unlink(missing_ok=True)


def _hash() -> str:
    try:
        return (current_site().folder / "admin.hash").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""


def _fingerprint() -> str:
    """What a session is signed in under: the password, and the time between two logouts (FOLDER/admin.logout)."""
    try:
        last_logout = (current_site().folder / "admin.logout").read_text(encoding="ascii")
    except FileNotFoundError:
        last_logout = ""
    return hashlib.sha256(f"{_hash()}|{last_logout}".encode()).hexdigest()[:16]


def is_admin() -> bool:
    """Whether this browser has given the password, not too long ago, it is still the same one, and nobody has logged
    out since."""
    claim = flask_session.get("admin")
    if not (isinstance(claim, list) and len(claim) == 2):
        return False
    fresh = isinstance(claim[1], int | float) and time.time() - claim[1] < 3600 * HOURS
    return bool(_hash()) and fresh and secrets.compare_digest(str(claim[0]), _fingerprint())


def may_preview() -> bool:
    """Whether this browser may see the study before anybody rates: the researcher's, or any one of a server that serves
    nothing but the preview."""
    return bool(current_app.config.get("PREVIEW")) or is_admin()


def admin_required(view: Callable[..., ResponseReturnValue]) -> Callable[..., ResponseReturnValue]:
    """Only for those who have given the password; a POST also needs this visit's csrf token."""

    @functools.wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> ResponseReturnValue:
        if not is_admin():
            if request.method == "GET":
                return redirect("/admin/login")
            abort(401, description="session")
        if request.method != "GET":
            session.require_csrf()
        return view(*args, **kwargs)

    return guarded


def _become_admin() -> ResponseReturnValue:
    flask_session.clear()
    flask_session["admin"] = [_fingerprint(), int(time.time())]
    flask_session["nonce"] = secrets.token_hex(16)
    return redirect("/admin/", 303)


def _begin_visit() -> None:
    if "nonce" not in flask_session:
        flask_session["nonce"] = secrets.token_hex(16)


@blueprint.get("/login")
def login() -> ResponseReturnValue:
    """Ask for the password."""
    if is_admin():
        return redirect("/admin/")
    _begin_visit()
    return show("login.html", PasswordPage(new=False, action="/admin/login"))


@blueprint.post("/login")
def check() -> ResponseReturnValue:
    """Check the password; a wrong one counts against the client."""
    session.require_csrf()
    guesses = current_site().password_limit
    if not guesses.attempt(session.client()):
        abort(429)
    password_hash = _hash()
    if not password_hash or not check_password_hash(password_hash, request.form.get("password", "")):
        page = PasswordPage(new=False, action="/admin/login", message=current_site().texts("password.wrong"))
        return show("login.html", page), 403
    guesses.forgive(session.client())
    return _become_admin()


def _setup_holds(token: str) -> bool:
    folder = current_site().folder
    if (folder / "admin.hash").exists():
        return False
    try:
        expected = (folder / "admin.setup").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return False
    return secrets.compare_digest(expected, hashlib.sha256(token.encode()).hexdigest())


def _require_setup(token: str) -> None:
    if current_site().link_limit.reached(session.client()):
        abort(429)
    if not _setup_holds(token):
        current_site().link_limit.attempt(session.client())
        abort(404, description="link")


@blueprint.get("/setup/<token>")
def setup(token: str) -> ResponseReturnValue:
    """The one-time link: choose the password."""
    _require_setup(token)
    _begin_visit()
    return show("login.html", PasswordPage(new=True, action=f"/admin/setup/{token}", shortest=SHORTEST))


@blueprint.post("/setup/<token>")
def choose(token: str) -> ResponseReturnValue:
    """Keep the password; the link is used up."""
    _require_setup(token)
    session.require_csrf()
    password = request.form.get("password", "")
    if len(password) < SHORTEST or len(password) > 1000:
        message = current_site().texts("password.short", count=SHORTEST)
        page = PasswordPage(new=True, action=f"/admin/setup/{token}", message=message, shortest=SHORTEST)
        return show("login.html", page), 422
    try:
        set_password(current_site().folder, password, first=True)
    except FileExistsError:  # somebody else was quicker with the same link
        abort(404, description="link")
    return _become_admin()


@blueprint.post("/logout")
def logout() -> ResponseReturnValue:
    """End the researcher's sessions, in this browser and in every other: a copied cookie is worth nothing then."""
    if is_admin():
        session.require_csrf()
        flask_session.clear()
        write_private(current_site().folder / "admin.logout", secrets.token_hex(8))
    flask_session.clear()
    return redirect("/admin/login", 303)
