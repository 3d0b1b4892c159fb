"""Raters: each enrolled once, found again, held while one of their requests is answered."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


class Rater(NamedTuple):
    """A rater as stored; times are seconds since 1970.

    `id` is the database's own number, `rater_id` the code that exports show. `entry` and `identity` say who they are:
    the rule they came by, and a token's hash, a platform's id or a random number. `extra_pages` of unique pairs are
    beyond the study's number: asked for with "rate some more", or given with the invitation. Up to page `locked_to`
    nothing can be changed. `answers` are those to the exit questions, `screening` those before the start. A rater
    with an `outcome` (one of OUTCOMES) is out of the study for good. `practice_retries` counts how often the practice
    was begun again. `rater_group` is the group of the study that they are in, or invited to. `consent_version` and
    `consent_sha256` say which text they agreed to. `turned_away` says why who has not started found no place, the last
    time that they tried (full or closed).
    """

    id: int
    rater_id: str
    session_key: str
    entry: str
    identity: str
    parameters: dict[str, str]
    seed: int
    completion_code: str
    created_at: float
    consented_at: float | None
    started_at: float | None
    finished_at: float | None
    locked_to: int
    extra_pages: int
    answers: dict[str, str] | None
    answered_at: float | None
    outcome: str | None
    screening: dict[str, str] | None
    practice_retries: int
    rater_group: str | None
    consent_version: int | None
    consent_sha256: str | None
    turned_away: str | None


RATER_COLUMNS = [raters.c[name] for name in Rater._fields]
# Built once: building a statement costs more than running it.
_ID = sa.select(*RATER_COLUMNS).where(raters.c.id == sa.bindparam("rater"))
_BY_ID, _LOCKED = Prepared(_ID), Prepared(_ID.with_for_update())


def token_identity(token: str) -> str:
    """SHA-256 of a personal link's token, which is stored in place of the token."""
    return hashlib.sha256(token.encode()).hexdigest()


def find_rater(connection: sa.Connection, entry: str, identity: str) -> Rater | None:
    """The rater who came by this way under this identity, or None."""
    query = sa.select(*RATER_COLUMNS).where(raters.c.entry == entry, raters.c.identity == identity)
    return _rater(connection.execute(query).one_or_none())


def read_rater(connection: sa.Connection, rater: int) -> Rater | None:
    """The rater with this number, or None."""
    return _rater(_BY_ID.row(connection, {"rater": rater}))


def find_by_code(connection: sa.Connection, rater_id: str) -> Rater | None:
    """The rater with this code, or None."""
    if "\0" in rater_id:  # which PostgreSQL takes in no text
        return None
    return _rater(connection.execute(sa.select(*RATER_COLUMNS).where(raters.c.rater_id == rater_id)).one_or_none())


def read_raters(connection: sa.Connection) -> list[Rater]:
    """Every rater, in the order in which they came."""
    return [Rater(*row) for row in connection.execute(sa.select(*RATER_COLUMNS).order_by(raters.c.id))]


def lock_rater(connection: sa.Connection, rater: int) -> Rater | None:
    """The rater with this number, held until the transaction ends: one rater's requests go one after the other."""
    return _rater(_LOCKED.row(connection, {"rater": rater}))


def _rater(row: Any) -> Rater | None:
    return None if row is None else Rater(*row)


def enrol(
    connection: sa.Connection,
    study: Study,
    entry: str,
    identity: str,
    parameters: Mapping[str, str],
    now: float,
) -> Rater:
    """The rater of this identity; a new one at first sight. One person never becomes two."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = (
        dialect.insert(raters)
        .values(
            rater_id="R" + code(7),
            session_key=secrets.token_hex(16),
            entry=entry,
            identity=identity,
            parameters=dict(parameters),
            seed=secrets.randbits(48),
            completion_code=study.entry.completion_code or code(8),
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["entry", "identity"])
    )
    connection.execute(statement)
    rater = find_rater(connection, entry, identity)
    assert rater is not None
    return rater


def record_consent(connection: sa.Connection, rater: Rater, now: float, version: int, sha256: str) -> None:
    """The rater has consented to a text: as of a version of the study, with a hash of it. The first time is kept."""
    first = sa.update(raters).where(raters.c.id == rater.id, raters.c.consented_at.is_(None))
    connection.execute(first.values(consented_at=now, consent_version=version, consent_sha256=sha256))


def update_rater(connection: sa.Connection, rater: Rater, **columns: Any) -> Rater:
    """The rater with other values in some columns, as stored from now on."""
    connection.execute(sa.update(raters).where(raters.c.id == rater.id).values(columns))
    return rater._replace(**columns)


def record_exit_answers(connection: sa.Connection, rater: Rater, answers: Mapping[str, str], now: float) -> None:
    """Keep the rater's answers to the exit questions, by the questions' ids, in place of earlier ones."""
    update_rater(connection, rater, answers=dict(answers), answered_at=now)


def end_visit(connection: sa.Connection, rater: Rater, outcome: str) -> None:
    """The rater is out of the study, with this outcome."""
    update_rater(connection, rater, outcome=outcome)


def code(length: int) -> str:
    """Random characters that are hard to confuse when read aloud."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


@dataclass(frozen=True)
class Visit:
    """One rater at work on one study, inside one transaction.

    Parameters
    ----------
    connection : a transaction of `Store.write`
    study : the study
    catalogue : the pages that everybody is given, and the number of others
    rater : the rater, as read (and held) in this transaction
    now : the time, in seconds since 1970
    version : number of the version of the study; 0 where nobody counts
    """

    connection: sa.Connection
    study: Study
    catalogue: Catalogue
    rater: Rater
    now: float
    version: int = 0

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that this rater is given."""
        return self.study.blocks_of(self.rater.rater_group)


def end_session(store: Store, number: int) -> None:
    """End a rater's session in every browser: a copied cookie is worth nothing then. Their link begins another."""
    with store.write() as connection:
        connection.execute(sa.update(raters).where(raters.c.id == number).values(session_key=secrets.token_hex(16)))
