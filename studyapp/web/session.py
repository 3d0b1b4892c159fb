"""Who is asking: the rater behind the session cookie, someone on the way in, or nobody."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa
from flask import abort, request, session

from relstudy.studyapp.assignment.sequence import RaterPage, find_rater_page
from relstudy.studyapp.database.store import raters
from relstudy.studyapp.web.site import current_site

_RATER = sa.select(raters).where(raters.c.id == sa.bindparam("rater"))


def current_rater() -> Any:
    """The rater of this session, or None."""
    claimed = claimed_rater()
    if claimed is None:
        return None
    with current_site().store.glance() as connection:
        row = connection.execute(_RATER, {"rater": claimed}).one_or_none()
    return row if row is not None and is_really(row) else None


def claimed_rater() -> int | None:
    """The number of the rater in this session; `is_really` says whether the session may still use it."""
    held = session.get("rater")
    return int(held[0]) if isinstance(held, list) and len(held) == 2 else None


def is_really(rater: Any) -> bool:
    """Whether this session belongs to the rater (it does not any more once they were forgotten)."""
    return secrets.compare_digest(rater.session_key, str(session["rater"][1]))


def consented_rater() -> Any:
    """The rater of this session if they have consented, or None; the caller sends them to the way in."""
    rater = current_rater()
    return rater if rater is not None and rater.consented_at is not None else None


def may_rate(rater: Any) -> bool:
    """Whether this session belongs to the rater and the rater has consented."""
    return is_really(rater) and rater.consented_at is not None


def held_page(position: int) -> RaterPage | None:
    """The consenting rater of this session with the page at a position; None for anyone else."""
    claimed = claimed_rater()
    if claimed is None:
        return None
    with current_site().store.glance() as connection:
        held = find_rater_page(connection, claimed, position)
    return held if held is not None and may_rate(held.rater) else None


def sign_in(rater: Any) -> None:
    """Make this browser the rater's; whatever the session held before is dropped."""
    session.clear()
    session["rater"] = [rater.id, rater.session_key]
    session.permanent = True


def pending() -> dict[str, Any] | None:
    """Someone on the way in who has not consented yet: entry, identity, parameters."""
    held = session.get("pending")
    return held if isinstance(held, dict) else None


def set_pending(entry: str, identity: str, parameters: dict[str, str]) -> None:
    """Remember who is on the way in."""
    session.clear()
    session["pending"] = {"entry": entry, "identity": identity, "parameters": parameters}
    session["nonce"] = secrets.token_hex(16)
    session.permanent = True


def name(rater: Any = None) -> str:
    """What forms are signed for: the rater, or this visit."""
    return f"rater:{rater.id}:{rater.session_key}" if rater is not None else f"visit:{session.get('nonce', '')}"


def csrf(rater: Any = None) -> str:
    """The token for this visitor's forms."""
    return current_site().signer.csrf(name(rater))


def require_csrf(rater: Any = None) -> None:
    """Refuse a form that did not come from one of this visitor's pages."""
    if not current_site().signer.csrf_holds(name(rater), request.form.get("csrf", "")):
        abort(400, description="form")


def client() -> str:
    """The address attempts are counted under; never stored."""
    return request.remote_addr or ""
