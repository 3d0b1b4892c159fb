"""A study's pages and pairs in memory: they do not change within a version of the study."""

from __future__ import annotations

import contextlib
import gc
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.tables import pages, pairs


class PairRow(NamedTuple):
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
        """The results as a rater of this seed sees them, from left to right: by chance, once for each rater; of
        practice and attention checks as study.toml has them, which says which side is right."""
        if self.other_id is None:
            return (self.result_id,)
        both = (self.result_id, self.other_id)
        if self.pair_id.startswith(("practice:", "check:")):
            return both
        return both if random.Random(f"{seed}:{self.pair_id}:side").random() < 0.5 else both[::-1]


class PageRow(NamedTuple):
    id: int
    block: str
    kind: str
    query_id: str
    pair_ids: tuple[str, ...]


_PAIRS = Prepared(sa.select(pairs.c.pair_id, pairs.c.query_id, pairs.c.result_id, pairs.c.other_id, pairs.c.active))
_PAGES = Prepared(
    sa.select(
        *(pages.c.id, pages.c.block, pages.c.kind, pages.c.query_id, pages.c.pair_ids, pages.c.active),
    ).order_by(pages.c.id)
)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Make many things that stay: looking for rubbish among them meanwhile would take longer than making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


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
            with _uncollected():
                self._read(connection)

    def _read(self, connection: sa.Connection) -> None:
        same: dict[str, str] = {}  # ids and names come again and again: each is kept once
        gone = set()
        for pair_id, query_id, result_id, other_id, active in _PAIRS.rows(connection, {}):
            shown = same.setdefault(query_id, query_id), same.setdefault(result_id, result_id)
            self.pairs[pair_id] = PairRow(pair_id, *shown, other_id)
            same[pair_id] = pair_id
            if not active:
                gone.add(pair_id)
        for number, block, kind, query_id, pair_ids, active in _PAGES.rows(connection, {}):
            named = (same.setdefault(block, block), same.setdefault(kind, kind), same.setdefault(query_id, query_id))
            left = [same.get(pair_id, pair_id) for pair_id in pair_ids if pair_id not in gone]
            self.pages[number] = PageRow(number, *named, tuple(left))
            if active:
                self.active.setdefault(named[:2], []).append(number)

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
