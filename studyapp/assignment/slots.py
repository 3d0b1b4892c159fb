"""The slots of unique pairs: leased at random over the whole pool, renewed, settled by an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.sequence import Assignment, NextPage, append
from relstudy.studyapp.assignment.visit import Visit
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.store import DONE, LEASED, OPEN, assignments, slots

HAND_OUT_RULE = (
    "base block: every rater, pages in random order; unique pairs: pages drawn at random over the whole pool, "
    "without regard to the rater, query, source or earlier ratings"
)


def _slot_query(*conditions: Any) -> sa.Select[Any]:
    had_before = sa.select(assignments.c.id).where(
        assignments.c.rater == sa.bindparam("rater"),
        assignments.c.page_id == slots.c.page_id,
        assignments.c.kind == "pair",
    )
    return (
        sa.select(slots.c.id, slots.c.page_id)
        .where(slots.c.block == sa.bindparam("block"), *conditions, ~had_before.exists())
        .order_by(slots.c.order_key)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


# Built once: building a statement costs more than running it.
_EXPIRED = _slot_query(slots.c.state == LEASED, slots.c.leased_until < sa.bindparam("now"))
_OPEN = _slot_query(slots.c.state == OPEN)
_FIRST_TO_EXPIRE = sa.select(sa.func.min(slots.c.leased_until)).where(
    slots.c.block == sa.bindparam("block"), slots.c.state == LEASED
)
_LEASE = (
    sa.update(slots)
    .where(slots.c.id == sa.bindparam("slot"))
    .values(state=LEASED, leased_until=sa.bindparam("until"), assignment_id=sa.bindparam("assignment"))
)
_SETTLE = (
    sa.update(slots)
    .where(slots.c.id == sa.bindparam("slot"), slots.c.assignment_id == sa.bindparam("assignment"))
    .values(state=DONE)
)


def draw(visit: Visit, position: int, block: Block) -> bool:
    """Lease one slot at random over the pool to the rater; False when there is none."""
    values = {"rater": visit.rater.id, "block": block.name}
    slot = _expired_slot(visit, values) or visit.connection.execute(_OPEN, values).first()
    if slot is None:
        return False
    key = append(visit, NextPage(position, block.name, "pair", slot.page_id, slot.id))
    until = visit.now + 60 * visit.study.lease_minutes
    visit.connection.execute(_LEASE, {"slot": slot.id, "until": until, "assignment": key})
    return True


def _expired_slot(visit: Visit, values: Mapping[str, Any]) -> Any:
    """A slot whose lease is over, if any.

    Leases only ever begin anew, so once it is known which ends first, there is nothing to look for before that.
    """
    block, now, expires = values["block"], visit.now, visit.catalogue.nothing_expires_before
    if now < expires.get(block, 0.0):
        return None
    slot = visit.connection.execute(_EXPIRED, {**values, "now": now}).first()
    if slot is None:
        first = visit.connection.execute(_FIRST_TO_EXPIRE, {"block": block}).scalar_one()
        newest = now + 60 * visit.study.lease_minutes
        # A lease that this rater may not take over (the page was theirs before) must not hide others for long.
        expires[block] = min(newest, max(first if first is not None else newest, now + 1))
    return slot


def settle(connection: sa.Connection, assignment: Assignment) -> bool:
    """Count the answer as one of the page's k; False when there are k already."""
    if connection.execute(_SETTLE, {"slot": assignment.slot_id, "assignment": assignment.id}).rowcount:
        return True
    while True:
        free = (
            sa.select(slots.c.id)
            .where(slots.c.page_id == assignment.page_id, slots.c.state != DONE)
            .order_by(slots.c.state, slots.c.leased_until)
            .limit(1)
        )
        slot_id = connection.execute(free).scalar_one_or_none()
        if slot_id is None:
            return False
        take = sa.update(slots).where(slots.c.id == slot_id, slots.c.state != DONE)
        if connection.execute(take.values(state=DONE, assignment_id=assignment.id)).rowcount:
            return True


def renew(visit: Visit, assignment: Assignment) -> None:
    """Keep an unanswered page for the rater who is looking at it, if nobody else has it by now."""
    visit.connection.execute(
        sa.update(slots)
        .where(slots.c.id == assignment.slot_id, slots.c.assignment_id == assignment.id)
        .values(leased_until=visit.now + 60 * visit.study.lease_minutes)
    )
