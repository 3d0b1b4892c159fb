"""A study's pages and pairs in memory: they do not change within a version of the study."""

from __future__ import annotations

import random
from dataclasses import dataclass

import sqlalchemy as sa

from relstudy.studyapp.database.tables import pages, pairs


@dataclass(frozen=True)
class PairRow:
    pair_id: str
    query_id: str
    result_id: str
    other_id: str | None = None

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Everything that it shows: the query, its result, and the other one of a couple."""
        shown = (self.query_id, self.result_id)
        return shown if self.other_id is None else (*shown, self.other_id)

    def sides(self, seed: int) -> tuple[str, ...]:
        """The results as a rater of this seed sees them, from left to right; chance decides, once for each rater, and
        study.toml of those whose answers it knows."""
        if self.other_id is None:
            return (self.result_id,)
        both = (self.result_id, self.other_id)
        if self.pair_id.startswith(("practice:", "check:")):
            return both
        return both if random.Random(f"{seed}:{self.pair_id}:side").random() < 0.5 else both[::-1]


@dataclass(frozen=True)
class PageRow:
    id: int
    block: str
    kind: str
    query_id: str
    pair_ids: tuple[str, ...]


class Catalogue:
    """The study's active pages and its pairs.

    A pair that has left the study has left its page as well; the others of the page go on.

    `nothing_expires_before` is a note of `relstudy.studyapp.assignment.slots`: by block, when the first lease ends.
    """

    def __init__(self, connection: sa.Connection | None = None) -> None:
        """Without a connection, of a study that has no pages."""
        self.pairs: dict[str, PairRow] = {}
        self.nothing_expires_before: dict[str, float] = {}
        self.pages: dict[int, PageRow] = {}
        self.active: dict[tuple[str, str], list[int]] = {}
        if connection is not None:
            self._read(connection)

    def _read(self, connection: sa.Connection) -> None:
        names = (pairs.c.pair_id, pairs.c.query_id, pairs.c.result_id, pairs.c.other_id)
        rows = connection.execute(sa.select(*names, pairs.c.active)).all()
        self.pairs = {row.pair_id: PairRow(row.pair_id, row.query_id, row.result_id, row.other_id) for row in rows}
        gone = {row.pair_id for row in rows if not row.active}
        for row in connection.execute(sa.select(pages).order_by(pages.c.id)):
            pair_ids = tuple(pair_id for pair_id in row.pair_ids if pair_id not in gone)
            self.pages[row.id] = PageRow(row.id, row.block, row.kind, row.query_id, pair_ids)
            if row.active:
                self.active.setdefault((row.block, row.kind), []).append(row.id)

    def of(self, block: str, kind: str) -> list[int]:
        """Ids of the active pages of a block."""
        return self.active.get((block, kind), [])


@dataclass(frozen=True)
class BlockSize:
    """Number of a block's active pages and of the pairs on them; checks and practice do not count."""

    pages: int = 0
    pairs: int = 0


def read_block_sizes(connection: sa.Connection) -> dict[str, BlockSize]:
    """Size of each block, counted by the database: a catalogue of a million pairs takes seconds to read."""
    shown = pages.c.active & (pages.c.kind == "pair")
    counted = (
        sa.select(pages.c.block, sa.func.count(), sa.func.sum(sa.func.json_array_length(pages.c.pair_ids)))
        .where(shown)
        .group_by(pages.c.block)
    )
    sizes = {block: BlockSize(count, length) for block, count, length in connection.execute(counted)}
    left = sa.select(pairs.c.pair_id, pairs.c.query_id).where(~pairs.c.active)
    gone = {row.pair_id for row in connection.execute(left)}
    of_their_queries = shown & pages.c.query_id.in_(sa.select(left.subquery().c.query_id))
    if gone:
        for block, pair_ids in connection.execute(sa.select(pages.c.block, pages.c.pair_ids).where(of_their_queries)):
            without = len(gone.intersection(pair_ids))
            sizes[block] = BlockSize(sizes[block].pages, sizes[block].pairs - without)
    return sizes
