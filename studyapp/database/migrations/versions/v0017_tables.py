"""The tables as `tables` has them, and the triggers that keep every change of a study's ratings as an event.

The triggers write in the transaction that changes something, without a statement of the app's own. A later migration
that makes `ratings` or `raters` again (batch mode on SQLite) has to make them again, too; the first one after a release
writes here the tables as they were then.
"""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

from relstudy.studyapp.database.tables import metadata

revision = "0017"
down_revision = None
branch_labels = None
depends_on = None

_RATED = "CASE WHEN NEW.revision > 1 THEN 'changed' ELSE 'rated' END"
_LEFT = (
    "CASE WHEN NEW.outcome = 'set_aside' THEN 'set_aside' WHEN NEW.outcome = 'withdrew' THEN 'withdrawn' "
    "ELSE 'taken_back' END"
)
_CONCERNS = "(NEW.outcome IN ('set_aside', 'withdrew') OR (NEW.outcome IS NULL AND OLD.outcome = 'set_aside'))"
_EVENTS = {
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
_WHO = ("identity", "session_key", "completion_code", "parameters", "answers", "screening")
"""Columns that say who a rater is: `pg_stats` would hold their values, and no plan needs their statistics."""


def upgrade() -> None:
    sqlite = op.get_bind().dialect.name == "sqlite"
    metadata.create_all(op.get_bind())
    if not sqlite:
        op.execute("ALTER TABLE events ALTER COLUMN xid SET DEFAULT CAST(CAST(pg_current_xact_id() AS text) AS bigint)")
        for column in _WHO:
            op.execute(f"ALTER TABLE raters ALTER COLUMN {column} SET STATISTICS 0")
    for name, (when, condition, row) in _EVENTS.items():
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
