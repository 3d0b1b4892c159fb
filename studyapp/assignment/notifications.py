"""Notifications of a program about raters who have finished: each claimed by one worker, and repeated until taken."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters

CLAIM = 60.0  # seconds for one attempt; who claims and dies leaves the rest to others
FIRST_PAUSE = 5.0  # seconds until the second attempt; each later pause is four times as long
LONGEST_PAUSE = 3600.0
MOST_ATTEMPTS = 12  # the last some seven hours after the first

_UNDELIVERED = raters.c.finished_at.is_not(None) & raters.c.told_at.is_(None)
_DUE = (
    sa.select(raters.c.id, raters.c.rater_id, raters.c.finished_at, raters.c.tell_attempts)
    .where(_UNDELIVERED, raters.c.tell_after <= sa.bindparam("now"), raters.c.tell_attempts < MOST_ATTEMPTS)
    .order_by(raters.c.finished_at)
    .limit(1)
)


@dataclass(frozen=True)
class Finished:
    """A rater who has finished and whom the program has not heard of; `attempts` counts this one too."""

    id: int
    rater_id: str
    finished_at: float
    attempts: int


def claim_finished(store: Store, now: float) -> Finished | None:
    """Claim the next finished rater to report, so that no other worker takes them; None where there is none now."""
    with store.read_one() as connection:
        row = connection.execute(_DUE, {"now": now}).one_or_none()
    if row is None:
        return None
    update = sa.update(raters).where(raters.c.id == row.id, _UNDELIVERED, raters.c.tell_attempts == row.tell_attempts)
    with store.write() as connection:
        claimed = connection.execute(
            update.values(tell_after=now + CLAIM, tell_attempts=row.tell_attempts + 1)
        ).rowcount
    return Finished(row.id, row.rater_id, row.finished_at, row.tell_attempts + 1) if claimed else None


def note_delivered(store: Store, finished: Finished, now: float) -> None:
    """Record that the program has taken the notification."""
    with store.write() as connection:
        connection.execute(sa.update(raters).where(raters.c.id == finished.id).values(told_at=now))


def note_failed(store: Store, finished: Finished, now: float) -> None:
    """Record that the program has not taken it, and schedule the next attempt."""
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 4.0 ** (finished.attempts - 1))
    with store.write() as connection:
        connection.execute(sa.update(raters).where(raters.c.id == finished.id).values(tell_after=now + pause))


@dataclass(frozen=True)
class Undelivered:
    """Numbers of notifications that are still to be delivered and that were given up."""

    waiting: int
    given_up: int


def count_undelivered(connection: sa.Connection) -> Undelivered:
    """Count notifications that the webhook has not taken yet: waiting, and given up."""
    given_up = sa.func.sum(sa.case((raters.c.tell_attempts >= MOST_ATTEMPTS, 1), else_=0))
    every, lost = connection.execute(sa.select(sa.func.count(), given_up).where(_UNDELIVERED)).one()
    return Undelivered(every - (lost or 0), lost or 0)
