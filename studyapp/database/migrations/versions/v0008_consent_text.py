"""Keep which consent text a rater agreed to: the study's version, and a hash of the text as shown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("raters", sa.Column("consent_version", sa.Integer(), nullable=True))
    op.add_column("raters", sa.Column("consent_sha256", sa.Text(), nullable=True))
