"""Ratings out of the database: one row per rating that counts, marked with how it came about."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.design_reach import REACH
from relstudy.common.sampling.response_rates import DRAWN, Response, response_of
from relstudy.common.tables.formats.table_files import release_unused
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pair_assignment import HandOut
from relstudy.common.tables.meaning.pairs_table import OTHER, read_pairs
from relstudy.common.tables.meaning.scales import SCALE_COLUMNS
from relstudy.studyapp.assignment.answers import Further, select_ratings
from relstudy.studyapp.assignment.catalogue import PairRow
from relstudy.studyapp.assignment.eligibility import outcome_of
from relstudy.studyapp.assignment.enrolment import Rater, read_raters
from relstudy.studyapp.assignment.exclusion import LEFT_OUT
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import OF_CHOICES, KnownPair, ResultQuestion, was_shown
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
        "place",
        "handed_out",
        "inclusion_probability",
        "query_probability",
        "source",
        "rank",
        "version",
        "set_aside",
        "not_shown",
    ),
    *SCALE_COLUMNS,
)
FROM_PAIRS = ("inclusion_probability", "query_probability", "source", "rank")


FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that begin a formula in spreadsheets, in one locale or another (OWASP, CSV injection)."""
_SPLIT_CELL = re.compile(r"((?:^|[;,\t\r\n])[\s\"]*)([^;,\t\r\n]*)")
"""A cell as any spreadsheet may split it, and what stands before it."""
IN_PARTS = {"yield_per": 10_000}
"""How a query is asked whose rows are not to be in memory together, here or in a driver: so many are at a time."""


@dataclass(frozen=True)
class _ScaleCells:
    """Cells on the scale, the same for every rating of a block."""

    name: str
    columns: dict[str, float | None]


_NO_SCALE = _ScaleCells("", dict.fromkeys(SCALE_COLUMNS))  # of a block that has left the study


@dataclass(frozen=True)
class _Rules:
    """Rules of the study for its ratings: scales by block, pairs with known answers, and the way blocks are handed
    out."""

    scales: dict[str, _ScaleCells]
    known_pairs: dict[str, KnownPair]
    hand_outs: dict[str, str]
    question: ResultQuestion | None = None

    def passed(self, pair_id: str, rating: float | None, further: Further | None) -> str:
        """Return "yes" if an answer is as expected, else "no"; empty where none is expected or nothing was shown."""
        pair = self.known_pairs.get(pair_id)
        if pair is None or not was_shown(further):
            return ""
        if self.question is None:
            return "yes" if pair.is_met(rating, further) else "no"
        expected = pair.also.get(self.question.id)
        return "" if expected is None else "yes" if (further or {}).get(self.question.id) in expected else "no"

    def rating(self, rating: float | None, further: Further | None) -> float | None:
        """The answer to the question that the table is of."""
        if self.question is None:
            return rating
        answer = (further or {}).get(self.question.id)
        return answer if isinstance(answer, int | float) else None

    def handed_out(self, kind: str, block: str) -> str:
        """Way in which a pair came to its rater; empty for all but unique pairs."""
        return self.hand_outs.get(block, HandOut.RANDOM.value) if kind == "unique" else ""


LEFT = "left"
"""The column of which result of a couple stood on the left."""
WORDS = "words"
"""The column of answers to a question that is answered in words."""


def ratings_table(
    store: Store, study: Study, *, history: bool = False, question: ResultQuestion | None = None
) -> pd.DataFrame:
    """Every rating, in the order given.

    With `question` those who were asked this further question and answered it, with its answers and its scale in place
    of the block's own; of one that is answered in words, these are in the column WORDS beside the block's own rating.

    `block` is base or unique for the ratings that calibration is for, else check, repeat or practice. `rating` is
    empty (NaN) for undecided. `seconds` is the time on the page divided by its results, summed over revisions.
    `surplus` marks a late answer for a pair that had its k ratings. `passed` (checks and practice) says whether the
    answer is one of those expected; it is empty for the fillers on a check's page. `place` is the result's on the page
    that its rater saw, from 1. `group` is the rater's, where the study has groups, and so is what the rater chose in
    the questionnaire (`_attributes`). With `history`, every revision is a row, with its number in `revision`. Of a
    couple `rating` is -1, 0 or 1 (the left one is better, neither, the right one), and `left` names the result that
    stood there. `handed_out` is said of unique pairs only: everyone rates the base block.
    """
    with ratings_in_parts(store, study, history=history, question=question) as (parts, _):
        return pd.concat(parts, ignore_index=True)


@contextlib.contextmanager
def ratings_in_parts(
    store: Store,
    study: Study,
    *,
    history: bool = False,
    question: ResultQuestion | None = None,
    scale: str | None = None,
    surplus: bool = True,
) -> Iterator[tuple[Iterator[pd.DataFrame], Response | None]]:
    """The table of `ratings_table`, one part in memory at a time, as the database is while the block lasts.

    Parameters
    ----------
    scale : of the ratings that are wanted; default: every scale
    surplus : whether late answers for pairs that had their ratings are wanted

    Yields
    ------
    Parts of at most 10,000 rows each, at least one; and the drawn pairs with their judgments, whatever is wanted of
    them, None without a pairs.csv
    """
    asked = None if question is None else question.scale
    rules = _Rules(
        {
            block.name: _ScaleCells((asked or block.scale).name, (asked or block.scale).columns())
            for block in study.blocks
        },
        known_pair_ids(study),
        _hand_outs(study),
        question if asked is not None else None,
    )
    file = study.folder / "pairs.csv"
    with store.read() as connection:
        said = _attributes(connection, study)
        rows = _rows_in_parts(connection, question, history)
        parts: Iterator[pd.DataFrame] = (_part(each, study, rules, said, question, history) for each in rows)
        response = None
        if file.is_file():
            table = read_pairs(file)
            release_unused()
            response = response_of(table, _judged_pairs(connection, rules, question, history))
            parts = _as_drawn(parts, table, response, file)
        yield (_wanted(part, scale, surplus) for part in parts), response


def _wanted(part: pd.DataFrame, scale: str | None, surplus: bool) -> pd.DataFrame:
    if scale is not None:
        part = part[part["scale"] == scale]
    return part if surplus else part[part["surplus"] == 0]


def _rows_in_parts(
    connection: sa.Connection, question: ResultQuestion | None, history: bool
) -> Iterator[Sequence[sa.Row[Any]]]:
    """The database's rows of the export, some at a time; if there are none at all, one part without a row."""
    query = select_ratings(
        *(raters.c.rater_id, pairs.c.query_id, pairs.c.result_id, pairs.c.block, pairs.c.source, pairs.c.rank),
        *(pairs.c.inclusion_probability, pairs.c.query_probability, assignments.c.block.label("study_block")),
        *(assignments.c.kind, assignments.c.position, assignments.c.surplus, ratings.c.version),
        *(raters.c.outcome, raters.c.rater_group, raters.c.seed, pairs.c.other_id),
        sa.cast(assignments.c.pair_ids, sa.Text).label("pair_ids"),
        every_revision=history,
    )
    empty = True
    for part in connection.execute(query, execution_options=IN_PARTS).partitions():
        rows = part if question is None else [row for row in part if _answers(row.further, question)]
        if rows:
            empty = False
            yield rows
    if empty:
        yield []


def _judged_pairs(
    connection: sa.Connection, rules: _Rules, question: ResultQuestion | None, history: bool
) -> pd.DataFrame:
    """query_id and result_id of the pairs that somebody decided who was not set aside; practice, checks and repeats do
    not count."""
    # no condition in SQL: of tables that grew since a server last looked at them it guesses that a row or two meet it
    columns = (
        pairs.c.query_id,
        pairs.c.result_id,
        assignments.c.kind,
        pairs.c.block,
        pairs.c.other_id,
        raters.c.outcome,
    )
    counted = select_ratings(*columns, every_revision=history)
    found = {
        (row.query_id, row.result_id)
        for row in connection.execute(counted, execution_options=IN_PARTS)
        if row.kind == "pair"
        and row.block in ("base", "unique")
        and row.other_id is None
        and row.outcome not in LEFT_OUT
        and (question is None or _answers(row.further, question))
        and rules.rating(row.rating, row.further) is not None
    }
    return pd.DataFrame(list(found), columns=PAIR)


def _part(
    rows: Sequence[sa.Row[Any]],
    study: Study,
    rules: _Rules,
    said: Mapping[str, Mapping[str, str]],
    question: ResultQuestion | None,
    history: bool,
) -> pd.DataFrame:
    """Rows of the database as rows of the export."""
    columns = [*COLUMNS, *(["group"] if study.groups else []), *said, *(["revision"] if history else [])]
    compares = any(block.is_comparison for block in study.blocks)
    columns += [OTHER, LEFT] if compares else []
    in_words = None if question is None or question.scale is not None else question.id
    columns += [WORDS] if in_words is not None else []
    records: dict[str, Any] = _columns(rows, rules) if rows else dict.fromkeys(columns, ())
    if rows:
        for column, answers in said.items():
            records[column] = [answers.get(row.rater_id, "") for row in rows]
        if compares:
            records |= {OTHER: [row.other_id or "" for row in rows], LEFT: [_left(row) for row in rows]}
        if in_words is not None:
            records[WORDS] = [_no_formula(str((row.further or {}).get(in_words, ""))) for row in rows]
    frame = pd.DataFrame({column: pd.Series(records[column]) for column in columns})
    numbers = dict.fromkeys(["rating", "inclusion_probability", "query_probability", *SCALE_COLUMNS], "float64")
    return frame.astype({**numbers, "rank": "Int64", "version": "Int64"})


def _attributes(connection: sa.Connection, study: Study) -> dict[str, dict[str, str]]:
    """Answers that stand beside a rater's ratings, since groups of people can be made of them: those by given choices.

    Returns
    -------
    Column -> rater_id -> answer
    """
    asked = {
        **{f"screening_{question.id}": ("screening", question) for question in study.screening},
        **{f"question_{question.id}": ("answers", question) for question in study.questions},
    }
    by_choices = {column: each for column, each in asked.items() if each[1].kind in OF_CHOICES}
    if not by_choices:
        return {}
    people = read_raters(connection)
    return {
        column: {rater.rater_id: _no_formula((getattr(rater, part) or {}).get(question.id, "")) for rater in people}
        for column, (part, question) in by_choices.items()
    }


def _left(row: sa.Row[Any]) -> str:
    """The result of a couple that its rater saw on the left; empty for a pair."""
    if row.other_id is None:
        return ""
    return PairRow(row.pair_id, row.query_id, row.result_id, row.other_id).sides(row.seed)[0]


def _as_drawn(
    parts: Iterable[pd.DataFrame], table: pd.DataFrame, response: Response, file: Path
) -> Iterator[pd.DataFrame]:
    """Origin of each rated pair as pairs.csv has it now.

    A further round changes the probabilities of pairs that were drawn before, and the database learns of it only when
    the study is served again. It has the last word on pairs that pairs.csv no longer holds. Probabilities are those of
    being drawn and judged so far (`relstudy.common.sampling.response_rates`).
    """
    more = [name for name in ("pool", REACH) if name in table]
    drawn = table.set_index("pair_id")[[*PAIR, *FROM_PAIRS, *more]]
    drawn["inclusion_probability"] = response.probability
    for frame in parts:
        now = drawn.reindex(frame["pair_id"]).set_axis(frame.index)
        there = now["query_id"].notna()
        for column in PAIR:
            changed = there & (now[column] != frame[column])
            if changed.any():
                rated, named = frame[changed].iloc[0], now[changed].iloc[0]
                raise RelstudyError(
                    f"{file}: pair {rated['pair_id']!r} is query {named['query_id']!r}, result {named['result_id']!r}, "
                    f"but it was rated as {rated['query_id']!r}, {rated['result_id']!r}; give the new pair a new id"
                )
        for column in FROM_PAIRS:
            frame[column] = now[column].where(there, frame[column]).astype(frame[column].dtype)
        for column in more:
            frame[column] = now[column]
        if response.missing:
            frame[DRAWN] = response.drawn
        yield frame


def _hand_outs(study: Study) -> dict[str, str]:
    """Way in which each block of unique pairs is handed out: not at random where groups draw from pools of their
    own."""
    fixed = {scale.name for scale in study.scales if len(study.pools_of_groups(scale.name)) > 1}
    return {
        block.name: (HandOut.FIXED if block.scale.name in fixed else HandOut.RANDOM).value
        for block in study.blocks
        if block.unique
    }


def _answers(further: Further | None, question: ResultQuestion) -> bool:
    """True if a rating holds an answer to a question, or says that there was nothing to be seen."""
    return question.id in (further or {}) or (question.scale is not None and not was_shown(further))


def _columns(rows: Sequence[sa.Row[Any]], rules: _Rules) -> dict[str, Any]:
    """The columns of the export for some rows of the query."""
    given: dict[str, Sequence[Any]] = dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True))
    kinds = [block if kind == "pair" else kind for block, kind in zip(given["block"], given["kind"], strict=True)]
    scales = [rules.scales.get(block, _NO_SCALE) for block in given["study_block"]]
    return {
        **given,
        "group": [group or "" for group in given["rater_group"]],
        "scale": [scale.name for scale in scales],
        "seconds": [round(seconds, 3) for seconds in given["seconds"]],
        "block": kinds,
        "rated_at": [_moment(at) for at in given["rated_at"]],
        "surplus": [int(bool(surplus)) for surplus in given["surplus"]],
        "rating": [rules.rating(*answer) for answer in zip(given["rating"], given["further"], strict=True)],
        "passed": [
            rules.passed(*answer) for answer in zip(given["pair_id"], given["rating"], given["further"], strict=True)
        ],
        "revisions": given["revision"],
        "place": [_pairs_on(ids)[pair] for ids, pair in zip(given["pair_ids"], given["pair_id"], strict=True)],
        "handed_out": [rules.handed_out(*asked) for asked in zip(kinds, given["study_block"], strict=True)],
        "set_aside": [int(outcome in LEFT_OUT) for outcome in given["outcome"]],
        "not_shown": [int(not was_shown(further)) for further in given["further"]],
        **{column: [scale.columns[column] for scale in scales] for column in SCALE_COLUMNS},
    }


# A page's ratings stand side by side, and were given in one moment.
@functools.lru_cache(maxsize=16)
def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


@functools.lru_cache(maxsize=16)
def _pairs_on(page: str) -> dict[str, int]:
    """Pairs on a rater's page by their place, counted from 1."""
    return {pair_id: place for place, pair_id in enumerate(json.loads(page), start=1)}


def people_table(store: Store, study: Study) -> pd.DataFrame:
    """One row per rater: way in, times, outcome, completion code, parameters kept, answers to the exit questions."""
    answers = select_ratings().with_only_columns(
        *(assignments.c.rater, assignments.c.kind, ratings.c.pair_id, ratings.c.rating, ratings.c.further)
    )
    with store.read() as connection:
        people = read_raters(connection)
        by_id = {rater.id: rater for rater in people}
        outcomes = {rater.id: outcome_of(study, rater, ()) for rater in people}
        by_rater = answers.order_by(None).order_by(assignments.c.rater)
        given = connection.execute(by_rater, execution_options=IN_PARTS)
        for number, rows in itertools.groupby(given, lambda row: row.rater):
            outcomes[number] = outcome_of(study, by_id[number], rows)
    columns: dict[str, Callable[[Rater], object]] = {
        "rater_id": lambda rater: rater.rater_id,
        "entry": lambda rater: rater.entry,
        "platform_id": lambda rater: _no_formula(rater.identity) if rater.entry in ("prolific", "crowd") else "",
        **{f"parameter_{name}": _said(lambda rater: rater.parameters, name) for name in study.entry.keep_parameters},
        "invited_or_joined_at": lambda rater: _utc(rater.created_at),
        "consented_at": lambda rater: _utc(rater.consented_at),
        "consent_version": lambda rater: rater.consent_version,
        "consent_sha256": lambda rater: rater.consent_sha256 or "",
        "started_at": lambda rater: _utc(rater.started_at),
        "finished_at": lambda rater: _utc(rater.finished_at),
        "outcome": lambda rater: outcomes[rater.id],
        "completion_code": lambda rater: rater.completion_code,
    }
    if study.groups:
        columns["group"] = lambda rater: rater.rater_group or ""
    if study.qualification is not None:
        columns["practice_attempts"] = _attempts
    columns |= {f"screening_{each.id}": _said(lambda rater: rater.screening, each.id) for each in study.screening}
    columns |= {f"question_{each.id}": _said(lambda rater: rater.answers, each.id) for each in study.questions}
    return pd.DataFrame({name: [value(rater) for rater in people] for name, value in columns.items()})


def _said(answers: Callable[[Rater], Mapping[str, str] | None], key: str) -> Callable[[Rater], str]:
    """The entry of a key in what a rater gave, as a spreadsheet may read it, or empty."""
    return lambda rater: _no_formula((answers(rater) or {}).get(key, ""))


def _attempts(rater: Rater) -> int:
    """Number of the rater's practice attempts."""
    return 0 if rater.started_at is None else 1 + rater.practice_retries


def _no_formula(text: str) -> str:
    """Typed text, changed so that a spreadsheet shows it and does not run it; control characters are left out.

    A spreadsheet that splits at semicolons, tabs or line breaks takes what follows one for a cell of its own.

    Examples
    --------
    >>> print(_no_formula("=HYPERLINK(A1)"), _no_formula("-3"), _no_formula("blue"))
    '=HYPERLINK(A1) -3 blue
    >>> print(_no_formula("\\0=A1"), _no_formula("＝A1"))
    '=A1 '＝A1
    >>> print(_no_formula('x;=A1'), _no_formula('x; y;"+A1'), _no_formula("10;-3"))
    x;'=A1 x; y;"'+A1 10;-3
    """
    text = "".join(sign for sign in text if sign in "\t\n\r" or unicodedata.category(sign) != "Cc")
    return _SPLIT_CELL.sub(lambda found: found[1] + _shown(found[2]), text)


def _shown(cell: str) -> str:
    is_number = re.fullmatch(r"[+-]?[0-9]+([.,][0-9]*)?", cell) is not None
    return f"'{cell}" if cell.startswith(FORMULA_SIGNS) and not is_number else cell


def _utc(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
