"""Keep every change of a study's ratings as an event, in the order in which a reader may take them.

Triggers write the events, in the transaction that changes something and without a statement of the app's own. A later
migration that makes `ratings` or `raters` again (batch mode on SQLite) has to make the triggers again, too.
"""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_RATED = "CASE WHEN NEW.revision > 1 THEN 'changed' ELSE 'rated' END"
_LEFT = (
    "CASE WHEN NEW.outcome = 'set_aside' THEN 'set_aside' WHEN NEW.outcome = 'withdrew' THEN 'withdrawn' "
    "ELSE 'taken_back' END"
)
_CONCERNS = "(NEW.outcome IN ('set_aside', 'withdrew') OR (NEW.outcome IS NULL AND OLD.outcome = 'set_aside'))"
_NEW = {
    "rated": ("INSERT ON ratings", "", f"(kind, rating_id) VALUES ({_RATED}, NEW.id)"),
    "left": (
        "UPDATE OF outcome ON raters",
        f"OLD.outcome IS DISTINCT FROM NEW.outcome AND {_CONCERNS}",
        f"(kind, rater_id) VALUES ({_LEFT}, NEW.rater_id)",
    ),
    "finished": (
        "UPDATE OF finished_at ON raters",
        "OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL",
        "(kind, rater_id) VALUES ('finished', NEW.rater_id)",
    ),
}
_SO_FAR = (
    "INSERT INTO events (kind, rating_id) SELECT CASE WHEN revision > 1 THEN 'changed' ELSE 'rated' END, id "
    "FROM ratings ORDER BY id",
    "INSERT INTO events (kind, rater_id) SELECT CASE WHEN outcome = 'set_aside' THEN 'set_aside' ELSE 'withdrawn' END, "
    "rater_id FROM raters WHERE outcome IN ('set_aside', 'withdrew') ORDER BY id",
    "INSERT INTO events (kind, rater_id) SELECT 'finished', rater_id FROM raters WHERE finished_at IS NOT NULL "
    "ORDER BY finished_at",
)


def upgrade() -> None:
    sqlite = op.get_bind().dialect.name == "sqlite"
    now = "0" if sqlite else "CAST(CAST(pg_current_xact_id() AS text) AS bigint)"
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("xid", sa.BigInteger(), nullable=False, server_default=sa.text(now)),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("rating_id", sa.Integer(), nullable=True),
        sa.Column("rater_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sqlite_autoincrement=True,  # the number of a row that was deleted is never given again
    )
    op.create_index("ix_events_xid_id", "events", ["xid", "id"])
    for statement in _SO_FAR:
        op.execute(statement)
    for name, (when, condition, row) in _NEW.items():
        if sqlite:
            only = f"WHEN {condition} ".replace("IS DISTINCT FROM", "IS NOT") if condition else ""
            op.execute(f"CREATE TRIGGER event_{name} AFTER {when} {only}BEGIN INSERT INTO events {row}; END")
        else:
            only = f"WHEN ({condition}) " if condition else ""
            op.execute(
                f"CREATE FUNCTION event_{name}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN INSERT INTO events {row}; RETURN NULL; END $$"
            )
            op.execute(f"CREATE TRIGGER event_{name} AFTER {when} FOR EACH ROW {only}EXECUTE FUNCTION event_{name}()")
    op.execute(
        sa.text("INSERT INTO settings (key, value) VALUES ('feed', :feed)").bindparams(feed=secrets.token_hex(4))
    )
