"""Attention checks: each has a page of its own that looks like the other pages of its block.

The known pair stands among fillers, which are other results of its query. A filler is a pair that nobody drew and
nobody knows the answer to, so that no pair of the sample gets a rating by way of a check. The page has as many results
as some other page of the block.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.tables import pages, pairs
from relstudy.studyapp.sampling.ratable_pairs import STORED, Pair, known_pair_ids


@dataclass(frozen=True)
class Look:
    """Common properties of a block's pages: the number of results on each page, and the results shown."""

    sizes: tuple[int, ...]
    results: tuple[str, ...]


def add_check_pages(
    connection: sa.Connection, study: Study, items: DisplayedItems, wanted: dict[str, Pair]
) -> set[int]:
    """Make a page for each check that has none, or none that looks like the other pages now; fillers join `wanted`.

    Returns
    -------
    set of int
        ids of the pages of checks that are in use
    """
    checks_by_id = known_pair_ids(study)
    taken = {(pair.query_id, pair.result_id) for pair in wanted.values()}
    blocks = {block.name: block for block in study.blocks}
    in_use: set[int] = set()
    lacking: list[tuple[Pair, Block, Look]] = []
    earlier = _earlier_pages(connection)
    for check in [pair for pair in wanted.values() if pair.block == "check"]:
        block = blocks[checks_by_id[check.pair_id].block]
        if block.paradigm not in (None, check.paradigm):
            raise RelstudyError(
                f"study.toml: the attention check {check.query_id!r}, {check.result_id!r} of block {block.name!r} "
                f"would be recognised: its query is of the kind {check.paradigm}, and the block's are of the kind "
                f"{block.paradigm}"
            )
        look = _look(connection, block, check, wanted)
        for page_id, fillers in reversed(earlier.get(check.pair_id, [])):
            free = all(
                pair.result_id in items.by_id and (pair.query_id, pair.result_id) not in taken for pair in fillers
            )
            if free and len(fillers) + 1 in look.sizes:
                in_use.add(page_id)
                wanted.update((pair.pair_id, pair) for pair in fillers)
                break
        else:
            lacking.append((check, block, look))
    for check, block, look in lacking:
        generator = random.Random(f"{study.seed}:{check.pair_id}:{len(earlier.get(check.pair_id, []))}")
        fillers = _draw_fillers(check, block, look, items, wanted, generator)
        wanted.update((pair.pair_id, pair) for pair in fillers)
        page = {"block": block.name, "kind": "check", "query_id": check.query_id, "active": True}
        pair_ids = [check.pair_id, *(pair.pair_id for pair in fillers)]
        key = connection.execute(sa.insert(pages).values(**page, pair_ids=pair_ids)).inserted_primary_key
        assert key is not None
        in_use.add(int(key[0]))
    return in_use


def _earlier_pages(connection: sa.Connection) -> dict[str, list[tuple[int, list[Pair]]]]:
    """The pages that each check has had, oldest first, with their fillers."""
    names = [pairs.c[name] for name in STORED]
    stored = {row.pair_id: Pair(*row) for row in connection.execute(sa.select(*names).where(pairs.c.block == "check"))}
    earlier: dict[str, list[tuple[int, list[Pair]]]] = {}
    query = sa.select(pages.c.id, pages.c.pair_ids).where(pages.c.kind == "check").order_by(pages.c.id)
    for page_id, (check, *fillers) in connection.execute(query):
        earlier.setdefault(check, []).append((page_id, [stored[pair_id] for pair_id in fillers]))
    return earlier


def _look(connection: sa.Connection, block: Block, check: Pair, wanted: Mapping[str, Pair]) -> Look:
    query = sa.select(pages.c.pair_ids).where(pages.c.block == block.name, pages.c.kind == "pair").order_by(pages.c.id)
    shown = [
        [wanted[pair_id] for pair_id in pair_ids]
        for pair_ids in connection.execute(query).scalars()
        if wanted.keys() >= set(pair_ids)
    ]
    alike = [page for page in shown if page[0].paradigm == check.paradigm] or shown
    results = {pair.result_id for page in alike for pair in page}
    return Look(tuple(len(page) for page in alike) or (1,), tuple(sorted(results)))


def _draw_fillers(
    check: Pair, block: Block, look: Look, items: DisplayedItems, wanted: Mapping[str, Pair], generator: random.Random
) -> list[Pair]:
    """Results that the block shows with other queries; if there are too few, others of the collection."""
    kinds = {items[result].kind for result in look.results}
    others = sorted(
        item.id
        for item in items.by_id.values()
        if item.kind in kinds and item.role != "query" and item.id not in look.results
    )
    paired = {pair.result_id for pair in wanted.values() if pair.query_id == check.query_id} | {check.query_id}
    free = [
        result
        for results in (look.results, others)
        for result in generator.sample(results, len(results))
        if result not in paired
    ]
    sizes = [size for size in look.sizes if size <= len(free) + 1]
    if not sizes:
        raise RelstudyError(
            f"study.toml: the attention check {check.query_id!r}, {check.result_id!r} of block {block.name!r} would be "
            f"recognised: the block's other pages have at least {min(look.sizes)} results, and only {len(free)} items "
            "of the collection are not rated with this query anyway; choose another query, or extend collection.csv"
        )
    return [
        replace(check, pair_id=f"filler:{block.name}:{check.query_id}:{result}", result_id=result)
        for result in free[: generator.choice(sizes) - 1]
    ]
