"""Keep the study as it is served, which version a rating was asked under, and guesses where every worker sees them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "versions",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.Column("study", sa.Text(), nullable=False),
        sa.Column("shown_items", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_versions"),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("client", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
    )
    op.create_index("ix_attempts_what_client", "attempts", ["what", "client"])
    op.add_column("ratings", sa.Column("version", sa.Integer(), nullable=True))
