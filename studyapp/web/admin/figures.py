"""The figures that several admin pages show, a little while old, and how numbers and times are written."""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flask import Flask, Response, abort, current_app, make_response, request
from markupsafe import Markup
from werkzeug.exceptions import ServiceUnavailable

from relstudy.common.runtime.wording import number, thousands
from relstudy.studyapp.monitoring.statistics import StudyStatistics, study_statistics
from relstudy.studyapp.monitoring.status import BlockStatus, Status, may_have_ratings, study_status
from relstudy.studyapp.web.admin import charts
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.slow_answers import is_being_made, one_at_a_time
from relstudy.studyapp.web.views import MessagePage

FRESH = 5.0  # seconds that the figures may be old
WAITED_FOR = 0.5  # seconds: figures that took longer the last time are worked out behind the pages
FEW = 50_000  # ratings, of which the figures take about a second
ASK_AGAIN = 2  # seconds
AGED = 60.0  # seconds beyond that, or as long again, for which they are shown while new ones are worked out
SHARE = 20  # and so many times as long as they took to work out, so that a page left open costs the raters little


@dataclass(frozen=True)
class KeptFigures:
    """Figures, how long they took to work out, and until when (`time.monotonic`) they are fresh."""

    figures: tuple[Status, StudyStatistics]
    seconds: float
    until: float

    @cached_property
    def status_json(self) -> bytes:
        """The status as JSON: of 10,000 raters it takes a tenth of a second to write."""
        return json.dumps(self.figures[0].as_json()).encode()

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() <= self.until

    @property
    def is_shown(self) -> bool:
        """False where they are so old that new ones are waited for: nobody may have looked since yesterday."""
        return time.monotonic() <= self.until + max(AGED, SHARE * self.seconds)


@dataclass(frozen=True)
class _Failure:
    """The error in which working the figures out ended, and until when (`time.monotonic`) nobody tries again."""

    error: Exception
    until: float


def recent_figures() -> tuple[Status, StudyStatistics]:
    """Status and statistics, a little while old.

    Those that take long are worked out behind the pages, which meanwhile show the last ones; if there are none yet,
    the request is answered by a page that asks again by itself.
    """
    kept = kept_figures()
    if kept is None:
        abort(_please_wait())
    return kept.figures


def are_few() -> bool:
    """True if there are so few ratings that a request may wait until they have been counted."""
    return may_have_ratings(current_site().store) <= FEW


def kept_figures() -> KeptFigures | None:
    """The last figures; None if there are none, or old ones, and new ones are being worked out behind the request.

    Where that has just failed, its error is raised instead of None.
    """
    cache: dict[str, Any] = current_app.extensions.setdefault("relstudy-figures", {})
    kept: KeptFigures | None = cache.get("figures")
    is_quick = kept.seconds <= WAITED_FOR if kept is not None else are_few()
    if kept is not None and (kept.is_fresh or (is_quick and is_being_made())):
        return kept
    if is_quick:
        with one_at_a_time():
            return _fresh_figures(cache)
    shown = kept if kept is not None and kept.is_shown else None
    failure: _Failure | None = cache.get("failure")
    has_failed = failure is not None and time.monotonic() <= failure.until
    if shown is None and failure is not None and has_failed:
        raise failure.error.with_traceback(None)
    if not has_failed and not is_being_made():
        app = current_app._get_current_object()  # type: ignore[attr-defined]
        threading.Thread(target=_work_out_behind, args=(app, cache), daemon=True).start()
    return shown


def _please_wait() -> Response:
    """The page that is shown until the figures are there for the first time."""
    texts = current_site().texts
    page = MessagePage(texts("admin.making"), texts("admin.making.wait"), request.path, texts("refused.again"))
    return make_response(show("message.html", page), 202, {"Refresh": str(ASK_AGAIN)})


def _work_out_behind(app: Flask, cache: dict[str, Any]) -> None:
    """Make the figures fresh while no page waits for them."""
    with app.app_context():
        try:
            with one_at_a_time():
                _fresh_figures(cache)
        except ServiceUnavailable:  # something else is being made: a later page asks again
            return
        except Exception as error:
            cache["failure"] = _Failure(error, time.monotonic() + FRESH)
            logging.getLogger("relstudy").exception("figures")


def _fresh_figures(cache: dict[str, Any]) -> KeptFigures:
    """The figures as they are now; those that somebody else has just worked out."""
    kept: KeptFigures | None = cache.get("figures")
    if kept is None or not kept.is_fresh:
        site = current_site()
        began = time.monotonic()
        figures = (study_status(site.store, site.study), study_statistics(site.store, site.study))
        ended = time.monotonic()
        kept = KeptFigures(figures, ended - began, ended + max(FRESH, SHARE * (ended - began)))
        cache["figures"] = kept
    return kept


def forget_figures() -> None:
    """Drop the kept figures, so that the next page counts again: something was changed by hand."""
    current_app.extensions.pop("relstudy-figures", None)


@dataclass(frozen=True)
class BlockView:
    """A block's row: its `progress` to the pages `wanted` in words and as a `bar`."""

    status: BlockStatus
    wanted: int
    progress: str
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
        progress = texts("admin.pages", done=thousands(block.pages_done), wanted=thousands(wanted))
        views.append(
            BlockView(
                block,
                wanted,
                progress,
                charts.progress_bar(f"{block.name}: {progress}", block.pages_done, block.pages_leased, wanted),
                number(block.median_seconds, ".1f"),
                number(block.uniformity_error, ".3f"),
            )
        )
    return tuple(views)
