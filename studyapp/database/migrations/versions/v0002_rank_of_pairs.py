"""Keep each pair's rank, so that the export can stand alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("pairs", sa.Column("rank", sa.Integer(), nullable=True))
