"""Answer: which system the ratings so far speak for, and whether the study can stop."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from flask import Blueprint, Response, abort, redirect, send_file
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from relstudy.common.runtime.wording import moment, thousands
from relstudy.studyapp.monitoring.saved_answer import KeptAnswer, is_computing, page_of, results_of
from relstudy.studyapp.web.admin import charts
from relstudy.studyapp.web.admin.researchers import admin_required, role_required
from relstudy.studyapp.web.answering import start_computing
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.security import HEADERS
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("admin_answer", __name__, url_prefix="/admin")
AGAIN = 3
"""Seconds after which the page asks again while the answer is being computed."""
IN_A_FRAME = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'; sandbox allow-same-origin allow-downloads"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}
"""Headers of the report's page, which brings its own styles and runs nothing."""


@dataclass(frozen=True)
class AnswerPage:
    """What was last computed, and whether that is being done again."""

    tab: ClassVar = "answer"
    kept: KeptAnswer | None
    computed: str
    state: str
    computing: bool
    has_page: bool
    has_results: bool
    look: str
    widths: Markup | None
    rows: tuple[tuple[str, str], ...]


@blueprint.get("/answer")
@admin_required
def answer() -> ResponseReturnValue:
    """The last answer; while one is computed, the page asks again by itself."""
    site = current_site()
    kept, computing = KeptAnswer.of(site.folder), is_computing(site.folder)
    page = AnswerPage(
        kept, "" if kept is None else _computed(kept), site.state, computing,
        kept is not None and not kept.hidden and page_of(site.folder).is_file(),
        kept is not None and not kept.hidden and results_of(site.folder).is_file(),
        "" if kept is None or kept.look is None else f"at look {kept.look['number']}", _widths(kept), _rows(kept),
    )  # fmt: skip
    framing = {"Content-Security-Policy": f"{HEADERS['Content-Security-Policy']}; frame-src 'self'"}
    return show("admin/answer.html", page), 200, framing | ({"Refresh": str(AGAIN)} if computing else {})


@blueprint.post("/answer")
@admin_required
def compute() -> ResponseReturnValue:
    """Have the answer computed."""
    start_computing(current_site().folder)
    return redirect("/admin/answer", 303)


@blueprint.get("/answer/page")
@admin_required
def page() -> ResponseReturnValue:
    """The first screen of the report, as it was computed."""
    site = current_site()
    kept, file = KeptAnswer.of(site.folder), page_of(site.folder)
    if kept is None or kept.hidden or not file.is_file():
        abort(404)
    return Response(file.read_bytes(), mimetype="text/html", headers=IN_A_FRAME)


@blueprint.get("/answer/results.zip")
@role_required("viewer")
def results() -> ResponseReturnValue:
    """The report with its tables, and the judgments, as they were when the answer was computed."""
    site = current_site()
    kept, file = KeptAnswer.of(site.folder), results_of(site.folder)
    if kept is None or kept.hidden or not file.is_file():
        abort(404)
    return send_file(file.resolve(), as_attachment=True, download_name=f"{site.study.id}-results.zip")


def _computed(kept: KeptAnswer) -> str:
    """When it was computed, from how much, at which look, and what it takes to go on to the planned end."""
    texts, look = current_site().texts, kept.look
    at = moment(datetime.fromisoformat(kept.at).timestamp(), "%Y-%m-%d %H:%M")
    said = texts("admin.answer.at", at=at, ratings=thousands(kept.ratings))
    if look is None:
        return said
    share = f"{100 * kept.fraction:.0f}"
    said += " " + texts("admin.answer.look", number=look["number"], planned=look["planned"], share=share)
    if not kept.to_go:
        return said
    if kept.hours is None:
        return f"{said} " + texts("admin.answer.left", answers=thousands(kept.to_go))
    return f"{said} " + texts("admin.answer.hours", answers=thousands(kept.to_go), hours=f"{kept.hours:,.1f}")


def _widths(kept: KeptAnswer | None) -> Markup | None:
    """How the interval of the leading difference narrows with ratings."""
    if kept is None or len(kept.widths) < 2:
        return None
    texts = current_site().texts
    line = charts.Line("", tuple((float(ratings), width) for ratings, width in kept.widths))
    return charts.line_chart(
        texts("admin.answer.width"),
        [line],
        low=0.0,
        x_axis=charts.Axis(texts("admin.ratings"), lambda count: f"{count:,.0f}"),
        y_axis=charts.Axis("±"),
    )


def _rows(kept: KeptAnswer | None) -> tuple[tuple[str, str], ...]:
    return () if kept is None else tuple((thousands(ratings), f"{width:.3f}") for ratings, width in kept.widths)
