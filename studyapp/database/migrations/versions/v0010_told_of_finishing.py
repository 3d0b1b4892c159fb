"""Keep whether the program that study.toml names was told that a rater has finished, and when to try again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raters", sa.Column("told_at", sa.Float(), nullable=True))
    op.add_column("raters", sa.Column("tell_after", sa.Float(), nullable=False, server_default="0"))
    op.add_column("raters", sa.Column("tell_attempts", sa.Integer(), nullable=False, server_default="0"))
