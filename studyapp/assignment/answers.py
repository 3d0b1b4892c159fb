"""Answers as stored: each change is a row of its own, and the last one is the rating that counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.enrolment import Visit
from relstudy.studyapp.assignment.sequence import Assignment
from relstudy.studyapp.assignment.slots import settle, weigh_answer
from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.tables import assignments, pairs, raters, ratings


def select_ratings(*columns: sa.ColumnElement[Any], every_revision: bool = False) -> sa.Select[Any]:
    """The query for the ratings that count, in the order in which they were first given; the only one there is.

    A rater may change a rating until the end: each change is a row, the last of them counts, and the time spent on all
    of them is its time. Whoever reads ratings (export, status, statistics, a page shown again) reads them here.

    Parameters
    ----------
    columns : of raters, assignments and pairs, beside those below
    every_revision : every row as it was given, instead of only those that count

    Returns
    -------
    Select with the columns assignment_id, pair_id, rating (None: undecided), seconds (of all revisions together; with
    `every_revision` of this one), revision (of the rating that counts: how often it was given), rated_at, form and
    further (answers to further questions by id, and NOT_SHOWN; None: none)
    """
    earlier, newer = ratings.alias("earlier"), ratings.alias("newer")
    seconds: sa.ColumnElement[float] = ratings.c.seconds
    given_first: sa.ColumnElement[int] = ratings.c.id
    if not every_revision:
        of_same_pair = (earlier.c.assignment_id == ratings.c.assignment_id) & (earlier.c.pair_id == ratings.c.pair_id)
        is_first = ratings.c.revision == 1
        # Hardly any rating is ever changed; only for those that were is there more than one row to look at.
        sums = sa.select(sa.func.sum(earlier.c.seconds)).where(of_same_pair).scalar_subquery()
        seconds = sa.case((is_first, ratings.c.seconds), else_=sums)
        first = sa.select(sa.func.min(earlier.c.id)).where(of_same_pair).scalar_subquery()
        given_first = sa.case((is_first, ratings.c.id), else_=first)
    query = (
        sa.select(
            *(ratings.c.assignment_id, ratings.c.pair_id, ratings.c.rating, seconds.label("seconds")),
            *(ratings.c.revision, ratings.c.rated_at, ratings.c.form, ratings.c.further, *columns),
        )
        .join(assignments, assignments.c.id == ratings.c.assignment_id)
        .join(raters, raters.c.id == assignments.c.rater)
        .join(pairs, pairs.c.pair_id == ratings.c.pair_id)
        .order_by(given_first)
    )
    if every_revision:
        return query
    is_newer = (
        (newer.c.assignment_id == ratings.c.assignment_id)
        & (newer.c.pair_id == ratings.c.pair_id)
        & (newer.c.revision > ratings.c.revision)
    )
    return query.where(~sa.exists(sa.select(newer.c.id).where(is_newer)))


# Built once: building a statement costs more than running it.
_ON_PAGE = select_ratings().where(ratings.c.assignment_id == sa.bindparam("assignment"))
_SENT = sa.select(ratings.c.pair_id, ratings.c.form, ratings.c.rating, ratings.c.further).where(
    ratings.c.assignment_id == sa.bindparam("assignment")
)
_INSERT_RATINGS = Prepared(sa.insert(ratings))
_ANSWERED = Prepared(
    sa.update(assignments)
    .where(assignments.c.id == sa.bindparam("assignment"))
    .values(answered_at=sa.bindparam("now"), surplus=sa.bindparam("is_surplus"))
)


class LockedError(Exception):
    """The rater has finished, or this page was answered in another browser; it can no longer be changed."""


Further = Mapping[str, float | str | bool | None]
"""Answers to further questions about a result by id, and NOT_SHOWN: True where it could not be shown."""


def read_answers(
    connection: sa.Connection, assignment: Assignment
) -> tuple[dict[str, float | None], dict[str, Further]]:
    """The ratings that count on a rater's page (None is undecided), and what else was answered, both by pair.

    Empty for a page not answered yet.
    """
    rows = connection.execute(_ON_PAGE, {"assignment": assignment.id}).all()
    return {row.pair_id: row.rating for row in rows}, {row.pair_id: row.further or {} for row in rows}


@dataclass(frozen=True)
class Showing:
    """One showing of a page: the form's token, the seconds spent on each result, the version it was asked under, and
    whether who sent it may change what was answered."""

    form: str
    seconds: float
    version: int | None = None
    may_change: bool = True


def submit(
    visit: Visit,
    assignment: Assignment,
    answers: Mapping[str, float | None],
    showing: Showing,
    further: Mapping[str, Further] | None = None,
) -> None:
    """Keep a page's ratings.

    Resubmission of the same form changes nothing. A changed rating becomes a new revision; the last one counts.

    Parameters
    ----------
    assignment : the rater's page
    answers : by pair; None is undecided
    showing : the form that was sent
    further : what else was answered, by pair

    Raises
    ------
    LockedError
        when an answer differs from the one that counts, and the rater has finished or may not change it
    """
    connection = visit.connection
    counts: dict[str, Any] = {}
    processed: set[tuple[str, str, float | None, str]] = set()
    if assignment.answered_at is not None or assignment.kind == "practice":  # which may be asked once more
        page = {"assignment": assignment.id}
        counts = {row.pair_id: row for row in connection.execute(_ON_PAGE, page)}
        sent = connection.execute(_SENT, page)
        processed = {(row.pair_id, row.form, row.rating, _in_order(row.further)) for row in sent}
    rows = []
    changed: dict[str, float | None] = {}
    for pair_id, rating in answers.items():
        last, more = counts.get(pair_id), dict((further or {}).get(pair_id) or {}) or None
        if last is not None:
            if last.rating == rating and (last.further or None) == more:
                continue
            if last.form != showing.form and (pair_id, showing.form, rating, _in_order(more)) in processed:
                continue  # an old form sent again after a later change: it had its say
            if assignment.position <= visit.rater.locked_to or not showing.may_change:
                raise LockedError
        rows.append(
            {
                "assignment_id": assignment.id,
                "pair_id": pair_id,
                "revision": 1 if last is None else last.revision + 1,
                "rating": rating,
                "seconds": showing.seconds,
                "rated_at": visit.now,
                "form": showing.form,
                "version": showing.version,
                "further": more,
            }
        )
        changed[pair_id] = rating
    if rows:
        _INSERT_RATINGS.run_each(connection, rows)
    surplus = False
    if assignment.answered_at is None:
        surplus = assignment.slot_id is not None and not settle(connection, assignment)
        _ANSWERED.run(connection, {"assignment": assignment.id, "now": visit.now, "is_surplus": surplus})
    if assignment.kind == "practice" and visit.study.qualification is not None:  # its answer is shown next
        locked = sa.update(raters).where(raters.c.id == visit.rater.id, raters.c.locked_to < assignment.position)
        connection.execute(locked.values(locked_to=assignment.position))
    if assignment.slot_id is not None and not surplus and (rows or not counts):
        now_counts = {pair_id: last.rating for pair_id, last in counts.items()} | changed
        decided = any(rating is not None for rating in now_counts.values())
        if (counts or not decided) and weigh_answer(visit, assignment, decided=decided):
            _ANSWERED.run(connection, {"assignment": assignment.id, "now": visit.now, "is_surplus": True})


def _in_order(further: Further | None) -> str:
    """Further answers as a text that is the same for the same answers."""
    return json.dumps(further or {}, sort_keys=True)
