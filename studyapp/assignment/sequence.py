"""A rater's sequence of pages: laid out at the start, extended page by page, looked up."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import Catalogue, PageRow
from relstudy.studyapp.assignment.raters import lock_rater
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.store import assignments, raters


class Assignment(NamedTuple):
    """A page in a rater's sequence, as stored."""

    id: int
    rater: int
    position: int
    block: str
    kind: str
    page_id: int
    pair_ids: list[str]
    slot_id: int | None
    handed_at: float
    answered_at: float | None
    surplus: bool


@dataclass(frozen=True)
class RaterPage:
    """A rater and one of their pages, read together.

    Parameters
    ----------
    rater : the row of `raters`
    assignment : the page at the position asked for, or None
    too_early : an earlier page is still unanswered
    upcoming : the pairs of the page after, where it is handed out already
    """

    rater: Any
    assignment: Assignment | None
    too_early: bool
    upcoming: list[str] | None


def _held_query() -> sa.Select[Any]:
    here, after, before = assignments.alias("here"), assignments.alias("after"), assignments.alias("before")
    position: sa.BindParameter[int] = sa.bindparam("position", type_=sa.Integer)
    earlier = sa.select(before.c.id).where(
        before.c.rater == raters.c.id, before.c.position < position, before.c.answered_at.is_(None)
    )
    return (
        sa.select(
            *raters.c,
            *(here.c[name].label(f"here_{name}") for name in Assignment._fields),
            after.c.pair_ids.label("upcoming"),
            earlier.exists().label("too_early"),
        )
        .select_from(
            raters.outerjoin(here, (here.c.rater == raters.c.id) & (here.c.position == position)).outerjoin(
                after, (after.c.rater == raters.c.id) & (after.c.position == position + 1)
            )
        )
        .where(raters.c.id == sa.bindparam("rater"))
    )


# Built once: building a statement costs more than running it.
_HELD = _held_query()
_INSERT = sa.insert(assignments)


def find_rater_page(connection: sa.Connection, rater: int, position: int, *, lock: bool = False) -> RaterPage | None:
    """A rater and the page at a position; with `lock`, the rater is held until the transaction ends."""
    if lock and connection.dialect.name != "sqlite":
        # A statement of its own: after waiting for a lock, PostgreSQL would show the page as it was before the wait.
        # SQLite has one writer at a time anyway.
        lock_rater(connection, rater)
    row = connection.execute(_HELD, {"rater": rater, "position": position}).one_or_none()
    if row is None:
        return None
    assignment = None
    if row.here_id is not None:
        assignment = Assignment(*(getattr(row, f"here_{name}") for name in Assignment._fields))
    return RaterPage(row, assignment, bool(row.too_early), row.upcoming)


def start(connection: sa.Connection, study: Study, catalogue: Catalogue, rater: Any, now: float) -> None:
    """Lay out practice and base blocks for a rater, once."""
    if rater.started_at is not None:
        return
    generator = random.Random(f"{study.seed}:{rater.seed}:start")
    sequence: list[tuple[str, str, int]] = []
    for block in study.blocks:
        sequence += [("practice", block.name, page_id) for page_id in catalogue.of(block.name, "practice")]
    for block in study.blocks:
        if not block.unique:
            sequence += _base_sequence(block, catalogue, generator)
    rows = [
        _row(rater, position, block_name, kind, catalogue.pages[page_id], generator, now)
        for position, (kind, block_name, page_id) in enumerate(sequence, start=1)
    ]
    if rows:
        connection.execute(sa.insert(assignments), rows)
    connection.execute(sa.update(raters).where(raters.c.id == rater.id).values(started_at=now))


def _base_sequence(block: Block, catalogue: Catalogue, generator: random.Random) -> list[tuple[str, str, int]]:
    page_ids = list(catalogue.of(block.name, "pair"))
    generator.shuffle(page_ids)
    sequence = [("pair", block.name, page_id) for page_id in page_ids]
    for page_id in catalogue.of(block.name, "check"):
        sequence.insert(generator.randint(0, len(sequence)), ("check", block.name, page_id))
    repeated = generator.sample(page_ids, min(block.repeats, len(page_ids)))
    return sequence + [("repeat", block.name, page_id) for page_id in repeated]


def _row(
    rater: Any,
    position: int,
    block: str,
    kind: str,
    page: PageRow,
    generator: random.Random,
    now: float,
    slot_id: int | None = None,
) -> dict[str, Any]:
    return {
        "rater": rater.id,
        "position": position,
        "block": block,
        "kind": kind,
        "page_id": page.id,
        "pair_ids": generator.sample(page.pair_ids, len(page.pair_ids)),
        "slot_id": slot_id,
        "handed_at": now,
        "surplus": False,
    }


def append(
    connection: sa.Connection,
    catalogue: Catalogue,
    rater: Any,
    position: int,
    block: Block,
    kind: str,
    page_id: int,
    now: float,
    slot_id: int | None = None,
) -> int:
    """Put a page at the end of a rater's sequence; the id of the assignment."""
    generator = random.Random(f"{rater.seed}:{position}:{page_id}")
    row = _row(rater, position, block.name, kind, catalogue.pages[page_id], generator, now, slot_id)
    key = connection.execute(_INSERT, row).inserted_primary_key
    assert key is not None
    return int(key[0])
