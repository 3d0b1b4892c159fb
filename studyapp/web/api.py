"""The API for programs with a token: a study's status, its ratings as JSON lines, invitations."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import IO, Any

import pandas as pd
from flask import Blueprint, Response, abort, g, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException, ServiceUnavailable

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment import invitations
from relstudy.studyapp.config.accounts import Account, account_of_token
from relstudy.studyapp.database.feed import NoCursorError
from relstudy.studyapp.monitoring.changes import changes_after
from relstudy.studyapp.monitoring.export import ratings_in_parts
from relstudy.studyapp.monitoring.saved_answer import KeptAnswer
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.web import session
from relstudy.studyapp.web.admin.figures import ASK_AGAIN, are_few, forget_figures, kept_figures
from relstudy.studyapp.web.admin.invite import MOST_LINKS, public_address
from relstudy.studyapp.web.admin.researchers import View, note, who_asks
from relstudy.studyapp.web.rendering import headers_of
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.slow_answers import one_at_a_time, send_written

blueprint = Blueprint("api", __name__, url_prefix="/api")

NO_TOKEN = "this needs a valid token in the header `Authorization: Bearer TOKEN`"
COUNTING = "the ratings are being counted; please try again in a few seconds"
CURSOR = "X-Relstudy-Cursor"
ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def token_required(role: str) -> Callable[[View], View]:
    """For programs whose token has a role; wrong tokens count against the client."""

    def guard(view: View) -> View:
        @functools.wraps(view)
        def guarded(*args: Any, **kwargs: Any) -> ResponseReturnValue:
            g.account = _account()
            if not g.account.may(role):
                abort(403, description=f"the token {g.account.name!r} is a {g.account.role}'s; this needs role {role}")
            return view(*args, **kwargs)

        return guarded

    return guard


def _account() -> Account:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    account = _account_of(token.strip()) if kind.lower() == "bearer" and token else None
    if account is None and token:
        session.refuse_guess(401, NO_TOKEN, "too many wrong tokens; wait ten minutes")
    if account is None:
        abort(401, description=NO_TOKEN)
    return account


def _account_of(token: str) -> Account | None:
    accounts = (account_of_token(folder, token) for folder in current_site().account_folders)
    return next((account for account in accounts if account is not None), None)


def refusal(error: HTTPException) -> ResponseReturnValue:
    """Reason why a program gets nothing, as JSON."""
    challenge = {"WWW-Authenticate": "Bearer"} if error.code == 401 else {}
    return jsonify(error=error.description), error.code or 500, {**headers_of(error), **challenge}


@blueprint.get("/status")
@token_required("viewer")
def status() -> ResponseReturnValue:
    """Progress of the ratings; of many the last that were counted, as counting them takes seconds."""
    site = current_site()
    if are_few():
        with one_at_a_time():
            return jsonify(study_status(site.store, site.study).as_json())
    kept = kept_figures()
    if kept is None:
        raise ServiceUnavailable(COUNTING, retry_after=ASK_AGAIN)
    return Response(kept.status_json, mimetype="application/json")


@blueprint.get("/answer")
@token_required("viewer")
def answer() -> ResponseReturnValue:
    """The answer as it was last computed; figures that the study withholds are not in it."""
    kept = KeptAnswer.of(current_site().folder)
    if kept is None:
        abort(404, description="no answer has been computed yet; `relstudy admin status FOLDER --answer` does")
    return jsonify(kept.as_json())


@blueprint.get("/ratings")
@token_required("viewer")
def ratings() -> ResponseReturnValue:
    """The rows of the export, one JSON object a line; with `after`, the changes since a cursor instead."""
    since = request.args.get("since", "")
    if "after" in request.args:
        return _changes(request.args["after"], since)
    moment = _moment(since) if since else None
    site = current_site()
    lines = 0

    def write(file: IO[bytes]) -> None:
        nonlocal lines
        for part in parts:
            wanted = part
            if moment is not None:
                wanted = part[pd.to_datetime(part["rated_at"], utc=True, format="ISO8601") > moment]
            lines += len(wanted)
            if len(wanted):
                file.write(wanted.to_json(orient="records", lines=True, double_precision=15).encode())

    with one_at_a_time(who_asks()):
        with ratings_in_parts(site.store, site.study) as (parts, _):
            answer = send_written(write, "application/x-ndjson", who_asks())
        note(g.account, "read ratings", str(lines))
        return answer


def _changes(after: str, since: str) -> ResponseReturnValue:
    if since:
        abort(400, description="after and since exclude each other; after misses nothing")
    try:
        changes = changes_after(current_site().store, after)
    except NoCursorError as error:
        abort(400, description=str(error))
    if changes.events:
        note(g.account, "read changes", str(len(changes.events)))
    lines = "".join(json.dumps(event) + "\n" for event in changes.events)
    return Response(lines, mimetype="application/x-ndjson", headers={CURSOR: changes.cursor})


def _moment(text: str) -> datetime:
    with suppress(ValueError):  # as 2026-02-30 is
        if ISO_TIME.fullmatch(text):
            return datetime.fromisoformat(text)
    needed = "2026-01-31T12:00:00Z, or with another offset, whose + is written %2B in an address"
    return abort(400, description=f"since is {text[:40]!r}; a time with its offset is needed, such as {needed}")


@blueprint.post("/invites")
@token_required("editor")
def invites() -> ResponseReturnValue:
    """Make personal links; they are in the answer and nowhere else."""
    try:
        given = request.get_json(silent=True)
    except RecursionError:  # nested without end
        given = None
    count = given.get("count") if isinstance(given, dict) else None
    group = given.get("group", "") if isinstance(given, dict) else ""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_LINKS:
        abort(400, description=f'a JSON object with "count", 1 to {MOST_LINKS}, is needed')
    if not isinstance(group, str):
        abort(400, description='"group" is the name of a group')
    site = current_site()
    try:
        made = invitations.invite(site.store, site.study, count, group=group)
    except RelstudyError as error:
        abort(400, description=str(error))
    forget_figures()
    note(g.account, "invite", str(count))
    base = public_address()
    return jsonify(invites=[invitation.below(base) for invitation in made]), 201
