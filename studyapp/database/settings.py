"""Settings of a study: short texts by key that its servers and commands share through the database."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from relstudy.studyapp.database.tables import settings


def read_setting(connection: sa.Connection, key: str) -> str | None:
    """Value of a setting; None where it was never written."""
    return connection.execute(sa.select(settings.c.value).where(settings.c.key == key)).scalar_one_or_none()


def write_setting(connection: sa.Connection, key: str, value: str) -> None:
    """Keep the value of a setting in place of an earlier one, also where another transaction writes it meanwhile."""
    # Not by ON CONFLICT alone: where the value stays the same, SQLite would write nothing into its write-ahead log, by
    # which `side_files` sees whose log it is.
    delete_setting(connection, key)
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    insert = dialect.insert(settings).values(key=key, value=value)
    connection.execute(insert.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


def delete_setting(connection: sa.Connection, key: str) -> None:
    """Delete a setting, if there is one."""
    connection.execute(sa.delete(settings).where(settings.c.key == key))
