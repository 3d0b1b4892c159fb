"""Progress of a study: the numbers behind `relstudy admin status` and the admin pages."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import numpy as np
import sqlalchemy as sa

from relstudy.calibration.reliability.scale_use import response_shares, uniformity_error
from relstudy.common.tables.meaning.pair_assignment import LEAST_SECONDS
from relstudy.common.tables.meaning.scales import Scale
from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.catalogue import BlockSize, read_block_sizes
from relstudy.studyapp.assignment.eligibility import AnswerCounts, outcome_by_counts
from relstudy.studyapp.assignment.enrolment import Rater, read_raters
from relstudy.studyapp.assignment.quotas import Taken, count_places, count_ratings
from relstudy.studyapp.assignment.unused_pairs import stored_unused_pairs
from relstudy.studyapp.assignment.versions import read_state, shown_state
from relstudy.studyapp.config.groups import Group
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block, was_shown
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import DONE, LEASED, OPEN, assignments, ratings, slots
from relstudy.studyapp.monitoring.deliveries import Undelivered, count_undelivered
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids

_ALL = select_ratings()
_ANSWERS = _ALL.with_only_columns(
    *(assignments.c.rater, assignments.c.block, assignments.c.kind, ratings.c.assignment_id, ratings.c.pair_id),
    *(ratings.c.rating, _ALL.selected_columns.seconds, ratings.c.rated_at, ratings.c.further),
).order_by(None)
_PART = 10_000  # ratings that are rows of Python's at a time


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
    failed: int


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
    `counted_at` is when all this was so, in seconds since 1970.
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
    counted_at: float = 0.0

    @property
    def at_work(self) -> int:
        """Raters who have begun, and neither finished nor left."""
        return self.consented - self.finished - self.ended - self.not_begun - self.no_place

    @property
    def pages_of_unique_pairs(self) -> tuple[int, int]:
        """Pages of unique pairs that are done, and that are wanted."""
        unique = [block for block in self.blocks if block.pages_wanted is not None]
        return sum(block.pages_done for block in unique), sum(block.pages_wanted or 0 for block in unique)

    def as_json(self) -> dict[str, Any]:
        """As a dictionary that can be written as JSON."""
        return asdict(self)


def study_status(store: Store, study: Study, now: float | None = None) -> Status:
    """Count pages, ratings and raters in one read transaction, so that the numbers agree with each other."""
    moment = time.time() if now is None else now
    with store.read() as connection:
        state = read_state(connection)
        people = read_raters(connection)
        answers = _read_answers(connection, study, [person.id for person in people])
        sizes = read_block_sizes(connection)
        blocks = [
            _block(connection, block, sizes.get(block.name, BlockSize()), answers.in_block(number), moment)
            for number, block in enumerate(study.blocks)
        ]
        not_shown = stored_unused_pairs(connection, study)
        places = count_places(connection, study, moment)
        limits = list(_limits(connection, study, places, moment))
        unsent = count_undelivered(connection, study.webhook) if study.webhook.url else None
    persons = _persons(study, people, answers)
    return Status(
        study=study.id,
        state=shown_state(state, study),
        raters=len(people),
        consented=sum(person.consented_at is not None for person in people),
        finished=sum(person.finished_at is not None for person in people),
        ended=sum(
            person.consented_at is not None and person.finished_at is None and person.outcome is not None
            for person in people
        ),
        ratings=len(answers.rater),
        blocks=blocks,
        people=persons,
        not_shown=not_shown,
        groups=[_group(group, places.get(group.name, Taken(0, 0))) for group in study.groups],
        limits=limits,
        webhook=unsent,
        not_begun=sum(person.state == "consented" and not person.outcome for person in persons),
        no_place=sum(person.state == "no_place" for person in persons),
        outcomes=dict(Counter(person.outcome for person in persons if person.outcome)),
        counted_at=moment,
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


def _block(connection: sa.Connection, block: Block, size: BlockSize, rated: _Answers, now: float) -> BlockStatus:
    name = block.name
    by_state = {OPEN: 0, LEASED: 0, DONE: 0}
    in_block = (slots.c.block == name) & slots.c.state.in_(by_state)
    grouped = sa.select(slots.c.state, sa.func.count()).where(in_block).group_by(slots.c.state)
    by_state.update({row[0]: row[1] for row in connection.execute(grouped)})
    expired = sa.select(sa.func.count()).where(
        slots.c.block == name, slots.c.state == LEASED, slots.c.leased_until < now
    )
    surplus = sa.select(sa.func.count()).where(assignments.c.block == name, assignments.c.surplus)
    given = rated.rating[~np.isnan(rated.rating)]
    return BlockStatus(
        name=name,
        pairs=block.pairs,
        scale=block.scale.name,
        total_pairs=size.pairs,
        pages=size.pages,
        pages_wanted=sum(by_state.values()) if block.unique else None,
        pages_done=by_state[DONE] if block.unique else len(np.unique(rated.page)),
        pages_leased=by_state[LEASED],
        pages_expired=connection.execute(expired).scalar_one(),
        pages_open=by_state[OPEN],
        surplus_pages=connection.execute(surplus).scalar_one(),
        ratings=len(rated.page),
        undecided=int(rated.is_undecided.sum()),
        could_not_be_shown=int((~rated.shown).sum()),
        median_seconds=_medians(rated.seconds, np.zeros(len(rated.page), dtype=int), 1)[0],
        distribution=_distribution(given, block.scale),
        uniformity_error=uniformity_error(given, block.scale.categories).value,
    )


def _distribution(given: np.ndarray, scale: Scale) -> dict[str, int]:
    """The number of answers of each value; on a slider each fifth of it, by its middle."""
    if scale.continuous:
        shares = np.nan_to_num(response_shares(given, scale.categories))
        counts = dict(zip(scale.categories, np.rint(shares * len(given)).astype(int).tolist(), strict=True))
    else:
        counts = {**dict.fromkeys(scale.values, 0), **_counts(given)}
    return {f"{value:g}": count for value, count in counts.items()}


def _counts(given: np.ndarray) -> dict[float, int]:
    """Number of times that each value was given, by ascending values."""
    values, counts = np.unique(given, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True)
class _Answers:
    """Ratings that count, column by column, since a study may have a million of them.

    `rater` is the place in the list of raters, `block` the place in study.toml (-1: no longer there), `page` the
    assignment; `rating` is NaN where undecided or not shown, `is_met` tells whether an attention check was answered as
    expected.
    """

    rater: np.ndarray
    block: np.ndarray
    page: np.ndarray
    rating: np.ndarray
    seconds: np.ndarray
    rated_at: np.ndarray
    shown: np.ndarray
    is_pair: np.ndarray
    is_practice: np.ndarray
    is_check: np.ndarray
    is_met: np.ndarray

    @property
    def is_undecided(self) -> np.ndarray:
        return self.shown & np.isnan(self.rating)

    def where(self, chosen: np.ndarray) -> _Answers:
        return _Answers(**{name: column[chosen] for name, column in vars(self).items()})

    def in_block(self, number: int) -> _Answers:
        """Those of a block's pairs, without checks, repeats and practice."""
        return self.where(self.is_pair & (self.block == number))


def _read_answers(connection: sa.Connection, study: Study, rater_ids: Sequence[int]) -> _Answers:
    """All ratings that count."""
    places = {number: place for place, number in enumerate(rater_ids)}
    blocks = {block.name: number for number, block in enumerate(study.blocks)}
    known_pairs = known_pair_ids(study)
    parts: list[_Answers] = []
    for rows in itertools.chain([()], connection.execute(_ANSWERS).partitions(_PART)):
        columns = list(zip(*rows, strict=True)) or [()] * len(_ANSWERS.selected_columns)
        rater, block, kind, page, pair_id, rating, seconds, rated_at, further = columns
        shown = [was_shown(each) for each in further]
        is_check = [
            of_kind == "check" and seen and pair in known_pairs
            for of_kind, seen, pair in zip(kind, shown, pair_id, strict=True)
        ]
        is_met = [
            check and known_pairs[pair].is_met(value, more)
            for check, pair, value, more in zip(is_check, pair_id, rating, further, strict=True)
        ]
        parts.append(
            _Answers(
                rater=np.array([places[number] for number in rater], dtype=int),
                block=np.array([blocks.get(name, -1) for name in block], dtype=int),
                page=np.array(page, dtype=int),
                rating=np.array(rating, dtype=float),
                seconds=np.array(seconds, dtype=float),
                rated_at=np.array(rated_at, dtype=float),
                shown=np.array(shown, dtype=bool),
                is_pair=np.array([each == "pair" for each in kind], dtype=bool),
                is_practice=np.array([each == "practice" for each in kind], dtype=bool),
                is_check=np.array(is_check, dtype=bool),
                is_met=np.array(is_met, dtype=bool),
            )
        )
    return _Answers(**{name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])})


def _persons(study: Study, people: Sequence[Rater], answers: _Answers) -> list[RaterStatus]:
    """Status of each rater; all are counted together."""

    def count(chosen: np.ndarray) -> list[int]:
        return list(np.bincount(answers.rater[chosen], minlength=len(people)).tolist())

    is_pair, shown, counts = answers.is_pair, answers.shown, ~answers.is_practice
    _, one_of_page = np.unique(answers.page, return_index=True)
    last = np.full(len(people), -np.inf)
    np.maximum.at(last, answers.rater, answers.rated_at)
    entries = zip(
        people,
        last.tolist(),
        *(count(one_of_page), count(is_pair), count(is_pair & answers.is_undecided), count(is_pair & ~shown)),
        _medians(answers.seconds[is_pair], answers.rater[is_pair], len(people)),
        *(count(answers.is_check), count(answers.is_met)),
        *(count(counts), count(counts & shown), count(counts & shown & ~answers.is_undecided)),
        strict=True,
    )
    return [
        RaterStatus(
            rater_id=person.rater_id,
            entry=person.entry,
            state=_state(person),
            pages=pages,
            ratings=rated,
            undecided=undecided,
            could_not_be_shown=hidden,
            median_seconds=middle,
            checks=checks,
            checks_passed=passed,
            last_rated_at=latest if pages else None,
            outcome=outcome_by_counts(study, person, AnswerCounts(given, seen, decided, checks - passed)),
            group=person.rater_group or "",
        )
        for person, latest, pages, rated, undecided, hidden, middle, checks, passed, given, seen, decided in entries
    ]


def _state(person: Rater) -> str:
    """The furthest that a rater has come."""
    steps = (
        *(("finished", person.finished_at), ("rating", person.started_at)),
        ("no_place", person.turned_away if person.outcome is None else None),
        ("consented", person.consented_at),
    )
    return next((name for name, holds in steps if holds is not None), "invited")


def _medians(values: np.ndarray, groups: np.ndarray, size: int) -> list[float | None]:
    """Median of the values of each of the groups 0 to `size` - 1; None of a group without any."""
    ordered = np.append(values[np.lexsort((values, groups))], np.nan)
    counts = np.bincount(groups, minlength=size)
    first = np.cumsum(counts) - counts
    low, high = ordered[first + np.maximum(counts - 1, 0) // 2], ordered[first + counts // 2]
    middles = ((low + high) / 2).tolist()
    return [round(middle, 2) if count else None for middle, count in zip(middles, counts.tolist(), strict=True)]


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
