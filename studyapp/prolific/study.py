"""A study's raters from Prolific: read for a comparison, freed of places they hold no more, and signed events."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
from collections.abc import Iterable

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.enrolment import find_rater, read_raters
from relstudy.studyapp.assignment.exclusion import set_aside_if_at_work
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.prolific.client import plain_status
from relstudy.studyapp.prolific.comparison import ENTRY, GONE, Person

SECRET_VARIABLE = "PROLIFIC_WEBHOOK_SECRET"
"""Environment variable of the secret that Prolific signs with; it stands in no file and no message."""
SECONDS = 600.0
"""The greatest age of a request, or lead of its clock: an old one that somebody kept counts no more."""


def signature_holds(secret: str, timestamp: str, body: bytes, signature: str, now: float) -> bool:
    """True if the signature is that of timestamp and body, and the timestamp is not old.

    As https://docs.prolific.com/api-reference/webhooks/verifying describes.

    Examples
    --------
    >>> # printf '1000{}' | openssl dgst -sha256 -hmac s -binary | base64
    >>> by_openssl = "GtjyWkhwFTaoEz/zp6Or4ehv2FJ1QQyCOcZnAs3K8uA="
    >>> signature_holds("s", "1000", b"{}", by_openssl, 1001.0), signature_holds("t", "1000", b"{}", by_openssl, 1001.0)
    (True, False)
    """
    try:
        sent_at = float(timestamp)
    except ValueError:
        return False
    if not math.isfinite(sent_at) or abs(now - sent_at) > SECONDS:
        return False
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return hmac.compare_digest(base64.b64encode(digest), signature.encode())


STUDY_PARAMETER, SUBMISSION_PARAMETER = "STUDY_ID", "SESSION_ID"


def read_people(store: Store, study: Study) -> list[Person]:
    """Everybody who has come from Prolific so far."""
    views = {view.rater_id: view for view in study_status(store, study).people}
    with store.read() as connection:
        raters = [rater for rater in read_raters(connection) if rater.entry == ENTRY and rater.rater_id in views]
    people = []
    for rater in raters:
        view, came_from = views[rater.rater_id], rater.parameters.get(STUDY_PARAMETER, "")
        people.append(Person(rater.identity, came_from, view.outcome, view.ratings - view.undecided))
    return people


def free_places(store: Store, participants: Iterable[str]) -> list[str]:
    """Set those aside who are still at work; the codes of the raters that it was done for."""
    with store.read() as connection:
        rows = [find_rater(connection, ENTRY, participant) for participant in sorted(set(participants))]
    return [rater.rater_id for rater in rows if rater is not None and set_aside_if_at_work(store, rater.rater_id)]


def heed(store: Store, event: object) -> str | None:
    """Do what an event of Prolific's webhook asks for; the code of the rater whose place is free now, or None.

    An event names a submission and not the study, and one workspace has many studies: so it counts only for the
    rater who came with that very submission.

    Raises
    ------
    RelstudyError
        where the event is none
    """
    if not isinstance(event, dict) or not isinstance(event.get("event_type"), str):
        raise RelstudyError("an event is an object with event_type")
    if event["event_type"] != "submission.status.change":
        return None
    named = [event.get(name) for name in ("participant_id", "resource_id", "status")]
    if not all(isinstance(name, str) and name for name in named):
        raise RelstudyError("a submission's change has participant_id, resource_id and status")
    participant, submission, status = map(str, named)
    if plain_status(status) not in GONE:
        return None
    with store.read() as connection:
        rater = find_rater(connection, ENTRY, participant)
    if rater is None or rater.parameters.get(SUBMISSION_PARAMETER) != submission:
        return None
    return rater.rater_id if set_aside_if_at_work(store, rater.rater_id) else None
