"""Keep which group of the study a rater is in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raters", sa.Column("rater_group", sa.Text(), nullable=True))
