"""Keep the probability of each pair's query: intervals need it where queries are a known share of a collection."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("pairs", sa.Column("query_probability", sa.Float(), nullable=True))
