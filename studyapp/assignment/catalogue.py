"""A study's pages and pairs in memory: they do not change while the app runs."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from relstudy.studyapp.database.store import pages, pairs


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
    """The study's active pages and its pairs.

    `nothing_expires_before` is a note of `relstudy.studyapp.assignment.slots`: by block, when the first lease ends.
    """

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
