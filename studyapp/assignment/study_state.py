"""What a study's database keeps of its running: whether it takes ratings, and where it is served."""

from __future__ import annotations

import sqlalchemy as sa

from relstudy.studyapp.database.tables import settings

STATES = ("open", "paused", "closed")


def read_state(connection: sa.Connection) -> str:
    """open, paused or closed, as last set."""
    value = connection.execute(sa.select(settings.c.value).where(settings.c.key == "state")).scalar_one_or_none()
    return value or "open"


def read_address(connection: sa.Connection) -> str:
    """Where the study was last served, such as http://localhost:8000; empty where it never was."""
    query = sa.select(settings.c.value).where(settings.c.key == "address")
    return connection.execute(query).scalar_one_or_none() or ""


def write_address(connection: sa.Connection, address: str) -> None:
    """Remember where the study is served."""
    connection.execute(sa.delete(settings).where(settings.c.key == "address"))
    connection.execute(sa.insert(settings).values(key="address", value=address))


def write_state(connection: sa.Connection, state: str) -> None:
    """Set open, paused or closed."""
    if state not in STATES:
        raise ValueError(f"{state!r} is not one of {', '.join(STATES)}")
    connection.execute(sa.delete(settings).where(settings.c.key == "state"))
    connection.execute(sa.insert(settings).values(key="state", value=state))
