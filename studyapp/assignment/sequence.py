"""A rater's sequence of pages: laid out at the start, extended page by page, looked up."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import Catalogue, PageRow, PairRow, pair_rows, pairs_of
from relstudy.studyapp.assignment.enrolment import RATER_COLUMNS, Rater, Visit, update_rater
from relstudy.studyapp.assignment.versions import HEAD_COLUMNS, JOIN_AND_HOLD, Head, head_of, read_head
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.tables import assignments, raters, slots


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
    rater : who asks
    assignment : the page at the position asked for, or None
    too_early : an earlier page is still unanswered
    shown : the page's pairs, in the rater's own order
    upcoming : the pairs of the page after, where it is handed out already
    leased_until : when the page's lease ends (seconds since 1970), where it has one that is still the rater's
    after : the page after itself, where it was read too
    after_leased_until : the end of its lease
    beyond : the pairs of the page after that one
    """

    rater: Rater
    assignment: Assignment | None
    too_early: bool
    shown: Sequence[PairRow]
    upcoming: Sequence[PairRow] = ()
    leased_until: float | None = None
    after: Assignment | None = None
    after_leased_until: float | None = None
    beyond: Sequence[PairRow] = ()

    @property
    def is_lost(self) -> bool:
        """True if the page waits for an answer and has become somebody else's in the meantime."""
        page = self.assignment
        waits = page is not None and page.answered_at is None and page.slot_id is not None
        return waits and self.leased_until is None

    def turned(self, position: int, handed: Mapping[int, Sequence[PairRow]]) -> RaterPage | None:
        """The page at a position once this one is answered, if that is the page after, in the same transaction.

        None where it has to be read.

        Parameters
        ----------
        handed : the pairs of pages that were handed out since this one was read, by position
        """
        if self.assignment is None or self.assignment.answered_at is not None or self.after is None:
            return None
        if position != self.after.position:
            return None
        beyond = handed.get(position + 1, self.beyond)
        return RaterPage(self.rater, self.after, False, self.upcoming, beyond, self.after_leased_until)


def _page_query() -> sa.Select[Any]:
    page, after, before = assignments.alias("here"), assignments.alias("after"), assignments.alias("before")
    beyond, slots_after = assignments.alias("beyond"), slots.alias("slots_after")
    position: sa.BindParameter[int] = sa.bindparam("position", type_=sa.Integer)
    # Pages are answered in their order, so the one before says it for all: a look-up however many there are.
    earlier = sa.select(before.c.id).where(
        before.c.rater == raters.c.id, before.c.position == position - 1, before.c.answered_at.is_(None)
    )
    return (
        sa.select(
            *RATER_COLUMNS,
            *(page.c[name].label(f"here_{name}") for name in Assignment._fields),
            *(after.c[name].label(f"after_{name}") for name in Assignment._fields),
            *HEAD_COLUMNS,
            pairs_of(page.c.pair_ids).label("shown"),
            pairs_of(after.c.pair_ids).label("upcoming"),
            pairs_of(beyond.c.pair_ids).label("beyond"),
            slots.c.leased_until,
            slots_after.c.leased_until.label("after_leased_until"),
            earlier.exists().label("too_early"),
        )
        .select_from(
            raters.outerjoin(page, (page.c.rater == raters.c.id) & (page.c.position == position))
            .outerjoin(after, (after.c.rater == raters.c.id) & (after.c.position == position + 1))
            .outerjoin(beyond, (beyond.c.rater == raters.c.id) & (beyond.c.position == position + 2))
            .outerjoin(slots, (slots.c.id == page.c.slot_id) & (slots.c.assignment_id == page.c.id))
            .outerjoin(slots_after, (slots_after.c.id == after.c.slot_id) & (slots_after.c.assignment_id == after.c.id))
        )
        .where(raters.c.id == sa.bindparam("rater"))
    )


# Built once: building a statement costs more than running it.
_PAGE = Prepared(_page_query())
_RATER = slice(len(Rater._fields))
_HERE = slice(_RATER.stop, _RATER.stop + len(Assignment._fields))
_AFTER = slice(_HERE.stop, _HERE.stop + len(Assignment._fields))
_INSERT = sa.insert(assignments)
_APPEND = Prepared(_INSERT.returning(assignments.c.id))


def find_rater_page(connection: sa.Connection, rater: int, position: int) -> RaterPage | None:
    """A rater and the page at a position."""
    return look_at_page(connection, rater, position)[1]


def look_at_page(connection: sa.Connection, rater: int, position: int) -> tuple[Head, RaterPage | None]:
    """A rater and the page at a position, with the study's version and state, in one look."""
    row = _PAGE.row(connection, {"rater": rater, "position": position})
    if row is None:
        return read_head(connection), None
    assignment = Assignment(*row[_HERE]) if row.here_id is not None else None
    after = Assignment(*row[_AFTER]) if row.after_id is not None else None
    page = RaterPage(
        *(Rater(*row[_RATER]), assignment, bool(row.too_early), pair_rows(row.shown), pair_rows(row.upcoming)),
        *(row.leased_until, after, row.after_leased_until, pair_rows(row.beyond)),
    )
    return head_of(row), page


def hold_page(connection: sa.Connection, rater: int, position: int) -> tuple[Head, RaterPage | None]:
    """The same, and study and rater stay so until this transaction ends; to be called before anything is locked."""
    if connection.dialect.name != "sqlite":  # which has one writer at a time anyway
        # A statement of its own: after waiting for a lock, PostgreSQL would show the page as it was before the wait.
        JOIN_AND_HOLD.row(connection, {"rater": rater})
    return look_at_page(connection, rater, position)


def count_answered(connection: sa.Connection, rater: Rater) -> int:
    """Number of pages that the rater has answered."""
    query = sa.select(sa.func.count(assignments.c.answered_at)).where(assignments.c.rater == rater.id)
    return int(connection.execute(query).scalar_one())


_Planned = tuple[str, str, PageRow]
"""A page that is to be laid out: its kind, its block and the page."""


def start(visit: Visit) -> None:
    """Lay out practice and base blocks for a rater, once; where raters have to qualify, the practice alone."""
    rater, catalogue = visit.rater, visit.catalogue
    if rater.started_at is not None:
        return
    generator = random.Random(f"{visit.study.seed}:{rater.seed}:start")
    sequence: list[_Planned] = []
    for block in visit.blocks:
        sequence += [("practice", block.name, page) for page in catalogue.of(block.name, "practice")]
    if visit.study.qualification is None or not sequence:
        sequence += _base_blocks(visit, generator)
    _lay_out(visit, sequence, generator)
    update_rater(visit.connection, rater, started_at=visit.now)


def lay_out_base(visit: Visit, first: int) -> list[tuple[str, str]]:
    """Lay out the base blocks from a position on, for a rater who has qualified; block and kind of each page."""
    generator = random.Random(f"{visit.study.seed}:{visit.rater.seed}:qualified")
    sequence = _base_blocks(visit, generator)
    _lay_out(visit, sequence, generator, first)
    return [(block, kind) for kind, block, _ in sequence]


def _base_blocks(visit: Visit, generator: random.Random) -> list[_Planned]:
    blocks = [block for block in visit.blocks if not block.unique]
    return [page for block in blocks for page in _base_sequence(block, visit.catalogue, generator)]


def _lay_out(visit: Visit, sequence: list[_Planned], generator: random.Random, first: int = 1) -> None:
    rows = [
        {
            "rater": visit.rater.id,
            "position": position,
            "block": block_name,
            "kind": kind,
            "page_id": page.id,
            "pair_ids": [pair.pair_id for pair in _shuffled(page, generator)],
            "handed_at": visit.now,
        }
        for position, (kind, block_name, page) in enumerate(sequence, start=first)
    ]
    if rows:
        visit.connection.execute(_INSERT, rows)


def _base_sequence(block: Block, catalogue: Catalogue, generator: random.Random) -> list[_Planned]:
    pages = list(catalogue.of(block.name, "pair"))
    generator.shuffle(pages)
    sequence = [("pair", block.name, page) for page in pages]
    for page in catalogue.of(block.name, "check"):
        sequence.insert(generator.randint(0, len(sequence)), ("check", block.name, page))
    repeated = generator.sample(pages, min(block.repeats, len(pages)))
    return sequence + [("repeat", block.name, page) for page in repeated]


def _shuffled(page: PageRow, generator: random.Random) -> list[PairRow]:
    """A page's results in an order of the rater's own."""
    return generator.sample(page.pairs, len(page.pairs))


class Appended(NamedTuple):
    """A page that was put at the end of a rater's sequence: the assignment's id, and what is on it."""

    id: int
    position: int
    block: str
    kind: str
    pairs: list[PairRow]


def append(visit: Visit, position: int, block: str, kind: str, page: PageRow, slot_id: int | None = None) -> Appended:
    """Put a page of a block at the end of a rater's sequence; one of unique pairs takes a slot."""
    shown = _shuffled(page, random.Random(f"{visit.rater.seed}:{position}:{page.id}"))
    row = {
        "rater": visit.rater.id,
        "position": position,
        "block": block,
        "kind": kind,
        "page_id": page.id,
        "pair_ids": [pair.pair_id for pair in shown],
        "slot_id": slot_id,
        "handed_at": visit.now,
        "surplus": False,
    }
    return Appended(_APPEND.row(visit.connection, row).id, position, block, kind, shown)


def give_up(visit: Visit, assignment: Assignment) -> None:
    """Take an unanswered page out of the rater's sequence, because it has become somebody else's."""
    visit.connection.execute(sa.delete(assignments).where(assignments.c.id == assignment.id))
    close_gaps(visit.connection, visit.rater.id)


def close_gaps(connection: sa.Connection, rater: int) -> None:
    """Number a rater's pages from 1 again after some were taken."""
    query = sa.select(assignments.c.id, assignments.c.position).where(assignments.c.rater == rater)
    for position, row in enumerate(connection.execute(query.order_by(assignments.c.position)).all(), start=1):
        if row.position != position:
            connection.execute(sa.update(assignments).where(assignments.c.id == row.id).values(position=position))
