"""Pictures, by their opaque keys."""

from __future__ import annotations

import json
import logging

from flask import Blueprint, abort
from flask.typing import ResponseReturnValue

from relstudy.studyapp.collection.items import image_type
from relstudy.studyapp.web import session
from relstudy.studyapp.web.admin.researchers import may_preview
from relstudy.studyapp.web.large import send_whole
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("pictures", __name__)


@blueprint.get("/item/<key>")
def item(key: str) -> ResponseReturnValue:
    """A picture, by its opaque key; no part of the request becomes a path."""
    rater = session.current_rater()
    picture = current_site().items.by_key.get(key)
    if picture is None or picture.path is None:
        abort(404)
    if rater is None and not may_preview():
        abort(403)
    try:
        with open(picture.path, "rb") as handle:
            media_type = image_type(handle.read(16))
    except OSError as error:  # gone since the study was checked
        logging.getLogger("relstudy").error(json.dumps({"event": "picture", "trouble": str(error)}))
        abort(404)
    if media_type is None:
        abort(404)
    response = send_whole(picture.path.resolve(), media_type, max_age=86_400)
    response.headers["Cache-Control"] = "private, max-age=86400, immutable"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
