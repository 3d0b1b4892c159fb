"""Ratings out of the database: one row per rating that counts, marked with how it came about."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa

from relstudy.common.errors import RelstudyError
from relstudy.common.hand_out import HandOut
from relstudy.common.pairs_table import read_pairs
from relstudy.common.probabilities import PAIR
from relstudy.common.reach import REACH
from relstudy.common.response import DRAWN, Response, response_of
from relstudy.common.scales import SCALE_COLUMNS, Scale
from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.outcomes import outcome_of
from relstudy.studyapp.assignment.raters import Rater, read_raters
from relstudy.studyapp.assignment.set_aside import LEFT_OUT
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import KnownPair
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, pairs, raters, ratings
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
        "version",
        "set_aside",
    ),
    *SCALE_COLUMNS,
)
FROM_PAIRS = ("inclusion_probability", "query_probability", "source", "rank")


def ratings_table(store: Store, study: Study, *, history: bool = False) -> pd.DataFrame:
    """Every rating, in the order given.

    `block` is base or unique for the ratings that calibration is for, else check, repeat or practice. `rating` is
    empty (NaN) for undecided. `seconds` is the time on the page divided by its results, summed over revisions.
    `surplus` marks a late answer for a pair that had its k ratings. `passed` (checks and practice) says whether the
    answer is one of those expected; it is empty for the fillers on a check's page. With `history`, every revision is a
    row, with its number in `revision`. `handed_out` is said of unique pairs only: everyone rates the base block.
    """
    scales = {block.name: block.scale for block in study.blocks}
    known_pairs = known_pair_ids(study)
    hand_outs = _hand_outs(study)
    query = select_ratings(
        *(raters.c.rater_id, pairs.c.query_id, pairs.c.result_id, pairs.c.block, pairs.c.source, pairs.c.rank),
        *(pairs.c.inclusion_probability, pairs.c.query_probability, assignments.c.block.label("study_block")),
        *(assignments.c.kind, assignments.c.position, assignments.c.surplus, ratings.c.version),
        raters.c.outcome,
        every_revision=history,
    )
    with store.read() as connection:
        rows = [_record(row, scales, known_pairs, hand_outs) for row in connection.execute(query)]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *(["revision"] if history else [])])
    numbers = dict.fromkeys(["rating", "inclusion_probability", "query_probability", *SCALE_COLUMNS], "float64")
    return _as_drawn(frame.astype({**numbers, "rank": "Int64", "version": "Int64"}), study)


def _as_drawn(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """What pairs.csv says now of where each rated pair came from.

    A further round changes the probabilities of pairs that were drawn before, and the database learns of it only when
    the study is served again. It has the last word on pairs that pairs.csv no longer holds. Probabilities are those of
    being drawn and judged so far (`relstudy.common.response`).
    """
    file = study.folder / "pairs.csv"
    if not file.is_file():
        return frame
    table = read_pairs(file)
    drawn = table.set_index("pair_id").reindex(frame["pair_id"]).set_axis(frame.index)
    there = drawn["query_id"].notna()
    for column in PAIR:
        changed = there & (drawn[column] != frame[column])
        if changed.any():
            rated, now = frame[changed].iloc[0], drawn[changed].iloc[0]
            raise RelstudyError(
                f"{file}: pair {rated['pair_id']!r} is query {now['query_id']!r}, result {now['result_id']!r}, but it "
                f"was rated as {rated['query_id']!r}, {rated['result_id']!r}; give the new pair a new id"
            )
    response = response_of(table, judged_pairs(frame))
    drawn["inclusion_probability"] = pd.Series(response.probability, table["pair_id"]).reindex(frame["pair_id"]).array
    for column in FROM_PAIRS:
        frame[column] = drawn[column].where(there, frame[column]).astype(frame[column].dtype)
    for column in [name for name in ("pool", REACH) if name in drawn]:
        frame[column] = drawn[column]
    if response.missing:
        frame[DRAWN] = response.drawn
    return frame


def drawn_and_judged(folder: Path, ratings: pd.DataFrame) -> Response | None:
    """What became of the pairs that were drawn, from the ratings of `ratings_table`; None without a pairs.csv."""
    file = folder / "pairs.csv"
    return response_of(read_pairs(file), judged_pairs(ratings)) if file.is_file() else None


def judged_pairs(ratings: pd.DataFrame) -> pd.DataFrame:
    """query_id and result_id of the pairs that somebody decided who was not set aside; practice, checks and repeats do
    not count."""
    counted = ratings["block"].isin(["base", "unique"]) & ratings["rating"].notna()
    if "set_aside" in ratings:
        counted &= ratings["set_aside"] == 0
    return ratings.loc[counted, PAIR].drop_duplicates()


def _hand_outs(study: Study) -> dict[str, HandOut]:
    """How each block of unique pairs is handed out: not at random where groups draw from pools of their own."""
    fixed = {scale.name for scale in study.scales if len(study.pools_of_groups(scale.name)) > 1}
    return {
        block.name: HandOut.FIXED if block.scale.name in fixed else HandOut.RANDOM
        for block in study.blocks
        if block.unique
    }


def _record(
    row: sa.Row[Any], scales: dict[str, Scale], known_pairs: dict[str, KnownPair], hand_outs: dict[str, HandOut]
) -> dict[str, Any]:
    kind = row.block if row.kind == "pair" else row.kind
    scale = scales.get(row.study_block)
    passed = ""
    if row.pair_id in known_pairs:
        passed = "yes" if row.rating in known_pairs[row.pair_id].expected else "no"
    return {
        "rater_id": row.rater_id,
        "pair_id": row.pair_id,
        "query_id": row.query_id,
        "result_id": row.result_id,
        "scale": "" if scale is None else scale.name,
        "rating": row.rating,
        "seconds": round(row.seconds, 3),
        "block": kind,
        "rated_at": datetime.fromtimestamp(row.rated_at, UTC).isoformat(timespec="milliseconds"),
        "study_block": row.study_block,
        "surplus": int(bool(row.surplus)),
        "passed": passed,
        "revisions": row.revision,
        "revision": row.revision,
        "position": row.position,
        "handed_out": hand_outs.get(row.study_block, HandOut.RANDOM).value if kind == "unique" else "",
        "inclusion_probability": row.inclusion_probability,
        "query_probability": row.query_probability,
        "source": row.source,
        "rank": row.rank,
        "version": row.version,
        "set_aside": int(row.outcome in LEFT_OUT),
        **(dict.fromkeys(SCALE_COLUMNS) if scale is None else scale.columns()),
    }


def people_table(store: Store, study: Study) -> pd.DataFrame:
    """One row per rater: way in, times, outcome, completion code, parameters kept, answers to the exit questions."""
    answers: dict[int, list[sa.Row[Any]]] = defaultdict(list)
    with store.read() as connection:
        people = read_raters(connection)
        for row in connection.execute(select_ratings(assignments.c.rater, assignments.c.kind)):
            answers[row.rater].append(row)
    return pd.DataFrame(
        [
            {
                "rater_id": rater.rater_id,
                "entry": rater.entry,
                "platform_id": _no_formula(rater.identity) if rater.entry in ("prolific", "crowd") else "",
                **{
                    f"parameter_{name}": _no_formula(rater.parameters.get(name, ""))
                    for name in study.entry.keep_parameters
                },
                "invited_or_joined_at": _utc(rater.created_at),
                "consented_at": _utc(rater.consented_at),
                "consent_version": rater.consent_version,
                "consent_sha256": rater.consent_sha256 or "",
                "started_at": _utc(rater.started_at),
                "finished_at": _utc(rater.finished_at),
                "outcome": outcome_of(study, rater, answers[rater.id]),
                "completion_code": rater.completion_code,
                **({"group": rater.rater_group or ""} if study.groups else {}),
                **({"practice_attempts": _attempts(rater)} if study.qualification is not None else {}),
                **{f"screening_{q.id}": _no_formula((rater.screening or {}).get(q.id, "")) for q in study.screening},
                **{f"question_{q.id}": _no_formula((rater.answers or {}).get(q.id, "")) for q in study.questions},
            }
            for rater in people
        ]
    )


def _attempts(rater: Rater) -> int:
    """How often the rater has begun the practice."""
    return 0 if rater.started_at is None else 1 + rater.practice_retries


def _no_formula(text: str) -> str:
    """What a stranger typed, so that a spreadsheet shows it and does not run it.

    Examples
    --------
    >>> print(_no_formula("=HYPERLINK(A1)"), _no_formula("-3"), _no_formula("blue"))
    '=HYPERLINK(A1) -3 blue
    """
    is_number = re.fullmatch(r"[+-]?[0-9]+([.,][0-9]*)?", text) is not None
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number else text


def _utc(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
