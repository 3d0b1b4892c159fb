"""Invite: the ways in, and personal links just made."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import ClassVar

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment import invitations
from relstudy.studyapp.web.admin.figures import forget_figures
from relstudy.studyapp.web.admin.researchers import admin_required
from relstudy.studyapp.web.mount import is_only_here
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("admin_invite", __name__, url_prefix="/admin")

MOST_LINKS = 500
REPEATED = 3600.0
"""Seconds in which a form that is sent again is taken for the same."""


@dataclass(frozen=True)
class InvitePage:
    """Ways in as addresses, empty if they are closed; their beginning if it is of this machine alone; and invitations
    just made (shown this once). `once` is a random number by which a form that is sent twice is known."""

    tab: ClassVar = "invite"
    most: ClassVar = MOST_LINKS
    personal: bool
    crowd: str
    open: str
    only_here: str
    groups: tuple[str, ...]
    links: tuple[dict[str, str], ...]
    message: str
    once: str


def public_address() -> str:
    """Address for invitations: the study's url, else below its host's, else what this request asked."""
    site = current_site()
    return (site.study.url or site.address or request.root_url).rstrip("/")


def _invite_page(links: tuple[invitations.Invitation, ...] = (), message: str = "") -> str:
    study = current_site().study
    base = public_address()
    crowd = invitations.crowd_link(study)
    page = InvitePage(
        personal="personal" in study.entry.rules,
        crowd=base + crowd if crowd else "",
        open=f"{base}/" if study.entry.open_rule else "",
        only_here=base if is_only_here(base) else "",
        groups=tuple(group.name for group in study.groups),
        links=tuple(link.below(base) for link in links),
        message=message,
        once=f"{int(time.time())}-{secrets.token_urlsafe(12)}",
    )
    return show("admin/invite.html", page)


@blueprint.get("/invite")
@admin_required
def invite() -> ResponseReturnValue:
    """The page of addresses and personal links by which raters come in."""
    return _invite_page()


def _is_recent(once: str) -> bool:
    """True for the number of a form that may be sent twice by mistake; of an older one new links are made."""
    at = once.partition("-")[0]
    return at.isdecimal() and len(at) < 12 and abs(time.time() - int(at)) < REPEATED


@blueprint.post("/invite")
@admin_required
def make_links() -> ResponseReturnValue:
    """Make personal links, once of a form that is sent twice; they are on the answer's page and nowhere else."""
    site = current_site()
    count, group = request.form.get("count", 0, type=int), request.form.get("group", "")
    once = request.form.get("once", "")
    key = site.signer.key_of("invite", once, str(count), group) if _is_recent(once) else b""
    if not 1 <= count <= MOST_LINKS:
        return _invite_page(message=site.texts("admin.invite.count", most=MOST_LINKS)), 422
    try:
        links = invitations.invite(site.store, site.study, count, group=group, key=key)
    except RelstudyError as error:
        return _invite_page(message=str(error)), 422
    if all(link.was_there for link in links):
        return _invite_page(tuple(links), site.texts("admin.invite.again")), 409
    forget_figures()
    return _invite_page(tuple(links))
