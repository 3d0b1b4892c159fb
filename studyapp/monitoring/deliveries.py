"""Delivery of the feed of changes to a program: in order, by one worker at a time, and again until it is taken.

The database keeps how far the program has taken the feed. A part is claimed before it is sent, and the place moves on
only once it is taken; so a worker that dies in between, and a program that is away, make an event come twice or late,
and never be left out.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.config.study_parts import WebhookSettings
from relstudy.studyapp.database.feed import NoCursorError, after, cursor_of
from relstudy.studyapp.database.settings import read_setting
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import events, settings
from relstudy.studyapp.monitoring.changes import START, changes_after

CLAIM = 60.0  # seconds for one attempt; who claims and dies leaves the rest to others
FIRST_PAUSE = 5.0  # seconds until the second attempt; each later pause is four times as long
LONGEST_PAUSE = 3600.0
MOST_EVENTS = 500  # in one message

_KEY = "webhook"


@dataclass(frozen=True)
class Place:
    """The place to which a program has taken the feed.

    Parameters
    ----------
    receiver : what program, and which events; another one begins again
    cursor : of the last event that it has taken
    refused : attempts in vain since then
    not_before : when the next attempt may be made, in seconds since 1970
    """

    receiver: str
    cursor: str = START
    refused: int = 0
    not_before: float = 0.0

    def waits(self, now: float) -> bool:
        """True while nothing is to be sent; not for ever where a clock was put back."""
        return now < self.not_before <= now + LONGEST_PAUSE + CLAIM

    @property
    def text(self) -> str:
        """As the database keeps it."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Delivery:
    """Events that were claimed to be sent now, the cursor after them, and the place with the claim."""

    events: list[dict[str, Any]]
    cursor: str
    claimed: Place


def claim_next(store: Store, webhook: WebhookSettings, now: float) -> Delivery | None:
    """Claim the next events to be sent, so that no other worker sends them; None if there are none now."""
    while True:
        with store.read_one() as connection:
            kept, place = _read(connection, webhook)
        if place.waits(now):
            return None
        try:
            changes = changes_after(store, place.cursor, MOST_EVENTS)
        except NoCursorError:  # a backup was put back, and the feed began again
            changes = changes_after(store, START, MOST_EVENTS)
        if not changes.events:
            return None
        wanted = [event for event in changes.events if not webhook.events or event["event"] in webhook.events]
        if wanted:
            claimed = replace(place, refused=place.refused + 1, not_before=now + CLAIM)
            return Delivery(wanted, changes.cursor, claimed) if _move(store, kept, claimed) else None
        _move(store, kept, replace(place, cursor=changes.cursor))


def note_taken(store: Store, delivery: Delivery) -> None:
    """The program has taken the events; the next come after them."""
    _move(store, delivery.claimed.text, Place(delivery.claimed.receiver, delivery.cursor))


def note_refused(store: Store, delivery: Delivery, now: float) -> None:
    """The program has not taken the events: the same come again after a pause."""
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 4.0 ** (delivery.claimed.refused - 1))
    _move(store, delivery.claimed.text, replace(delivery.claimed, not_before=now + pause))


def _read(connection: sa.Connection, webhook: WebhookSettings) -> tuple[str | None, Place]:
    """The database's record and the webhook's place: the beginning where that is of another receiver."""
    kept = read_setting(connection, _KEY)
    place = None if kept is None else Place(**json.loads(kept))
    return kept, Place(webhook.receiver) if place is None or place.receiver != webhook.receiver else place


def _move(store: Store, kept: str | None, new: Place) -> bool:
    """Write a place instead of what was read; False where somebody else was quicker."""
    of_webhook = settings.c.key == _KEY
    try:
        with store.write() as connection:
            if kept is None:
                connection.execute(sa.insert(settings).values(key=_KEY, value=new.text))
                return True
            update = sa.update(settings).where(of_webhook, settings.c.value == kept).values(value=new.text)
            return bool(connection.execute(update).rowcount)
    except sa.exc.IntegrityError:  # both have found none
        return False


@dataclass(frozen=True)
class Undelivered:
    """Events that a program has still to take, attempts in vain, and when the next may be made."""

    waiting: int
    refused: int
    not_before: float


def count_undelivered(connection: sa.Connection, webhook: WebhookSettings) -> Undelivered:
    """Count the events that the webhook has not taken yet."""
    _, place = _read(connection, webhook)
    try:
        cursor = cursor_of(connection, place.cursor)
    except NoCursorError:
        cursor = cursor_of(connection, START)
    query = sa.select(events.c.id)
    if webhook.events:
        query = query.where(events.c.kind.in_(webhook.events))
    left = after(connection, query, cursor).subquery()
    waiting = connection.execute(sa.select(sa.func.count()).select_from(left)).scalar_one()
    return Undelivered(int(waiting), place.refused, place.not_before)
