"""Keep how a visit ended that did not go on, and the answers to the screening questions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raters", sa.Column("outcome", sa.Text(), nullable=True))
    op.add_column("raters", sa.Column("screening", sa.JSON(none_as_null=True), nullable=True))
