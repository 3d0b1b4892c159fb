"""A database that lets people wait in vain holds up one request at a time, and not every thread of the server."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import sqlalchemy as sa

from relstudy.studyapp.database.errors import DATABASE_ERRORS, classify_error

LASTS = 5.0  # seconds after a wait in vain


class Trouble:
    """Begins with a wait in vain, and ends with a success, or `LASTS` seconds after the last wait in vain.

    Meanwhile one request at a time tries the database, and the others are told at once that it is busy.

    Parameters
    ----------
    seconds : a failure after so long was a wait in vain
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self._turn = threading.RLock()  # a request may read while it reads

    @contextlib.contextmanager
    def spared(self) -> Iterator[None]:
        """Use the database inside the block.

        Raises
        ------
        sqlalchemy.exc.OperationalError
            where somebody else is trying already
        """
        alone = time.monotonic() < self._until
        if alone and not self._turn.acquire(blocking=False):
            raise sa.exc.OperationalError("BEGIN", {}, Exception("database is busy"))
        began = time.monotonic()
        try:
            yield
            self._until = 0.0
        except DATABASE_ERRORS as error:
            if time.monotonic() - began >= self._seconds and classify_error(error) == "busy":
                self._until = time.monotonic() + LASTS
            raise
        finally:
            if alone:
                self._turn.release()
