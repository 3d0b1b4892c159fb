"""A study's pages and pairs: what everybody is given is kept, the rest is read from the database page by page.

They do not change within a version of the study.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from relstudy.studyapp.config.study import Study
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
    """A page with the pairs on it that have not left the study."""

    id: int
    pairs: tuple[PairRow, ...]


class pairs_of(FunctionElement[Any]):
    """The pairs whose ids a JSON column holds, in its order, for `pair_rows` and `active_pair_rows`.

    So pairs come with the page that they are on, in its statement.
    """

    type = sa.JSON()
    inherit_cache = True


_FIELDS = "pairs.pair_id, pairs.query_id, pairs.result_id, pairs.other_id, pairs.active"


@compiles(pairs_of, "sqlite")
def _for_sqlite(element: pairs_of, compiler: SQLCompiler, **options: Any) -> str:
    ids = compiler.process(element.clauses, **options)
    # CROSS: by the ids, of which there are few, to the pairs
    return (
        f"(SELECT json_group_array(json_array({_FIELDS})) FROM json_each({ids}) AS named "
        "CROSS JOIN pairs ON pairs.pair_id = named.value)"
    )


@compiles(pairs_of, "postgresql")
def _for_postgresql(element: pairs_of, compiler: SQLCompiler, **options: Any) -> str:
    ids = compiler.process(element.clauses, **options)
    # through an array, which the planner takes for a short one
    return (
        f"(SELECT json_agg(json_build_array({_FIELDS}) ORDER BY named.place) "
        f"FROM unnest(ARRAY(SELECT json_array_elements_text({ids}))) WITH ORDINALITY AS named (pair_id, place) "
        "JOIN pairs ON pairs.pair_id = named.pair_id)"
    )


def pair_rows(found: Iterable[list[Any]] | None) -> tuple[PairRow, ...]:
    """The pairs that `pairs_of` found, also those that have left the study."""
    return tuple([PairRow._make(fields[:-1]) for fields in found or ()])


def active_pair_rows(found: Iterable[list[Any]] | None) -> tuple[PairRow, ...]:
    """The pairs that `pairs_of` found, without those that have left the study."""
    return tuple([PairRow._make(fields[:-1]) for fields in found or () if fields[-1]])


_PAGE = sa.select(pages.c.id, pairs_of(pages.c.pair_ids).label("pairs"))
_IN_BLOCK = _PAGE.where(
    pages.c.block == sa.bindparam("block"), pages.c.kind == sa.bindparam("kind"), pages.c.active
).order_by(pages.c.id)
# Built once: building a statement costs more than running it.
_OF_BLOCK, _FIRST_OF_BLOCK = Prepared(_IN_BLOCK), Prepared(_IN_BLOCK.limit(1))
_BY_ID = Prepared(_PAGE.where(pages.c.id == sa.bindparam("page")))


def read_page(connection: sa.Connection, page_id: int) -> PageRow:
    """A page by its number."""
    return _page(_BY_ID.row(connection, {"page": page_id}))


def read_first_page(connection: sa.Connection, block: str) -> PageRow | None:
    """The first of a block's active pages, which is neither a check nor practice; None where it has none."""
    row = _FIRST_OF_BLOCK.row(connection, {"block": block, "kind": "pair"})
    return None if row is None else _page(row)


def _page(row: Any) -> PageRow:
    return PageRow(row.id, active_pair_rows(row.pairs))


@dataclass(frozen=True)
class BlockSize:
    """Number of a block's active pages and of the pairs on them; checks and practice do not count."""

    pages: int = 0
    pairs: int = 0


def read_block_sizes(connection: sa.Connection) -> dict[str, BlockSize]:
    """Size of each block, counted by the database."""
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


class Catalogue:
    """The active pages that everybody in a block is given: of base pairs, practice and checks. They are few, since one
    person rates them all.

    Of unique pairs, which may be millions, there is only the number; a page of them is read when it is handed out.

    `nothing_expires_before` is a note of `relstudy.studyapp.assignment.slots`: by block, when the first lease ends.
    """

    def __init__(self, study: Study | None = None, connection: sa.Connection | None = None) -> None:
        """Without a connection, of a study that has no pages."""
        self.nothing_expires_before: dict[str, float] = {}
        self._pages: dict[tuple[str, str], list[PageRow]] = {}
        self._sizes: dict[str, BlockSize] = {}
        if study is not None and connection is not None:
            self._sizes = read_block_sizes(connection)
            for block in study.blocks:
                for kind in ("practice", "check") if block.unique else ("practice", "check", "pair"):
                    found = _OF_BLOCK.rows(connection, {"block": block.name, "kind": kind})
                    self._pages[block.name, kind] = [_page(row) for row in found]

    def of(self, block: str, kind: str) -> list[PageRow]:
        """The active pages of a kind that everybody in the block is given."""
        return self._pages.get((block, kind), [])

    def count_pages(self, block: str) -> int:
        """Number of a block's active pages; checks and practice do not count."""
        return self._sizes.get(block, BlockSize()).pages

    @property
    def results_on_page(self) -> float:
        """Average number of results on an active page."""
        beside = [page for (_, kind), found in self._pages.items() if kind != "pair" for page in found]
        results = sum(size.pairs for size in self._sizes.values()) + sum(len(page.pairs) for page in beside)
        return results / max(1, sum(size.pages for size in self._sizes.values()) + len(beside))
