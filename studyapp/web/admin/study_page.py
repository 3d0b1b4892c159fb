"""Set-up: what the study asks of whom, by the version that is served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flask import Blueprint
from flask.typing import ResponseReturnValue

from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.web.admin.researchers import admin_required
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("admin_study", __name__, url_prefix="/admin")


@dataclass(frozen=True)
class StudyPage:
    """Blocks, and the ways in."""

    tab: ClassVar = "study"
    blocks: tuple[Block, ...]
    ways: tuple[str, ...]


@blueprint.get("/study")
@admin_required
def study() -> ResponseReturnValue:
    """What is asked, and how raters get in."""
    served = current_site().study
    return show("admin/study.html", StudyPage(served.blocks, served.entry.rules))
