"""A block's row, as the overview and the hand-out page show it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from relstudy.studyapp.monitoring.status import BlockStatus, Status
from relstudy.studyapp.web.admin import charts
from relstudy.studyapp.web.admin.figures import figure
from relstudy.studyapp.web.site import current_site


@dataclass(frozen=True)
class BlockView:
    """A block's row: `bar` is its progress."""

    status: BlockStatus
    done: int
    wanted: int
    bar: Markup
    seconds: str
    error: str


def block_views(status: Status) -> tuple[BlockView, ...]:
    """All blocks, in the order of study.toml."""
    texts = current_site().texts
    views = []
    started = sum(person.state in ("rating", "finished") for person in status.people)
    for block in status.blocks:
        wanted = block.pages * started if block.pages_wanted is None else block.pages_wanted
        words = texts("admin.pages", done=block.pages_done, wanted=wanted)
        views.append(
            BlockView(
                block,
                block.pages_done,
                wanted,
                charts.progress_bar(f"{block.name}: {words}", block.pages_done, block.pages_leased, wanted),
                figure(block.median_seconds, 1),
                figure(block.uniformity_error, 3),
            )
        )
    return tuple(views)
