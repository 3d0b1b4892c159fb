"""Progress of a study: the numbers behind `relstudy status` and the admin pages."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import numpy as np
import sqlalchemy as sa

from relstudy.analysis.indices.uniformity import response_shares, uniformity_error
from relstudy.common.ratings_table import LEAST_SECONDS
from relstudy.common.scales import Scale
from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.catalogue import BlockSize, read_block_sizes
from relstudy.studyapp.assignment.eligibility import outcome_of
from relstudy.studyapp.assignment.quotas import Taken, count_places, count_ratings
from relstudy.studyapp.assignment.raters import Rater, read_raters
from relstudy.studyapp.assignment.unused_pairs import stored_unused_pairs
from relstudy.studyapp.assignment.versions import read_state
from relstudy.studyapp.config.groups import Group
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block, was_shown
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import DONE, LEASED, OPEN, assignments, ratings, slots
from relstudy.studyapp.monitoring.deliveries import Undelivered, count_undelivered
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids

_ANSWERS = select_ratings(assignments.c.rater, assignments.c.block, assignments.c.kind)


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
    could_not_be_shown: int
    median_seconds: float | None
    distribution: dict[str, int]
    uniformity_error: float | None


@dataclass(frozen=True)
class RaterStatus:
    """One rater: pages answered, ratings by kind, time, attention checks passed of those answered.

    `outcome` is how the visit ended (`relstudy.studyapp.assignment.eligibility`), empty while the rater is at work.
    """

    rater_id: str
    entry: str
    state: str
    pages: int
    ratings: int
    undecided: int
    could_not_be_shown: int
    median_seconds: float | None
    checks: int
    checks_passed: int
    last_rated_at: float | None
    outcome: str
    group: str


@dataclass(frozen=True)
class GroupStatus:
    """One group: raters who finished, and who are at work; `quota` None takes any number.

    `failed` are those who finished and failed the attention checks: they hold no place.
    """

    name: str
    blocks: tuple[str, ...]
    quota: int | None
    finished: int
    active: int
    failed: int = 0


@dataclass(frozen=True)
class LimitStatus:
    """A ceiling (name raters or ratings; how many there are, of `most`) or the deadline (seconds since 1970).

    `failed` are raters who are not counted, as they failed the attention checks.
    """

    name: str
    now: float
    most: float
    failed: int = 0

    @property
    def reached(self) -> bool:
        return self.now >= self.most


@dataclass(frozen=True)
class Status:
    """The study as it stands.

    `ended` are those who have consented and left before they finished, `no_place` those who have consented and found no
    place, `not_begun` those who have consented and stopped before the first page; `outcomes` counts how visits ended.
    """

    study: str
    state: str
    raters: int
    consented: int
    finished: int
    ended: int
    ratings: int
    blocks: list[BlockStatus] = field(default_factory=list)
    people: list[RaterStatus] = field(default_factory=list)
    not_shown: list[dict[str, Any]] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    groups: list[GroupStatus] = field(default_factory=list)
    limits: list[LimitStatus] = field(default_factory=list)
    webhook: Undelivered | None = None
    not_begun: int = 0
    no_place: int = 0

    @property
    def at_work(self) -> int:
        """Raters who have begun, and neither finished nor left."""
        return self.consented - self.finished - self.ended - self.not_begun - self.no_place

    def as_json(self) -> dict[str, Any]:
        """As a dictionary that can be written as JSON."""
        return asdict(self)


def study_status(store: Store, study: Study, now: float | None = None) -> Status:
    """Count pages, ratings and raters in one read transaction, so that the numbers agree with each other."""
    moment = time.time() if now is None else now
    with store.read() as connection:
        state = read_state(connection)
        answers = connection.execute(_ANSWERS).all()
        people = read_raters(connection)
        sizes = read_block_sizes(connection)
        blocks = [
            _block(connection, block, sizes.get(block.name, BlockSize()), answers, moment) for block in study.blocks
        ]
        not_shown = stored_unused_pairs(connection, study)
        places = count_places(connection, study, moment)
        limits = list(_limits(connection, study, places, moment))
        unsent = count_undelivered(connection, study.webhook) if study.webhook.url else None
    by_rater: dict[int, list[sa.Row[Any]]] = {}
    for row in answers:
        by_rater.setdefault(row.rater, []).append(row)
    persons = [_person(study, person, by_rater.get(person.id, [])) for person in people]
    return Status(
        study=study.id,
        state="paused" if state == "open" and study.paused else state,
        raters=len(people),
        consented=sum(person.consented_at is not None for person in people),
        finished=sum(person.finished_at is not None for person in people),
        ended=sum(
            person.consented_at is not None and person.finished_at is None and person.outcome is not None
            for person in people
        ),
        ratings=len(answers),
        blocks=blocks,
        people=persons,
        not_shown=not_shown,
        groups=[_group(group, places.get(group.name, Taken(0, 0))) for group in study.groups],
        limits=limits,
        webhook=unsent,
        not_begun=sum(person.state == "consented" and not person.outcome for person in persons),
        no_place=sum(person.state == "no_place" for person in persons),
        outcomes=dict(Counter(person.outcome for person in persons if person.outcome)),
    )


def _group(group: Group, taken: Taken) -> GroupStatus:
    return GroupStatus(group.name, group.blocks, group.quota, taken.finished, taken.active, taken.failed)


def _limits(
    connection: sa.Connection, study: Study, places: Mapping[str | None, Taken], now: float
) -> Iterator[LimitStatus]:
    limits = study.limits
    if limits.raters is not None:
        failed = sum(taken.failed for taken in places.values())
        yield LimitStatus("raters", sum(taken.total for taken in places.values()), limits.raters, failed)
    if limits.ratings is not None:
        yield LimitStatus("ratings", count_ratings(connection), limits.ratings)
    if limits.deadline is not None:
        yield LimitStatus("deadline", now, limits.deadline)


def _block(
    connection: sa.Connection, block: Block, size: BlockSize, answers: Sequence[sa.Row[Any]], now: float
) -> BlockStatus:
    name = block.name
    rated = [row for row in answers if row.block == name and row.kind == "pair"]
    by_state = {OPEN: 0, LEASED: 0, DONE: 0}
    in_block = (slots.c.block == name) & slots.c.state.in_(by_state)
    grouped = sa.select(slots.c.state, sa.func.count()).where(in_block).group_by(slots.c.state)
    by_state.update({row[0]: row[1] for row in connection.execute(grouped)})
    expired = sa.select(sa.func.count()).where(
        slots.c.block == name, slots.c.state == LEASED, slots.c.leased_until < now
    )
    surplus = sa.select(sa.func.count()).where(assignments.c.block == name, assignments.c.surplus)
    done_base = len({row.assignment_id for row in rated})
    given = [row.rating for row in rated if row.rating is not None]
    return BlockStatus(
        name=name,
        pairs=block.pairs,
        scale=block.scale.name,
        total_pairs=size.pairs,
        pages=size.pages,
        pages_wanted=sum(by_state.values()) if block.unique else None,
        pages_done=by_state[DONE] if block.unique else done_base,
        pages_leased=by_state[LEASED],
        pages_expired=connection.execute(expired).scalar_one(),
        pages_open=by_state[OPEN],
        surplus_pages=connection.execute(surplus).scalar_one(),
        ratings=len(rated),
        undecided=sum(row.rating is None and was_shown(row.further) for row in rated),
        could_not_be_shown=sum(not was_shown(row.further) for row in rated),
        median_seconds=_median([row.seconds for row in rated]),
        distribution=_distribution(given, block.scale),
        uniformity_error=uniformity_error(given, block.scale.categories).value,
    )


def _distribution(given: list[float], scale: Scale) -> dict[str, int]:
    """The number of answers of each value; on a slider each fifth of it, by its middle."""
    if scale.continuous:
        shares = np.nan_to_num(response_shares(given, scale.categories))
        counts = dict(zip(scale.categories, np.rint(shares * len(given)).astype(int).tolist(), strict=True))
    else:
        counts = {**dict.fromkeys(scale.values, 0), **Counter(given)}
    return {f"{value:g}": count for value, count in counts.items()}


def _person(study: Study, person: Rater, answers: Sequence[sa.Row[Any]]) -> RaterStatus:
    known_pairs = known_pair_ids(study)
    shown = [row for row in answers if was_shown(row.further)]
    checks = [row for row in shown if row.kind == "check" and row.pair_id in known_pairs]
    rated = [row for row in answers if row.kind == "pair"]
    steps = (
        *(("finished", person.finished_at), ("rating", person.started_at)),
        ("no_place", person.turned_away if person.outcome is None else None),
        ("consented", person.consented_at),
    )
    return RaterStatus(
        rater_id=person.rater_id,
        entry=person.entry,
        state=next((name for name, holds in steps if holds is not None), "invited"),
        pages=len({row.assignment_id for row in answers}),
        ratings=len(rated),
        undecided=sum(row.rating is None and was_shown(row.further) for row in rated),
        could_not_be_shown=sum(not was_shown(row.further) for row in rated),
        median_seconds=_median([row.seconds for row in rated]),
        checks=len(checks),
        checks_passed=sum(known_pairs[row.pair_id].is_met(row.rating, row.further) for row in checks),
        last_rated_at=max((row.rated_at for row in answers), default=None),
        outcome=outcome_of(study, person, answers),
        group=person.rater_group or "",
    )


def _median(values: list[float]) -> float | None:
    return round(median(values), 2) if values else None


LATEST = 500  # ratings looked at: enough for a median, and a short read of the newest rows in a study of any size
FEWEST = 20  # ratings before a pace counts: five pages of four, about one person's first minutes


def may_have_ratings(store: Store) -> int:
    """Number of ratings that there are at most: the newest one's id, which is read without counting them."""
    with store.read_one() as connection:
        return connection.execute(sa.select(sa.func.max(ratings.c.id))).scalar_one() or 0


def seconds_per_rating(store: Store) -> float | None:
    """Median seconds of the latest ratings; None while there are few, and where programs rated."""
    latest = sa.select(ratings.c.seconds).order_by(ratings.c.id.desc()).limit(LATEST)
    with store.read_one() as connection:
        taken = [seconds for seconds in connection.execute(latest).scalars() if seconds is not None]
    middle = median(taken) if len(taken) >= FEWEST else 0.0
    return middle if middle >= LEAST_SECONDS else None
