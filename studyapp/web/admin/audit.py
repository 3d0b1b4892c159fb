"""The log: who did what with the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flask import Blueprint
from flask.typing import ResponseReturnValue

from relstudy.studyapp.monitoring.audit_log import MOST, Entry, read_entries
from relstudy.studyapp.web.admin.researchers import role_required
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("admin_log", __name__, url_prefix="/admin")


@dataclass(frozen=True)
class LogPage:
    """The newest entries."""

    tab: ClassVar = "log"
    most: ClassVar = MOST
    entries: tuple[Entry, ...]


@blueprint.get("/log")
@role_required("owner", logged=False)
def log() -> ResponseReturnValue:
    """The log of actions, the newest first."""
    return show("admin/log.html", LogPage(tuple(read_entries(current_site().store))))
