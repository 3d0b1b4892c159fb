"""The session of a request: the rater behind the cookie, someone on the way in, or nobody."""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
from typing import Any, NamedTuple, NoReturn

from flask import abort, make_response, redirect, request, session

from relstudy.studyapp.assignment.enrolment import Rater, read_rater
from relstudy.studyapp.assignment.sequence import Assignment, RaterPage
from relstudy.studyapp.config.study_parts import PLATFORM_RULES
from relstudy.studyapp.web.site import LANGUAGE, current_site

MOST_GIVEN = 100  # pages that a browser's cookie remembers


class Claim(NamedTuple):
    """A rater's number and key, as a signed cookie has them."""

    id: int
    session_key: str


def current_rater() -> Rater | None:
    """The rater of this session, or None."""
    claimed = claimed_rater()
    if claimed is None:
        return None
    with current_site().store.read_one() as connection:
        rater = read_rater(connection, claimed)
    return rater if rater is not None and is_really(rater) else None


def claimed_rater() -> int | None:
    """The number of the rater in this session; `is_really` says whether the session may still use it."""
    claim = session.get("rater")
    return int(claim[0]) if isinstance(claim, list) and len(claim) == 2 else None


def claim() -> Claim | None:
    """The rater that this session's cookie names, whom nobody has looked for in the database."""
    claimed = claimed_rater()
    return None if claimed is None else Claim(claimed, str(session["rater"][1]))


def is_really(rater: Rater) -> bool:
    """True if this session belongs to the rater (it does not any more once they were forgotten)."""
    return secrets.compare_digest(rater.session_key, str(session["rater"][1]))


def consented_rater() -> Rater | None:
    """The rater of this session if they have consented, or None; the caller sends them to the way in.

    Who is out of the study gets the last page instead of what they asked for.
    """
    rater = current_rater()
    if rater is None or rater.consented_at is None:
        return None
    if rater.outcome is not None:
        abort(make_response(redirect("/ended", 303)))
    return rater


def may_rate(rater: Rater) -> bool:
    """True if this session belongs to the rater, and the rater has consented and is in the study."""
    return is_really(rater) and rater.consented_at is not None and rater.outcome is None


def rater_page(position: int) -> RaterPage | None:
    """The consenting rater of this session with the page at a position; None for anyone else."""
    claimed = claimed_rater()
    if claimed is None:
        return None
    page = current_site().read_page(claimed, position)
    return page if page is not None and may_rate(page.rater) else None


def sign_in(rater: Rater, *, by_id_alone: bool = False) -> None:
    """Make this browser the rater's; whatever the session held before is dropped, but for the language chosen.

    With `by_id_alone` it has shown nothing but a platform's id, which others know; this counts until the rater begins,
    in this browser.
    """
    _clear()
    session["rater"] = [rater.id, rater.session_key]
    if by_id_alone:
        session["by_id"] = True
    session.permanent = True


def begin_here() -> None:
    """The rater begins in this browser: what is given from now on is theirs who sits here."""
    session.pop("by_id", None)


def came_by_id_alone(rater: Rater | Claim) -> bool:
    """True if this browser may be a stranger's who knows a rater's id, and what the rater gave elsewhere not theirs."""
    return "by_id" in session and (isinstance(rater, Claim) or rater.started_at is not None)


def given_elsewhere(assignment: Assignment) -> bool:
    """True if a page's answers may be of somebody else than who asks: it was not this browser that gave them."""
    is_known = "by_id" not in session or assignment.id in session.get("given", ())
    return assignment.answered_at is not None and not is_known


def has_given() -> bool:
    """True if there may be pages that this browser has answered."""
    return "by_id" not in session or bool(session.get("given"))


def note_given(assignment: Assignment) -> None:
    """This browser has answered a page, and may see and change it though it came by an id alone."""
    if "by_id" in session and assignment.id not in session.get("given", ()):
        session["given"] = [*session.get("given", ()), assignment.id][-MOST_GIVEN:]


def pending() -> dict[str, Any] | None:
    """Someone on the way in who has not consented yet: entry, identity, parameters.

    None as well when the study is not open in that way any more.
    """
    arrival = session.get("pending")
    is_open = isinstance(arrival, dict) and arrival.get("entry") in current_site().study.entry.rules
    return arrival if is_open else None


def set_pending(entry: str, identity: str, parameters: dict[str, str]) -> None:
    """Remember who is on the way in; whoever this browser belongs to stays until they have consented."""
    session["pending"] = {"entry": entry, "identity": identity, "parameters": parameters}
    session.pop("ended", None)
    session.setdefault("nonce", secrets.token_hex(16))
    session.permanent = True


def way_back(outcome: str, rater: Rater | None = None) -> str:
    """Address for those who leave without having completed; empty where study.toml names nothing."""
    entry = current_site().study.entry
    identity, parameters = (rater.identity, rater.parameters) if rater is not None else _arrival()
    code = entry.outcomes.get(outcome, "")
    return entry.address(code, identity, parameters) if code else ""


def is_from_platform(rater: Rater | None = None) -> bool:
    """True if who is asking came from a platform, which has to learn what became of them."""
    arrival = session.get("pending")
    way = rater.entry if rater is not None else arrival.get("entry") if isinstance(arrival, dict) else None
    return way in PLATFORM_RULES


def end_visit(page: dict[str, str]) -> None:
    """Make this browser nobody's; all it keeps is the last page, which says where to go."""
    _clear()
    session["ended"] = page


def _clear() -> None:
    """Drop what the session holds, but for the language chosen."""
    kept = {LANGUAGE: session[LANGUAGE]} if LANGUAGE in session else {}
    session.clear()
    session.update(kept)


def ended() -> dict[str, str] | None:
    """The last page of a visit that ended in this browser, or None."""
    page = session.get("ended")
    return page if isinstance(page, dict) else None


def _arrival() -> tuple[str, dict[str, str]]:
    """Identity and parameters of who is on the way in; empty for anyone else."""
    arrival = session.get("pending")
    return (arrival["identity"], arrival["parameters"]) if isinstance(arrival, dict) else ("", {})


def name(rater: Rater | Claim | None = None) -> str:
    """The text that forms are signed for: it names the rater or, if there is none yet, this visit."""
    return f"rater:{rater.id}:{rater.session_key}" if rater is not None else f"visit:{session.get('nonce', '')}"


def csrf(rater: Rater | Claim | None = None) -> str:
    """The token for this visitor's forms."""
    return current_site().signer.csrf(name(rater))


def require_csrf(rater: Rater | Claim | None = None) -> None:
    """Refuse a form that did not come from one of this visitor's pages; who has had none has no form."""
    is_known = rater is not None or "nonce" in session
    if not is_known or not current_site().signer.csrf_holds(name(rater), request.form.get("csrf", "")):
        abort(400, description="form")


def refuse_guess(status: int, description: str, too_many: str | None = None) -> NoReturn:
    """Refuse a link or token that does not exist, and say 429 to a client who has tried many.

    One that does exist is let in all the same: it is too long to be guessed, and others may share the address.
    """
    if not current_site().link_limit.attempt(client()):
        abort(429, description=too_many)
    abort(status, description=description)


def client() -> str:
    """The address attempts are counted under; never stored."""
    return customer(request.remote_addr or "")


def customer(address: str) -> str:
    """The customer that an address counts as: itself or, of IPv6, its network, which is one customer's.

    Examples
    --------
    >>> customer("203.0.113.7"), customer("2001:db8::7"), customer("")
    ('203.0.113.7', '2001:db8::/64', '')
    """
    address = as_ipv4(address)
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(address).version == 6:
            return str(ipaddress.ip_network(f"{address}/64", strict=False))
    return address


def as_ipv4(address: str) -> str:
    """An address of IPv4 as it is written there, where a socket of IPv6, which takes both, wrote it in its own way.

    Examples
    --------
    >>> as_ipv4("::ffff:203.0.113.7"), as_ipv4("2001:db8::7"), as_ipv4("")
    ('203.0.113.7', '2001:db8::7', '')
    """
    with contextlib.suppress(ValueError):
        mapped = getattr(ipaddress.ip_address(address), "ipv4_mapped", None)
        return address if mapped is None else str(mapped)
    return address
