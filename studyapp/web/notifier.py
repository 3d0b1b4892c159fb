"""Notification of a program about each rater who finishes: a signed POST to the address in study.toml.

No rater waits for it: a thread of each worker looks for who has finished, and the database keeps whose notification was
taken.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import os
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.common.http import opener_for
from relstudy.studyapp.assignment.notifications import Finished, claim_finished, note_delivered, note_failed
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.store import Store

LOOK = 2.0  # seconds between two looks
TIMEOUT = 10.0  # seconds without a byte


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of timestamp, a dot and the body, in hexadecimal digits.

    Examples
    --------
    >>> # printf '1000.{}' | openssl dgst -sha256 -hmac s
    >>> signature("s", "1000", b"{}")
    '1266ced5789d16ad976ad7b98cd2aa00ac3ba17106a40ee2a50f1df5cf9b85fc'
    """
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Notifier:
    """Tells the program of a study.

    Parameters
    ----------
    url, study_id : where to, and which study it is
    secret : to sign with; it is in no message and no repr
    folder : of the study
    clock : seconds since 1970
    """

    url: str
    study_id: str
    secret: str = field(repr=False)
    folder: Path
    clock: Callable[[], float] = time.time
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def start(self) -> None:
        """Begin to look, in a thread of this process."""
        threading.Thread(target=self._look, daemon=True).start()

    def stop(self) -> None:
        """Stop looking; what was not delivered is left to the next server."""
        self._ended.set()

    def _look(self) -> None:
        store = Store.of_study(self.folder, kept=1)
        try:
            while not self._ended.wait(LOOK):
                try:
                    while self.notify_next(store) and not self._ended.is_set():
                        pass
                except (*DATABASE_ERRORS, OSError, RelstudyError):  # the database or its folder: the next look is soon
                    continue
        finally:
            store.dispose()

    def notify_next(self, store: Store) -> bool:
        """Report one rater, if there is one to be reported now.

        Returns
        -------
        whether there was one
        """
        finished = claim_finished(store, self.clock())
        if finished is None:
            return False
        try:
            self._post(finished)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "code", None) or type(error).__name__
            logging.getLogger("relstudy").warning(
                "the webhook did not take that %s has finished (%s, attempt %d)",
                finished.rater_id, reason, finished.attempts,
            )  # fmt: skip
            note_failed(store, finished, self.clock())
        else:
            note_delivered(store, finished, self.clock())
        return True

    def _post(self, finished: Finished) -> None:
        moment = datetime.fromtimestamp(finished.finished_at, UTC).isoformat(timespec="seconds")
        content = {"event": "finished", "study": self.study_id, "rater": finished.rater_id, "finished_at": moment}
        body = json.dumps(content).encode()
        timestamp = str(int(self.clock()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "relstudy",
            "X-Relstudy-Timestamp": timestamp,
            "X-Relstudy-Signature": signature(self.secret, timestamp, body),
        }
        request = urllib.request.Request(self.url, body, headers, method="POST")
        opener_for(self.url).open(request, timeout=TIMEOUT).close()


def notifier_of(study: Study, folder: Path) -> Notifier | None:
    """The notifier of a study; None where its study.toml names no program.

    Raises
    ------
    RelstudyError
        where the secret is not in the environment
    """
    settings = study.webhook
    if not settings.url:
        return None
    secret = os.environ.get(settings.secret_variable, "").strip()
    if not secret:
        raise RelstudyError(
            f"the environment variable {settings.secret_variable}, which study.toml names for the webhook's secret, "
            "is empty"
        )
    return Notifier(settings.url, study.id, secret, folder)
