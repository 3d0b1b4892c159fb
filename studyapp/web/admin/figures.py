"""The figures that several admin pages show, a little while old, and how numbers and times are written."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from flask import current_app

from relstudy.studyapp.monitoring.statistics import StudyStatistics, study_statistics
from relstudy.studyapp.monitoring.status import Status, study_status
from relstudy.studyapp.web.large import is_being_made, one_at_a_time
from relstudy.studyapp.web.site import current_site

FRESH = 5.0  # seconds that the figures may be old
SHARE = 20  # and so many times as long as they took to work out, so that a page left open costs the raters little


def recent_figures() -> tuple[Status, StudyStatistics]:
    """Status and statistics, a little while old."""
    cache = current_app.extensions.setdefault("relstudy-figures", {})
    kept = cache.get("figures")
    if kept is None or (time.monotonic() > kept[0] and not is_being_made()):
        with one_at_a_time():
            kept = _fresh_figures(cache)
    status, statistics = kept[1]
    return status, statistics


def _fresh_figures(cache: dict[str, Any]) -> tuple[float, tuple[Status, StudyStatistics]]:
    """The figures, and until when they are fresh; those that somebody else has just worked out."""
    kept: tuple[float, tuple[Status, StudyStatistics]] | None = cache.get("figures")
    if kept is None or time.monotonic() > kept[0]:
        here = current_site()
        began = time.monotonic()
        figures = (study_status(here.store, here.study), study_statistics(here.store, here.study))
        ended = time.monotonic()
        kept = cache["figures"] = (ended + max(FRESH, SHARE * (ended - began)), figures)
    return kept


def forget_figures() -> None:
    """Drop the kept figures, so that the next page counts anew: something was changed by hand."""
    current_app.extensions.pop("relstudy-figures", None)


def moment(seconds: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time as shown, in UTC."""
    return "–" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime(form)


def figure(value: float | None, digits: int = 2) -> str:
    """A number as shown."""
    return "–" if value is None else f"{value:.{digits}f}"
