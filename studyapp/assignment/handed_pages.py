"""Pages handed to raters already when the study changes: trimmed, taken back, or added."""

from __future__ import annotations

import random
from collections import defaultdict

import sqlalchemy as sa

from relstudy.studyapp.assignment.sequence import close_gaps
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import LEASED, OPEN, assignments, pages, raters, slots


def trim_pages(connection: sa.Connection, wanted: set[str]) -> int:
    """Take pairs that have left the study off pages that wait for an answer; how many pages of raters who are in the
    study lost one."""
    query = (
        sa.select(assignments.c.id, assignments.c.pair_ids, pages.c.pair_ids.label("of_page"), raters.c.outcome)
        .join(pages, pages.c.id == assignments.c.page_id)
        .join(raters, raters.c.id == assignments.c.rater)
        .where(assignments.c.answered_at.is_(None), pages.c.active)
    )
    count = 0
    for row in connection.execute(query).all():
        left = [pair_id for pair_id in row.pair_ids if pair_id in wanted]
        left = left or [pair_id for pair_id in row.of_page if pair_id in wanted]  # others of the page have come back
        if left != row.pair_ids:
            connection.execute(sa.update(assignments).where(assignments.c.id == row.id).values(pair_ids=left))
            count += row.outcome is None
    return count


def withdraw_pages(connection: sa.Connection) -> int:
    """Take back the pages that are handed out no more and wait for an answer; how many of them raters who are in the
    study had."""
    idle = sa.select(pages.c.id).where(~pages.c.active)
    waiting = assignments.c.answered_at.is_(None) & assignments.c.page_id.in_(idle)
    query = sa.select(assignments.c.rater, raters.c.outcome).join(raters, raters.c.id == assignments.c.rater)
    losing = connection.execute(query.where(waiting)).all()
    connection.execute(sa.delete(assignments).where(waiting))
    for rater in {row.rater for row in losing}:
        close_gaps(connection, rater)
    connection.execute(sa.delete(slots).where(slots.c.page_id.in_(idle), slots.c.state.in_([OPEN, LEASED])))
    return sum(row.outcome is None for row in losing)


def complete_base(connection: sa.Connection, study: Study, wanted: set[str], now: float) -> int:
    """Give raters at work the base pages that they lack, after what they have; how many raters lacked some.

    Who is set aside gets them, too, for when they are taken back, and is not counted.
    """
    names = [block.name for block in study.blocks if not block.unique]
    of_base = (pages.c.kind == "pair") & pages.c.block.in_(names) & pages.c.active
    base = connection.execute(sa.select(pages).where(of_base).order_by(pages.c.id)).all()
    at_work = raters.c.started_at.is_not(None) & raters.c.finished_at.is_(None)
    columns = (raters.c.id, raters.c.seed, raters.c.rater_group, raters.c.outcome)
    people = connection.execute(sa.select(*columns).where(at_work).with_for_update()).all()
    if not base or not people:
        return 0
    has: dict[int, set[int]] = defaultdict(set)
    kinds: dict[int, set[str]] = defaultdict(set)
    last: dict[int, int] = defaultdict(int)
    query = sa.select(assignments.c.rater, assignments.c.page_id, assignments.c.kind, assignments.c.position)
    for row in connection.execute(query.join(raters, raters.c.id == assignments.c.rater).where(at_work)):
        last[row.rater] = max(last[row.rater], row.position)
        kinds[row.rater].add(row.kind)
        if row.kind == "pair":
            has[row.rater].add(row.page_id)
    count = 0
    for person in people:
        if study.qualification is not None and kinds[person.id] == {"practice"}:
            continue  # who is still practising gets the base block after it
        blocks = {block.name for block in study.blocks_of(person.rater_group)}
        missing = [page for page in base if page.id not in has[person.id] and page.block in blocks]
        if not missing:
            continue
        count += person.outcome is None
        generator = random.Random(f"{study.seed}:{person.seed}:base:{last[person.id]}")
        generator.shuffle(missing)
        rows = []
        for position, page in enumerate(missing, start=last[person.id] + 1):
            left = [pair_id for pair_id in page.pair_ids if pair_id in wanted]
            generator.shuffle(left)
            rows.append(
                {
                    "rater": person.id,
                    "position": position,
                    "block": page.block,
                    "kind": "pair",
                    "page_id": page.id,
                    "pair_ids": left,
                    "handed_at": now,
                }
            )
        connection.execute(sa.insert(assignments), rows)
    return count
