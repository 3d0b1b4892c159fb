"""What is refused: a form that could not be saved, which keeps what was typed, and headers that say what to do next."""

from __future__ import annotations

from flask import request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException

from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import RefusedPage

KEPT = 200  # fields


def refusal_page(reason: str, status: int, *, again: bool = True) -> ResponseReturnValue:
    """Say why nothing was saved (`reason` names the text) and keep the form's fields, to be sent again."""
    fields = [(name, value) for name, value in request.form.items(multi=True)][:KEPT]
    page = RefusedPage(current_site().texts(f"refused.{reason}"), request.path, tuple(fields) if again else (), again)
    headers = {"Retry-After": "5"} if status in (503, 507) else {}
    return show("refused.html", page), status, headers


def headers_of(error: HTTPException) -> dict[str, str]:
    """The headers of a refusal that a page or JSON in its place keeps: when to ask again, and what may be asked."""
    return {name: value for name, value in error.get_headers() if name in ("Retry-After", "Allow")}
