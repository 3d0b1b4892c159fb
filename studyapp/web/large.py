"""Answers that take long to make: one at a time in each worker, and sent without a thread that waits for its reader."""

from __future__ import annotations

import contextlib
import json
import logging
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from flask import Response, abort, request, send_file
from werkzeug.exceptions import ServiceUnavailable

BUSY = "another table is being made; please try again in a minute"
NO_ROOM = "the server's folder for temporary files has no room for this table\n"
IN_MEMORY = 4 << 20  # bytes; what is larger goes into a file
PATIENCE = 2.0  # seconds that somebody waits for another's to be ready
RETRY = 60  # seconds after which to ask again
_TURN = threading.Lock()  # of the worker, whose threads all studies of a host share
_NEXT = threading.Lock()  # of the one who waits for it: more would take the raters' threads


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Make something large inside the block; 503 where another is being made, so that raters keep the other threads."""
    if not _TURN.acquire(blocking=False) and not _comes_free():
        raise ServiceUnavailable(BUSY, retry_after=RETRY)
    try:
        yield
    finally:
        _TURN.release()


def _comes_free() -> bool:
    """True if the one who may wait got the turn."""
    if not _NEXT.acquire(blocking=False):
        return False
    try:
        return _TURN.acquire(timeout=PATIENCE)
    finally:
        _NEXT.release()


def is_being_made() -> bool:
    """True if something large is being made in this worker."""
    return _TURN.locked()


def send_whole(file: Path | IO[bytes], mimetype: str, max_age: int | None = None, etag: bool | str = True) -> Response:
    """Send a file, or 304 to who has it as it is now, by `etag`; never a part of it, whatever range is asked for.

    Of a part the server does not read the file by itself: a thread waits for as long as nothing is taken.
    """
    response = send_file(file, mimetype=mimetype, conditional=False, max_age=max_age, etag=etag)
    response.make_conditional(request)
    return response


def send_written(write: Callable[[IO[bytes]], object], mimetype: str) -> Response:
    """Send what `write` writes into a file, which the server reads by itself as fast as the receiver takes it."""
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (closed by the answer)
    try:
        write(file)
    except OSError as error:
        file.close()
        logging.getLogger("relstudy").error(json.dumps({"event": "large table", "trouble": str(error)}))
        abort(Response(NO_ROOM, 507, mimetype="text/plain"))
    file.seek(0)
    response = send_whole(file, mimetype)
    response.headers.pop("Expires", None)
    response.headers["Cache-Control"] = "no-store"
    return response
