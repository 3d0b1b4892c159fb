"""Prolific's events on submissions that were returned or timed out; taken only where its secret is known."""

from __future__ import annotations

import json
import os
import time

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue

from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.monitoring.audit_log import record
from relstudy.studyapp.prolific.study import SECRET_VARIABLE, heed, signature_holds
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("webhook", __name__)


@blueprint.post("/prolific/events")
def receive() -> ResponseReturnValue:
    """An event, signed by Prolific; sending it again changes nothing."""
    secret = os.environ.get(SECRET_VARIABLE, "")
    if not secret:
        abort(404)
    headers = (request.headers.get(f"X-Prolific-Request-{name}", "") for name in ("Timestamp", "Signature"))
    timestamp, signature = headers
    store, body = current_site().store, request.get_data()
    if not signature_holds(secret, timestamp, body, signature, time.time()):
        return jsonify(error="the signature does not hold"), 401
    try:
        freed = heed(store, json.loads(body))
    except (*NO_JSON, RelstudyError):
        return jsonify(error="this is not an event"), 400
    if freed is not None:
        record(store, "Prolific (webhook)", "set aside", freed)
    return jsonify(freed=freed is not None)
