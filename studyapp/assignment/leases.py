"""Pages of unique pairs that are in raters' hands."""

from __future__ import annotations

import time
from dataclasses import dataclass

import sqlalchemy as sa

from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import LEASED, assignments, raters, slots

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
