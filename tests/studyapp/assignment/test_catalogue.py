"""A study's pages and pairs: in memory, and counted by the database."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import BlockSize, Catalogue, read_block_sizes
from relstudy.studyapp.database.tables import pages, pairs
from tests.studyapp.studies import Made


def test_the_database_counts_the_pages_and_pairs_that_the_catalogue_has(make_study: Callable[..., Made]) -> None:
    made = make_study(unique_queries=6)
    with made.store.write() as connection:
        gone = sa.select(sa.func.min(pairs.c.pair_id)).where(pairs.c.block == "unique").scalar_subquery()
        connection.execute(sa.update(pairs).where(pairs.c.pair_id == gone).values(active=False))
        idle = sa.select(sa.func.max(pages.c.id)).where(pages.c.kind == "pair").scalar_subquery()
        connection.execute(sa.update(pages).where(pages.c.id == idle).values(active=False))
    with made.store.read() as connection:
        catalogue, sizes = Catalogue(connection), read_block_sizes(connection)
    expected = {
        block: BlockSize(len(ids), sum(len(catalogue.pages[page_id].pair_ids) for page_id in ids))
        for (block, kind), ids in catalogue.active.items()
        if kind == "pair"
    }
    assert sizes == expected
    idle_page = 4
    assert (
        sum(size.pairs for size in sizes.values()) == sum(len(p.pair_ids) for p in catalogue.pages.values()) - idle_page
    )
