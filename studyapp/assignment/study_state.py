"""Whether a study takes ratings: open, paused or closed, as kept in its database."""

from __future__ import annotations

import sqlalchemy as sa

from relstudy.studyapp.database.store import settings

STATES = ("open", "paused", "closed")


def read_state(connection: sa.Connection) -> str:
    """open, paused or closed, as last set."""
    value = connection.execute(sa.select(settings.c.value).where(settings.c.key == "state")).scalar_one_or_none()
    return value or "open"


def write_state(connection: sa.Connection, state: str) -> None:
    """Set open, paused or closed."""
    if state not in STATES:
        raise ValueError(f"{state!r} is not one of {', '.join(STATES)}")
    connection.execute(sa.delete(settings).where(settings.c.key == "state"))
    connection.execute(sa.insert(settings).values(key="state", value=state))
