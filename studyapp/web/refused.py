"""A form that could not be saved: its own status, what was typed is kept, and what to do next."""

from __future__ import annotations

from flask import request
from flask.typing import ResponseReturnValue

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
