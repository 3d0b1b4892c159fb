"""Keep no longer with each rater whether a program was told of them: the webhook follows the feed of changes."""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in ("told_at", "tell_after", "tell_attempts"):
        op.drop_column("raters", column)
