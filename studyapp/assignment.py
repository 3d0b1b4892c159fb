"""Who rates what next, and what becomes of an answer.

The base block comes first, the same for everyone, its pages shuffled per rater. Then unique pairs are drawn at random
over the whole pool; each page has k slots, a slot is leased to a rater and done when that rater answers. All functions
run inside one `Store.write()` transaction and take the time as an argument.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from studyapp.store import DONE, LEASED, OPEN, assignments, pages, pairs, raters, ratings, slots
from studyapp.study import Study
from studyapp.study_parts import Block

HAND_OUT_RULE = (
    "base block: every rater, pages in random order; unique pairs: pages drawn at random over the whole pool, "
    "without regard to the rater, query, source or earlier ratings"
)
AHEAD = 1  # pages handed out beyond the one being rated, so that its pictures can be loaded early
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True)
class PairRow:
    pair_id: str
    query_id: str
    result_id: str


@dataclass(frozen=True)
class PageRow:
    id: int
    block: str
    kind: str
    query_id: str
    pair_ids: tuple[str, ...]


class Catalogue:
    """The study's active pages and its pairs, kept in memory: they do not change while the app runs."""

    def __init__(self, connection: sa.Connection) -> None:
        self.pairs = {
            row.pair_id: PairRow(row.pair_id, row.query_id, row.result_id)
            for row in connection.execute(sa.select(pairs.c.pair_id, pairs.c.query_id, pairs.c.result_id))
        }
        self.nothing_expires_before: dict[str, float] = {}
        self.pages: dict[int, PageRow] = {}
        self.active: dict[tuple[str, str], list[int]] = {}
        for row in connection.execute(sa.select(pages).order_by(pages.c.id)):
            self.pages[row.id] = PageRow(row.id, row.block, row.kind, row.query_id, tuple(row.pair_ids))
            if row.active:
                self.active.setdefault((row.block, row.kind), []).append(row.id)

    def of(self, block: str, kind: str) -> list[int]:
        """Ids of the active pages of a block."""
        return self.active.get((block, kind), [])


@dataclass(frozen=True)
class Step:
    """Where a rater goes next: "rate" (with the position), "questions" or "thanks"."""

    name: str
    position: int = 0


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
class Held:
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


# Statements of the way from one page to the next are built once: building costs more than running them.
_HELD = _held_query()
_RATER_LOCKED = sa.select(raters).where(raters.c.id == sa.bindparam("rater")).with_for_update()
_COUNTS = (
    sa.select(assignments.c.block, assignments.c.kind, sa.func.count(), sa.func.count(assignments.c.answered_at))
    .where(assignments.c.rater == sa.bindparam("rater"))
    .group_by(assignments.c.block, assignments.c.kind)
)
_REVISIONS = (
    sa.select(ratings).where(ratings.c.assignment_id == sa.bindparam("assignment")).order_by(ratings.c.revision)
)
_INSERT_RATINGS = sa.insert(ratings)
_INSERT_ASSIGNMENT = sa.insert(assignments)
_ANSWERED = (
    sa.update(assignments)
    .where(assignments.c.id == sa.bindparam("assignment"))
    .values(answered_at=sa.bindparam("now"), surplus=sa.bindparam("is_surplus"))
)
_LEASE = (
    sa.update(slots)
    .where(slots.c.id == sa.bindparam("slot"))
    .values(state=LEASED, leased_until=sa.bindparam("until"), assignment_id=sa.bindparam("assignment"))
)
_SETTLE = (
    sa.update(slots)
    .where(
        slots.c.id == sa.bindparam("slot"),
        slots.c.assignment_id == sa.bindparam("assignment"),
        slots.c.state == LEASED,
    )
    .values(state=DONE)
)


def look(connection: sa.Connection, rater: int, position: int, *, lock: bool = False) -> Held | None:
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
    return Held(row, assignment, bool(row.too_early), row.upcoming)


class LockedError(Exception):
    """The rater has finished; this page can no longer be changed."""


def find_rater(connection: sa.Connection, entry: str, identity: str) -> Any:
    """The rater who came by this way under this identity, or None."""
    query = sa.select(raters).where(raters.c.entry == entry, raters.c.identity == identity)
    return connection.execute(query).one_or_none()


def lock_rater(connection: sa.Connection, rater: int) -> Any:
    """The rater's row, held until the transaction ends: one rater's requests go one after the other."""
    return connection.execute(_RATER_LOCKED, {"rater": rater}).one_or_none()


def enrol(
    connection: sa.Connection,
    study: Study,
    entry: str,
    identity: str,
    parameters: Mapping[str, str],
    now: float,
) -> Any:
    """The rater of this identity; a new one at first sight. One person never becomes two."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = (
        dialect.insert(raters)
        .values(
            rater_id="R" + code(7),
            session_key=secrets.token_hex(16),
            entry=entry,
            identity=identity,
            parameters=dict(parameters),
            seed=secrets.randbits(48),
            completion_code=study.entry.completion_code or code(8),
            created_at=now,
            locked_to=0,
            extra_pages=0,
        )
        .on_conflict_do_nothing(index_elements=["entry", "identity"])
    )
    connection.execute(statement)
    return find_rater(connection, entry, identity)


def code(length: int) -> str:
    """Random characters that are hard to confuse when read aloud."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


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


def next_step(
    connection: sa.Connection, study: Study, catalogue: Catalogue, rater: Any, now: float, *, hand_out: bool = True
) -> Step:
    """Where the rater goes next; hands out unique pairs as needed.

    `hand_out` is False while the study is paused: then only what the rater already holds comes.
    """
    handed: dict[tuple[str, str], int] = {}
    answered = 0
    for block, kind, count, done in connection.execute(_COUNTS, {"rater": rater.id}):
        handed[block, kind] = count
        answered += done
    # Pages are answered in their order (a form exists only for the first that waits), so counts say which is next.
    waiting = sum(handed.values()) - answered
    if hand_out and waiting <= AHEAD:
        waiting += _hand_out(connection, study, catalogue, rater, now, handed, AHEAD + 1 - waiting)
    if waiting:
        return Step("rate", answered + 1)
    if study.questions and rater.answered_at is None:
        return Step("questions")
    return Step("thanks")


def _hand_out(
    connection: sa.Connection,
    study: Study,
    catalogue: Catalogue,
    rater: Any,
    now: float,
    handed: dict[tuple[str, str], int],
    wanted: int,
) -> int:
    """Hand out up to `wanted` further pages; says how many there were."""
    for count in range(wanted):
        position = sum(handed.values()) + 1
        found = _draw_next(connection, study, catalogue, rater, now, handed, position)
        if found is None:
            return count
        handed[found] = handed.get(found, 0) + 1
    return wanted


def _draw_next(
    connection: sa.Connection,
    study: Study,
    catalogue: Catalogue,
    rater: Any,
    now: float,
    handed: Mapping[tuple[str, str], int],
    position: int,
) -> tuple[str, str] | None:
    blocks = [block for block in study.blocks if block.unique]
    extra = rater.extra_pages
    for block in blocks:
        got = handed.get((block.name, "pair"), 0)
        quota = block.pages_per_rater
        if quota is not None:
            extra -= max(0, got - quota)
        check = _check_due(study, catalogue, rater, block, got, handed.get((block.name, "check"), 0))
        if check is not None:
            _assign(connection, catalogue, rater, position, block, "check", check, now)
            return block.name, "check"
        if (quota is None or got < quota) and _draw(connection, study, catalogue, rater, position, block, now):
            return block.name, "pair"
        if handed.get((block.name, "repeat"), 0) < min(block.repeats, got):
            repeated = _page_to_repeat(connection, rater, block)
            if repeated is not None:
                _assign(connection, catalogue, rater, position, block, "repeat", repeated, now)
                return block.name, "repeat"
    if extra > 0:
        for block in blocks:
            if _draw(connection, study, catalogue, rater, position, block, now):
                return block.name, "pair"
    return None


def _check_due(study: Study, catalogue: Catalogue, rater: Any, block: Block, got: int, given: int) -> int | None:
    """The attention check whose turn it is, at places drawn per rater: before, between or after the block's pages."""
    checks = list(catalogue.of(block.name, "check"))
    pages_ahead = len(catalogue.of(block.name, "pair"))
    if block.pages_per_rater is not None:
        pages_ahead = min(pages_ahead, block.pages_per_rater)
    if given >= len(checks) or not pages_ahead or rater.finished_at is not None:
        return None
    generator = random.Random(f"{study.seed}:{rater.seed}:{block.name}:checks")
    generator.shuffle(checks)
    places = sorted(generator.randint(0, pages_ahead) for _ in checks)
    return checks[given] if places[given] <= got else None


def _page_to_repeat(connection: sa.Connection, rater: Any, block: Block) -> int | None:
    mine = assignments.alias()
    again = sa.select(mine.c.id).where(
        mine.c.rater == rater.id, mine.c.kind == "repeat", mine.c.page_id == assignments.c.page_id
    )
    query = (
        sa.select(assignments.c.page_id)
        .where(
            assignments.c.rater == rater.id,
            assignments.c.block == block.name,
            assignments.c.kind == "pair",
            assignments.c.answered_at.is_not(None),
            ~again.exists(),
        )
        .order_by(assignments.c.position)
    )
    answered = list(connection.execute(query).scalars())
    return random.Random(f"{rater.seed}:{len(answered)}").choice(answered) if answered else None


def _assign(
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
    generator = random.Random(f"{rater.seed}:{position}:{page_id}")
    row = _row(rater, position, block.name, kind, catalogue.pages[page_id], generator, now, slot_id)
    key = connection.execute(_INSERT_ASSIGNMENT, row).inserted_primary_key
    assert key is not None
    return int(key[0])


def _slot_query(*conditions: Any) -> sa.Select[Any]:
    mine = sa.select(assignments.c.id).where(
        assignments.c.rater == sa.bindparam("rater"),
        assignments.c.page_id == slots.c.page_id,
        assignments.c.kind == "pair",
    )
    return (
        sa.select(slots.c.id, slots.c.page_id)
        .where(slots.c.block == sa.bindparam("block"), *conditions, ~mine.exists())
        .order_by(slots.c.order_key)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


_EXPIRED = _slot_query(slots.c.state == LEASED, slots.c.leased_until < sa.bindparam("now"))
_OPEN = _slot_query(slots.c.state == OPEN)
_FIRST_TO_EXPIRE = sa.select(sa.func.min(slots.c.leased_until)).where(
    slots.c.block == sa.bindparam("block"), slots.c.state == LEASED
)


def _draw(
    connection: sa.Connection, study: Study, catalogue: Catalogue, rater: Any, position: int, block: Block, now: float
) -> bool:
    """Lease one slot at random over the pool to the rater; False when there is none."""
    values = {"rater": rater.id, "block": block.name}
    slot = _expired_slot(connection, study, catalogue, values, now) or connection.execute(_OPEN, values).first()
    if slot is None:
        return False
    key = _assign(connection, catalogue, rater, position, block, "pair", slot.page_id, now, slot.id)
    connection.execute(_LEASE, {"slot": slot.id, "until": now + 60 * study.lease_minutes, "assignment": key})
    return True


def _expired_slot(
    connection: sa.Connection, study: Study, catalogue: Catalogue, values: Mapping[str, Any], now: float
) -> Any:
    """A slot whose lease is over, if any.

    Leases only ever begin anew, so once it is known which ends first, there is nothing to look for before that.
    """
    block = values["block"]
    if now < catalogue.nothing_expires_before.get(block, 0.0):
        return None
    slot = connection.execute(_EXPIRED, {**values, "now": now}).first()
    if slot is None:
        first = connection.execute(_FIRST_TO_EXPIRE, {"block": block}).scalar_one()
        newest = now + 60 * study.lease_minutes
        # A lease that this rater may not take over (the page was theirs before) must not hide others for long.
        catalogue.nothing_expires_before[block] = min(newest, max(first if first is not None else newest, now + 1))
    return slot


def submit(
    connection: sa.Connection,
    rater: Any,
    assignment: Assignment,
    answers: Mapping[str, float | None],
    seconds: float,
    form: str,
    now: float,
) -> None:
    """Keep a page's ratings.

    Resubmission of the same form changes nothing. A changed rating becomes a new revision; the last one counts.

    Raises
    ------
    LockedError
        when the rater has finished and an answer differs from the one that counts
    """
    latest: dict[str, Any] = {}
    processed: set[tuple[str, str, float | None]] = set()
    if assignment.answered_at is not None:
        for row in connection.execute(_REVISIONS, {"assignment": assignment.id}):
            latest[row.pair_id] = row
            processed.add((row.pair_id, row.form, row.rating))
    rows = []
    for pair_id, rating in answers.items():
        last = latest.get(pair_id)
        if last is not None:
            if last.rating == rating:
                continue
            if last.form != form and (pair_id, form, rating) in processed:
                continue  # an old form sent again after a later change: it had its say
            if assignment.position <= rater.locked_to:
                raise LockedError
        rows.append(
            {
                "assignment_id": assignment.id,
                "pair_id": pair_id,
                "revision": 1 if last is None else last.revision + 1,
                "rating": rating,
                "seconds": seconds,
                "rated_at": now,
                "form": form,
            }
        )
    if rows:
        connection.execute(_INSERT_RATINGS, rows)
    if assignment.answered_at is None:
        surplus = assignment.slot_id is not None and not _settle(connection, assignment)
        connection.execute(_ANSWERED, {"assignment": assignment.id, "now": now, "is_surplus": surplus})


def _settle(connection: sa.Connection, assignment: Any) -> bool:
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


def renew(connection: sa.Connection, study: Study, assignment: Any, now: float) -> None:
    """Keep an unanswered page for the rater who is looking at it, if nobody else has it by now."""
    connection.execute(
        sa.update(slots)
        .where(slots.c.id == assignment.slot_id, slots.c.assignment_id == assignment.id, slots.c.state == LEASED)
        .values(leased_until=now + 60 * study.lease_minutes)
    )


def finish(connection: sa.Connection, rater: Any, now: float) -> None:
    """The rater has reached the end: what is answered stays as it is."""
    last = (
        sa.select(sa.func.coalesce(sa.func.max(assignments.c.position), 0))
        .where(assignments.c.rater == rater.id, assignments.c.answered_at.is_not(None))
        .scalar_subquery()
    )
    connection.execute(
        sa.update(raters)
        .where(raters.c.id == rater.id)
        .values(finished_at=sa.func.coalesce(raters.c.finished_at, now), locked_to=last)
    )


def add_pages(connection: sa.Connection, study: Study, rater: Any) -> None:
    """Let the rater have some more unique pairs."""
    more = max((block.more_pages for block in study.blocks if block.unique), default=0)
    connection.execute(sa.update(raters).where(raters.c.id == rater.id).values(extra_pages=raters.c.extra_pages + more))
