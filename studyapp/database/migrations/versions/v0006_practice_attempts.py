"""Keep how often a rater has begun the practice again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raters", sa.Column("practice_retries", sa.Integer(), nullable=False, server_default="0"))
