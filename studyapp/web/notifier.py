"""The changes of the ratings sent to a program: signed POSTs to the address in study.toml.

No rater waits for it: a thread of each worker looks for changes, and the database keeps how far the program has taken
them (`relstudy.studyapp.monitoring.deliveries`).
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
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.http import exchange
from relstudy.common.runtime.wording import count_of
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import WebhookSettings
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.deliveries import Delivery, claim_next, note_refused, note_taken

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
    """Sends a study's changes to its program.

    Parameters
    ----------
    webhook : where to, and which of them
    study_id : which study it is
    secret : to sign with; it is in no message and no repr
    folder : of the study
    clock : seconds since 1970
    """

    webhook: WebhookSettings
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
                    while self.deliver_next(store) and not self._ended.is_set():
                        pass
                except (*DATABASE_ERRORS, OSError, RelstudyError):  # the database or its folder: the next look is soon
                    continue
        finally:
            store.dispose()

    def deliver_next(self, store: Store) -> bool:
        """Send the next events, if there are any to be sent now.

        Returns
        -------
        whether there were
        """
        delivery = claim_next(store, self.webhook, self.clock())
        if delivery is None:
            return False
        try:
            self._post(delivery)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "code", None) or type(error).__name__
            logging.getLogger("relstudy").warning(
                "the webhook did not take %s (%s, attempt %d)",
                count_of(len(delivery.events), "event"), reason, delivery.claimed.refused,
            )  # fmt: skip
            note_refused(store, delivery, self.clock())
        else:
            note_taken(store, delivery)
        return True

    def _post(self, delivery: Delivery) -> None:
        content = {"study": self.study_id, "cursor": delivery.cursor, "events": delivery.events}
        body = json.dumps(content).encode()
        timestamp = str(int(self.clock()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "relstudy",
            "X-Relstudy-Timestamp": timestamp,
            "X-Relstudy-Signature": signature(self.secret, timestamp, body),
        }
        url = self.webhook.url
        request = urllib.request.Request(url, body, headers, method="POST")
        with exchange(request, TIMEOUT):
            pass


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
    return Notifier(settings, study.id, secret, folder)
