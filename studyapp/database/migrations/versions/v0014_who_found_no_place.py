"""Keep with who consented and found no place why that was, so that nobody takes them for somebody at work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raters", sa.Column("turned_away", sa.Text(), nullable=True))
