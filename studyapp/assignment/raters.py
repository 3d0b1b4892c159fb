"""Raters: each enrolled once, found again, held while one of their requests is answered."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import raters

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOCKED = sa.select(raters).where(raters.c.id == sa.bindparam("rater")).with_for_update()


def token_identity(token: str) -> str:
    """What is kept of a personal link's token: not the token itself."""
    return hashlib.sha256(token.encode()).hexdigest()


def find_rater(connection: sa.Connection, entry: str, identity: str) -> Any:
    """The rater who came by this way under this identity, or None."""
    query = sa.select(raters).where(raters.c.entry == entry, raters.c.identity == identity)
    return connection.execute(query).one_or_none()


def lock_rater(connection: sa.Connection, rater: int) -> Any:
    """The rater's row, held until the transaction ends: one rater's requests go one after the other."""
    return connection.execute(_LOCKED, {"rater": rater}).one_or_none()


def enrol(
    connection: sa.Connection,
    study: Study,
    entry: str,
    identity: str,
    parameters: Mapping[str, str],
    now: float,
) -> Any:
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
            locked_to=0,
            extra_pages=0,
        )
        .on_conflict_do_nothing(index_elements=["entry", "identity"])
    )
    connection.execute(statement)
    return find_rater(connection, entry, identity)


def code(length: int) -> str:
    """Random characters that are hard to confuse when read aloud."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
