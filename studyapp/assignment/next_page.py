"""What a rater is given next.

The base block comes first, the same for everyone, its pages shuffled per rater. Then unique pairs are drawn at random
over the whole pool; each page has k slots, a slot is leased to a rater and done when that rater answers. All functions
run inside one `Store.write()` transaction and take the time as an argument.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.sequence import append
from relstudy.studyapp.assignment.slots import draw
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.store import assignments, raters

AHEAD = 1  # pages handed out beyond the one being rated, so that its pictures can be loaded early
# Built once: building a statement costs more than running it.
_COUNTS = (
    sa.select(assignments.c.block, assignments.c.kind, sa.func.count(), sa.func.count(assignments.c.answered_at))
    .where(assignments.c.rater == sa.bindparam("rater"))
    .group_by(assignments.c.block, assignments.c.kind)
)


@dataclass(frozen=True)
class Step:
    """Where a rater goes next: "rate" (with the position), "questions" or "thanks"."""

    name: str
    position: int = 0


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
            append(connection, catalogue, rater, position, block, "check", check, now)
            return block.name, "check"
        if (quota is None or got < quota) and draw(connection, study, catalogue, rater, position, block, now):
            return block.name, "pair"
        if handed.get((block.name, "repeat"), 0) < block.repeats:
            repeated = _page_to_repeat(connection, rater, block)
            if repeated is not None:
                append(connection, catalogue, rater, position, block, "repeat", repeated, now)
                return block.name, "repeat"
    if extra > 0:
        for block in blocks:
            if draw(connection, study, catalogue, rater, position, block, now):
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
