"""Limits on guessing, counted in the database: for all workers and machines together, and whatever ends between."""

from __future__ import annotations

import hashlib
import threading
import time

import sqlalchemy as sa

from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import attempts

MOST_REFUSED = 10_000  # clients that a process remembers as refused, so that a storm of them costs no transactions
PURGE_SECONDS = 60.0


class Limit:
    """At most so many attempts per client in a stretch of time.

    The database holds the client's address as a keyed hash, and no longer than it counts.

    Parameters
    ----------
    store : the study's database
    what : what is guessed; each is counted by itself
    failures : how many attempts are allowed
    seconds : in how long a stretch
    secret : key of the hash
    """

    def __init__(self, store: Store, what: str, failures: int, seconds: float, secret: bytes) -> None:
        self.store = store
        self.what = what
        self.failures = failures
        self.seconds = seconds
        self._secret = hashlib.sha256(b"attempts" + secret).digest()
        self._refused: dict[str, float] = {}
        self._turn = threading.Lock()
        self._purged_at = -PURGE_SECONDS

    def attempt(self, client: str, most: int | None = None) -> bool:
        """Count an attempt before it is looked at, so that many at once are no more; whether it is allowed.

        `most` takes the place of `failures`.
        """
        key = self._key(client)
        if self._remembers(key):
            return False
        now = time.time()
        with self.store.write() as connection:
            self._lock(connection, key)
            count, first, _ = self._counted(connection, key, now)
            if count >= (self.failures if most is None else most):
                self._remember(key, first + self.seconds - now)
                return False
            connection.execute(sa.insert(attempts).values(what=self.what, client=key, made_at=now))
            self._purge(connection, now)
        return True

    def take_turn(self, client: str, pace: float, most: float) -> float | None:
        """Count an attempt that is only slowed down: the first `failures` at once, then one every `pace` seconds.

        Parameters
        ----------
        pace : seconds between two attempts of a client who has made many
        most : seconds that may be waited

        Returns
        -------
        Seconds until the attempt may be looked at; None where it is not, as too many wait already
        """
        key = self._key(client)
        if self._remembers(key):
            return None
        now = time.time()
        with self.store.write() as connection:
            self._lock(connection, key)
            count, _, newest = self._counted(connection, key, now)
            turn = now if count < self.failures else max(now, newest + pace)
            if turn - now > most:
                self._remember(key, turn - now - most)
                return None
            connection.execute(sa.insert(attempts).values(what=self.what, client=key, made_at=turn))
            self._purge(connection, now)
        return max(0.0, turn - now)

    def forgive(self, client: str) -> None:
        """The last attempt was right, and does not count."""
        newest = sa.select(sa.func.max(attempts.c.id)).where(self._by(self._key(client))).scalar_subquery()
        with self.store.write() as connection:
            connection.execute(sa.delete(attempts).where(attempts.c.id == newest))

    def _key(self, client: str) -> str:
        return hashlib.blake2b(client.encode(), key=self._secret, digest_size=12).hexdigest()

    def _by(self, key: str) -> sa.ColumnElement[bool]:
        return (attempts.c.what == self.what) & (attempts.c.client == key)

    def _lock(self, connection: sa.Connection, key: str) -> None:
        """Let attempts of one client come one after the other; SQLite has one writer at a time anyway."""
        if not self.store.is_sqlite:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext(:key))"), {"key": self.what + key})

    def _counted(self, connection: sa.Connection, key: str, now: float) -> tuple[int, float, float]:
        """Number of the client's attempts that count, and the times of the first and the newest; 0 without any."""
        # One that is later than now was counted by a clock that has been put back since.
        counts = (attempts.c.made_at > now - self.seconds) & (attempts.c.made_at <= now + self.seconds)
        made_at = attempts.c.made_at
        query = sa.select(sa.func.count(), sa.func.min(made_at), sa.func.max(made_at)).where(self._by(key), counts)
        count, first, newest = connection.execute(query).one()
        return count, first or 0.0, newest or 0.0

    def _purge(self, connection: sa.Connection, now: float) -> None:
        """Delete, from time to time, attempts that count no more."""
        if time.monotonic() - self._purged_at > PURGE_SECONDS:
            self._purged_at = time.monotonic()
            is_over = (attempts.c.made_at < now - self.seconds) | (attempts.c.made_at > now + self.seconds)
            connection.execute(sa.delete(attempts).where(attempts.c.what == self.what, is_over))

    def _remember(self, key: str, seconds: float) -> None:
        """Refuse the client for so long without asking the database."""
        with self._turn:
            self._refused.pop(key, None)
            self._refused[key] = time.monotonic() + min(self.seconds, max(0.0, seconds))
            if len(self._refused) > MOST_REFUSED:
                del self._refused[next(iter(self._refused))]

    def _remembers(self, key: str) -> bool:
        with self._turn:
            until = self._refused.get(key)
            if until is not None and until < time.monotonic():
                del self._refused[key]
                until = None
        return until is not None
