"""Events have no index of transactions on SQLite: all are of transaction 0 there, and read by their number."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index("ix_events_xid_id", "events")
