"""Locks that a transaction holds until it ends, by number; of use on PostgreSQL, as SQLite has one writer at a time."""

from __future__ import annotations

import sqlalchemy as sa

MIGRATION, VERSION, PLACE = 4242424242, 4242424243, 4242424244


def hold_lock(connection: sa.Connection, number: int, *, shared: bool = False) -> None:
    """Wait for a lock and hold it until the transaction ends; those who share it do not wait for one another."""
    if connection.dialect.name != "sqlite":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}({number})"))
