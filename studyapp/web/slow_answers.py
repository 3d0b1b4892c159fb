"""Answers that take long to make: one at a time in each worker, and sent without a thread that waits for its reader."""

from __future__ import annotations

import contextlib
import errno
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from flask import Response, abort, request, send_file
from werkzeug.exceptions import ServiceUnavailable, TooManyRequests

from relstudy.studyapp.web.log import log_event

BUSY = "another table is being made; please try again in a minute"
SENDING = "as many tables as one account may have are on their way already; try again when one has arrived"
SENDING_ALL = "as many tables as a server may send at once are on their way; please try again in a minute"
NO_ROOM = "the server's folder for temporary files has no room for this table\n"
IN_MEMORY = 4 << 20  # bytes; what is larger goes into a file
PATIENCE = 2.0  # seconds that somebody waits for another's to be ready
RETRY = 60  # seconds after which to ask again
EACH = 2  # tables of one account that a worker sends at once; each is a file until its receiver has taken it
MOST = 8  # of all accounts
RESERVE = 64 << 20  # bytes that a table leaves free, or a tenth where that is less: raters' answers may lie there too
_TURN = threading.Lock()  # of the worker, whose threads all studies of a host share
_NEXT = threading.Lock()  # of the one who waits for it: more would take the raters' threads


@contextlib.contextmanager
def one_at_a_time(account: str = "") -> Iterator[None]:
    """Make something large inside the block; 503 where another is being made, so that raters keep the other threads.

    Parameters
    ----------
    account : who asks, where it is a table for `send_written`; 429 where too many of theirs are on their way already,
        and 503 where too many of everybody's are
    """
    if not _TURN.acquire(blocking=False) and not _comes_free():
        raise ServiceUnavailable(BUSY, retry_after=RETRY)
    try:
        if account:
            _require_place(account)
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


class _Table(tempfile.SpooledTemporaryFile[bytes]):
    """A table on its way until it is closed, which leaves `RESERVE` free on a disk. A temporary file has no name, so
    that nothing is left of it when its process is killed.

    Parameters
    ----------
    account : who asked for it
    """

    def __init__(self, account: str) -> None:
        super().__init__(IN_MEMORY)
        self.account = account
        _ON_THEIR_WAY.add(self)

    def write(self, data: Any) -> int:
        written = super().write(data)
        if self.tell() > IN_MEMORY:
            usage = shutil.disk_usage(tempfile.gettempdir())
            if usage.free < min(RESERVE, usage.total // 10):
                raise OSError(errno.ENOSPC, "the disk of temporary files is nearly full")
        return written


_ON_THEIR_WAY: weakref.WeakSet[_Table] = weakref.WeakSet()


def _require_place(account: str) -> None:
    """Refuse another table where as many are on their way as may be."""
    accounts = [table.account for table in _ON_THEIR_WAY if not table.closed]
    if accounts.count(account) >= EACH:
        raise TooManyRequests(SENDING, retry_after=RETRY)
    if len(accounts) >= MOST:
        raise ServiceUnavailable(SENDING_ALL, retry_after=RETRY)


def send_written(write: Callable[[IO[bytes]], object], mimetype: str, account: str) -> Response:
    """Send what `write` writes into a file, which the server reads by itself as fast as the receiver takes it.

    Parameters
    ----------
    account : who asks, by whom `one_at_a_time` counts
    """
    file = _Table(account)
    try:
        write(file)
    except OSError as error:
        file.close()
        log_event("large table", trouble=str(error))
        abort(Response(NO_ROOM, 507, mimetype="text/plain"))
    file.seek(0)
    response = send_whole(file, mimetype)
    response.headers.pop("Expires", None)
    response.headers["Cache-Control"] = "no-store"
    return response
