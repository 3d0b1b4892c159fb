"""Export: ratings and raters as CSV."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd
from flask import Blueprint, Response, abort, request
from flask.typing import ResponseReturnValue

from relstudy.common.tables.formats.table_files import write_csv
from relstudy.studyapp.monitoring.export import people_table, ratings_in_parts
from relstudy.studyapp.web.admin.researchers import admin_required, role_required, who_asks
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.slow_answers import one_at_a_time, send_written

blueprint = Blueprint("admin_export", __name__, url_prefix="/admin")


@dataclass(frozen=True)
class ExportPage:
    """Downloads that the page offers: names of scales, and ids and texts of further questions."""

    tab: ClassVar = "export"
    scales: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]


@blueprint.get("/export")
@admin_required
def export() -> ResponseReturnValue:
    """The page of downloads."""
    study = current_site().study
    questions = tuple((each.id, each.text) for each in study.result_questions.values())
    return show("admin/export.html", ExportPage(tuple(scale.name for scale in study.scales), questions))


@blueprint.get("/export/ratings.csv")
@role_required("viewer")
def download_ratings() -> ResponseReturnValue:
    """The ratings, as `relstudy export` writes them."""
    site = current_site()
    history = request.args.get("history") == "yes"
    name = request.args.get("question", "")
    question = site.study.result_questions.get(name)
    if name and question is None:
        abort(404)
    rows = ratings_in_parts(
        site.store,
        site.study,
        scale=request.args.get("scale") or None,
        history=history,
        question=question,
        surplus=request.args.get("surplus") != "no",
    )
    with one_at_a_time(who_asks()), rows as (parts, _):
        return _download(parts, f"ratings{f'-{name}' if name else ''}{'-history' if history else ''}.csv")


@blueprint.get("/export/people.csv")
@role_required("editor")
def download_people() -> ResponseReturnValue:
    """One row per rater."""
    with one_at_a_time(who_asks()):
        return _download([people_table(current_site().store, current_site().study)], "people.csv")


def _download(parts: Iterable[pd.DataFrame], name: str) -> Response:
    response = send_written(functools.partial(write_csv, parts), "text/csv", who_asks())
    response.headers["Content-Disposition"] = f'attachment; filename="{current_site().study.id}-{name}"'
    return response
