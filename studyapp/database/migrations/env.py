"""Run by Alembic: brings the tables of the store it is given up to date, one process at a time."""

from __future__ import annotations

from alembic import context

from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import metadata
from relstudy.studyapp.database.transaction_locks import MIGRATION, hold_lock

store: Store = context.config.attributes["store"]

with store.write() as connection:
    hold_lock(connection, MIGRATION)
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=store.is_sqlite)
    context.run_migrations()
