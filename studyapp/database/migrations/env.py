"""Run by Alembic: brings the tables of the store it is given up to date, one process at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context

from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import metadata

store: Store = context.config.attributes["store"]

with store.write() as connection:
    if not store.is_sqlite:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(4242424242)"))
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=store.is_sqlite)
    context.run_migrations()
