"""Duration of a visit: by the study's own ratings once there are some, else as its settings say, else in pages."""

from __future__ import annotations

import math
import time

from flask import current_app

from relstudy.studyapp.monitoring.status import seconds_per_rating
from relstudy.studyapp.web.site import current_site

FRESH = 60.0  # seconds that the pace may be old


def seconds_per_page() -> float | None:
    """Seconds a page takes by the latest ratings of this study; None while there are few."""
    kept = current_app.extensions.get("relstudy-pace")
    if kept is None or time.monotonic() > kept[0]:
        pace = seconds_per_rating(current_site().store)
        kept = current_app.extensions["relstudy-pace"] = (time.monotonic() + FRESH, pace)
    each: float | None = kept[1]
    return each * current_site().served.results_on_page if each else None


def said_duration(extra_pages: int = 0) -> str:
    """The sentence of the consent page; `extra_pages`: what this rater was invited to rate beyond the others."""
    site = current_site()
    pages = site.served.planned_pages(None) + extra_pages
    each = seconds_per_page()
    if each is not None:
        return site.texts("consent.minutes", minutes=max(1, math.ceil(pages * each / 60)))
    if site.study.minutes:
        return site.texts("consent.minutes", minutes=f"{site.study.minutes:g}")
    return site.texts("consent.pages", pages=pages) if pages else ""
