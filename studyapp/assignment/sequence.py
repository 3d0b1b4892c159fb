"""A rater's sequence of pages: laid out at the start, extended page by page, looked up."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import Catalogue, PageRow
from relstudy.studyapp.assignment.raters import HOLD_RATER, RATER_COLUMNS, Rater, Visit
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
    upcoming : the pairs of the page after, where it is handed out already
    leased_until : when the page's lease ends (seconds since 1970), where it has one that is still the rater's
    after : the page after itself, where it was read too
    after_leased_until : the end of its lease
    beyond : the pairs of the page after that one
    """

    rater: Rater
    assignment: Assignment | None
    too_early: bool
    upcoming: list[str] | None
    leased_until: float | None
    after: Assignment | None = None
    after_leased_until: float | None = None
    beyond: list[str] | None = None

    @property
    def is_lost(self) -> bool:
        """True if the page waits for an answer and has become somebody else's in the meantime."""
        page = self.assignment
        waits = page is not None and page.answered_at is None and page.slot_id is not None
        return waits and self.leased_until is None

    def turned(self, position: int, handed: Mapping[int, list[str]]) -> RaterPage | None:
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
        return RaterPage(self.rater, self.after, False, handed.get(position + 1, self.beyond), self.after_leased_until)


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
            beyond.c.pair_ids.label("beyond"),
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


def find_rater_page(connection: sa.Connection, rater: int, position: int, *, lock: bool = False) -> RaterPage | None:
    """A rater and the page at a position; with `lock`, the rater is held until the transaction ends."""
    if lock and connection.dialect.name != "sqlite":
        # A statement of its own: after waiting for a lock, PostgreSQL would show the page as it was before the wait.
        # SQLite has one writer at a time anyway.
        HOLD_RATER.row(connection, {"rater": rater})
    return look_at_page(connection, rater, position)[1]


def look_at_page(connection: sa.Connection, rater: int, position: int) -> tuple[Head, RaterPage | None]:
    """A rater and the page at a position, with the study's version and state, in one look."""
    row = _PAGE.row(connection, {"rater": rater, "position": position})
    if row is None:
        return read_head(connection), None
    assignment = Assignment(*row[_HERE]) if row.here_id is not None else None
    after = Assignment(*row[_AFTER]) if row.after_id is not None else None
    page = RaterPage(
        *(Rater(*row[_RATER]), assignment, bool(row.too_early), after and after.pair_ids, row.leased_until),
        *(after, row.after_leased_until, row.beyond),
    )
    return head_of(row), page


def hold_page(connection: sa.Connection, rater: int, position: int) -> tuple[Head, RaterPage | None]:
    """The same, and study and rater stay so until this transaction ends; to be called before anything is locked."""
    if connection.dialect.name != "sqlite":  # by a statement of its own, for the reason above
        JOIN_AND_HOLD.row(connection, {"rater": rater})
    return look_at_page(connection, rater, position)


def count_answered(connection: sa.Connection, rater: Rater) -> int:
    """Number of pages that the rater has answered."""
    query = sa.select(sa.func.count(assignments.c.answered_at)).where(assignments.c.rater == rater.id)
    return int(connection.execute(query).scalar_one())


def start(visit: Visit) -> None:
    """Lay out practice and base blocks for a rater, once; where raters have to qualify, the practice alone."""
    rater, catalogue = visit.rater, visit.catalogue
    if rater.started_at is not None:
        return
    generator = random.Random(f"{visit.study.seed}:{rater.seed}:start")
    sequence: list[tuple[str, str, int]] = []
    for block in visit.blocks:
        sequence += [("practice", block.name, page_id) for page_id in catalogue.of(block.name, "practice")]
    if visit.study.qualification is None or not sequence:
        sequence += _base_blocks(visit, generator)
    _lay_out(visit, sequence, generator)
    visit.connection.execute(sa.update(raters).where(raters.c.id == rater.id).values(started_at=visit.now))


def lay_out_base(visit: Visit, first: int) -> list[tuple[str, str]]:
    """Lay out the base blocks from a position on, for a rater who has qualified; block and kind of each page."""
    generator = random.Random(f"{visit.study.seed}:{visit.rater.seed}:qualified")
    sequence = _base_blocks(visit, generator)
    _lay_out(visit, sequence, generator, first)
    return [(block, kind) for kind, block, _ in sequence]


def _base_blocks(visit: Visit, generator: random.Random) -> list[tuple[str, str, int]]:
    blocks = [block for block in visit.blocks if not block.unique]
    return [page for block in blocks for page in _base_sequence(block, visit.catalogue, generator)]


def _lay_out(visit: Visit, sequence: list[tuple[str, str, int]], generator: random.Random, first: int = 1) -> None:
    rater, catalogue = visit.rater, visit.catalogue
    rows = [
        {
            "rater": rater.id,
            "position": position,
            "block": block_name,
            "kind": kind,
            "slot_id": None,
            "handed_at": visit.now,
            "surplus": False,
            **_shuffled(catalogue.pages[page_id], generator),
        }
        for position, (kind, block_name, page_id) in enumerate(sequence, start=first)
    ]
    if rows:
        visit.connection.execute(_INSERT, rows)


def _base_sequence(block: Block, catalogue: Catalogue, generator: random.Random) -> list[tuple[str, str, int]]:
    page_ids = list(catalogue.of(block.name, "pair"))
    generator.shuffle(page_ids)
    sequence = [("pair", block.name, page_id) for page_id in page_ids]
    for page_id in catalogue.of(block.name, "check"):
        sequence.insert(generator.randint(0, len(sequence)), ("check", block.name, page_id))
    repeated = generator.sample(page_ids, min(block.repeats, len(page_ids)))
    return sequence + [("repeat", block.name, page_id) for page_id in repeated]


def _shuffled(page: PageRow, generator: random.Random) -> dict[str, Any]:
    """A page's results in an order of the rater's own."""
    return {"page_id": page.id, "pair_ids": generator.sample(page.pair_ids, len(page.pair_ids))}


@dataclass(frozen=True)
class NextPage:
    """A page to be put at the end of a rater's sequence: where, of which block and kind, and the slot it takes."""

    position: int
    block: str
    kind: str
    page_id: int
    slot_id: int | None = None


class Appended(NamedTuple):
    """A page that was put at the end of a rater's sequence: the assignment's id, and what is on it."""

    id: int
    position: int
    block: str
    kind: str
    pair_ids: list[str]


def append(visit: Visit, page: NextPage) -> Appended:
    """Put a page at the end of a rater's sequence."""
    generator = random.Random(f"{visit.rater.seed}:{page.position}:{page.page_id}")
    row = {
        "rater": visit.rater.id,
        "handed_at": visit.now,
        "surplus": False,
        **vars(page),
        **_shuffled(visit.catalogue.pages[page.page_id], generator),
    }
    return Appended(_APPEND.row(visit.connection, row).id, page.position, page.block, page.kind, row["pair_ids"])


def give_up(visit: Visit, assignment: Assignment) -> None:
    """Take an unanswered page out of the rater's sequence, because it has become somebody else's."""
    visit.connection.execute(sa.delete(assignments).where(assignments.c.id == assignment.id))
    later = (assignments.c.rater == visit.rater.id) & (assignments.c.position > assignment.position)
    positions = visit.connection.execute(sa.select(assignments.c.id, assignments.c.position).where(later))
    for key, position in sorted(positions.all(), key=lambda row: row.position):
        visit.connection.execute(sa.update(assignments).where(assignments.c.id == key).values(position=position - 1))
