"""The first tables: pairs, pages, slots, raters, assignments, ratings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("pair_ids", sa.JSON(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
    )
    op.create_index(op.f("ix_pages_block_kind"), "pages", ["block", "kind"], unique=False)
    op.create_table(
        "pairs",
        sa.Column("pair_id", sa.Text(), nullable=False),
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("result_id", sa.Text(), nullable=False),
        sa.Column("paradigm", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=True),
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("pair_id", name=op.f("pk_pairs")),
    )
    op.create_table(
        "raters",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Text(), nullable=False),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("completion_code", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("consented_at", sa.Float(), nullable=True),
        sa.Column("started_at", sa.Float(), nullable=True),
        sa.Column("finished_at", sa.Float(), nullable=True),
        sa.Column("locked_to", sa.Integer(), nullable=False),
        sa.Column("extra_pages", sa.Integer(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=True),
        sa.Column("answered_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raters")),
        sa.UniqueConstraint("entry", "identity", name=op.f("uq_raters_entry_identity")),
        sa.UniqueConstraint("rater_id", name=op.f("uq_raters_rater_id")),
    )
    op.create_table(
        "settings",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_settings")),
    )
    op.create_table(
        "assignments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("pair_ids", sa.JSON(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=True),
        sa.Column("handed_at", sa.Float(), nullable=True),
        sa.Column("answered_at", sa.Float(), nullable=True),
        sa.Column("surplus", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_assignments_page_id")),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name=op.f("fk_assignments_rater")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
        sa.UniqueConstraint("rater", "page_id", "kind", name=op.f("uq_assignments_rater_page_id_kind")),
        sa.UniqueConstraint("rater", "position", name=op.f("uq_assignments_rater_position")),
    )
    op.create_index(op.f("ix_assignments_page_id"), "assignments", ["page_id"], unique=False)
    op.create_table(
        "slots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("order_key", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("leased_until", sa.Float(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_slots_page_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slots")),
    )
    op.create_index(op.f("ix_slots_block_state_order_key"), "slots", ["block", "state", "order_key"], unique=False)
    op.create_index(op.f("ix_slots_page_id"), "slots", ["page_id"], unique=False)
    op.create_table(
        "ratings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("rating", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("rated_at", sa.Float(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignments.id"], name=op.f("fk_ratings_assignment_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ratings")),
        sa.UniqueConstraint(
            "assignment_id", "pair_id", "revision", name=op.f("uq_ratings_assignment_id_pair_id_revision")
        ),
    )
