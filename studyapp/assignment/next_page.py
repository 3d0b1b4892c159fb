"""The next page or step of a rater.

The base block comes first, the same for everyone, its pages shuffled per rater. Then unique pairs are drawn at random
over the whole pool; each page has k slots, a slot is leased to a rater and done when that rater answers. Each `Visit`
is one `Store.write()` transaction.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import PageRow, PairRow, read_page
from relstudy.studyapp.assignment.eligibility import PracticeResult, is_practising, practice_result
from relstudy.studyapp.assignment.enrolment import Visit, end_visit, update_rater
from relstudy.studyapp.assignment.quotas import is_over
from relstudy.studyapp.assignment.sequence import (
    Appended,
    RaterPage,
    append,
    find_rater_page,
    give_up,
    lay_out_base,
)
from relstudy.studyapp.assignment.slots import draw, lease, lease_seconds, others_hold_pages
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.tables import assignments, pages, raters

AT_END = ("wait", "questions", "thanks")
# Pages handed out beyond the one being rated, so that its pictures can be loaded early; to nobody who has answered
# nothing yet, so that those who come in numbers hold one page each.
AHEAD = 1
# Built once: building a statement costs more than running it.
_COUNTS = Prepared(
    sa.select(
        assignments.c.block,
        assignments.c.kind,
        sa.func.count().label("handed"),
        sa.func.count(assignments.c.answered_at).label("answered"),
    )
    .where(assignments.c.rater == sa.bindparam("rater"))
    .group_by(assignments.c.block, assignments.c.kind)
)


@dataclass(frozen=True)
class Step:
    """Next step of a rater: "rate" (with the position), "wait", "questions" or "thanks".

    Or "screening", "again" (who has not passed the practice and may begin it again), "ended" (who is out of the study).
    `handed` are the pairs of the pages that were drawn on the way there, by position.
    """

    name: str
    position: int = 0
    handed: Mapping[int, Sequence[PairRow]] = field(default_factory=dict, compare=False)


def next_step(visit: Visit, *, hand_out: bool = True) -> Step:
    """Return the rater's next step; hands out unique pairs as needed.

    `hand_out` is False while the study is paused: then only what the rater already holds comes. Nobody is at the end
    while pages are only leased to others, who may not answer them: until then the step is "wait". Past the deadline,
    and with as many ratings as wanted, everybody is at the end.
    """
    handed: dict[tuple[str, str], int] = {}
    answered = 0
    for block, kind, count, done in _COUNTS.rows(visit.connection, {"rater": visit.rater.id}):
        handed[block, kind] = count
        answered += done
    # Pages are answered in their order (a form exists only for the first that waits), so counts say which is next.
    waiting = sum(handed.values()) - answered
    over = bool(is_over(visit.connection, visit.study, visit.now))
    if over:  # the page they are at is the last
        waiting, hand_out = 0, False
    practising = is_practising(visit.study, handed) and not over
    if practising and not waiting:
        result = practice_result(visit)
        if not hand_out or (not result.passed and result.attempts_left):
            return Step("again")
        if not result.passed:
            end_visit(visit.connection, visit.rater, "failed_practice")
            return Step("ended")
        for page in lay_out_base(visit, answered + 1):
            handed[page] = handed.get(page, 0) + 1
            waiting += 1
        practising = False
    wanted = 1 + (AHEAD if answered else 0)
    drawn: dict[int, Sequence[PairRow]] = {}
    if hand_out and waiting < wanted and not practising:
        drawn = _hand_out(visit, handed, wanted - waiting)
    if waiting or drawn:
        return Step("rate", answered + 1, drawn)
    if hand_out and _may_get_more(visit, handed):
        return Step("wait")
    if visit.study.questions and visit.rater.answered_at is None:
        return Step("questions")
    return Step("thanks")


def open_attempt(visit: Visit) -> PracticeResult | None:
    """Practice result of a rater who may begin the practice again; None for anyone else."""
    step = next_step(visit, hand_out=False)
    if step.name != "again":
        return None
    result = practice_result(visit)
    return result if result.attempts_left and not result.passed else None


def _may_get_more(visit: Visit, handed: Mapping[tuple[str, str], int]) -> bool:
    """True if pages that the rater is still asked for are with others; not for who has chosen to finish."""
    if visit.rater.finished_at is not None or visit.rater.answered_at is not None:
        return False
    blocks = [block for block in visit.blocks if block.unique]
    had = {block.name: handed.get((block.name, "pair"), 0) for block in blocks}
    beyond = sum(max(0, had[b.name] - b.pages_per_rater) for b in blocks if b.pages_per_rater is not None)
    return any(
        beyond < visit.rater.extra_pages or block.pages_per_rater is None or had[block.name] < block.pages_per_rater
        for block in blocks
        if others_hold_pages(visit, block)
    )


def is_at_end(visit: Visit) -> bool:
    """True if the rater has begun and has no page left that waits for an answer."""
    return visit.rater.started_at is not None and next_step(visit, hand_out=False).name in AT_END


def needs_opening(page: RaterPage, study: Study, now: float) -> bool:
    """True if a page is to be leased before it is shown: at first sight, and when half of its lease is over."""
    if page.assignment is None or page.assignment.answered_at is not None or page.assignment.slot_id is None:
        return False
    half = lease_seconds(study, page.assignment.position) / 2
    return page.leased_until is None or page.leased_until - now <= half


def open_page(visit: Visit, position: int, *, hand_out: bool = True, page: RaterPage | None = None) -> RaterPage | None:
    """The rater's page at a position as it may be shown now, leased to them; `page` as this transaction has read it.

    A page that was only set aside, or leased too long ago, may be somebody else's by now; then another takes its
    place. None when there is no other, and the rater goes where `next_step` says.
    """
    connection, rater = visit.connection, visit.rater
    page = page or find_rater_page(connection, rater.id, position)
    while page is not None and page.assignment is not None and page.is_lost:
        give_up(visit, page.assignment)
        next_step(visit, hand_out=hand_out)
        page = find_rater_page(connection, rater.id, position)
    if page is None or page.assignment is None:
        return None
    if needs_opening(page, visit.study, visit.now) and not lease(visit, page.assignment):
        return None
    return page


def _hand_out(visit: Visit, handed: dict[tuple[str, str], int], wanted: int) -> dict[int, Sequence[PairRow]]:
    """Hand out up to `wanted` further pages; the pairs of those that there were, by position."""
    drawn: dict[int, Sequence[PairRow]] = {}
    while len(drawn) < wanted:
        page = _draw_next(visit, handed)
        if page is None:
            break
        drawn[page.position] = page.pairs
        handed[page.block, page.kind] = handed.get((page.block, page.kind), 0) + 1
    return drawn


def _draw_next(visit: Visit, handed: Mapping[tuple[str, str], int]) -> Appended | None:
    """Hand out one page; None when there is nothing more for this rater.

    `handed` counts the rater's pages so far, by block and kind.
    """
    position = sum(handed.values()) + 1
    blocks = [block for block in visit.blocks if block.unique]
    extra = visit.rater.extra_pages
    for block in blocks:
        drawn = handed.get((block.name, "pair"), 0)
        quota = block.pages_per_rater
        if quota is not None:
            extra -= max(0, drawn - quota)
        check = _check_due(visit, block, drawn, handed.get((block.name, "check"), 0))
        if check is not None:
            return append(visit, position, block.name, "check", check)
        if quota is None or drawn < quota:
            page = draw(visit, position, block)
            if page is not None:
                return page
        if handed.get((block.name, "repeat"), 0) < block.repeats:
            repeated = _page_to_repeat(visit, block)
            if repeated is not None:
                return append(visit, position, block.name, "repeat", repeated)
    if extra > 0:
        for block in blocks:
            page = draw(visit, position, block)
            if page is not None:
                return page
    return None


def _check_due(visit: Visit, block: Block, drawn: int, given: int) -> PageRow | None:
    """The page of the attention check whose turn it is: before, between or after the block's pages, at random places.

    `drawn` and `given` are how many of the block's pages and of its checks the rater has been given.
    """
    rater, catalogue = visit.rater, visit.catalogue
    checks = list(catalogue.of(block.name, "check"))
    pages_ahead = catalogue.count_pages(block.name)
    if block.pages_per_rater is not None:
        pages_ahead = min(pages_ahead, block.pages_per_rater)
    if given >= len(checks) or not pages_ahead or rater.finished_at is not None:
        return None
    generator = random.Random(f"{visit.study.seed}:{rater.seed}:{block.name}:checks")
    generator.shuffle(checks)
    turns = sorted(generator.randint(0, pages_ahead) for _ in checks)
    return checks[given] if turns[given] <= drawn else None


def _page_to_repeat(visit: Visit, block: Block) -> PageRow | None:
    """One of the block's pages that the rater has answered once, at random; None if there is none any more."""
    rater = visit.rater
    shown = assignments.alias()
    again = sa.select(shown.c.id).where(
        shown.c.rater == rater.id, shown.c.kind == "repeat", shown.c.page_id == assignments.c.page_id
    )
    query = (
        sa.select(assignments.c.page_id)
        .join(pages, pages.c.id == assignments.c.page_id)
        .where(
            pages.c.active,
            assignments.c.rater == rater.id,
            assignments.c.block == block.name,
            assignments.c.kind == "pair",
            assignments.c.answered_at.is_not(None),
            ~again.exists(),
        )
        .order_by(assignments.c.position)
    )
    answered = list(visit.connection.execute(query).scalars())
    if not answered:
        return None
    return read_page(visit.connection, random.Random(f"{rater.seed}:{len(answered)}").choice(answered))


def finish(visit: Visit) -> None:
    """The rater has reached the end: what is answered stays as it is."""
    finished = sa.update(raters).where(raters.c.id == visit.rater.id, raters.c.finished_at.is_(None))
    visit.connection.execute(finished.values(finished_at=visit.now))
    lock_answered(visit)


def lock_answered(visit: Visit) -> None:
    """Lock the rater's answers so far: their pages are not shown again and cannot be changed."""
    rater = visit.rater
    last = (
        sa.select(sa.func.coalesce(sa.func.max(assignments.c.position), 0))
        .where(assignments.c.rater == rater.id, assignments.c.answered_at.is_not(None))
        .scalar_subquery()
    )
    visit.connection.execute(sa.update(raters).where(raters.c.id == rater.id).values(locked_to=last))


def add_pages(visit: Visit) -> Visit:
    """Let the rater have some more unique pairs; the visit goes on with the rater as they are then."""
    more = max((block.more_pages for block in visit.blocks if block.unique), default=0)
    more_pages = visit.rater.extra_pages + more
    return replace(visit, rater=update_rater(visit.connection, visit.rater, extra_pages=more_pages))
