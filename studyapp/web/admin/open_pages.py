"""Hand-out: pages of unique pairs in raters' hands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flask import Blueprint
from flask.typing import ResponseReturnValue

from relstudy.studyapp.assignment.slots import Lease, read_leases
from relstudy.studyapp.web.admin.figures import BlockView, block_views, recent_figures
from relstudy.studyapp.web.admin.researchers import admin_required
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("admin_handout", __name__, url_prefix="/admin")


@dataclass(frozen=True)
class HandoutPage:
    """Pages that raters hold."""

    tab: ClassVar = "handout"
    minutes: float
    blocks: tuple[BlockView, ...]
    leases: tuple[Lease, ...]


@blueprint.get("/handout")
@admin_required
def handout() -> ResponseReturnValue:
    """Pages of unique pairs in raters' hands."""
    status, _ = recent_figures()
    leases = tuple(read_leases(current_site().store))
    blocks = tuple(view for view in block_views(status) if view.status.pages_wanted is not None)
    return show("admin/handout.html", HandoutPage(current_site().study.lease_minutes, blocks, leases))
