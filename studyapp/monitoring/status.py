"""How far the ratings have come: the numbers behind `relstudy status` and the admin pages."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.study_state import read_state
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import KnownPair
from relstudy.studyapp.database.store import (
    DONE,
    LEASED,
    OPEN,
    Store,
    assignments,
    pages,
    pairs,
    raters,
    ratings,
    slots,
)
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids


@dataclass(frozen=True)
class BlockStatus:
    """One block: `pages_wanted` counts k for each page of unique pairs; None for a base block."""

    name: str
    pairs: str
    scale: str
    total_pairs: int
    pages: int
    pages_wanted: int | None
    pages_done: int
    pages_leased: int
    pages_expired: int
    pages_open: int
    surplus_pages: int
    ratings: int
    undecided: int
    median_seconds: float | None
    distribution: dict[str, int]
    uniformity_error: float | None


@dataclass(frozen=True)
class RaterStatus:
    """One rater: pages answered, ratings by kind, time, attention checks passed of those answered."""

    rater_id: str
    entry: str
    state: str
    pages: int
    ratings: int
    undecided: int
    median_seconds: float | None
    checks: int
    checks_passed: int
    last_rated_at: float | None


@dataclass(frozen=True)
class Status:
    """The study as it stands."""

    study: str
    state: str
    raters: int
    consented: int
    finished: int
    ratings: int
    blocks: list[BlockStatus] = field(default_factory=list)
    people: list[RaterStatus] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def study_status(store: Store, study: Study, now: float | None = None) -> Status:
    """Count everything in one consistent view."""
    moment = time.time() if now is None else now
    with store.read() as connection:
        state = read_state(connection)
        answers = _current_ratings(connection)
        people = connection.execute(sa.select(raters).order_by(raters.c.id)).all()
        blocks = [_block(connection, study, block.name, answers, moment) for block in study.blocks]
    by_rater: dict[int, list[Any]] = {}
    for row in answers:
        by_rater.setdefault(row.rater, []).append(row)
    known = known_pair_ids(study)
    return Status(
        study=study.id,
        state="paused" if state == "open" and study.paused else state,
        raters=len(people),
        consented=sum(person.consented_at is not None for person in people),
        finished=sum(person.finished_at is not None for person in people),
        ratings=len(answers),
        blocks=blocks,
        people=[_person(person, known, by_rater.get(person.id, [])) for person in people],
    )


def _current_ratings(connection: sa.Connection) -> list[Any]:
    """The last revision of every rating, with its place."""
    newest = (
        sa.select(
            ratings.c.assignment_id,
            ratings.c.pair_id,
            sa.func.max(ratings.c.revision).label("revision"),
            sa.func.sum(ratings.c.seconds).label("seconds"),
        )
        .group_by(ratings.c.assignment_id, ratings.c.pair_id)
        .subquery()
    )
    query = (
        sa.select(
            ratings.c.pair_id,
            ratings.c.rating,
            ratings.c.rated_at,
            newest.c.seconds,
            assignments.c.rater,
            assignments.c.block,
            assignments.c.kind,
            assignments.c.id.label("assignment"),
        )
        .join(
            newest,
            (newest.c.assignment_id == ratings.c.assignment_id)
            & (newest.c.pair_id == ratings.c.pair_id)
            & (newest.c.revision == ratings.c.revision),
        )
        .join(assignments, assignments.c.id == ratings.c.assignment_id)
        .order_by(ratings.c.id)
    )
    return list(connection.execute(query).all())


def _block(connection: sa.Connection, study: Study, name: str, answers: list[Any], now: float) -> BlockStatus:
    block = study.block(name)
    mine = [row for row in answers if row.block == name and row.kind == "pair"]
    page_ids = connection.execute(
        sa.select(pages.c.pair_ids).where(pages.c.block == name, pages.c.kind == "pair", pages.c.active)
    ).scalars()
    sizes = [len(pair_ids) for pair_ids in page_ids]
    by_state = {OPEN: 0, LEASED: 0, DONE: 0}
    grouped = sa.select(slots.c.state, sa.func.count()).where(slots.c.block == name).group_by(slots.c.state)
    by_state.update({row[0]: row[1] for row in connection.execute(grouped)})
    expired = sa.select(sa.func.count()).where(
        slots.c.block == name, slots.c.state == LEASED, slots.c.leased_until < now
    )
    surplus = sa.select(sa.func.count()).where(assignments.c.block == name, assignments.c.surplus)
    done_base = len({row.assignment for row in mine})
    counts = dict.fromkeys(block.scale.values, 0)
    for row in mine:
        if row.rating is not None:
            counts[row.rating] = counts.get(row.rating, 0) + 1
    return BlockStatus(
        name=name,
        pairs=block.pairs,
        scale=block.scale.name,
        total_pairs=sum(sizes),
        pages=len(sizes),
        pages_wanted=sum(by_state.values()) if block.unique else None,
        pages_done=by_state[DONE] if block.unique else done_base,
        pages_leased=by_state[LEASED],
        pages_expired=connection.execute(expired).scalar_one(),
        pages_open=by_state[OPEN],
        surplus_pages=connection.execute(surplus).scalar_one(),
        ratings=len(mine),
        undecided=sum(row.rating is None for row in mine),
        median_seconds=_median([row.seconds for row in mine]),
        distribution={f"{value:g}": count for value, count in counts.items()},
        uniformity_error=uniformity_error(list(counts.values())),
    )


def uniformity_error(counts: list[int]) -> float | None:
    """Mean distance of the categories' shares from equal ones (Shirahatti and Barnard 2005, Eq. 5.4); None without ratings.

    Examples
    --------
    >>> uniformity_error([5, 5]), uniformity_error([4, 0]), uniformity_error([0, 0])
    (0.0, 0.5, None)
    """
    total = sum(counts)
    if not total:
        return None
    return sum(abs(count / total - 1 / len(counts)) for count in counts) / len(counts)


def uniformity_by_source(store: Store, study: Study) -> dict[tuple[str, str], tuple[int, float | None]]:
    """Ratings and uniformity error for each block and source of pairs."""
    with store.read() as connection:
        answers = [row for row in _current_ratings(connection) if row.kind == "pair" and row.rating is not None]
        named = connection.execute(sa.select(pairs.c.pair_id, pairs.c.source)).all()
    sources = {row.pair_id: row.source for row in named}
    counts: dict[tuple[str, str], dict[float, int]] = {}
    for row in answers:
        if row.block not in {block.name for block in study.blocks}:
            continue
        values = study.block(row.block).scale.values
        tally = counts.setdefault((row.block, sources.get(row.pair_id, "")), dict.fromkeys(values, 0))
        tally[row.rating] = tally.get(row.rating, 0) + 1
    return {key: (sum(tally.values()), uniformity_error(list(tally.values()))) for key, tally in counts.items()}


def _person(person: Any, known: dict[str, KnownPair], answers: list[Any]) -> RaterStatus:
    checks = [row for row in answers if row.kind == "check" and row.pair_id in known]
    rated = [row for row in answers if row.kind == "pair"]
    steps = (("finished", person.finished_at), ("rating", person.started_at), ("consented", person.consented_at))
    return RaterStatus(
        rater_id=person.rater_id,
        entry=person.entry,
        state=next((name for name, moment in steps if moment is not None), "invited"),
        pages=len({row.assignment for row in answers}),
        ratings=len(rated),
        undecided=sum(row.rating is None for row in rated),
        median_seconds=_median([row.seconds for row in rated]),
        checks=len(checks),
        checks_passed=sum(row.rating in known[row.pair_id].expected for row in checks),
        last_rated_at=max((row.rated_at for row in answers), default=None),
    )


def _median(values: list[float]) -> float | None:
    from statistics import median

    return round(median(values), 2) if values else None
