"""Keep with a rating the answers to further questions about the result, and that it could not be shown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("ratings", sa.Column("further", sa.JSON(), nullable=True))
