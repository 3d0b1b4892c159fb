"""PostgreSQL keeps no statistics of the columns that say who a rater is: `pg_stats` holds their values for as long.

They are found by unique index alone, so that no plan needs the statistics. To give a column its own type again drops
those that there are.
"""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_WHO = {
    **dict.fromkeys(("identity", "session_key", "completion_code"), "text"),
    **dict.fromkeys(("parameters", "answers", "screening"), "json"),
}


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":  # which keeps none until it is asked to
        return
    for column, kind in _WHO.items():
        op.execute(f"ALTER TABLE raters ALTER COLUMN {column} TYPE {kind}")
        op.execute(f"ALTER TABLE raters ALTER COLUMN {column} SET STATISTICS 0")
