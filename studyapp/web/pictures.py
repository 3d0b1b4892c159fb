"""Pictures, sounds, films and their captions, by their opaque keys."""

from __future__ import annotations

import re
from pathlib import Path

from flask import Blueprint, Response, abort, request
from flask.typing import ResponseReturnValue

from relstudy.studyapp.collection import kinds
from relstudy.studyapp.collection.displayed_items import DisplayedItem
from relstudy.studyapp.web import session
from relstudy.studyapp.web.admin.researchers import may_preview
from relstudy.studyapp.web.log import log_event
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.slow_answers import send_whole

blueprint = Blueprint("pictures", __name__)

PART = 1 << 20  # bytes; of a sound or a film no answer holds more, so that none keeps a thread for long
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@blueprint.get("/item/<key>")
def item(key: str) -> ResponseReturnValue:
    """A picture, a sound or a film, by its opaque key; no part of the request becomes a path."""
    found = _found(key)
    if found.path is None:
        abort(404)
    is_played = found.kind in kinds.PLAYED
    part = None
    try:
        with open(found.path, "rb") as handle:
            media_type = kinds.media_type(handle.read(kinds.HEAD), found.kind)
        if media_type is None:
            abort(404)
        if is_played and _asks_for_a_part(found.path):
            part = _part(found.path, media_type)
    except OSError as error:  # gone since the study was checked
        log_event("picture", trouble=str(error))
        abort(404)
    response = _whole(found.path, media_type) if part is None else _kept(part)
    if is_played:
        response.headers["Accept-Ranges"] = "bytes"
    return response


@blueprint.get("/item/<key>/captions")
def captions(key: str) -> ResponseReturnValue:
    """The captions of a sound or a film, in WebVTT."""
    found = _found(key)
    if found.captions is None or not found.captions.is_file():
        abort(404)
    return _whole(found.captions, "text/vtt")


def _found(key: str) -> DisplayedItem:
    """The item of that key, for raters of the study and those who may look at its pages."""
    rater = session.current_rater()
    found = current_site().items.by_key.get(key)
    if found is None:
        abort(404)
    if rater is None and not may_preview():
        abort(403)
    return found


def _version(path: Path) -> str:
    """A text that changes with the file, whatever its name."""
    there = path.stat()
    return f"{there.st_mtime_ns:x}-{there.st_size:x}"


def _asks_for_a_part(path: Path) -> bool:
    """True where a part is asked for, if need be of the file as it is now (RFC 9110, section 13.1.5)."""
    if request.method != "GET" or "Range" not in request.headers:
        return False
    return "If-Range" not in request.headers or request.if_range.etag == _version(path)


def _kept(response: Response) -> Response:
    response.headers.pop("Content-Disposition", None)  # which would tell raters the file's name
    response.headers["Cache-Control"] = "private, max-age=86400, immutable"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


def _whole(path: Path, media_type: str) -> Response:
    return _kept(send_whole(path.resolve(), media_type, max_age=86_400, etag=_version(path)))


def _part(path: Path, media_type: str) -> Response | None:
    """One part of a file, of at most PART bytes, from where the request's range begins; 416 where it is beyond; None
    where the whole file is the answer.

    A range may end earlier than was asked for (RFC 9110, section 14.2); players ask for the next. Several ranges at
    once, and units other than bytes, are answered by the whole file, as the same section allows; so is a range that
    ends before it begins, which is none (section 14.1.1).
    """
    size = path.stat().st_size
    asked = _RANGE.fullmatch(request.headers["Range"].strip())
    if asked is None or not (asked[1] or asked[2]) or (asked[1] and asked[2] and int(asked[2]) < int(asked[1])):
        return None
    begin = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
    last = int(asked[2]) if asked[1] and asked[2] else size - 1
    end = min(last, size - 1, begin + PART - 1)
    if begin >= size or end < begin:
        return Response("", 416, {"Content-Range": f"bytes */{size}"}, mimetype=media_type)
    length = end - begin + 1
    headers = {
        "Content-Range": f"bytes {begin}-{end}/{size}",
        "Content-Length": str(length),
        "ETag": f'"{_version(path)}"',
    }
    handle = path.open("rb")
    handle.seek(begin)
    wrapped = request.environ.get("wsgi.file_wrapper")
    if wrapped is not None:
        # Waitress sends so many bytes from where the file stands, as fast as they are taken and without a thread; bytes
        # of a part it would put into a file of its own first
        return Response(wrapped(handle), 206, headers, mimetype=media_type, direct_passthrough=True)
    with handle:
        return Response(handle.read(length), 206, headers, mimetype=media_type)
