"""Ratings out of the database: one row per rating that counts, marked with how it came about."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import sqlalchemy as sa

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store, assignments, pairs, raters, ratings
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids

COLUMNS = (
    *("rater_id", "pair_id", "query_id", "result_id", "scale", "rating", "seconds", "block", "rated_at"),
    *(
        "study_block",
        "surplus",
        "passed",
        "revisions",
        "position",
        "handed_out",
        "inclusion_probability",
        "query_probability",
        "source",
        "rank",
    ),
)
HANDED_OUT = {"base": "to everyone", "unique": "at random over the pool"}


def ratings_table(store: Store, study: Study, *, history: bool = False) -> pd.DataFrame:
    """Every rating, in the order given.

    `block` is base or unique for the ratings that calibration is for, else check, repeat or practice. `rating` is
    empty (NaN) for undecided. `seconds` is the time on the page divided by its results, summed over revisions.
    `surplus` marks a late answer for a pair that had its k ratings. `passed` (checks and practice) says whether the
    answer is one of those expected; it is empty for the fillers on a check's page. With `history`, every revision is a row, with its number in `revision`.
    """
    scales = {block.name: block.scale.name for block in study.blocks}
    known = known_pair_ids(study)
    query = (
        sa.select(
            raters.c.rater_id,
            ratings.c.pair_id,
            pairs.c.query_id,
            pairs.c.result_id,
            pairs.c.block,
            pairs.c.source,
            pairs.c.inclusion_probability,
            pairs.c.query_probability,
            pairs.c.rank,
            assignments.c.block.label("study_block"),
            assignments.c.kind,
            assignments.c.position,
            assignments.c.surplus,
            ratings.c.assignment_id,
            ratings.c.revision,
            ratings.c.rating,
            ratings.c.seconds,
            ratings.c.rated_at,
        )
        .join(assignments, assignments.c.id == ratings.c.assignment_id)
        .join(raters, raters.c.id == assignments.c.rater)
        .join(pairs, pairs.c.pair_id == ratings.c.pair_id)
        .order_by(ratings.c.id)
    )
    last: dict[Any, dict[str, Any]] = {}
    rows = []
    with store.read() as connection:
        for row in connection.execute(query):
            record = _record(row, scales, known)
            if history:
                record["revision"] = row.revision
                rows.append(record)
                continue
            earlier = last.get((row.assignment_id, row.pair_id))
            if earlier is not None:
                record["seconds"] = round(record["seconds"] + earlier["seconds"], 3)
            last[(row.assignment_id, row.pair_id)] = record
    columns = [*COLUMNS, "revision"] if history else list(COLUMNS)
    frame = pd.DataFrame(rows if history else list(last.values()), columns=columns)
    numbers = dict.fromkeys(["rating", "inclusion_probability", "query_probability"], "float64")
    return frame.astype({**numbers, "rank": "Int64"})


def _record(row: Any, scales: dict[str, str], known: dict[str, Any]) -> dict[str, Any]:
    kind = row.block if row.kind == "pair" else row.kind
    passed = ""
    if row.pair_id in known:
        passed = "yes" if row.rating in known[row.pair_id].expected else "no"
    return {
        "rater_id": row.rater_id,
        "pair_id": row.pair_id,
        "query_id": row.query_id,
        "result_id": row.result_id,
        "scale": scales.get(row.study_block, ""),
        "rating": row.rating,
        "seconds": round(row.seconds, 3),
        "block": kind,
        "rated_at": datetime.fromtimestamp(row.rated_at, UTC).isoformat(timespec="milliseconds"),
        "study_block": row.study_block,
        "surplus": int(bool(row.surplus)),
        "passed": passed,
        "revisions": row.revision,
        "position": row.position,
        "handed_out": HANDED_OUT.get(kind, ""),
        "inclusion_probability": row.inclusion_probability,
        "query_probability": row.query_probability,
        "source": row.source,
        "rank": row.rank,
    }


def people_table(store: Store, study: Study) -> pd.DataFrame:
    """One row per rater: way in, times, completion code, parameters kept, answers to the exit questions."""
    query = sa.select(raters).order_by(raters.c.id)
    rows = []
    with store.read() as connection:
        for row in connection.execute(query):
            times = {
                name: "" if value is None else datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds")
                for name, value in (
                    ("invited_or_joined_at", row.created_at),
                    ("consented_at", row.consented_at),
                    ("started_at", row.started_at),
                    ("finished_at", row.finished_at),
                )
            }
            crowd = row.entry in ("prolific", "crowd")
            rows.append(
                {
                    "rater_id": row.rater_id,
                    "entry": row.entry,
                    "platform_id": row.identity if crowd else "",
                    **{f"parameter_{name}": row.parameters.get(name, "") for name in study.entry.keep_parameters},
                    **times,
                    "completion_code": row.completion_code,
                    **{f"question_{q.id}": (row.answers or {}).get(q.id, "") for q in study.questions},
                }
            )
    return pd.DataFrame(rows)
