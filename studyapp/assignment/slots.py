"""The slots of unique pairs: leased at random over the whole pool, renewed, settled by an answer."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import PageRow, active_pair_rows, pairs_of
from relstudy.studyapp.assignment.enrolment import Visit
from relstudy.studyapp.assignment.sequence import Appended, Assignment, append
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import DONE, LEASED, OPEN, UNDECIDED, assignments, pages, raters, slots

HAND_OUT_RULE = (
    "base block: every rater, pages in random order; unique pairs: pages drawn at random over the whole pool, "
    "without regard to the rater, query, source or earlier ratings"
)


# Until a page is opened it is only set aside; so those who come in numbers and look at nothing hold up nobody for long.
RESERVED_SECONDS = 120.0
FIRST_LEASE = 300.0
CLOCKS = 60.0  # seconds by which the clocks of several machines may differ
# How many raters who are undecided about every result of a page are followed by another.
MOST_UNDECIDED = 2


def _had_before() -> sa.Select[Any]:
    """Subquery: assignments by which the rater was given the slot's page before."""
    return sa.select(assignments.c.id).where(
        assignments.c.rater == sa.bindparam("rater"),
        assignments.c.page_id == slots.c.page_id,
        assignments.c.kind == "pair",
    )


_PAIR_IDS = sa.select(pages.c.pair_ids).where(pages.c.id == slots.c.page_id).scalar_subquery()


def _slots_for_rater(*conditions: Any) -> sa.Select[Any]:
    """Slots of a block whose page the rater has not had, with the pairs on it."""
    return (
        sa.select(slots.c.id, slots.c.page_id, pairs_of(_PAIR_IDS).label("pairs"))
        .where(slots.c.block == sa.bindparam("block"), *conditions, ~_had_before().exists())
        .order_by(slots.c.order_key)
        .limit(1)
    )


# Built once: building a statement costs more than running it.
_WITH_OTHERS = _slots_for_rater(slots.c.state == LEASED)
_LEASED = Prepared(_WITH_OTHERS)
# No lease is longer than the study's: one that ends later was begun by a clock that has been put back since.
_EXPIRED = Prepared(
    _WITH_OTHERS.where(
        (slots.c.leased_until < sa.bindparam("now")) | (slots.c.leased_until > sa.bindparam("latest"))
    ).with_for_update(skip_locked=True)
)
_OPEN = Prepared(_slots_for_rater(slots.c.state == OPEN).with_for_update(skip_locked=True))
_LEFT = (
    sa.select(slots.c.id)
    .where(
        slots.c.block.in_(sa.bindparam("blocks", expanding=True)),
        (slots.c.state == OPEN) | ((slots.c.state == LEASED) & (slots.c.leased_until < sa.bindparam("now"))),
        ~_had_before().exists(),
    )
    .limit(1)
)
_FIRST_TO_EXPIRE = sa.select(sa.func.min(slots.c.leased_until)).where(
    slots.c.block == sa.bindparam("block"), slots.c.state == LEASED
)
_LEASE = Prepared(
    sa.update(slots)
    .where(slots.c.id == sa.bindparam("slot"))
    .values(state=LEASED, leased_until=sa.bindparam("until"), assignment_id=sa.bindparam("assignment"))
)
_RENEW = Prepared(
    sa.update(slots)
    .where(
        slots.c.id == sa.bindparam("slot"),
        slots.c.assignment_id == sa.bindparam("assignment"),
        slots.c.state == LEASED,
    )
    .values(leased_until=sa.bindparam("until"))
)
_SETTLE = Prepared(
    sa.update(slots)
    .where(slots.c.id == sa.bindparam("slot"), slots.c.assignment_id == sa.bindparam("assignment"))
    .values(state=DONE)
)


def lease_seconds(study: Study, position: int) -> float:
    """Seconds for which a page is leased: few at first, and as many again for each page that was answered before it.

    So those who come in numbers and answer nothing hold no pool for long.
    """
    return min(60 * study.lease_minutes, FIRST_LEASE * position)


def _reserved_seconds(study: Study) -> float:
    """Seconds for which a page that was drawn is set aside until it is opened."""
    return min(60 * study.lease_minutes, RESERVED_SECONDS)


def draw(visit: Visit, position: int, block: Block) -> Appended | None:
    """Set one slot aside for the rater, at random over the pool; None when there is none."""
    values = {"rater": visit.rater.id, "block": block.name}
    slot = _expired_slot(visit, values) or _OPEN.row(visit.connection, values)
    if slot is None:
        return None
    drawn = PageRow(slot.page_id, active_pair_rows(slot.pairs))
    page = append(visit, position, block.name, "pair", drawn, slot.id)
    until = visit.now + _reserved_seconds(visit.study)
    _LEASE.run(visit.connection, {"slot": slot.id, "until": until, "assignment": page.id})
    return page


def any_left(connection: sa.Connection, rater: int, blocks: Sequence[Block], now: float) -> bool:
    """True if these blocks have a page of unique pairs that the rater could be given."""
    names = [block.name for block in blocks if block.unique]
    return bool(names) and connection.execute(_LEFT, {"blocks": names, "rater": rater, "now": now}).first() is not None


def _expired_slot(visit: Visit, values: Mapping[str, Any]) -> Any:
    """A slot whose lease is over, if any.

    Leases only ever begin again, so once it is known which ends first, there is nothing to look for before that.
    """
    block, now, expires = values["block"], visit.now, visit.catalogue.nothing_expires_before
    longest = 60 * visit.study.lease_minutes
    if now < expires.get(block, 0.0) <= now + longest:
        return None
    slot = _EXPIRED.row(visit.connection, {**values, "now": now, "latest": now + longest + CLOCKS})
    if slot is None:
        first = visit.connection.execute(_FIRST_TO_EXPIRE, {"block": block}).scalar_one()
        newest = now + _reserved_seconds(visit.study)
        # A lease that this rater may not take over (the page was theirs before) must not hide others for long.
        expires[block] = min(newest, max(first if first is not None else newest, now + 1))
    return slot


def settle(connection: sa.Connection, assignment: Assignment) -> bool:
    """Count the answer as one of the page's k; False when there are k already.

    The slot of a late answer may be with somebody else by now; then another of the page's slots is taken, an open one
    before one that is leased.
    """
    if _SETTLE.run(connection, {"slot": assignment.slot_id, "assignment": assignment.id}):
        return True
    while True:
        free = (
            sa.select(slots.c.id)
            .where(slots.c.page_id == assignment.page_id, slots.c.state.in_([OPEN, LEASED]))
            .order_by(slots.c.state, slots.c.leased_until, slots.c.id)
            .limit(1)
        )
        slot_id = connection.execute(free).scalar_one_or_none()
        if slot_id is None:
            return False
        take = sa.update(slots).where(slots.c.id == slot_id, slots.c.state.in_([OPEN, LEASED]))
        if connection.execute(take.values(state=DONE, assignment_id=assignment.id)).rowcount:
            return True


def lease(visit: Visit, assignment: Assignment) -> bool:
    """Lease an unanswered page to the rater who is looking at it; False when it is somebody else's by now."""
    until = visit.now + lease_seconds(visit.study, assignment.position)
    values = {"slot": assignment.slot_id, "assignment": assignment.id, "until": until}
    return bool(_RENEW.run(visit.connection, values))


def others_hold_pages(visit: Visit, block: Block) -> bool:
    """True if pages that this rater has not had are with other raters, who may not answer them."""
    values = {"rater": visit.rater.id, "block": block.name}
    return _LEASED.row(visit.connection, values) is not None


def weigh_answer(visit: Visit, assignment: Assignment, *, decided: bool) -> bool:
    """Ask somebody else about a page that was answered by nothing but undecided, and no more once that has changed.

    Returns whether the answer is one too many: decided after all, when the page has its k ratings from others.
    """
    has_slot = slots.c.assignment_id == assignment.id
    state = visit.connection.execute(sa.select(slots.c.state).where(has_slot)).scalar_one_or_none()
    if state == DONE and not decided:
        undecided = sa.select(sa.func.count()).where(slots.c.page_id == assignment.page_id, slots.c.state == UNDECIDED)
        if visit.connection.execute(undecided).scalar_one() < MOST_UNDECIDED:
            visit.connection.execute(sa.update(slots).where(has_slot).values(state=UNDECIDED))
            is_asked = sa.select(pages.c.active).where(pages.c.id == assignment.page_id)
            if visit.connection.execute(is_asked).scalar_one():  # else nobody is, until the page is back in the study
                visit.connection.execute(sa.insert(slots).values(**_another_place(assignment, visit.rater.seed)))
    elif decided and (state == UNDECIDED or (state is None and not assignment.surplus)):
        # without a place: undecided, set aside and taken back
        visit.connection.execute(sa.delete(slots).where(has_slot))
        seed, connection = visit.rater.seed, visit.connection
        return not (settle(connection, assignment) or settle_left(connection, visit.study, assignment, seed))
    return False


def settle_left(connection: sa.Connection, study: Study, assignment: Assignment, seed: int) -> bool:
    """Count the answer as one of the k of a page that has left the study; False when there are k, or it has not left.

    Such a page has no places but those of its answers, so that this one gets a place made for it, by the rater's seed.
    """
    of_page = slots.c.page_id == assignment.page_id
    counting = sa.select(sa.func.count()).where(of_page, slots.c.state == DONE).scalar_subquery()
    has_left = sa.select(pages.c.id).where(pages.c.id == assignment.page_id, ~pages.c.active)
    wanted = study.block(assignment.block).ratings_per_pair
    if connection.execute(has_left.where(counting < wanted)).first() is None:
        return False
    place = _another_place(assignment, seed) | {"state": DONE, "assignment_id": assignment.id}
    connection.execute(sa.insert(slots).values(place))
    return True


def _another_place(assignment: Assignment, seed: int) -> dict[str, Any]:
    """A further, open place of the answer's page, at random in the pool."""
    return {
        "page_id": assignment.page_id,
        "block": assignment.block,
        "order_key": random.Random(f"{seed}:again:{assignment.page_id}").getrandbits(62),
        "state": OPEN,
        "leased_until": 0.0,
    }


SHOWN = 500


@dataclass(frozen=True)
class Lease:
    """A page that a rater holds; times are seconds since 1970. Expired: the next rater who asks may get it."""

    rater_id: str
    block: str
    pairs: int
    handed_at: float
    leased_until: float
    expired: bool


def read_leases(store: Store, now: float | None = None) -> list[Lease]:
    """The first `SHOWN` leases, the one that ends first on top."""
    moment = time.time() if now is None else now
    query = (
        sa.select(
            *(raters.c.rater_id, slots.c.block, slots.c.leased_until),
            *(assignments.c.pair_ids, assignments.c.handed_at),
        )
        .join(assignments, assignments.c.id == slots.c.assignment_id)
        .join(raters, raters.c.id == assignments.c.rater)
        .where(slots.c.state == LEASED)
        .order_by(slots.c.leased_until, slots.c.id)
        .limit(SHOWN)
    )
    with store.read() as connection:
        return [
            Lease(
                *(row.rater_id, row.block, len(row.pair_ids), row.handed_at, row.leased_until),
                row.leased_until < moment,
            )
            for row in connection.execute(query)
        ]
