"""The tables of a study's database; `migrations` takes older ones to what stands here."""

from __future__ import annotations

import sqlalchemy as sa

# States of a slot. UNDECIDED: answered by nothing but undecided, and handed out again in a slot of its own.
OPEN, LEASED, DONE, UNDECIDED = 0, 1, 2, 3

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

settings = sa.Table(
    "settings",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

# What can be rated. `block` is base, unique, practice or check (an attention check, or a filler beside one). With
# `other_id` it is a couple of results that are compared.
pairs = sa.Table(
    "pairs",
    metadata,
    sa.Column("pair_id", sa.Text, primary_key=True),
    sa.Column("query_id", sa.Text, nullable=False),
    sa.Column("result_id", sa.Text, nullable=False),
    sa.Column("paradigm", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("inclusion_probability", sa.Float),
    sa.Column("query_probability", sa.Float),
    sa.Column("rank", sa.Integer),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("other_id", sa.Text),
)

# A page shows one query with some of its results; the same for every rater, in an order of the rater's own.
pages = sa.Table(
    "pages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("query_id", sa.Text, nullable=False),
    sa.Column("pair_ids", sa.JSON, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Index(None, "block", "kind"),
)

# One of the k ratings that a page of unique pairs is to get. `order_key` is random: taking the smallest one that is
# open is a random draw over the whole pool, and stays one index look-up however large the pool.
slots = sa.Table(
    "slots",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("page_id", sa.Integer, sa.ForeignKey("pages.id"), nullable=False, index=True),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("order_key", sa.BigInteger, nullable=False),
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("leased_until", sa.Float, nullable=False),
    sa.Column("assignment_id", sa.Integer),
    sa.Index(None, "block", "state", "order_key"),
)

raters = sa.Table(
    "raters",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater_id", sa.Text, nullable=False, unique=True),
    sa.Column("session_key", sa.Text, nullable=False),
    sa.Column("entry", sa.Text, nullable=False),
    sa.Column("identity", sa.Text, nullable=False),
    sa.Column("parameters", sa.JSON, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("completion_code", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("consented_at", sa.Float),
    sa.Column("started_at", sa.Float),
    sa.Column("finished_at", sa.Float),
    sa.Column("locked_to", sa.Integer, nullable=False, default=0),
    sa.Column("extra_pages", sa.Integer, nullable=False, default=0),
    sa.Column("answers", sa.JSON),
    sa.Column("answered_at", sa.Float),
    sa.Column("outcome", sa.Text),
    sa.Column("screening", sa.JSON(none_as_null=True)),
    sa.Column("practice_retries", sa.Integer, nullable=False, default=0, server_default="0"),
    sa.Column("rater_group", sa.Text),
    sa.Column("consent_version", sa.Integer),
    sa.Column("consent_sha256", sa.Text),
    sa.Column("turned_away", sa.Text),
    sa.UniqueConstraint("entry", "identity"),
)

# A page given to a rater, at a place in that rater's own sequence.
assignments = sa.Table(
    "assignments",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("block", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("page_id", sa.Integer, sa.ForeignKey("pages.id"), nullable=False),
    sa.Column("pair_ids", sa.JSON, nullable=False),
    sa.Column("slot_id", sa.Integer),
    sa.Column("handed_at", sa.Float),
    sa.Column("answered_at", sa.Float),
    sa.Column("surplus", sa.Boolean, nullable=False, default=False),
    sa.UniqueConstraint("rater", "position"),
    sa.UniqueConstraint("rater", "page_id", "kind"),
    sa.Index(None, "page_id"),
)

# One row per revision; the last one counts. A rating of NULL is "undecided". `further` holds the answers to the block's
# further questions by id (a number, null for undecided, or words), and "not_shown" where nothing could be rated.
ratings = sa.Table(
    "ratings",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("assignment_id", sa.Integer, sa.ForeignKey("assignments.id"), nullable=False),
    sa.Column("pair_id", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("rating", sa.Float),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("rated_at", sa.Float, nullable=False),
    sa.Column("form", sa.Text, nullable=False),
    sa.Column("version", sa.Integer),
    sa.Column("further", sa.JSON(none_as_null=True)),
    sa.UniqueConstraint("assignment_id", "pair_id", "revision"),
)

# The study as it is served, by all servers alike; the newest one counts. `study` is the text of study.toml,
# `shown_items` what every pair that was ever handed out shows. A rating has the number of the version that asked it.
versions = sa.Table(
    "versions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("made_at", sa.Float, nullable=False),
    sa.Column("study", sa.Text, nullable=False),
    sa.Column("shown_items", sa.JSON, nullable=False),
)

# Guesses of passwords, links and the like, kept for as long as they count; `client` is a keyed hash.
attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("client", sa.Text, nullable=False),
    sa.Column("made_at", sa.Float, nullable=False),
    sa.Index(None, "what", "client"),
)

# What researchers did on the admin pages and by commands.
audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("did", sa.Text, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
)

# Changes of the ratings, for programs that follow them; written by triggers (migration 0017). A reader takes them in
# the order of `xid` (on PostgreSQL the transaction; 0 on SQLite, whose writers take turns) and `id`. `rating_id` is a
# row of `ratings`, or `rater_id` the code of a rater who finished, was set aside or taken back, or withdrew; of one who
# was forgotten its SHA-256.
events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("xid", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("rating_id", sa.Integer),
    sa.Column("rater_id", sa.Text),
    sa.Index(None, "xid", "id").ddl_if(dialect="postgresql"),
    sqlite_autoincrement=True,
)
events.add_is_dependent_on(ratings)  # a copy of ratings makes events, which those of the original then replace
