"""Data as the first version of the tables held it."""

from __future__ import annotations

import json

import sqlalchemy as sa

from relstudy.studyapp.database.store import Store

ROWS = (
    "INSERT INTO pairs (pair_id, query_id, result_id, paradigm, source, inclusion_probability, block, active) "
    "VALUES (:pair, :query, :result, 'image', 'old', 0.5, :pair_block, true)",
    "INSERT INTO pages (id, block, kind, query_id, pair_ids, active) VALUES (901, :block, :kind, :query, :pairs, true)",
    "INSERT INTO raters (id, rater_id, session_key, entry, identity, parameters, seed, completion_code, created_at, "
    "consented_at, started_at, locked_to, extra_pages) "
    "VALUES (901, 'ROLD', 'k', 'open', 'i', :nothing, 1, 'CODE', 1.0, 2.0, 3.0, 0, 0)",
    "INSERT INTO assignments (id, rater, position, block, kind, page_id, pair_ids, handed_at, answered_at, surplus) "
    "VALUES (901, 901, 1, :block, :kind, 901, :pairs, 3.0, 4.0, false)",
    "INSERT INTO ratings (id, assignment_id, pair_id, revision, rating, seconds, rated_at, form) "
    "VALUES (901, 901, :pair, 1, :rating, 2.5, 4.0, 'f')",
)


def insert_rated(
    store: Store, pair: str, query: str, result: str, *, block: str, page_kind: str, rating: float
) -> None:
    """One rater ROLD, who has rated one pair, alone on its page."""
    values = {
        "pair": pair,
        "query": query,
        "result": result,
        "block": block,
        "kind": page_kind,
        "rating": rating,
        "pair_block": block if page_kind == "pair" else page_kind,
        "pairs": json.dumps([pair]),
        "nothing": "{}",
    }
    with store.write() as connection:
        for row in ROWS:
            connection.execute(sa.text(row), values)
