"""Quotas: how many raters a study and its groups take, until when, and who gets the next place.

A place is taken when a rater begins, in a transaction that waits for others who do the same; so no number is exceeded,
however many servers there are. Who has finished or is at work holds a place; who rated nothing for `place_hours`, or
finished and failed more attention checks than the study allows, does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.enrolment import Visit, update_rater
from relstudy.studyapp.config.groups import Group
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import was_shown
from relstudy.studyapp.database.tables import assignments, pages, raters, ratings
from relstudy.studyapp.database.transaction_locks import PLACE, hold_lock
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids

_NEWEST = sa.select(sa.func.max(ratings.c.id))
# By the pages of checks, which are few, and not by all that was handed out.
_CHECKED = (
    select_ratings(assignments.c.rater, raters.c.rater_group)
    .join(pages, pages.c.id == assignments.c.page_id)
    .where(pages.c.kind == "check", assignments.c.kind == "check", raters.c.outcome.is_(None))
    .where(raters.c.finished_at.is_not(None))
)


@dataclass(frozen=True)
class Place:
    """A place in a group (None where the study has none), or the outcome of who finds no place: full or closed."""

    group: str | None = None
    outcome: str = ""


@dataclass(frozen=True)
class Taken:
    """Places of one group that are taken, and who has finished without one, as they failed the attention checks."""

    finished: int
    active: int
    failed: int = 0

    @property
    def total(self) -> int:
        return self.finished + self.active


def is_over(connection: sa.Connection, study: Study, now: float) -> str:
    """ "closed" once the deadline has passed, "full" once there are as many ratings as wanted, else empty."""
    limits = study.limits
    if limits.deadline is not None and now >= limits.deadline:
        return "closed"
    if limits.ratings is not None and _may_have(connection, limits.ratings):
        return "full" if count_ratings(connection) >= limits.ratings else ""
    return ""


def _may_have(connection: sa.Connection, number: int) -> bool:
    """True if there may be so many ratings: no more than the newest one's id, which is read without counting them."""
    return (connection.execute(_NEWEST).scalar_one() or 0) >= number


def count_ratings(connection: sa.Connection) -> int:
    """Ratings that count towards a ceiling: one for each result that a rater has rated, practice left out."""
    first = (
        sa.select(sa.func.count()).select_from(ratings).join(assignments, assignments.c.id == ratings.c.assignment_id)
    )
    return int(connection.execute(first.where(ratings.c.revision == 1, assignments.c.kind != "practice")).scalar_one())


def turns_away(connection: sa.Connection, study: Study, now: float) -> str:
    """Outcome of anyone new whom the study does not take; empty while it takes raters."""
    over = is_over(connection, study, now)
    if over or (study.limits.raters is None and not study.groups):
        return over
    taken = count_places(connection, study, now)
    if study.limits.raters is not None and sum(group.total for group in taken.values()) >= study.limits.raters:
        return "full"
    has_room = [group for group in study.groups if _has_room(group, taken)]
    return "full" if study.groups and not has_room else ""


def count_places(connection: sa.Connection, study: Study, now: float) -> dict[str | None, Taken]:
    """Places taken, by group; None for raters without a group."""
    since = now - 3600 * study.limits.place_hours
    seen = sa.select(assignments.c.id).where(
        assignments.c.rater == raters.c.id, (assignments.c.answered_at > since) | (assignments.c.handed_at > since)
    )
    is_active = (raters.c.started_at > since) | seen.exists()
    # A CASE stops at the first condition that holds: the pages of those who have finished are not looked at.
    active = sa.case((raters.c.finished_at.is_not(None), 0), (is_active, 1), else_=0)
    query = (
        sa.select(raters.c.rater_group, sa.func.count(raters.c.finished_at), sa.func.sum(active))
        .where(raters.c.started_at.is_not(None), raters.c.outcome.is_(None))
        .group_by(raters.c.rater_group)
    )
    failed = _count_failed(connection, study)
    counted = {
        group: Taken(finished - failed[group], at_work, failed[group])
        for group, finished, at_work in connection.execute(query)
    }
    return {group: taken for group, taken in counted.items() if taken.total or taken.failed}


def _count_failed(connection: sa.Connection, study: Study) -> Counter[str | None]:
    """Raters who have finished and failed more attention checks than are allowed, by group."""
    allowed, checks = study.entry.failed_checks_allowed, known_pair_ids(study)
    failed: Counter[tuple[int, str | None]] = Counter()
    if allowed is not None:
        for row in connection.execute(_CHECKED):
            is_failed = row.pair_id in checks and not checks[row.pair_id].is_met(row.rating, row.further)
            if is_failed and was_shown(row.further):
                failed[row.rater, row.rater_group] += 1
    return Counter(group for (_, group), count in failed.items() if count > allowed)  # type: ignore[operator]


def find_place(visit: Visit) -> Place:
    """The place that a rater who begins would get; they may have been given a group by link before."""
    study, connection = visit.study, visit.connection
    outcome = turns_away(connection, study, visit.now)
    if outcome:
        return Place(outcome=outcome)
    if not study.groups:
        return Place()
    taken = count_places(connection, study, visit.now)
    free = [group for group in _fitting(visit) if _has_room(group, taken)]
    if not free:
        return Place(outcome="full")
    return Place(min(free, key=lambda group: _total(group, taken)).name)


def take_place(visit: Visit) -> tuple[Visit, Place]:
    """Give a rater who begins a place, if there is one; the visit goes on with the rater as they are then.

    Why there is none is kept with a rater who has not begun.
    """
    visit, place = _taken_place(visit)
    if place.outcome and visit.rater.started_at is None and visit.rater.turned_away != place.outcome:
        update_rater(visit.connection, visit.rater, turned_away=place.outcome)
    return visit, place


def _taken_place(visit: Visit) -> tuple[Visit, Place]:
    if visit.rater.started_at is not None or not (visit.study.groups or visit.study.limits.raters is not None):
        return visit, Place(visit.rater.rater_group, is_over(visit.connection, visit.study, visit.now))
    hold_lock(visit.connection, PLACE)
    place = find_place(visit)
    if place.outcome or place.group is None:
        return visit, place
    return replace(visit, rater=update_rater(visit.connection, visit.rater, rater_group=place.group)), place


def _fitting(visit: Visit) -> list[Group]:
    """The groups that a rater may be put into: the one their link names, else those for their answers, or the rest."""
    study, rater = visit.study, visit.rater
    named = rater.rater_group or rater.parameters.get(study.entry.group_parameter or "", "")
    if any(group.name == named for group in study.groups):
        return [group for group in study.groups if group.name == named]
    asked = [group for group in study.groups if group.when and group.fits(rater.screening or {})]
    return asked or [group for group in study.groups if not group.when]


def _total(group: Group, taken: dict[str | None, Taken]) -> int:
    return taken[group.name].total if group.name in taken else 0


def _has_room(group: Group, taken: dict[str | None, Taken]) -> bool:
    return group.quota is None or _total(group, taken) < group.quota
